// The calls that a process makes while they are recorded: which, how often, and for how long.
//
// Calls are one where they run the same code at the same place on the run-time axes. No data are
// kept. The first calls of each kind are timed by a pair of events on their stream, and then ever
// fewer: eight in each doubling of their number, so that recording costs little where calls are
// many.
#ifndef CUBC_RECORDED_CALLS_H
#define CUBC_RECORDED_CALLS_H

#include "run/algorithm.h"

enum { CALL_TIMES = 256 }; // kept of calls that are one: enough for 2^32 of them

// A work that is called. Texts are borrowed, and copied where the call is the first of its kind.
typedef struct call_work {
    uint64_t code;       // serial_number() of the code
    const void *part;    // of the code: a kernel of several; or NULL
    const char *name;    // benchmark, or kernel of a user
    const char *type;    // of its items; "" of a kernel
    const char *variant; // label; "" of a kernel
    const char *const *axes;
    uint64_t place[POLICY_AXES];
    double bytes; // compulsory traffic; 0: not known
} call_work;

// A primitive's; it points into both.
call_work call_work_of(const problem *p, const instance *i);

// Calls that are one.
typedef struct recorded_call {
    char name[64], type[16], variant[MAX_LABEL], axes[POLICY_AXES][16];
    uint64_t place[POLICY_AXES];
    double bytes;
    device_info device;
    uint64_t count;
    float seconds[CALL_TIMES]; // of those that were timed
    int timed;
} recorded_call;

// A call under way.
typedef struct call_timer {
    struct call_sample *sample; // NULL: it is not timed
    cubc_device *device;
    void *stream;
} call_timer;

// Calls that are queued once and replayed: see calls_replayed.
typedef struct call_round {
    unsigned recording;
    struct recorded_entry **entries;
    size_t count, room;
} call_round;

// Records all calls from now on. CUBC_INVALID_ARGUMENT if they are recorded already.
cubc_status calls_record(void);
// Waits for what is timed and gives the calls, most time first. They are freed with mem_free.
// *lost: the calls of kinds beyond the 65 536 that are told apart.
cubc_status calls_end(recorded_call **out, size_t *count, uint64_t *lost);
// Forgets all; in a forked child, which has no devices.
void calls_forget(void);
bool calls_are_recorded(void);

// Around the queueing of a call. The work's fields are only read between the two.
void calls_begin(cubc_device *device, const call_work *work, void *stream, call_timer *out);
void calls_queued(call_timer *timer, cubc_status queued);

// The calls of this thread from here to calls_round_end are listed instead of counted, and counted
// with each replay.
void calls_round_begin(call_round *round);
void calls_round_end(void);
void calls_replayed(const call_round *round);
void calls_round_free(call_round *round);

#endif
