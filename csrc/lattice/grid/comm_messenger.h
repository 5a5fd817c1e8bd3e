// Messages that the host carries, by the caller's communicator: see device/messenger.h. The memory
// is the host's, and streams are ignored, as on the cpu device.
#ifndef CUBC_COMM_MESSENGER_H
#define CUBC_COMM_MESSENGER_H

#include "cubc/lattice.h"
#include "device/messenger.h"

// The communicator is the caller's until close. A message that does not come within `seconds`
// fails.
cubc_status comm_messenger_open(const cubc_comm *comm, double seconds, messenger **out);

#endif
