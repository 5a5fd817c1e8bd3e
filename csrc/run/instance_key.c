// The compile-time part of a problem as the key of an instance: see instance_key.h.
#include "run/instance_key.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t flags(const problem *p)
{
    return (uint64_t)p->type | (uint64_t)p->acc_type << 8 | (uint64_t)p->commutative << 24 |
           (uint64_t)p->inclusive << 25 | (uint64_t)p->aligned << 26 | (uint64_t)p->in_place << 27 |
           (uint64_t)p->descending << 28 | (uint64_t)p->wide << 29 |
           (uint64_t)p->init_in_memory << 30 | (uint64_t)p->checked << 31 |
           (uint64_t)p->input_count << 32 | (uint64_t)p->output_count << 40 |
           (uint64_t)p->operand_count << 48 | (uint64_t)p->lazy_count << 56;
}

static uint64_t operand_flags(const operand *o)
{
    return (uint64_t)o->type | (uint64_t)o->width << 8 | (uint64_t)o->scalar << 16 |
           (uint64_t)o->table << 17 | (uint64_t)o->lazy << 24 | (uint64_t)o->axes << 32;
}

static uint64_t lazy_flags(const lazy_input *l)
{
    return (uint64_t)l->first | (uint64_t)l->count << 8 | (uint64_t)l->rank << 16 |
           (uint64_t)l->rows << 24;
}

static uint64_t mix_operand(uint64_t h, const operand *o)
{
    return mix(h, operand_flags(o) + (o->name ? hash64(o->name, strlen(o->name)) : 0));
}

static uint64_t mix_traits(uint64_t h, const problem *p)
{
    uint64_t words[sizeof p->traits / sizeof(uint64_t)];
    memcpy(words, p->traits, sizeof words);
    for (size_t k = 0; k < COUNT_OF(words); k++) h = mix(h, words[k]);
    return h;
}

uint64_t instance_key_hash(const problem *p)
{
    uint64_t h = mix((uintptr_t)p->algorithm, flags(p));
    h = mix(h, hash64(p->benchmark, strlen(p->benchmark)));
    h = mix_traits(h, p);
    h = mix(h, (uintptr_t)p->op);
    if (p->expression) h = mix(h, hash64(p->expression, strlen(p->expression)));
    for (int k = 0; k < p->text_count; k++)
        h = mix(h, p->texts[k] ? hash64(p->texts[k], strlen(p->texts[k])) : 0);
    for (int k = 0; k < p->input_count; k++) h = mix_operand(h, &p->inputs[k]);
    for (int k = 0; k < p->operand_count; k++) h = mix_operand(h, &p->operands[k]);
    for (int k = 0; k < p->lazy_count; k++) {
        const lazy_input *l = &p->lazy[k];
        h = mix(h, lazy_flags(l) + hash64(l->expression, strlen(l->expression)));
    }
    for (int k = 0; k < p->output_count; k++) h = mix(h, operand_flags(&p->outputs[k]));
    return h;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_operand(const operand *a, const operand *b)
{
    return operand_flags(a) == operand_flags(b) && same_text(a->name, b->name);
}

bool instance_key_equal(const problem *a, const problem *b)
{
    if (a->algorithm != b->algorithm || flags(a) != flags(b) || a->op != b->op ||
        strcmp(a->benchmark, b->benchmark) != 0 ||
        memcmp(a->traits, b->traits, sizeof a->traits) != 0 ||
        !same_text(a->expression, b->expression) || a->text_count != b->text_count)
        return false;
    for (int k = 0; k < a->text_count; k++)
        if (!same_text(a->texts[k], b->texts[k])) return false;
    for (int k = 0; k < a->input_count; k++)
        if (!same_operand(&a->inputs[k], &b->inputs[k])) return false;
    for (int k = 0; k < a->operand_count; k++)
        if (!same_operand(&a->operands[k], &b->operands[k])) return false;
    for (int k = 0; k < a->lazy_count; k++)
        if (lazy_flags(&a->lazy[k]) != lazy_flags(&b->lazy[k]) ||
            strcmp(a->lazy[k].expression, b->lazy[k].expression) != 0)
            return false;
    for (int k = 0; k < a->output_count; k++)
        if (!same_operand(&a->outputs[k], &b->outputs[k])) return false;
    return true;
}

void instance_key_free(problem *key)
{
    for (int k = 0; k < key->input_count; k++) mem_free((char *)key->inputs[k].name);
    for (int k = 0; k < key->operand_count; k++) mem_free((char *)key->operands[k].name);
    for (int k = 0; k < key->lazy_count; k++) mem_free((char *)key->lazy[k].expression);
    for (int k = 0; k < key->text_count; k++) mem_free((char *)key->texts[k]);
    mem_free((char *)key->expression);
}

// A text of the key becomes its own; after a failure there are none.
static void own_text(const char **text, cubc_status *st)
{
    if (!*text) return;
    *text = *st ? NULL : mem_strdup(*text);
    if (!*text) *st = CUBC_NO_MEMORY;
}

cubc_status instance_key_copy(const problem *p, problem *out)
{
    cubc_status st = CUBC_OK;
    *out = *p;
    own_text(&out->expression, &st);
    for (int k = 0; k < p->text_count; k++) own_text(&out->texts[k], &st);
    for (int k = 0; k < p->input_count; k++) {
        out->inputs[k].data = NULL;
        own_text(&out->inputs[k].name, &st);
    }
    for (int k = 0; k < p->operand_count; k++) {
        out->operands[k].data = NULL;
        own_text(&out->operands[k].name, &st);
    }
    for (int k = 0; k < p->lazy_count; k++) own_text(&out->lazy[k].expression, &st);
    for (int k = 0; k < p->output_count; k++) out->outputs[k].data = NULL;
    return st;
}
