// Asks NVIDIA's management library for what it alone knows: the driver's own version, and how hot a
// GPU is and what it draws. The library comes with the driver but may be hidden from a container;
// then nothing is known, and nobody misses it.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <dlfcn.h>

#define NEW_ENOUGH_S 0.25 // a reading takes over a millisecond, a sample a twentieth of that

typedef struct nvml { // all functions are NULL where the library cannot be had
    int (*driver_version)(char *text, unsigned size);
    int (*handle_of)(const char *uuid, void **handle);
    int (*temperature)(void *handle, int sensor, unsigned *celsius);
    int (*power)(void *handle, unsigned *milliwatts);
    int (*energy)(void *handle, unsigned long long *millijoules); // since the driver was loaded
} nvml;

static nvml library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

static void load_library(void)
{
    int (*init)(void);
    void *file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!file) return;
    *(void **)&init = dlsym(file, "nvmlInit_v2");
    if (!init || init() != 0) {
        dlclose(file);
        return;
    }
    *(void **)&library.driver_version = dlsym(file, "nvmlSystemGetDriverVersion");
    *(void **)&library.handle_of = dlsym(file, "nvmlDeviceGetHandleByUUID");
    *(void **)&library.temperature = dlsym(file, "nvmlDeviceGetTemperature");
    *(void **)&library.power = dlsym(file, "nvmlDeviceGetPowerUsage");
    *(void **)&library.energy = dlsym(file, "nvmlDeviceGetTotalEnergyConsumption");
}

void cuda_nvml_driver(char *release, unsigned size)
{
    pthread_once(&library_once, load_library);
    if (!library.driver_version || library.driver_version(release, size) != 0) release[0] = '\0';
}

static bool know_handle(cuda_device *d)
{
    void **handle = &d->sensors.handle;
    return *handle || (library.handle_of && library.handle_of(d->base.info.uuid, handle) == 0);
}

static void read_sensors(cuda_device *d)
{
    cuda_sensors *s = &d->sensors;
    unsigned value;
    s->read_at = now_seconds();
    if (!know_handle(d)) return;
    s->celsius = library.temperature && library.temperature(s->handle, 0, &value) == 0 ? value : 0;
    s->watts = library.power && library.power(s->handle, &value) == 0 ? 1e-3 * value : 0;
}

void cuda_nvml_sensors(cubc_device *device, double *celsius, double *watts)
{
    cuda_device *d = (cuda_device *)device;
    pthread_once(&library_once, load_library);
    pthread_mutex_lock(&reading);
    if (!d->sensors.read_at || now_seconds() - d->sensors.read_at > NEW_ENOUGH_S) read_sensors(d);
    *celsius = d->sensors.celsius;
    *watts = d->sensors.watts;
    pthread_mutex_unlock(&reading);
}

double cuda_nvml_energy(cubc_device *device)
{
    cuda_device *d = (cuda_device *)device;
    unsigned long long value = 0;
    pthread_once(&library_once, load_library);
    pthread_mutex_lock(&reading);
    bool known = library.energy && know_handle(d) && library.energy(d->sensors.handle, &value) == 0;
    pthread_mutex_unlock(&reading);
    return known ? 1e-3 * (double)value : 0;
}
