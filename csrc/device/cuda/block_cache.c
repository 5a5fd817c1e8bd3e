// The cache of freed blocks: see block_cache.h.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/block_cache.h"

#include <pthread.h>

enum {
    LEAST_LOG2 = 8, // 256 bytes, which is what a driver's pool hands out at least
    STEPS = 4,      // sizes an octave
    OCTAVES = 15,   // to 8 MiB
    SIZES = STEPS * OCTAVES + 1,
    FIRST_SLOTS = 256,
    NOT_FOUND = -1,
};

// A block that came from the driver, whether a caller has it or a stream keeps it.
typedef struct slot {
    void *pointer; // NULL: free
    unsigned char size;
} slot;

typedef struct kept_blocks {
    uint64_t stream;
    size_t bytes;
    unsigned char count[SIZES];
    void *blocks[SIZES][BLOCK_CACHE_DEPTH];
} kept_blocks;

struct block_cache {
    pthread_mutex_t lock;
    slot *slots; // open addressing, a power of two of them, at most half of them full
    size_t slot_count, used;
    kept_blocks *streams[BLOCK_CACHE_STREAMS];
    int stream_count;
    size_t bytes; // that all streams keep
};

// ---- sizes --------------------------------------------------------------------------------------
static size_t bytes_of_size(int size)
{
    return ((size_t)1 << LEAST_LOG2) / STEPS * (size_t)(STEPS + size % STEPS) << size / STEPS;
}

// Returns the number of the least size that holds so many bytes, or SIZES.
static int size_of(size_t bytes)
{
    int size = 0;
    if (bytes > BLOCK_CACHE_LARGEST) return SIZES;
    while (bytes_of_size(size + STEPS) < bytes) size += STEPS; // an octave at a time
    while (bytes_of_size(size) < bytes) size++;
    return size;
}

size_t block_cache_room(size_t bytes)
{
    int size = size_of(bytes);
    return size < SIZES ? bytes_of_size(size) : bytes;
}

// ---- the table of blocks, with the lock ---------------------------------------------------------
static size_t home_of(const block_cache *c, const void *pointer)
{
    uint64_t key = (uint64_t)(uintptr_t)pointer >> LEAST_LOG2;
    return (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (c->slot_count - 1);
}

// Returns the slot of a pointer, or the free one where it would be.
static size_t slot_of(const block_cache *c, const void *pointer)
{
    size_t k = home_of(c, pointer);
    while (c->slots[k].pointer && c->slots[k].pointer != pointer) k = (k + 1) & (c->slot_count - 1);
    return k;
}

static void insert(block_cache *c, void *pointer, unsigned char size)
{
    size_t k = slot_of(c, pointer);
    c->used += !c->slots[k].pointer;
    c->slots[k] = (slot){pointer, size};
}

static bool grow(block_cache *c)
{
    slot *old = c->slots;
    size_t count = c->slot_count;
    slot *more = mem_zalloc(2 * count, sizeof *more);
    if (!more) return false;
    c->slots = more;
    c->slot_count = 2 * count;
    c->used = 0;
    for (size_t k = 0; k < count; k++)
        if (old[k].pointer) insert(c, old[k].pointer, old[k].size);
    mem_free(old);
    return true;
}

// Takes a pointer out. Those that lie behind it and belong before are moved up, so that no search
// ends too early.
static void take_out(block_cache *c, size_t k)
{
    size_t mask = c->slot_count - 1;
    for (size_t next = (k + 1) & mask; c->slots[next].pointer; next = (next + 1) & mask) {
        size_t home = home_of(c, c->slots[next].pointer);
        if (((next - home) & mask) < ((next - k) & mask)) continue;
        c->slots[k] = c->slots[next];
        k = next;
    }
    c->slots[k] = (slot){NULL, 0};
    c->used--;
}

static void forget(block_cache *c, const void *pointer)
{
    size_t k = slot_of(c, pointer);
    if (c->slots[k].pointer) take_out(c, k);
}

// Returns the number of a block's size, or NOT_FOUND.
static int known_size(const block_cache *c, const void *pointer)
{
    const slot *s = &c->slots[slot_of(c, pointer)];
    return s->pointer ? s->size : NOT_FOUND;
}

// ---- the blocks of a stream, with the lock ------------------------------------------------------
static kept_blocks *blocks_of(const block_cache *c, uint64_t stream)
{
    for (int k = 0; k < c->stream_count; k++)
        if (c->streams[k]->stream == stream) return c->streams[k];
    return NULL;
}

// Returns NULL if there are too many streams, or no memory.
static kept_blocks *blocks_of_new(block_cache *c, uint64_t stream)
{
    if (c->stream_count == BLOCK_CACHE_STREAMS) return NULL;
    kept_blocks *made = mem_zalloc(1, sizeof *made);
    if (!made) return NULL;
    made->stream = stream;
    return c->streams[c->stream_count++] = made;
}

static void *pop(block_cache *c, kept_blocks *of, int size)
{
    if (!of->count[size]) return NULL;
    of->bytes -= bytes_of_size(size);
    c->bytes -= bytes_of_size(size);
    return of->blocks[size][--of->count[size]];
}

static bool push(block_cache *c, kept_blocks *of, int size, void *pointer)
{
    size_t bytes = bytes_of_size(size);
    if (of->count[size] == BLOCK_CACHE_DEPTH || of->bytes + bytes > BLOCK_CACHE_KEPT ||
        c->bytes + bytes > BLOCK_CACHE_ALL)
        return false;
    of->bytes += bytes;
    c->bytes += bytes;
    of->blocks[size][of->count[size]++] = pointer;
    return true;
}

static void *give_up(block_cache *c, kept_blocks *of)
{
    for (int size = SIZES - 1; of && size >= 0; size--) {
        void *pointer = pop(c, of, size);
        if (!pointer) continue;
        forget(c, pointer);
        return pointer;
    }
    return NULL;
}

// ---- calls --------------------------------------------------------------------------------------
cubc_status block_cache_open(block_cache **out)
{
    block_cache *c = *out = mem_zalloc(1, sizeof *c);
    if (!c) return CUBC_NO_MEMORY;
    c->slot_count = FIRST_SLOTS;
    c->slots = mem_zalloc(c->slot_count, sizeof *c->slots);
    if (!c->slots) {
        mem_free(c);
        *out = NULL;
        return CUBC_NO_MEMORY;
    }
    pthread_mutex_init(&c->lock, NULL);
    return CUBC_OK;
}

void block_cache_close(block_cache *c)
{
    if (!c) return;
    for (int k = 0; k < c->stream_count; k++) mem_free(c->streams[k]);
    mem_free(c->slots);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

void *block_cache_take(block_cache *c, uint64_t stream, size_t bytes)
{
    int size = size_of(bytes);
    if (size == SIZES) return NULL;
    pthread_mutex_lock(&c->lock);
    kept_blocks *of = blocks_of(c, stream);
    void *pointer = of ? pop(c, of, size) : NULL;
    pthread_mutex_unlock(&c->lock);
    return pointer;
}

void block_cache_lend(block_cache *c, void *pointer, size_t bytes)
{
    int size = size_of(bytes);
    if (size == SIZES) return;
    pthread_mutex_lock(&c->lock);
    if (2 * (c->used + 1) <= c->slot_count || grow(c)) insert(c, pointer, (unsigned char)size);
    pthread_mutex_unlock(&c->lock);
}

bool block_cache_keep(block_cache *c, uint64_t stream, void *pointer)
{
    pthread_mutex_lock(&c->lock);
    int size = known_size(c, pointer);
    kept_blocks *of = size == NOT_FOUND ? NULL : blocks_of(c, stream);
    if (!of && size != NOT_FOUND) of = blocks_of_new(c, stream);
    bool kept = of && push(c, of, size, pointer);
    if (!kept) forget(c, pointer);
    pthread_mutex_unlock(&c->lock);
    return kept;
}

void block_cache_forget(block_cache *c, void *pointer)
{
    pthread_mutex_lock(&c->lock);
    forget(c, pointer);
    pthread_mutex_unlock(&c->lock);
}

void *block_cache_give_up(block_cache *c, uint64_t stream)
{
    pthread_mutex_lock(&c->lock);
    void *pointer = give_up(c, blocks_of(c, stream));
    pthread_mutex_unlock(&c->lock);
    return pointer;
}

void *block_cache_give_up_any(block_cache *c)
{
    void *pointer = NULL;
    pthread_mutex_lock(&c->lock);
    for (int k = 0; k < c->stream_count && !pointer; k++) pointer = give_up(c, c->streams[k]);
    pthread_mutex_unlock(&c->lock);
    return pointer;
}

void block_cache_end_stream(block_cache *c, uint64_t stream)
{
    pthread_mutex_lock(&c->lock);
    for (int k = 0; k < c->stream_count; k++) {
        if (c->streams[k]->stream != stream || c->streams[k]->bytes) continue;
        mem_free(c->streams[k]);
        c->streams[k] = c->streams[--c->stream_count];
    }
    pthread_mutex_unlock(&c->lock);
}
