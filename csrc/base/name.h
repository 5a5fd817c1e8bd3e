// Names that a user gives: those of operands and of members of structs, which texts bring into a
// kernel, and the name that he may have meant.
#ifndef CUBC_NAME_H
#define CUBC_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_SIZE = 32 }; // of a name, with its NUL

bool name_letter(char c); // one that an identifier may begin with
bool name_digit(char c);
bool name_valid(const char *name);    // an identifier of at most 31 letters
bool name_reserved(const char *name); // a word of C++ or of the kernel dialect
// The same but for the dialect's types, whose names the members of a struct may have.
bool name_reserved_member(const char *name);
// Edit-distance neighbour of `name`, or NULL if nothing is close; for "did you mean".
const char *nearest_name(const char *name, const char *const *names, size_t count);

#endif
