// Bundles: compiled variants of a program in one file, for machines without a compiler.
//
// A bundle is used before the cache and before a compiler, and never written. It is believed as the
// cache is: the file belongs to this user or to root and nobody else can write it, and each record
// has its own hash and the key of what it was made of (cache_key). Records of another version of
// cubc, for another processor, or damaged, are as if they were not there.
//
// A file is a series of records and nothing else, so that files one behind another are a bundle
// too.
//
// Every function may be called from any thread.
#ifndef CUBC_BUNDLE_H
#define CUBC_BUNDLE_H

#include "compile/cache.h"

typedef struct bundled {
    binary code; // the caller's, to be released
    char key[65], compiler[96], target[TARGET_BYTES];
} bundled;

// Adds a file; its records are found before those of the files added earlier. *count: the records
// that this machine may use. CUBC_IO_ERROR: it is not there, not to be trusted, or no bundle.
cubc_status bundle_use(const char *path, int *count);
// Adds the files of CUBC_BUNDLE, separated as in PATH, once in a process.
cubc_status bundle_use_variable(void);
bool bundle_in_use(void); // any file of bundle_use

// The code of a source, for this machine; false: no bundle has it.
bool bundle_get(const compile_request *request, bundled *out);
// The same of the kernels that came compiled with cubc, `cpu.cubc` in the folder of kernels.
bool bundle_get_shipped(const compile_request *request, bundled *out);
bool bundle_is_shipped(void);

// A bundle in memory, which came from another process or is for one. It is believed as records of a
// file are: for their keys, if they are whole.
typedef struct bundle_memory {
    const void *records;
    size_t bytes;
    text *more; // gets what is compiled and is not among the records; NULL: nothing does
} bundle_memory;

// The code of a key among the records; what is behind a record that is not whole is not there.
bool bundle_find(const bundle_memory *memory, const char key[65], binary *code);
// Adds code to `more` as a record.
void bundle_append(const bundle_memory *memory, const char *arch, const bundled *one);

// Writes code as a file of one record into the folder CUBC_BUNDLE_TO, if there is that variable.
void bundle_keep(const char *arch, const bundled *one);

#endif
