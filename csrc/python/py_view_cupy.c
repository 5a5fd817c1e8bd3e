// Views of CuPy's arrays by their attributes: their __cuda_array_interface__, which says the same,
// takes several microseconds to be made.
#include "python/py_view.h"

#include "python/py_support.h"
#include "python/py_types.h"

static PyObject *ndarray, *current_stream; // of cupy; NULL: it was not imported when last looked

// With an exception if CuPy lacks what it should have; false without one if it is not there.
static bool find_cupy(void)
{
    PyObject *name = PyUnicode_FromString("cupy");
    PyObject *cupy = name ? PyImport_GetModule(name) : NULL;
    PyObject *cuda = cupy ? py_optional_attribute(cupy, "cuda") : NULL;
    PyObject *function = cuda ? py_optional_attribute(cuda, "get_current_stream") : NULL;
    if (function)
        ndarray = py_optional_attribute(cupy, "ndarray"); // half imported: it is not there
    if (ndarray)
        current_stream = function;
    else
        Py_XDECREF(function);
    Py_XDECREF(cuda);
    Py_XDECREF(cupy);
    Py_XDECREF(name);
    return ndarray != NULL;
}

bool py_view_is_cupy(PyObject *object)
{
    return (ndarray || find_cupy()) && Py_IS_TYPE(object, (PyTypeObject *)ndarray);
}

static void *pointer_in(PyObject *object, const char *name)
{
    PyObject *value = object ? PyObject_GetAttrString(object, name) : NULL;
    void *pointer = value ? PyLong_AsVoidPtr(value) : NULL;
    Py_XDECREF(value);
    return pointer;
}

// Numbers are told by their typestr, since NumPy takes long to make the name of a dtype.
static int type_of(PyObject *dtype, cubc_type *out)
{
    PyObject *typestr = PyObject_GetAttrString(dtype, "str");
    const char *text = typestr ? PyUnicode_AsUTF8AndSize(typestr, NULL) : NULL;
    int known = text && *text && text[1] != 'V' && py_type_of_typestr(text, out) == 0;
    Py_XDECREF(typestr);
    return !text ? -1 : known ? 1 : py_type_of_dtype(dtype, out);
}

static int read_type(PyObject *object, const char *what, py_view *out)
{
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    int known = dtype ? type_of(dtype, &out->type) : -1;
    if (known == 0) py_unsupported(what, dtype, "?");
    Py_XDECREF(dtype);
    return known > 0 ? 0 : -1;
}

static int read_shape(PyObject *object, const char *what, py_view *out)
{
    PyObject *shape = PyObject_GetAttrString(object, "shape");
    int status = shape ? py_view_shape_from_tuple(out, what, shape) : -1;
    Py_XDECREF(shape);
    return status;
}

static int check_order(PyObject *object, const char *what)
{
    PyObject *flags = PyObject_GetAttrString(object, "flags");
    PyObject *flag = flags ? PyObject_GetAttrString(flags, "c_contiguous") : NULL;
    int contiguous = flag ? PyObject_IsTrue(flag) : -1;
    Py_XDECREF(flag);
    Py_XDECREF(flags);
    return contiguous > 0 ? 0 : contiguous < 0 ? -1 : py_view_not_contiguous(what);
}

int py_view_from_cupy(PyObject *object, const char *what, py_view *out)
{
    if (read_type(object, what, out) < 0 || read_shape(object, what, out) < 0 ||
        check_order(object, what) < 0)
        return -1;
    PyObject *memory = PyObject_GetAttrString(object, "data");
    out->data = pointer_in(memory, "ptr");
    Py_XDECREF(memory);
    PyObject *stream = PyErr_Occurred() ? NULL : PyObject_CallNoArgs(current_stream);
    out->stream = pointer_in(stream, "ptr");
    out->has_stream = true;
    Py_XDECREF(stream);
    if (PyErr_Occurred() || py_view_open_named(object, what, out) < 0) return -1;
    out->owner = Py_NewRef(object);
    return 0;
}
