// The calls that a process makes while they are recorded: which, how often, and for how long.
//
// Calls are of one kind if they run the same code at the same values on the run-time axes. No data
// are kept. If it is asked for, the keys of the 1st, 2nd, 4th, 8th ... call of a kind are sketched,
// and the statistics of a sketch are further axes of the calls up to the next one. The first calls
// of each kind are timed by a pair of events on their stream, and then ever fewer: eight in each
// doubling of their number, so that recording many calls costs little.
//
// Calls share a lock. Readers of the counts (calls_after, calls_settle) take none, so that no call
// waits for a reader.
#ifndef CUBC_RECORDED_CALLS_H
#define CUBC_RECORDED_CALLS_H

#include "run/keys.h"

#include <stdatomic.h>

enum { CALL_TIMES = 256 }; // kept of calls that are one: enough for 2^32 of them

// A work that is called. Texts are borrowed, and copied where the call is the first of its kind.
typedef struct call_work {
    uint64_t code;       // serial_number() of the code
    const void *part;    // of the code: a kernel of several; or NULL
    const char *name;    // benchmark, or kernel of a user
    const char *type;    // of its items; "" of a kernel
    const char *variant; // label; "" of a kernel
    const char *const *axes;
    uint64_t axis_values[POLICY_AXES];
    double bytes; // compulsory traffic; 0: not known
    keys_place keys;
} call_work;

// A primitive's; it points into both.
call_work call_work_of(const problem *p, const instance *i);

// Calls that are one: of the same texts at the same values, whatever code they ran.
enum { RECORDED_AXES = POLICY_AXES + KEY_AXES };
typedef struct recorded_call {
    char name[64], type[24], variant[MAX_LABEL], axes[RECORDED_AXES][16];
    uint64_t axis_values[RECORDED_AXES];
    double bytes;
    device_info device;
    _Atomic uint64_t count;               // of those that ran
    atomic_int timed;                     // more than CALL_TIMES: the others were dropped
    _Atomic float seconds[CALL_TIMES];    // 0: it is not there yet
    _Atomic(struct recorded_call *) next; // that was made first after this one
    struct recorded_call *same_hash;
} recorded_call;

// A call under way.
typedef struct call_timer {
    recorded_call *call; // NULL: it is not recorded
    unsigned recording;
    struct call_sample *sample; // NULL: it is not timed
    cubc_device *device;
    void *stream;
} call_timer;

// Calls that are queued once and replayed: see calls_replayed.
typedef struct call_round {
    unsigned recording;
    recorded_call **calls;
    size_t count, room;
} call_round;

// Records all calls from now on. CUBC_INVALID_ARGUMENT if they are recorded already. keys: with
// sketches, each of which waits for the stream.
cubc_status calls_record(bool keys);
bool calls_are_recorded(void);
// Takes in the times of calls that are over. wait: of all, waiting for them.
void calls_settle(bool wait);
// The calls of the recording in the order in which they were made first: NULL gives the first, the
// last gives NULL. They are valid until calls_forget.
recorded_call *calls_after(const recorded_call *call);
// The calls of kinds beyond the 65 536 that are told apart.
uint64_t calls_beyond(void);
// No more calls are recorded; those that were are there until calls_forget.
void calls_stop(void);
void calls_forget(void);
// The same in a forked child, where the events of devices are left as they are.
void calls_forget_in_child(void);

// Around the queueing of a call, which is counted if it was queued. The work's fields are only read
// by the first, which fails if the wait for keys is interrupted: then the call is not to be queued.
cubc_status calls_begin(cubc_device *device, const call_work *work, void *stream, call_timer *out);
void calls_queued(call_timer *timer, cubc_status queued);

// The calls of this thread from here to calls_round_end are listed instead of counted, and counted
// with each replay.
void calls_round_begin(call_round *round);
void calls_round_end(void);
// The same for calls that are counted one by one: lists one that was queued.
void calls_round_list(call_round *round, const call_timer *timer);
// True if the recording does not know the round yet, or if one of its calls is to be timed: then
// they are better queued one by one than replayed.
bool calls_round_is_due(const call_round *round);
void calls_replayed(const call_round *round);
void calls_round_free(call_round *round);

#endif
