// Views of CuPy's arrays by their attributes: their __cuda_array_interface__, which says the same,
// takes several microseconds to be made.
#include "python/py_view.h"

#include "python/py_support.h"
#include "python/py_types.h"

static PyObject *ndarray, *current_stream; // of cupy; NULL: it was not imported when last looked

// Names of attributes, made once.
enum { DTYPE, SHAPE, CONTIGUOUS, DATA, PTR, NAMES };
static PyObject *names[NAMES];

static bool make_names(void)
{
    static const char *const texts[NAMES] = {"dtype", "shape", "_c_contiguous", "data", "ptr"};
    for (int k = 0; k < NAMES; k++)
        if (!names[k] && !(names[k] = PyUnicode_InternFromString(texts[k]))) return false;
    return true;
}

// False if CuPy is not there; false with an exception if it lacks what it should have.
static bool find_cupy(void)
{
    PyObject *name = PyUnicode_FromString("cupy");
    PyObject *cupy = name ? PyImport_GetModule(name) : NULL;
    PyObject *cuda = cupy ? py_optional_attribute(cupy, "cuda") : NULL;
    PyObject *function = cuda ? py_optional_attribute(cuda, "get_current_stream") : NULL;
    if (function && make_names())
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

static void *pointer_in(PyObject *object)
{
    PyObject *value = object ? PyObject_GetAttr(object, names[PTR]) : NULL;
    void *pointer = value ? PyLong_AsVoidPtr(value) : NULL;
    Py_XDECREF(value);
    return pointer;
}

// Numbers are told by their typestr, since NumPy takes long to make the name of a dtype. 1: it is
// one; 0: it is not.
static int type_of_number(PyObject *dtype, cubc_type *out)
{
    PyObject *typestr = PyObject_GetAttrString(dtype, "str");
    const char *text = typestr ? PyUnicode_AsUTF8AndSize(typestr, NULL) : NULL;
    int known = text && *text && text[1] != 'V' && py_type_of_typestr(text, out) == 0;
    Py_XDECREF(typestr);
    return text ? known : -1;
}

// NumPy has one object for the dtype of each kind of number.
static int type_of(PyObject *dtype, cubc_type *out)
{
    static struct {
        PyObject *dtype; // kept, so that no other has its address
        cubc_type type;
    } seen[16];
    size_t k = 0;
    while (k < COUNT_OF(seen) && seen[k].dtype && seen[k].dtype != dtype) k++;
    if (k < COUNT_OF(seen) && seen[k].dtype) {
        *out = seen[k].type;
        return 1;
    }
    int number = type_of_number(dtype, out);
    if (number <= 0) return number < 0 ? -1 : py_type_of_dtype(dtype, out);
    if (k < COUNT_OF(seen)) {
        seen[k].dtype = Py_NewRef(dtype);
        seen[k].type = *out;
    }
    return 1;
}

static int read_type(PyObject *object, const char *what, py_view *out)
{
    PyObject *dtype = PyObject_GetAttr(object, names[DTYPE]);
    int known = dtype ? type_of(dtype, &out->type) : -1;
    if (known == 0) py_unsupported(what, dtype, "?");
    Py_XDECREF(dtype);
    return known > 0 ? 0 : -1;
}

static int read_shape(PyObject *object, const char *what, py_view *out)
{
    PyObject *shape = PyObject_GetAttr(object, names[SHAPE]);
    int status = shape ? py_view_shape_from_tuple(out, what, shape) : -1;
    Py_XDECREF(shape);
    return status;
}

static PyObject *contiguous_flag(PyObject *object)
{
    PyObject *flags = PyObject_GetAttrString(object, "flags");
    PyObject *flag = flags ? PyObject_GetAttrString(flags, "c_contiguous") : NULL;
    Py_XDECREF(flags);
    return flag;
}

// CuPy makes an object of all flags where it has the one at hand; without it they are asked. 1, 0,
// or -1 with an exception.
static int is_contiguous(PyObject *object)
{
    PyObject *flag = PyObject_GetAttr(object, names[CONTIGUOUS]);
    if (!flag && !py_forget()) flag = contiguous_flag(object);
    int contiguous = flag ? PyObject_IsTrue(flag) : -1;
    Py_XDECREF(flag);
    return contiguous;
}

int py_view_from_cupy(PyObject *object, const char *what, py_view *out)
{
    int contiguous = is_contiguous(object);
    if (contiguous <= 0) return contiguous;
    if (read_type(object, what, out) < 0 || read_shape(object, what, out) < 0) return -1;
    PyObject *memory = PyObject_GetAttr(object, names[DATA]);
    out->data = pointer_in(memory);
    Py_XDECREF(memory);
    PyObject *stream = PyErr_Occurred() ? NULL : PyObject_CallNoArgs(current_stream);
    out->stream = pointer_in(stream);
    out->has_stream = true;
    Py_XDECREF(stream);
    if (PyErr_Occurred() || py_view_open_named(object, what, out) < 0) return -1;
    out->owner = Py_NewRef(object);
    return 1;
}
