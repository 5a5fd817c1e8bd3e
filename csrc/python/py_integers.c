// Integers of expressions: see py_integers.h.
#include "python/py_integers.h"
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
bool py_text_may_overflow(const char *expression, cubc_type out)
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

bool py_holds(cubc_type type, PyObject *number)
{
    const int kind = type_table[type].kind, bits = 8 * (int)cubc_type_size(type);
    int overflow = 0;
    if ((kind != KIND_SIGNED && kind != KIND_UNSIGNED) || PyBool_Check(number) ||
        !PyIndex_Check(number))
        return true;
    PyObject *integer = PyNumber_Index(number);
    long long value = integer ? PyLong_AsLongLongAndOverflow(integer, &overflow) : 0;
    if (overflow > 0 && type != CUBC_U64) (void)PyLong_AsUnsignedLongLong(integer);
    Py_XDECREF(integer);
    if (PyErr_Occurred() || overflow < 0) { // its conversion says why
        (void)py_forget();
        return true;
    }
    if (overflow) return type == CUBC_U64;
    if (kind == KIND_UNSIGNED) return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 || (value >> (bits - 1)) == 0 || (value >> (bits - 1)) == -1;
}

int py_check_integers(const char *expression, PyObject *names, PyObject *types, PyObject *numbers,
                      cubc_type out)
{
    static PyObject *function;
    PyObject *dtype = NULL, *done = NULL;
    if (!names || !types || !numbers) goto end;
    if (!function) {
        PyObject *module = PyImport_ImportModule("cubc._expression_types");
        function = module ? PyObject_GetAttrString(module, "check_integers") : NULL;
        Py_XDECREF(module);
    }
    dtype = function ? py_numpy_dtype(out) : NULL;
    if (dtype)
        done = PyObject_CallFunction(function, "sOOOO", expression, names, types, dtype, numbers);
end:;
    const int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(dtype);
    Py_XDECREF(numbers);
    Py_XDECREF(types);
    Py_XDECREF(names);
    return status;
}

int py_check_operator(const char *op, cubc_type type)
{
    if (!py_text_may_overflow(op, type)) return 0;
    PyObject *dtype = py_numpy_dtype(type);
    PyObject *types = dtype ? PyTuple_Pack(2, dtype, dtype) : NULL;
    Py_XDECREF(dtype);
    PyObject *names = types ? Py_BuildValue("(ss)", "a", "b") : NULL;
    return py_check_integers(op, names, types, names ? PyTuple_New(0) : NULL, type);
}
