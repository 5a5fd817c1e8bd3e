// Messages that the host carries, by the caller's communicator: see device/messenger.h. The memory
// is the host's, and streams are ignored, as on the cpu device.
#ifndef CUBC_COMM_MESSENGER_H
#define CUBC_COMM_MESSENGER_H

#include "cubc/lattice.h"
#include "device/messenger.h"

enum { COMM_MOST_BYTES = 1 << 30 };

// The communicator is the caller's until close. A message that does not come within `seconds`
// fails. It is given up to `most` bytes at a time.
cubc_status comm_messenger_open(const cubc_comm *comm, double seconds, size_t most,
                                messenger **out);

#endif
