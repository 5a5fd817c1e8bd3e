// Blocks of a GPU's memory that were freed in the order of a stream, kept for the next allocation
// in that order: results of calls without `out`, which programs drop as soon as they are read.
//
// An allocation from the driver's pool and its release take a microsecond of the stream's time and
// half of one of the caller's. Here both are a look at a table. The rule is the pool's: what is
// allocated in the order of the stream that freed it may be written by all later work of that
// stream.
//
// The cache calls no driver. Its blocks have sizes of four steps an octave, so that one of an
// earlier size serves; greater blocks than BLOCK_CACHE_LARGEST are not kept, as calls that need
// them take far longer. Nobody tells when a stream of another library is gone, so what is kept is
// bounded: blocks of BLOCK_CACHE_STREAMS streams, no more than BLOCK_CACHE_KEPT bytes of one and
// BLOCK_CACHE_ALL of all.
//
// Any thread may call. Pointers are those of one device.
#ifndef CUBC_BLOCK_CACHE_H
#define CUBC_BLOCK_CACHE_H

#include "base/base.h"

enum {
    BLOCK_CACHE_LARGEST = 8 << 20,
    BLOCK_CACHE_KEPT = 32 << 20,
    BLOCK_CACHE_ALL = 128 << 20,
    BLOCK_CACHE_STREAMS = 32,
    BLOCK_CACHE_DEPTH = 8, // blocks of one size that a stream keeps
};

typedef struct block_cache block_cache;

cubc_status block_cache_open(block_cache **out);
void block_cache_close(block_cache *cache); // after the last block was freed; NULL: nothing

// Returns how many bytes to allocate for a block of so many: as many, or up to a quarter more, and
// no fewer than 256.
size_t block_cache_room(size_t bytes);
// Returns a block that the stream keeps, or NULL.
void *block_cache_take(block_cache *cache, uint64_t stream, size_t bytes);
// Remembers a new block of block_cache_room(bytes), for when it is freed. Without memory to
// remember it the block is not kept then.
void block_cache_lend(block_cache *cache, void *pointer, size_t bytes);
// Keeps a block that is freed in the order of the stream. False: the caller frees it.
bool block_cache_keep(block_cache *cache, uint64_t stream, void *pointer);
// Forgets a block that its caller frees.
void block_cache_forget(block_cache *cache, void *pointer);
// Gives up a block that the stream keeps, for the caller to free; NULL: it keeps none.
void *block_cache_give_up(block_cache *cache, uint64_t stream);
// The same of any stream.
void *block_cache_give_up_any(block_cache *cache);
// Gives the place of a stream that ends, and has given up its blocks, to another.
void block_cache_end_stream(block_cache *cache, uint64_t stream);

#endif
