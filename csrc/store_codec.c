// How samples lie in a store's file: little-endian float32, and their median beside them.
#include "store_inner.h"

#include "stats.h"

#include <math.h>
#include <string.h>

bool store_are_positive(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0.0f && values[i] < INFINITY)) return false;
    return true;
}

cubc_status store_center(const float *samples, size_t count, double *center)
{
    *center = NAN;
    return count ? stats_median(samples, count, center) : CUBC_OK;
}

void store_encode(const float *values, size_t count, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        for (int b = 0; b < 4; b++) *to++ = (uint8_t)(word >> 8 * b);
    }
}

void store_decode(const uint8_t *data, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++, data += 4) {
        uint32_t word = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                        (uint32_t)data[3] << 24;
        memcpy(&to[i], &word, sizeof word);
    }
}
