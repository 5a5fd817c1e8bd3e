// Compiled variants on disk, so that a variant is compiled once a machine and not once a process.
//
// A cache never fails a call. When its folder cannot be used, or a file is damaged, or the disk is
// full, the caller compiles as if there were no cache; cache_why says what is wrong, for a warning.
//
// A cached file is code that will run, so it is believed only under two conditions. It lies in a
// folder, and is a file, that nobody but this user can write; and it is what was put there: the
// caller's key (the hash of source, options, architecture and compiler) and the hash of the
// contents are inside.
//
// Every function may be called from any thread, and from any number of processes at once.
#ifndef CUBC_CACHE_H
#define CUBC_CACHE_H

#include "device/device.h"

// CUBC_CACHE, else $XDG_CACHE_HOME/cubc, else ~/.cache/cubc; created on the first call of the
// process, which also decides for its lifetime. NULL: the cache is off.
const char *cache_folder(void);
// Why the cache is off, in a sentence; NULL while it is on.
const char *cache_why(void);

// The key of a source compiled for an architecture: a hash of all that decides about the code.
void cache_key(const char *arch, const char *compiler, const char *source, char key[65]);

// Keys are SHA-256 in lower-case hexadecimal (sha256_hex). True on a hit: *out is then the
// caller's, to be released with mem_free(out->data).
bool cache_get(const char key[65], binary *out);
// Keeps a copy. Now and then it also removes the entries that were used least recently, so that the
// folder stays near CUBC_CACHE_MAX_MB (1024 by default).
void cache_put(const char key[65], const binary *code);
// Removes an entry that is intact but does not load.
void cache_remove(const char key[65]);

// A descriptor of a file of the folder that is no entry, made if there is none; -1 if the cache is
// off or another user could write to the file. The caller closes it.
int cache_open_file(const char *name);

#endif
