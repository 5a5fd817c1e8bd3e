// Memory that the cpu devices of several processes share: see device.h.
#ifndef CUBC_CPU_SHARE_H
#define CUBC_CPU_SHARE_H

#include "device/device.h"

cubc_status cpu_share(cubc_device *device, size_t bytes, device_card *card, void **out);
void cpu_share_end(cubc_device *device, device_card *card);
cubc_status cpu_share_open(cubc_device *device, const device_card *card, size_t bytes, void **out);
void cpu_share_close(cubc_device *device, const device_card *card, void *memory, size_t bytes);

#endif
