// Parameter spaces, labels, kernel sources and cached compilation: see variant.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "compile/variant.h"

#include "compile/cache.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- %RANGE% lines ------------------------------------------------------------------------------
// A whole number in digits alone; *at goes behind it. One that is greater than `most` is none.
static bool read_number(const char **at, uint64_t most, uint64_t *out)
{
    const char *digit = *at;
    uint64_t number = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        number = 10 * number + (uint64_t)(*digit - '0');
        if (number > most) return false; // which is far below what would wrap
    }
    if (digit == *at) return false;
    *at = digit;
    *out = number;
    return true;
}

static bool parse_range(const char *word, int *start, int *end, int *step)
{
    uint64_t numbers[3];
    for (int k = 0; k < 3; k++)
        if (!read_number(&word, MAX_VALUE, &numbers[k]) || *word++ != (k < 2 ? ':' : '\0'))
            return false;
    *start = (int)numbers[0];
    *end = (int)numbers[1];
    *step = (int)numbers[2];
    return *step > 0 && *start <= *end;
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
        return "the range must be start:end:step, whole numbers below 100000000 with 0 <= start <= "
               "end and step > 0";
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

// The number that a "#line" directive gives to the line after it; false for any other line.
static bool parse_line_number(const char *line, uint64_t *out)
{
    if (strncmp(line, "#line ", 6) != 0) return false;
    line += 6;
    return read_number(&line, INT32_MAX, out);
}

static uint64_t value_count(const parameter *p)
{
    return (uint64_t)((p->end - p->start) / p->step) + 1;
}

// Checks a parameter beside those before it.
static const char *check_among(const space *s, const parameter *one)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->parameters[i].label, one->label) ||
            !strcmp(s->parameters[i].macro, one->macro))
            return "the label or macro was used before";
    if (space_size(s) > INT64_MAX / value_count(one))
        return "with this range there are more than 2^63 variants";
    return NULL;
}

cubc_status space_parse(const char *source, const char *kind, space *out)
{
    uint64_t number = 1;
    *out = (space){0};
    for (const char *line = source, *end; *line; line = *end ? end + 1 : end, number++) {
        end = line + strcspn(line, "\n");
        if (parse_line_number(line, &number)) number--; // of the line that follows it
        const char *mark = line + strspn(line, " \t/");
        if (strncmp(mark, "%RANGE%", 7) != 0) continue;
        char copy[256];
        size_t length = (size_t)(end - mark) - 7;
        const char *wrong = "the line is longer than 255 characters";
        parameter *next = &out->parameters[out->count];
        if (out->count == MAX_PARAMETERS)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "line %llu: malformed %%RANGE%%: there are more than %d parameters",
                 (unsigned long long)number, MAX_PARAMETERS);
        if (length < sizeof copy) {
            snprintf(copy, sizeof copy, "%.*s", (int)length, mark + 7);
            wrong = parse_parameter(copy, kind, next);
        }
        if (!wrong) wrong = check_among(out, next);
        if (wrong)
            FAIL(CUBC_INVALID_ARGUMENT, "line %llu: malformed %%RANGE%%: %s: %.*s",
                 (unsigned long long)number, wrong, (int)(end - mark > 120 ? 120 : end - mark),
                 mark);
        out->count++;
    }
    return CUBC_OK;
}

uint64_t space_size(const space *s)
{
    uint64_t size = 1;
    for (int i = 0; i < s->count; i++) size *= value_count(&s->parameters[i]);
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
        const char *end = underscore + 1;
        uint64_t number;
        if (!read_number(&end, INT32_MAX, &number) || *end != (k + 1 < s->count ? '.' : '\0'))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': every one of the %d parameters takes one integer, as in %s_%d",
                 label, s->count, p->label, p->start);
        if (seen[which])
            FAIL(CUBC_INVALID_ARGUMENT, "variant '%.100s' gives %s twice", label, p->label);
        int value = (int)number;
        if (value < p->start || value > p->end || (value - p->start) % p->step)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': %s is declared as %d:%d:%d, %d is not in it", label, p->label,
                 p->start, p->end, p->step, value);
        seen[which] = true;
        out->values[which] = value;
        at = *end ? end + 1 : end;
    }
    return *at ? unknown_parameter(s, label) : CUBC_OK; // of a space without parameters
}

void variant_label(const space *s, const variant *v, char label[MAX_LABEL])
{
    int used = 0;
    label[0] = '\0';
    for (int i = 0; i < s->count; i++)
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

// The subfolders, each of which includes only from those in front of it, and none from "cpu". Files
// have unique names.
static const char *const source_folders[] = {"dialect", "block",      "grid",           "shared",
                                             "cpu",     "primitives", "lattice/solver", "lattice"};

// The path of a kernel file. One that is in no subfolder is looked for in the folder itself.
static void find_source(const char *folder, const char *file, char path[PATH_MAX])
{
    for (size_t k = 0; k < COUNT_OF(source_folders); k++) {
        snprintf(path, PATH_MAX, "%s/%s/%s", folder, source_folders[k], file);
        if (access(path, R_OK) == 0) return;
    }
    snprintf(path, PATH_MAX, "%s/%s", folder, file);
}

cubc_status source_folder(char *out, size_t size)
{
    const char *given = getenv("CUBC_KERNELS");
    Dl_info library;
    if (given && *given) {
        char dialect[PATH_MAX];
        find_source(given, "simt.h", dialect);
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
    find_source(folder, file, path);
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

const char *cubc_version(void)
{
    return CUBC_VERSION;
}

// ---- compilation --------------------------------------------------------------------------------
static void make_key(const char *arch, const char *compiler, const char *source, char key[65])
{
    uint8_t digest[32];
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, cubc_version(), strlen(cubc_version()) + 1); // stands for our own options
    sha256_add(&h, arch, strlen(arch) + 1);
    sha256_add(&h, compiler, strlen(compiler) + 1);
    sha256_add(&h, source, strlen(source));
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++) snprintf(key + 2 * i, 3, "%02x", digest[i]);
}

// Loads the code where there is a device to load it, else looks whether it could be.
static cubc_status accept(const device_api *api, cubc_device *device, const binary *code,
                          device_module **module)
{
    if (device) return api->load(device, code, module);
    return api->check ? api->check(code) : CUBC_OK;
}

// Compilers, disks and other processes deliver broken files at times. What is not accepted is not
// kept, and a second compilation may do better.
static cubc_status compile(const device_api *api, cubc_device *device,
                           const compile_request *request, binary *code, device_module **module,
                           double *seconds)
{
    char compiler[96], key[65];
    compile_request rest = *request;
    *seconds = 0;
    TRY(api->compiler(compiler, sizeof compiler));
    make_key(request->arch, compiler, request->source, key);
    for (int again = 0;; again++) {
        bool kept = again == 0 && cache_get(key, code);
        double start = now_seconds();
        if (!kept) {
            TRY(api->compile(&rest, code));
            *seconds += now_seconds() - start;
        }
        cubc_status st = accept(api, device, code, module);
        if (!st && !kept) cache_put(key, code);
        if (!st) return CUBC_OK;
        binary_free(code);
        if (st != CUBC_DEVICE_ERROR) return st; // it is not the code's fault
        if (kept) cache_remove(key);
        if (again) return st;
        if (request->deadline_s > 0) {
            rest.deadline_s = request->deadline_s - *seconds;
            if (rest.deadline_s <= 0) return st;
        }
    }
}

static cubc_status find_api(const char *arch, const device_api **api)
{
    *api = device_api_of_arch(arch);
    if (!*api)
        FAIL(CUBC_INVALID_ARGUMENT, "unknown architecture '%s': expected sm_NN or cpu", arch);
    return CUBC_OK;
}

cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, binary *out, double *seconds)
{
    const device_api *api;
    TRY(find_api(arch, &api));
    const compile_request request = {source, label, arch, deadline_s};
    return compile(api, NULL, &request, out, NULL, seconds);
}

cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out)
{
    const compile_request request = {source, label, device->info.arch, deadline_s};
    binary code = {0};
    double seconds;
    cubc_status st = compile(device->api, device, &request, &code, out, &seconds);
    binary_free(&code);
    return st;
}
