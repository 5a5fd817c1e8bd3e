// A library that NVTX loads in place of a profiler (NVTX_INJECTION64_PATH): it writes the ranges of
// all domains to the file SEEN, "> name" where one begins and "<" where it ends.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLBACKS = 1, DOMAINS = 5, PUSH = 4, POP = 5, REGISTER_STRING = 10 };

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type; // 1: a text, 3: what `keep` returned
    const char *message;
};

struct callbacks {
    size_t size;
    int (*table)(int module, void ****out, unsigned *count);
};

static FILE *seen;

static int push(void *domain, const struct attributes *a)
{
    (void)domain;
    int is_text = a->message_type == 1 || a->message_type == 3;
    fprintf(seen, "> %s\n", is_text ? a->message : "?");
    fflush(seen);
    return 0;
}

static int pop(void *domain)
{
    (void)domain;
    fputs("<\n", seen);
    fflush(seen);
    return 0;
}

static const char *keep(void *domain, const char *text)
{
    (void)domain;
    return strdup(text);
}

int InitializeInjectionNvtx2(const void *(*export)(uint32_t));
int InitializeInjectionNvtx2(const void *(*export)(uint32_t))
{
    const struct callbacks *all = export(CALLBACKS);
    void ***table;
    unsigned count;
    seen = fopen(getenv("SEEN"), "ae");
    if (!seen || !all || !all->table(DOMAINS, &table, &count) || count <= REGISTER_STRING) return 0;
    *table[PUSH] = (void *)push;
    *table[POP] = (void *)pop;
    *table[REGISTER_STRING] = (void *)keep;
    return 1;
}
