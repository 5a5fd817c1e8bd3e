// Numbers in the texts of expressions: see py_literals.h.
#include "python/py_literals.h"
#include "base/types.h"
#include "python/py_types.h"

#include <ctype.h>
#include <string.h>

// Returns how many digits a number may have and be in any integer type of so many bytes.
static size_t short_digits(size_t bytes)
{
    return bytes == 1 ? 2 : bytes == 2 ? 4 : bytes == 4 ? 9 : 18;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '\'';
}

// Looks closer at two numbers, which may be folded into a greater one, and at - or ~, which make a
// negative one of an unsigned type.
bool py_may_overflow(const char *expression, cubc_type out)
{
    const type_kind kind = type_table[out].kind;
    int numbers = 0;
    if (kind != KIND_SIGNED && kind != KIND_UNSIGNED) return false;
    for (const char *at = expression; *at;) {
        const char *word = at;
        while (is_of_word(*at)) at++;
        if (word == at)
            at++;
        else if (isdigit((unsigned char)*word) || *word == '.') {
            const size_t length = (size_t)(at - word);
            if (++numbers > 1 || strspn(word, "0123456789") != length ||
                length > short_digits(cubc_type_size(out)))
                return true;
        }
    }
    return numbers == 1 && kind == KIND_UNSIGNED && strpbrk(expression, "-~");
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
    if (!py_may_overflow(op, type)) return 0;
    PyObject *dtype = py_numpy_dtype(type);
    PyObject *types = dtype ? PyTuple_Pack(2, dtype, dtype) : NULL;
    Py_XDECREF(dtype);
    return py_check_literals(op, types ? Py_BuildValue("(ss)", "a", "b") : NULL, types, type);
}
