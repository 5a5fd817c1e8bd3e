// The part of XML that the records of SciDAC and ILDG use: one level of elements with short texts.
// Each call scans the document: nothing is expanded, nested or allocated, and
// a document type, which could define entities, is refused.
#ifndef CUBC_LATTICE_XML_H
#define CUBC_LATTICE_XML_H

#include "base/base.h"

typedef struct xml {
    const char *text;
    size_t length;
    const char *what; // names the document in messages
} xml;

// Sets *out to true if there is an element of that name; fails on a malformed document.
cubc_status xml_has(const xml *document, const char *element, bool *out);
// The text of the only element of that name, without the blanks around it. Not having it, having it
// twice, and text that does not fit are errors.
cubc_status xml_text(const xml *document, const char *element, char *out, size_t size);
// The same text as a whole number from least to most, in base 10 or 16, the latter with or without
// 0x.
cubc_status xml_number(const xml *document, const char *element, int base, uint64_t least,
                       uint64_t most, uint64_t *out);
// Reads the number that begins at *at, which then points behind it. Returns false if there is none,
// or one above `most`.
bool xml_digits(const char **at, int base, uint64_t most, uint64_t *out);

#endif
