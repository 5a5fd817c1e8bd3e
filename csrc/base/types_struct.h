// Structs of number types before they have a number: layout, description, definition.
#ifndef CUBC_TYPES_STRUCT_H
#define CUBC_TYPES_STRUCT_H

#include "base/types.h"

// A struct before it has a number.
typedef struct type_layout {
    const cubc_member *members; // borrowed
    int count;
    size_t size, alignment;
    bool packed; // a member's offset is not a multiple of its alignment
} type_layout;

cubc_status type_layout_of(const cubc_member *members, int count, size_t size, type_layout *out);
void type_describe(const type_layout *l, text *out);
void type_write(const type_layout *l, const char *name, text *out); // the definition

#endif
