// What store.c (rows in) and store_read.c (rows out) share: the store itself, and how samples lie
// in the file.
#ifndef CUBC_STORE_INNER_H
#define CUBC_STORE_INNER_H

#include "store.h"
#include "store_schema.h"

#include <pthread.h>

struct store {
    pthread_mutex_t mutex;
    sql *db;
    bool writable;
    int64_t device_id, environment_id; // 0: not set; -1: this store (open for reading) has none
};

// Samples and clocks are positive and finite.
bool store_are_positive(const float *values, size_t count);
// Median; NaN of none.
cubc_status store_center(const float *samples, size_t count, double *center);
// Little-endian float32, whatever the host is. `to` has 4 * count bytes.
void store_encode(const float *values, size_t count, uint8_t *to);
void store_decode(const uint8_t *data, size_t count, float *to);

#endif
