// The cache of freed blocks (csrc/device/cuda/block_cache.c), without a GPU: pointers are numbers.
#include "check.h"
#include "device/cuda/block_cache.h"

enum { STREAM = 7, OTHER = 8, MANY = 20000 };

static void *block(uintptr_t number)
{
    return (void *)(number << 8);
} // as aligned as a GPU's

// Frees a block that is new to the cache.
static bool give(block_cache *c, uint64_t stream, uintptr_t number, size_t bytes)
{
    block_cache_lend(c, block(number), bytes);
    return block_cache_keep(c, stream, block(number));
}

static void test_room(void)
{
    size_t before = 0;
    for (size_t bytes = 1; bytes <= BLOCK_CACHE_LARGEST; bytes += bytes / 9 + 1) {
        size_t room = block_cache_room(bytes);
        CHECK(room >= bytes && room % 64 == 0 && room >= before);
        CHECK(room == 256 || room - bytes <= bytes / 4);
        CHECK(block_cache_room(room) == room);
        before = room;
    }
    CHECK(block_cache_room(BLOCK_CACHE_LARGEST) == BLOCK_CACHE_LARGEST);
    CHECK(block_cache_room(BLOCK_CACHE_LARGEST + 1) == BLOCK_CACHE_LARGEST + 1);
    CHECK(block_cache_room(SIZE_MAX) == SIZE_MAX);
}

static void test_a_block_serves_its_size_and_stream(void)
{
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    CHECK(block_cache_take(c, STREAM, 1000) == NULL);
    CHECK(give(c, STREAM, 1, 1000));
    CHECK(block_cache_take(c, OTHER, 1000) == NULL);
    CHECK(block_cache_take(c, STREAM, 2000) == NULL);
    CHECK(block_cache_take(c, STREAM, block_cache_room(1000)) == block(1));
    CHECK(block_cache_take(c, STREAM, 1000) == NULL);
    CHECK(block_cache_keep(c, OTHER, block(1))); // another stream's from now on
    CHECK(block_cache_take(c, STREAM, 1000) == NULL && block_cache_take(c, OTHER, 1) == NULL);
    CHECK(block_cache_take(c, OTHER, 1000) == block(1));
    block_cache_close(c);
}

static void test_strange_and_large_blocks_are_their_callers(void)
{
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    CHECK(!block_cache_keep(c, STREAM, block(3)));
    CHECK(!give(c, STREAM, 4, BLOCK_CACHE_LARGEST + 1));
    block_cache_lend(c, block(5), 64);
    block_cache_forget(c, block(5));
    CHECK(!block_cache_keep(c, STREAM, block(5)));
    CHECK(block_cache_give_up_any(c) == NULL);
    block_cache_close(c);
}

static void test_limits(void)
{
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    for (int k = 0; k < BLOCK_CACHE_DEPTH; k++) CHECK(give(c, STREAM, 1 + (unsigned)k, 512));
    CHECK(!give(c, STREAM, 100, 512));
    int large = 0;
    while (give(c, OTHER, 200 + (unsigned)large, BLOCK_CACHE_LARGEST)) large++;
    CHECK(large == BLOCK_CACHE_KEPT / BLOCK_CACHE_LARGEST);
    for (uint64_t s = 0; s < BLOCK_CACHE_STREAMS - 2; s++) CHECK(give(c, 1000 + s, 300 + s, 64));
    CHECK(!give(c, 2000, 400, 64)); // a stream too many
    CHECK(block_cache_give_up(c, 2000) == NULL);
    CHECK(block_cache_give_up(c, OTHER) != NULL);
    int left = 0;
    while (block_cache_give_up_any(c)) left++;
    CHECK(left == BLOCK_CACHE_DEPTH + large - 1 + BLOCK_CACHE_STREAMS - 2);
    CHECK(!block_cache_keep(c, STREAM, block(1))); // it was given up
    block_cache_close(c);
}

static void test_streams_that_end_make_room(void)
{
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    for (uint64_t s = 0; s < 10 * BLOCK_CACHE_STREAMS; s++) {
        CHECK(give(c, s, 1 + s, 64));
        block_cache_end_stream(c, s); // it has a block yet, and stays
        CHECK(block_cache_give_up(c, s) == block(1 + s));
        block_cache_end_stream(c, s);
        block_cache_end_stream(c, s);
    }
    block_cache_close(c);
}

static void test_streams_share_a_limit(void)
{
    block_cache *c;
    uintptr_t number = 0;
    size_t bytes = 0;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    for (uint64_t s = 0; s < BLOCK_CACHE_STREAMS; s++)
        while (give(c, s, ++number, BLOCK_CACHE_LARGEST)) bytes += BLOCK_CACHE_LARGEST;
    CHECK(bytes == BLOCK_CACHE_ALL);
    CHECK(block_cache_take(c, 0, BLOCK_CACHE_LARGEST) != NULL);
    CHECK(give(c, BLOCK_CACHE_STREAMS - 1, ++number, BLOCK_CACHE_LARGEST));
    block_cache_close(c);
}

// Pointers that hash alike, in and out in another order than they came.
static void test_many_blocks(void)
{
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    for (uintptr_t k = 1; k <= MANY; k++) block_cache_lend(c, block(k << 12), 64 + k % 4096);
    for (uintptr_t k = 1; k <= MANY; k += 3) block_cache_forget(c, block(k << 12));
    for (uintptr_t k = 1; k <= MANY; k++) {
        size_t bytes = 64 + k % 4096;
        bool kept = block_cache_keep(c, STREAM, block(k << 12));
        CHECK(kept == (k % 3 != 1));
        if (kept) CHECK(block_cache_take(c, STREAM, bytes) == block(k << 12));
    }
    block_cache_close(c);
}

static void test_allocations_fail(void)
{
    long before = mem_outstanding();
    for (int k = 1; k <= 2; k++) {
        block_cache *c;
        mem_fail_at(k);
        CHECK_STATUS(block_cache_open(&c), CUBC_NO_MEMORY);
        CHECK(c == NULL);
    }
    mem_fail_at(0);
    block_cache *c;
    CHECK_STATUS(block_cache_open(&c), CUBC_OK);
    block_cache_lend(c, block(1), 64);
    mem_fail_at(1);
    CHECK(!block_cache_keep(c, STREAM, block(1)));
    mem_fail_at(0);
    for (uintptr_t k = 1; k <= 128; k++) block_cache_lend(c, block(k), 64);
    mem_fail_at(1);
    block_cache_lend(c, block(129), 64); // the table cannot grow
    mem_fail_at(0);
    CHECK(!block_cache_keep(c, STREAM, block(129)) && block_cache_keep(c, STREAM, block(128)));
    block_cache_close(c);
    CHECK(mem_outstanding() == before);
}

static const check_test tests[] = {
    {"room", test_room},
    {"a block serves its size and stream", test_a_block_serves_its_size_and_stream},
    {"strange and large blocks are their callers'",
     test_strange_and_large_blocks_are_their_callers},
    {"limits", test_limits},
    {"streams that end make room", test_streams_that_end_make_room},
    {"streams share a limit", test_streams_share_a_limit},
    {"many blocks", test_many_blocks},
    {"allocations fail", test_allocations_fail},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
