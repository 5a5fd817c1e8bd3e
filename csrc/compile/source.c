// Kernel sources: see source.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "compile/source.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
