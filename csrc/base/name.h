// Names that texts of a user bring into a kernel: of operands and of the members of structs.
#ifndef CUBC_NAME_H
#define CUBC_NAME_H

#include <stdbool.h>

enum { NAME_SIZE = 32 }; // of a name, with its NUL

bool name_letter(char c); // one that an identifier may begin with
bool name_digit(char c);
bool name_valid(const char *name);    // an identifier of at most 31 letters
bool name_reserved(const char *name); // a word of C++ or of the kernel dialect
// The same but for the dialect's types, whose names the members of a struct may have.
bool name_reserved_member(const char *name);

#endif
