// The small XML of lattice files: see xml.h.
#include "lattice/io/xml.h"

#include <inttypes.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; // QIO pads with NUL
}

// Returns the place of `part` in [at, end); end if there is none.
static const char *find(const char *at, const char *end, const char *part)
{
    size_t length = strlen(part);
    for (; (size_t)(end - at) >= length; at++) {
        at = memchr(at, part[0], (size_t)(end - at));
        if (!at || (size_t)(end - at) < length) return end;
        if (memcmp(at, part, length) == 0) return at;
    }
    return end;
}

static bool begins(const char *at, const char *end, const char *part)
{
    size_t length = strlen(part);
    return (size_t)(end - at) >= length && memcmp(at, part, length) == 0;
}

static bool is_tag(const char *at, const char *end, const char *element)
{
    if (!begins(at, end, element)) return false;
    at += strlen(element);
    return at < end && (is_blank(*at) || *at == '>' || *at == '/');
}

// The next start tag of the element at or after *at; *at is then behind its name. 1 found, 0 not,
// -1 malformed. Comments and processing instructions are passed over.
static int next_tag(const xml *x, const char **at, const char *element)
{
    const char *end = x->text + x->length;
    while ((*at = find(*at, end, "<")) < end) {
        ++*at;
        if (begins(*at, end, "!--"))
            *at = find(*at + 3, end, "-->");
        else if (begins(*at, end, "!"))
            return -1;
        else if (is_tag(*at, end, element)) {
            *at += strlen(element);
            return 1;
        }
    }
    return 0;
}

// Finds the text between the start tag of an element and the next tag, the last one of several, and
// counts them.
static cubc_status find_element(const xml *x, const char *element, const char **from,
                                const char **to, int *times)
{
    const char *at = x->text, *end = x->text + x->length;
    int found;
    for (*times = 0; (found = next_tag(x, &at, element)) > 0; ++*times) {
        *from = find(at, end, ">");
        if (*from == end) FAIL(CUBC_IO_ERROR, "%s: the tag <%s> is not closed", x->what, element);
        bool empty = (*from)[-1] == '/';
        ++*from;
        *to = empty ? *from : find(*from, end, "<");
        if (!empty && !(begins(*to, end, "</") && is_tag(*to + 2, end, element)))
            FAIL(CUBC_IO_ERROR, "%s: <%s> holds something else than a text", x->what, element);
        at = *to;
    }
    if (found < 0)
        FAIL(CUBC_IO_ERROR,
             "%s: has a document type or marked section, which no record of this kind has",
             x->what);
    return CUBC_OK;
}

cubc_status xml_has(const xml *document, const char *element, bool *out)
{
    const char *from, *to;
    int times = 0;
    TRY(find_element(document, element, &from, &to, &times));
    *out = times > 0;
    return CUBC_OK;
}

cubc_status xml_text(const xml *document, const char *element, char *out, size_t size)
{
    const char *from = NULL, *to = NULL;
    int times;
    TRY(find_element(document, element, &from, &to, &times));
    if (times != 1)
        FAIL(CUBC_IO_ERROR, "%s: has %d elements <%s>, expected one", document->what, times,
             element);
    while (from < to && is_blank(*from)) from++;
    while (from < to && is_blank(to[-1])) to--;
    size_t length = (size_t)(to - from);
    if (length >= size || memchr(from, '\0', length))
        FAIL(CUBC_IO_ERROR, "%s: <%s> holds %zu characters, expected a short text", document->what,
             element, length);
    memcpy(out, from, length);
    out[length] = '\0';
    return CUBC_OK;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

bool xml_digits(const char **at, int base, uint64_t most, uint64_t *out)
{
    const char *from = *at;
    uint64_t value = 0;
    for (int digit; (digit = digit_of(**at)) < base; ++*at) {
        if ((uint64_t)digit > most || value > (most - (uint64_t)digit) / (uint64_t)base)
            return false;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    *out = value;
    return *at > from;
}

cubc_status xml_number(const xml *document, const char *element, int base, uint64_t least,
                       uint64_t most, uint64_t *out)
{
    char word[64];
    const char *at = word;
    TRY(xml_text(document, element, word, sizeof word));
    if (base == 16 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    if (!xml_digits(&at, base, most, out) || *at || *out < least)
        FAIL(CUBC_IO_ERROR,
             "%s: <%s> is \"%s\", expected a whole number from %" PRIu64 " to %" PRIu64,
             document->what, element, word, least, most);
    return CUBC_OK;
}
