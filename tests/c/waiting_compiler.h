// A compiler of the cpu that waits for a file, so that whoever calls it looks for interrupts first.
#ifndef WAITING_COMPILER_H
#define WAITING_COMPILER_H

#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct waiting_compiler {
    char folder[32], script[48], file[48];
} waiting_compiler;

// Makes it the compiler of CUBC_CXX.
static inline void waiting_compiler_make(waiting_compiler *c)
{
    snprintf(c->folder, sizeof c->folder, "/tmp/cubc-waiting-XXXXXX");
    if (!CHECK(mkdtemp(c->folder) != NULL)) return;
    snprintf(c->script, sizeof c->script, "%s/c++", c->folder);
    snprintf(c->file, sizeof c->file, "%s/go", c->folder);
    FILE *script = fopen(c->script, "w");
    if (!CHECK(script != NULL)) return;
    fprintf(script, "#!/bin/sh\nuntil [ -e %s ]; do sleep 0.02; done\nexec c++ \"$@\"\n", c->file);
    fclose(script);
    chmod(c->script, 0700);
    setenv("CUBC_CXX", c->script, 1);
}

static inline void waiting_compiler_let_go(const waiting_compiler *c)
{
    FILE *file = fopen(c->file, "w");
    if (CHECK(file != NULL)) fclose(file);
}

static inline void waiting_compiler_wait_again(const waiting_compiler *c)
{
    unlink(c->file);
}

static inline void waiting_compiler_remove(const waiting_compiler *c)
{
    unsetenv("CUBC_CXX");
    unlink(c->file);
    unlink(c->script);
    CHECK(rmdir(c->folder) == 0);
}

#endif
