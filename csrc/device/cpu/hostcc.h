// The host's C++ compiler, as the compiler of the CPU device.
//
// It is found at run time: CUBC_CXX, else CXX, else the first of c++, g++ and clang++ on PATH.
// CUBC_CXXFLAGS adds options, split on spaces. A compilation runs in a private folder and a process
// group of its own, leaves nothing behind, and any number may run at once from any threads.
#ifndef CUBC_HOSTCC_H
#define CUBC_HOSTCC_H

#include "device/device.h"

// "g++ 12.2.0 4f1c3a90": family, version, and a hash of the options and of the processor, for which
// alone the code is made.
cubc_status hostcc_name(char *name, size_t size);
// A shared object. Fails with CUBC_COMPILE_ERROR (the first error in the message, all of them in
// the log; also if there is no compiler), CUBC_TIMEOUT, CUBC_INTERRUPTED, CUBC_IO_ERROR.
cubc_status hostcc_compile(const compile_request *request, binary *out);
// Number of compilers that this process has started. A compiler may leave a process running (the
// server of a compiler cache). Where the number has grown, a new process is not blamed on a kernel.
unsigned hostcc_started(void);

#endif
