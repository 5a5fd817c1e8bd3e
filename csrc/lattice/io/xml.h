// As much of XML as the records of SciDAC and ILDG are: one level of elements with short texts.
// The document is only ever scanned, once a question: nothing is expanded, nested or allocated, and
// a document type, which could define entities, is refused.
#ifndef CUBC_LATTICE_XML_H
#define CUBC_LATTICE_XML_H

#include "base/base.h"

typedef struct xml {
    const char *text;
    size_t length;
    const char *what; // names the document in messages
} xml;

// Says whether there is an element of that name; fails where that cannot be told.
cubc_status xml_has(const xml *document, const char *element, bool *out);
// The text of the only element of that name, without the blanks around it. Not having it, having it
// twice, and text that does not fit are errors.
cubc_status xml_text(const xml *document, const char *element, char *out, size_t size);
// That text as a whole number from least to most, in base 10 or 16, the latter with or without 0x.
cubc_status xml_number(const xml *document, const char *element, int base, uint64_t least,
                       uint64_t most, uint64_t *out);
// A number of a text that begins there, and what follows it. False if there is none, or a larger.
bool xml_digits(const char **at, int base, uint64_t most, uint64_t *out);

#endif
