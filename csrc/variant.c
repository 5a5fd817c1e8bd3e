// Parameter spaces, labels, kernel sources and cached compilation: see variant.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "variant.h"

#include "cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- %RANGE% lines ------------------------------------------------------------------------------
static bool parse_range(const char *word, int *start, int *end, int *step)
{
    int used = 0;
    if (sscanf(word, "%d:%d:%d%n", start, end, step, &used) != 3 || word[used]) return false;
    return *step > 0 && *start <= *end && *start >= 0 && *end < 100000000;
}

static bool is_identifier(const char *word, size_t room)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length && length < room && !word[length] && (word[0] < '0' || word[0] > '9');
}

// One line after "%RANGE%". A range of its own for the kind replaces the general one.
static const char *parse_parameter(char *line, const char *kind, parameter *out)
{
    char *rest = NULL, *macro = strtok_r(line, " \t\r", &rest);
    char *label = strtok_r(NULL, " \t\r", &rest), *range = strtok_r(NULL, " \t\r", &rest), *word;
    size_t kind_length = strlen(kind);
    if (!macro || !label || !range) return "expected: MACRO label start:end:step";
    if (!is_identifier(macro, sizeof out->macro)) return "the macro is not an identifier";
    if (!is_identifier(label, sizeof out->label) || strchr(label, '_'))
        return "the label must be letters and digits, at most 11, beginning with a letter";
    if (!parse_range(range, &out->start, &out->end, &out->step))
        return "the range must be start:end:step with 0 <= start <= end and step > 0";
    while ((word = strtok_r(NULL, " \t\r", &rest))) {
        char *equals = strchr(word, '=');
        int start, end, step;
        if (!equals || !parse_range(equals + 1, &start, &end, &step))
            return "after the range only kind=start:end:step may follow";
        if ((size_t)(equals - word) == kind_length && memcmp(word, kind, kind_length) == 0) {
            out->start = start;
            out->end = end;
            out->step = step;
        }
    }
    snprintf(out->macro, sizeof out->macro, "%s", macro);
    snprintf(out->label, sizeof out->label, "%s", label);
    return NULL;
}

cubc_status space_parse(const char *source, const char *kind, space *out)
{
    int number = 1;
    *out = (space){0};
    for (const char *line = source, *end; *line; line = *end ? end + 1 : end, number++) {
        end = line + strcspn(line, "\n");
        if (sscanf(line, "#line %d", &number) == 1) number--; // of the line that follows it
        const char *mark = line + strspn(line, " \t/");
        if (strncmp(mark, "%RANGE%", 7) != 0) continue;
        char copy[256];
        int length = (int)(end - mark) - 7;
        const char *wrong = "the line is longer than 255 characters";
        if (out->count == MAX_PARAMETERS)
            wrong = "there are more than 12 parameters";
        else if (length < (int)sizeof copy) {
            snprintf(copy, sizeof copy, "%.*s", length, mark + 7);
            wrong = parse_parameter(copy, kind, &out->parameters[out->count]);
        }
        for (int i = 0; !wrong && i < out->count; i++)
            if (!strcmp(out->parameters[i].label, out->parameters[out->count].label) ||
                !strcmp(out->parameters[i].macro, out->parameters[out->count].macro))
                wrong = "the label or macro was used before";
        if (wrong)
            FAIL(CUBC_INVALID_ARGUMENT, "line %d: malformed %%RANGE%%: %s: %.*s", number, wrong,
                 (int)(end - mark > 120 ? 120 : end - mark), mark);
        out->count++;
    }
    return CUBC_OK;
}

uint64_t space_size(const space *s)
{
    uint64_t size = 1;
    for (int i = 0; i < s->count; i++) {
        const parameter *p = &s->parameters[i];
        size *= (uint64_t)((p->end - p->start) / p->step) + 1;
    }
    return size;
}

// ---- labels -------------------------------------------------------------------------------------
static int find_parameter(const space *s, const char *label, size_t length)
{
    for (int i = 0; i < s->count; i++)
        if (strlen(s->parameters[i].label) == length &&
            memcmp(s->parameters[i].label, label, length) == 0)
            return i;
    return -1;
}

static cubc_status unknown_parameter(const space *s, const char *label)
{
    text known = {0};
    for (int i = 0; i < s->count; i++)
        text_printf(&known, "%s%s", i ? ", " : "", s->parameters[i].label);
    cubc_status st = text_done(&known);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "variant '%.100s': expected label_value joined by dots, the labels being %s",
                       label, known.data ? known.data : "none");
    text_free(&known);
    return st;
}

cubc_status variant_parse(const space *s, const char *label, variant *out)
{
    bool seen[MAX_PARAMETERS] = {false};
    const char *at = label;
    for (int k = 0; k < s->count; k++) {
        const char *underscore = at + strcspn(at, "_.");
        int which = *underscore == '_' ? find_parameter(s, at, (size_t)(underscore - at)) : -1;
        if (which < 0) return unknown_parameter(s, label);
        const parameter *p = &s->parameters[which];
        char *end = NULL;
        errno = 0;
        long value = strtol(underscore + 1, &end, 10);
        if (end == underscore + 1 || strchr(" \t\n+", underscore[1]) || errno ||
            (*end && *end != '.') || (*end == '.' && k + 1 == s->count) ||
            (!*end && k + 1 < s->count))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': every one of the %d parameters takes one integer, as in %s_%d",
                 label, s->count, p->label, p->start);
        if (seen[which])
            FAIL(CUBC_INVALID_ARGUMENT, "variant '%.100s' gives %s twice", label, p->label);
        if (value < p->start || value > p->end || (value - p->start) % p->step)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': %s is declared as %d:%d:%d, %ld is not in it", label, p->label,
                 p->start, p->end, p->step, value);
        seen[which] = true;
        out->values[which] = (int)value;
        at = *end ? end + 1 : end;
    }
    return CUBC_OK;
}

void variant_label(const space *s, const variant *v, char label[MAX_LABEL])
{
    int used = 0;
    label[0] = '\0';
    for (int i = 0; i < s->count && used < MAX_LABEL; i++)
        used += snprintf(label + used, (size_t)(MAX_LABEL - used), "%s%s_%d", i ? "." : "",
                         s->parameters[i].label, v->values[i]);
}

int variant_value(const space *s, const variant *v, const char *label, int otherwise)
{
    int which = find_parameter(s, label, strlen(label));
    return which < 0 ? otherwise : v->values[which];
}

void variant_defines(const space *s, const variant *v, text *out)
{
    for (int i = 0; i < s->count; i++)
        text_printf(out, "#define %s %d\n", s->parameters[i].macro, v->values[i]);
}

// ---- kernel sources -----------------------------------------------------------------------------
enum { MAX_FILES = 128, MAX_FILE_NAME = 64 };

cubc_status source_folder(char *out, size_t size)
{
    const char *given = getenv("CUBC_KERNELS");
    Dl_info library;
    if (given && *given) {
        char dialect[PATH_MAX];
        snprintf(dialect, sizeof dialect, "%s/simt.h", given);
        if (access(dialect, R_OK) != 0)
            FAIL(CUBC_IO_ERROR,
                 "CUBC_KERNELS is \"%.512s\", where there is no simt.h: unset it, or set it to a "
                 "folder of kernels",
                 given);
        snprintf(out, size, "%s", given);
        return CUBC_OK;
    }
    // A function's address finds the shared object that this code is part of.
    if (!dladdr((const void *)(uintptr_t)&cubc_version, &library) || !library.dli_fname)
        FAIL(CUBC_IO_ERROR, "cannot find the folder of kernels; set CUBC_KERNELS to it");
    const char *slash = strrchr(library.dli_fname, '/');
    int length = slash ? (int)(slash - library.dli_fname) : 1;
    snprintf(out, size, "%.*s/kernels", length, slash ? library.dli_fname : ".");
    return CUBC_OK;
}

typedef struct included {
    char names[MAX_FILES][MAX_FILE_NAME];
    int count;
} included;

static cubc_status flatten(const char *folder, const char *file, included *done, text *out)
{
    char path[PATH_MAX];
    text whole = {0};
    cubc_status st;
    for (int i = 0; i < done->count; i++)
        if (strcmp(done->names[i], file) == 0) return CUBC_OK;
    if (done->count == MAX_FILES || strlen(file) >= MAX_FILE_NAME)
        FAIL(CUBC_INTERNAL, "%s: too many kernel files, or too long a name", file);
    snprintf(done->names[done->count++], MAX_FILE_NAME, "%s", file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    GUARD(st, file_read(path, &whole), done);
    text_printf(out, "#line 1 \"%s\"\n", file);
    int number = 1;
    for (const char *line = whole.data ? whole.data : "", *end; *line; line = end, number++) {
        char name[MAX_FILE_NAME];
        end = line + strcspn(line, "\n");
        if (*end) end++;
        if (sscanf(line, "#include \"%63[A-Za-z0-9_.]\"", name) == 1) {
            GUARD(st, flatten(folder, name, done, out), done);
            text_printf(out, "#line %d \"%s\"\n", number + 1, file);
        } else if (strncmp(line, "#pragma once", 12) == 0) {
            text_puts(out, "\n");
        } else {
            text_append(out, line, (size_t)(end - line));
        }
    }
    st = text_done(out);
done:
    text_free(&whole);
    return st;
}

FORK_SAFE_MUTEX(source_lock);

cubc_status source_load(const char *file, const char **out)
{
    static struct {
        char name[MAX_FILE_NAME];
        char *source;
    } loaded[MAX_FILES];
    static int count;
    char folder[PATH_MAX];
    text flat = {0};
    included done = {0};
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&source_lock);
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].name, file) == 0) {
            *out = loaded[i].source;
            goto unlock;
        }
    if (count == MAX_FILES || strlen(file) >= MAX_FILE_NAME) {
        st = error_set(__FILE__, __LINE__, CUBC_INTERNAL, "%s: too many kernel files", file);
        goto unlock;
    }
    GUARD(st, source_folder(folder, sizeof folder), unlock);
    GUARD(st, flatten(folder, file, &done, &flat), unlock);
    snprintf(loaded[count].name, MAX_FILE_NAME, "%s", file);
    loaded[count].source = flat.data;
    flat = (text){0}; // the table owns it
    *out = loaded[count++].source;
unlock:
    pthread_mutex_unlock(&source_lock);
    text_free(&flat);
    return st;
}

// ---- compilation --------------------------------------------------------------------------------
cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, binary *out, double *seconds)
{
    const device_api *api = device_api_of_arch(arch);
    char compiler[96], key[65];
    uint8_t digest[32];
    sha256 h;
    if (!api) FAIL(CUBC_INVALID_ARGUMENT, "unknown architecture '%s': expected sm_NN or cpu", arch);
    TRY(api->compiler(compiler, sizeof compiler));
    sha256_begin(&h);
    sha256_add(&h, cubc_version(), strlen(cubc_version()) + 1); // stands for our own options
    sha256_add(&h, arch, strlen(arch) + 1);
    sha256_add(&h, compiler, strlen(compiler) + 1);
    sha256_add(&h, source, strlen(source));
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++) snprintf(key + 2 * i, 3, "%02x", digest[i]);
    *seconds = 0;
    if (cache_get(key, out)) return CUBC_OK;
    double start = now_seconds();
    TRY(api->compile(&(compile_request){source, label, arch, deadline_s}, out));
    *seconds = now_seconds() - start;
    cache_put(key, out);
    return CUBC_OK;
}
