// Arrays and arguments of the kernels that `translation.py` writes from Python functions.
//
// A View is a C-contiguous array that somebody else owns, an Array one of its own. Indices are
// those of Python without negative ones, and are not checked: the kernels' tests run them as Python.
#pragma once
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

// Two versions of each kernel, one of them for x86 processors since 2013; chosen at the call.
#if defined(__GNUC__) && defined(__x86_64__)
#define MODERN __attribute__((target("avx2,fma")))
#define CHOSEN(kernel) (modern ? modern_##kernel : plain_##kernel)
static const bool modern = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
#define MODERN
#define CHOSEN(kernel) plain_##kernel
#endif
#if defined(__GNUC__)
#define ALWAYS inline __attribute__((always_inline))
#else
#define ALWAYS __forceinline
#endif
#define INLINE static ALWAYS

typedef int64_t Int;
typedef std::complex<double> Complex;

template <class T, int N> struct View {
    T *data = nullptr;
    Int shape[N] = {};

    ALWAYS Int size(int axis) const { return shape[axis]; }

    ALWAYS Int total() const {
        Int product = 1;
        for (int axis = 0; axis < N; axis++) product *= shape[axis];
        return product;
    }

    template <class... Index> ALWAYS T &operator()(Index... index) const {
        static_assert(sizeof...(Index) == N, "one index for each axis");
        return data[offset(index...)];
    }

    // The part at the first indices, or (none given) the array itself.
    template <class... Index> ALWAYS View<T, N - int(sizeof...(Index))> part(Index... index) const {
        View<T, N - int(sizeof...(Index))> result;
        Int block = 1;
        for (int axis = N - 1; axis >= int(sizeof...(Index)); axis--) {
            result.shape[axis - int(sizeof...(Index))] = shape[axis];
            block *= shape[axis];
        }
        result.data = data + block * offset(index...);
        return result;
    }

    // Elements from one to before another, as far as there are any.
    ALWAYS View slice(Int from, Int to) const {
        static_assert(N == 1, "only the last axis is cut");
        View result;
        to = to < shape[0] ? to : shape[0];
        result.data = data + from;
        result.shape[0] = to > from ? to - from : 0;
        return result;
    }

    ALWAYS void fill(T value) const {
        for (Int i = 0, end = total(); i < end; i++) data[i] = value;
    }

  private:
    ALWAYS Int offset() const { return 0; }
    template <class... Index> ALWAYS Int offset(Int first, Index... index) const {
        const Int all[] = {first, Int(index)...};
        Int result = 0;
        for (int axis = 0; axis < int(1 + sizeof...(Index)); axis++)
            result = result * shape[axis] + all[axis];
        return result;
    }
};

template <class T, int N> struct Array : View<T, N> {
    Array() = default;
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { std::free(this->data); }

    template <class... Size> void allocate(bool zero, Size... size) {
        const Int all[] = {Int(size)...};
        Int count = 1;
        for (int axis = 0; axis < N; axis++) count *= this->shape[axis] = all[axis];
        std::free(this->data);
        const size_t bytes = sizeof(T) * size_t(count > 0 ? count : 1);
        this->data = static_cast<T *>(zero ? std::calloc(bytes, 1) : std::malloc(bytes));
        if (!this->data) throw std::bad_alloc();
    }
};

// An array of a module, whose shape is known: loops over it are unrolled.
template <class T, Int Rows, Int Columns = 1> struct Fixed {
    T data[Rows * Columns];

    ALWAYS Int size(int axis) const { return axis ? Columns : Rows; }
    ALWAYS T operator()(Int i) const { return data[i]; }
    ALWAYS T operator()(Int i, Int j) const { return data[i * Columns + j]; }
};

// Arithmetic as Python has it.
INLINE Int floor_div(Int a, Int b) { return a / b - ((a % b != 0) & ((a < 0) != (b < 0))); }
INLINE Int floor_mod(Int a, Int b) { return a - b * floor_div(a, b); }
template <class T> INLINE T squared(T x) { return x * x; }
template <class A, class B> INLINE std::common_type_t<A, B> lesser(A a, B b) {
    return b < a ? b : a;
}
template <class A, class B> INLINE std::common_type_t<A, B> greater(A a, B b) {
    return b > a ? b : a;
}

template <class T> struct Code;
template <> struct Code<bool> { static const int value = NPY_BOOL; };
template <> struct Code<Int> { static const int value = NPY_INT64; };
template <> struct Code<double> { static const int value = NPY_DOUBLE; };
template <> struct Code<Complex> { static const int value = NPY_CDOUBLE; };

// The arguments of one call. Arrays of another type or order are copied, and what is written into
// such a copy is written back.
class Arguments {
  public:
    Arguments(const char *kernel, PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted)
        : kernel(kernel), given(given), good(count == wanted) {
        if (!good)
            PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", kernel, wanted, count);
    }
    ~Arguments() {
        for (int i = 0; i < copies; i++) {
            PyArray_DiscardWritebackIfCopy(copied[i]);
            Py_DECREF(copied[i]);
        }
    }

    template <class T, int N> View<T, N> array(int place, bool written) {
        View<T, N> view;
        if (!good) return view;
        PyArrayObject *found = as_array(place, Code<T>::value, N, written);
        if (!found) {
            good = false;
            return view;
        }
        view.data = static_cast<T *>(PyArray_DATA(found));
        for (int axis = 0; axis < N; axis++) view.shape[axis] = PyArray_DIM(found, axis);
        return view;
    }
    double number(int place) {
        const double value = good ? PyFloat_AsDouble(given[place]) : 0.0;
        if (value == -1.0 && PyErr_Occurred()) good = false;
        return value;
    }
    Int integer(int place) {
        const Int value = good ? PyLong_AsLongLong(given[place]) : 0;
        if (value == -1 && PyErr_Occurred()) good = false;
        return value;
    }
    bool truth(int place) {
        const int value = good ? PyObject_IsTrue(given[place]) : 0;
        if (value < 0) good = false;
        return value > 0;
    }

    // Write back what was written into copies; whether all went well.
    bool finish() {
        for (int i = 0; i < copies; i++)
            if (PyArray_ResolveWritebackIfCopy(copied[i]) < 0) good = false;
        return good;
    }
    bool ready() const { return good; }

  private:
    const char *kernel;
    PyObject *const *given;
    bool good;
    int copies = 0;
    PyArrayObject *copied[16];

    PyArrayObject *as_array(int place, int type, int rank, bool written) {
        PyObject *object = given[place];
        if (!PyArray_Check(object) || PyArray_NDIM((PyArrayObject *)object) != rank) {
            PyErr_Format(PyExc_TypeError, "%s() needs an array of %d axes as argument %d", kernel,
                         rank, place + 1);
            return nullptr;
        }
        PyArrayObject *array = (PyArrayObject *)object;
        const bool fits = PyArray_TYPE(array) == type && PyArray_IS_C_CONTIGUOUS(array) &&
                          PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
        if (fits && (!written || PyArray_ISWRITEABLE(array))) return array;
        const int wanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED |
                           (written ? NPY_ARRAY_WRITEABLE | NPY_ARRAY_WRITEBACKIFCOPY : 0);
        array = (PyArrayObject *)PyArray_FromArray(array, PyArray_DescrFromType(type), wanted);
        if (array) copied[copies++] = array;
        return array;
    }
};

// Call a kernel without the GIL; a lack of memory is a MemoryError.
template <class Call> static bool run(Arguments &arguments, Call call) {
    if (!arguments.ready()) return false;
    bool enough = true;
    Py_BEGIN_ALLOW_THREADS
    try {
        call();
    } catch (const std::bad_alloc &) {
        enough = false;
    }
    Py_END_ALLOW_THREADS
    if (!enough) PyErr_NoMemory();
    return arguments.finish() && enough;
}

// Copy an array that kernels find under a name of their module.
template <class T, Int Rows, Int Columns>
static PyObject *bind(Fixed<T, Rows, Columns> &constant, PyObject *object) {
    PyObject *array = PyArray_FROMANY(object, Code<T>::value, 1, 2, NPY_ARRAY_CARRAY_RO);
    if (!array) return nullptr;
    const bool fits = PyArray_SIZE((PyArrayObject *)array) == Rows * Columns;
    if (fits) std::memcpy(constant.data, PyArray_DATA((PyArrayObject *)array), sizeof constant.data);
    Py_DECREF(array);
    if (!fits) return PyErr_Format(PyExc_ValueError, "an array has another shape than was built in");
    Py_RETURN_NONE;
}
