// CUBC_CHECK=1: indices of arrays that expressions index are looked at before a call.
#ifndef CUBC_INDEX_CHECK_H
#define CUBC_INDEX_CHECK_H

#include "run/problem.h"

// Fails with CUBC_OUT_OF_BOUNDS if an expression of the problem indexes an array beyond its ends
// for one of its items. It waits for the stream. Without CUBC_CHECK, within the capture of a graph
// and for expressions that index nothing it does nothing.
cubc_status index_check(cubc_device *device, const problem *p, void *stream);

#endif
