// A measurement's options from Python, and its samples to Python: see py_timing.h.
#include "python/py_timing.h"

#include "base/name.h"

#include <string.h>

static int set_rule(const char *name, stopping_options *out)
{
    for (int rule = 0; rule < STOP_RULES; rule++)
        if (strcmp(name, stopping_rule_names[rule]) == 0) {
            out->rule = (stopping_rule)rule;
            return 0;
        }
    const char *near = nearest_name(name, stopping_rule_names, STOP_RULES);
    PyErr_Format(PyExc_LookupError,
                 "no stopping rule '%.60s'%s%s%s: it is median, stdrel, entropy or count", name,
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return -1;
}

int py_timing_options(PyObject *args, PyObject *keywords, PyObject **variant, PyObject **reference,
                      timing_options *out)
{
    static char *names[] = {"variant", "reference", "min_samples",    "max_samples", "max_noise",
                            "timeout", "stopping",  "min_time",       "max_angle",   "min_r2",
                            "samples", "beat",      "throttle_below", "warmup",      NULL};
    timing_options given = {0};
    const char *rule = NULL;
    given.throttle_below = -1;
    given.warmup = -1;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|O$iiddsdddiddi:measure", names, variant, reference,
            &given.min_samples, &given.max_samples, &given.stopping.max_noise, &given.timeout_s,
            &rule, &given.stopping.min_time_s, &given.stopping.max_angle, &given.stopping.min_r2,
            &given.stopping.target_samples, &given.beat, &given.throttle_below, &given.warmup) ||
        (rule && set_rule(rule, &out->stopping) < 0))
        return -1;
    if (given.min_samples > 0) out->min_samples = given.min_samples;
    if (given.max_samples > 0) out->max_samples = given.max_samples;
    if (given.timeout_s > 0) out->timeout_s = given.timeout_s;
    if (given.throttle_below >= 0) out->throttle_below = given.throttle_below;
    if (given.warmup >= 0) out->warmup = given.warmup;
    if (given.stopping.max_noise > 0) out->stopping.max_noise = given.stopping.max_noise;
    if (given.stopping.min_time_s > 0) out->stopping.min_time_s = given.stopping.min_time_s;
    if (given.stopping.max_angle > 0) out->stopping.max_angle = given.stopping.max_angle;
    if (given.stopping.min_r2 > 0) out->stopping.min_r2 = given.stopping.min_r2;
    if (given.stopping.target_samples > 0)
        out->stopping.target_samples = given.stopping.target_samples;
    out->beat = given.beat;
    if (out->max_samples < out->min_samples) out->max_samples = out->min_samples;
    return 0;
}

static PyObject *floats(const float *values, int count)
{
    return PyBytes_FromStringAndSize((const char *)values,
                                     values ? (Py_ssize_t)count * (Py_ssize_t)sizeof *values : 0);
}

PyObject *py_timing_measure(cubc_device *device, const timing_work *work,
                            const timing_work *reference, const timing_options *options)
{
    timing_series series = {0}, other = {0};
    PyObject *result = NULL;
    cubc_status st;
    Py_BEGIN_ALLOW_THREADS
    st = timing_measure(device, work, reference, options, NULL, &series, &other);
    Py_END_ALLOW_THREADS
    if (st)
        py_raise(st);
    else
        result = Py_BuildValue(
            "{s:N,s:N,s:N,s:N,s:i,s:N,s:N,s:d,s:d}", "samples",
            floats(series.seconds, series.count), "base_samples",
            floats(other.seconds, other.count), "clocks", floats(series.hertz, series.count),
            "base_clocks", floats(other.hertz, other.count), "discarded",
            series.discarded + other.discarded, "timed_out", PyBool_FromLong(series.timed_out),
            "given_up", PyBool_FromLong(series.given_up), "temperature", series.celsius, "power",
            series.watts);
    timing_free(&series);
    timing_free(&other);
    return result;
}
