// The CPU device's description of the machine it is.
#ifndef CUBC_CPU_INFO_H
#define CUBC_CPU_INFO_H

#include "device/device.h"

// Fails where hostcc_name does, except that a missing compiler is "none". Unknown figures have a
// neutral value.
cubc_status cpu_info_describe(device_info *info, int workers);

#endif
