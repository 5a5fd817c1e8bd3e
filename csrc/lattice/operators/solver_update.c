// The text of a solver's fused kernels: see fused.h.
#include "lattice/operators/fused.h"

#include <string.h>

enum { SCALARS, STATEMENTS, SUMS, FINISH, PARTS };

typedef struct piece { // of a text, without spaces around it
    const char *at;
    size_t length;
} piece;

static piece trimmed(const char *at, const char *end)
{
    while (at < end && *at == ' ') at++;
    while (end > at && end[-1] == ' ') end--;
    return (piece){at, (size_t)(end - at)};
}

// The next piece up to a separator or the end; false: there is none.
static bool next_piece(const char **rest, const char *end, char separator, piece *out)
{
    if (!*rest) return false;
    const char *stop = memchr(*rest, separator, (size_t)(end - *rest));
    *out = trimmed(*rest, stop ? stop : end);
    *rest = stop ? stop + 1 : NULL;
    return true;
}

static int split(const char *text, piece parts[PARTS])
{
    const char *rest = text, *end = text + strlen(text);
    piece p;
    int count = 0;
    for (int k = 0; k < PARTS; k++) parts[k] = (piece){"", 0};
    for (; next_piece(&rest, end, '|', &p); count++)
        if (count < PARTS) parts[count] = p;
    return count;
}

static int count_terms(piece sums)
{
    const char *rest = sums.length ? sums.at : NULL;
    piece p;
    int count = 0;
    while (next_piece(&rest, sums.at + sums.length, ';', &p)) count++;
    return count;
}

cubc_status fused_check(const char *what, const char *text)
{
    piece parts[PARTS];
    if (!text || split(text, parts) != PARTS || strpbrk(text, "\r\n#\\"))
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: the text is \"scalars | statements | sums | function\" on one line, each part "
             "perhaps empty, not \"%.60s\"",
             what, text ? text : "");
    if (count_terms(parts[SUMS]) > MOST_SUMS)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: %d sums, at most %d are added up at once", what,
             count_terms(parts[SUMS]), MOST_SUMS);
    if ((parts[SUMS].length == 0) != (parts[FINISH].length == 0))
        FAIL(CUBC_INVALID_ARGUMENT, "%s: sums and the function that takes them come together",
             what);
    return CUBC_OK;
}

int fused_sums(const char *text)
{
    piece parts[PARTS];
    split(text, parts);
    return count_terms(parts[SUMS]);
}

static void define_list(const char *name, piece list, char separator, bool numbered, text *out)
{
    const char *rest = list.length ? list.at : NULL;
    piece p;
    text_printf(out, "#define %s(X)", name);
    for (int k = 0; next_piece(&rest, list.at + list.length, separator, &p); k++) {
        text_puts(out, " X(");
        if (numbered) text_printf(out, "%d, (", k);
        text_append(out, p.at, p.length);
        text_puts(out, numbered ? "))" : ")");
    }
    text_puts(out, "\n");
}

void fused_define(const char *from, text *out)
{
    piece parts[PARTS];
    split(from, parts);
    text_printf(out, "#define TUNE_SUMS %d\n#define TUNE_STATEMENTS %.*s\n",
                count_terms(parts[SUMS]), (int)parts[STATEMENTS].length, parts[STATEMENTS].at);
    text_printf(out, "#define TUNE_FINISH %.*s\n#define TUNE_STATE_BYTES %d\n",
                (int)parts[FINISH].length, parts[FINISH].at, CUBC_STATE_BYTES);
    define_list("TUNE_SCALARS", parts[SCALARS], ',', false, out);
    define_list("TUNE_ADD", parts[SUMS], ';', true, out);
}

void fused_guard(const cubc_guard *guard, uint64_t numbers[GUARD_NUMBERS])
{
    numbers[GUARD_STATES] = (uintptr_t)guard->states;
    numbers[GUARD_PARTS] = (uintptr_t)guard->parts;
    numbers[GUARD_PHASE] = guard->phase;
    numbers[GUARD_STEP] = guard->step;
    numbers[GUARD_ROOM] = guard->parts_n;
}

cubc_status fused_place(const char *from, const uint64_t numbers[GUARD_NUMBERS], uint64_t blocks,
                        launch *l)
{
    uint64_t needed = blocks * (uint64_t)fused_sums(from);
    if (needed > numbers[GUARD_ROOM])
        FAIL(CUBC_INVALID_ARGUMENT, "%llu partial sums have no room in %llu",
             (unsigned long long)needed, (unsigned long long)numbers[GUARD_ROOM]);
    for (int k = GUARD_STATES; k <= GUARD_STEP; k++) l->args[l->args_count++] = numbers[k];
    return CUBC_OK;
}
