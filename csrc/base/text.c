// Growing texts: see base.h.
#include "base/base.h"

#include <stdio.h>
#include <string.h>

static bool text_reserve(text *t, size_t more)
{
    const size_t needed = t->length + more + 1;
    size_t capacity = t->capacity ? t->capacity : 256;
    if (t->failed) return false;
    if (needed <= t->capacity) return true;
    while (capacity < needed) capacity *= 2;
    char *data = mem_realloc(t->data, capacity, 1);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_append(text *t, const char *bytes, size_t length)
{
    if (!text_reserve(t, length)) return;
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_puts(text *t, const char *string)
{
    text_append(t, string, strlen(string));
}

void text_printf(text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        t->failed = true;
    else if (text_reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

cubc_status text_done(const text *t)
{
    return t->failed ? CUBC_NO_MEMORY : CUBC_OK; // the failed append has set the message
}

void text_free(text *t)
{
    mem_free(t->data);
    *t = (text){0};
}

void copy_cut(const char *from, char *to, size_t size)
{
    size_t length = strlen(from);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80) length--;
    }
    memcpy(to, from, length);
    to[length] = 0;
}
