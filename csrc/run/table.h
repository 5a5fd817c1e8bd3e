// A device's table of loaded variants, by compile-time workload; and its pool of workspaces.
//
// The variant that a call runs depends on the call, the device and the policies, and on nothing
// that was called before: each entry has the rows of policies that its calls may run, and every
// call chooses among them by its place on the run-time axes.
#ifndef CUBC_TABLE_H
#define CUBC_TABLE_H

#include "run/instance.h"
#include "run/workspace.h"

typedef struct table table;

// The device's, made on first use and closed with it.
cubc_status table_of(cubc_device *device, table **out);
workspace_pool *table_workspaces(table *t);
// The variant that the policies choose for a call, compiled and loaded if it is not yet. It stays
// until the device is closed: another thread may be running it, and a captured graph may at any
// time.
cubc_status table_find(table *t, const problem *p, void *stream, instance **out);
// The same for a call of cubc's own beside a user's: it is not tuned.
cubc_status table_find_untuned(table *t, const problem *p, void *stream, instance **out);
// True if table_find would find it without compiling or tuning.
bool table_has(table *t, const problem *p);

// Tunes a workload before it is first opened on a device in this process: its policy is looked up
// afterwards. Called without a lock, in the thread of the call, which waits, as others do that need
// the same; never while the stream is being captured. A status other than CUBC_OK ends the call.
// *settled comes as true; false has the tuner called again at the next call, and not only when
// policies have changed. NULL: tuning is off.
typedef cubc_status (*table_tuner)(const cubc_device *device, const problem *p, bool *settled);
void table_set_tuner(table_tuner tuner);

#endif
