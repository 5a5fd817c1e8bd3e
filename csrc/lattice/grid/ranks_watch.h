// A watch over messages that a device's library moves. Such a message waits for another rank
// without an end, and so does whoever waits for the stream. The watch is a thread that looks at the
// numbers of messages in the device's memory: where one has not come in time it leaves the reason,
// as a kernel does that gives up, and ends all messages.
#ifndef CUBC_RANKS_WATCH_H
#define CUBC_RANKS_WATCH_H

#include "lattice/grid/rank_area.h"

// Watches over the messages of all areas of the ranks.
cubc_status ranks_watch_open(cubc_ranks *r, ranks_watch **out);
void ranks_watch_close(ranks_watch *w); // NULL: does nothing

#endif
