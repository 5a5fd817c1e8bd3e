// Numbers in the texts of expressions: see py_literals.h.
#include "python/py_literals.h"
#include "base/types.h"
#include "python/py_types.h"

#include <string.h>

bool py_has_literals(const char *expression, cubc_type out)
{
    const type_kind kind = type_table[out].kind;
    return (kind == KIND_SIGNED || kind == KIND_UNSIGNED) && strpbrk(expression, "0123456789");
}

int py_check_literals(const char *expression, PyObject *names, PyObject *types, cubc_type out)
{
    static PyObject *function;
    if (!function && names && types) {
        PyObject *module = PyImport_ImportModule("cubc._expression_types");
        function = module ? PyObject_GetAttrString(module, "check_literals") : NULL;
        Py_XDECREF(module);
    }
    PyObject *dtype = function && names && types ? py_numpy_dtype(out) : NULL, *done = NULL;
    if (dtype) done = PyObject_CallFunction(function, "sOOO", expression, names, types, dtype);
    int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(dtype);
    Py_XDECREF(types);
    Py_XDECREF(names);
    return status;
}

int py_check_operator(const char *op, cubc_type type)
{
    if (!py_has_literals(op, type)) return 0;
    PyObject *dtype = py_numpy_dtype(type);
    PyObject *types = dtype ? PyTuple_Pack(2, dtype, dtype) : NULL;
    Py_XDECREF(dtype);
    return py_check_literals(op, types ? Py_BuildValue("(ss)", "a", "b") : NULL, types, type);
}
