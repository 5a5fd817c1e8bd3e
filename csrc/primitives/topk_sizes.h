// Sizes that the descriptors of topk and segmented_topk share with their kernels
// (kernels/primitives/topk_pool.h), which take them from here as macros.
#ifndef CUBC_TOPK_SIZES_H
#define CUBC_TOPK_SIZES_H

#include "base/base.h"

enum {
    TOPK_POOL = 8192,             // keys of a block
    TOPK_SMALL_POOL = 4096,       // the same of more than 4 bytes where a block has less
    TOPK_POOL_BYTES = 96 * 1024,  // shared memory than this
    TOPK_MOST = 2048,             // keys to select in order
    TOPK_MOST_LONG = 7936,        // the same on a long list, for which
    TOPK_LONG_BYTES = 200 * 1024, // a block has this much shared memory
    TOPK_CROWD = 256              // keys of a range that is not cut any further
};

// Bytes of a list of selected items.
static inline uint64_t topk_listed_bytes(int most)
{
    return 20 * (uint64_t)(most + TOPK_CROWD);
}

static inline void topk_sizes_define(int most, text *out)
{
    text_printf(out,
                "#define TUNE_POOL %d\n#define TUNE_SMALL_POOL %d\n#define TUNE_POOL_BYTES %d\n"
                "#define TUNE_MOST %d\n#define TUNE_CROWD %d\n#define TUNE_LISTED_BYTES %d\n",
                TOPK_POOL, TOPK_SMALL_POOL, TOPK_POOL_BYTES, most, TOPK_CROWD,
                (int)topk_listed_bytes(most));
}

#endif
