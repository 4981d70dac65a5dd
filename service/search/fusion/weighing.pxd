# The types by which Cython compiles weighing.py, see setup.py.
import cython

cdef double _ALONE, _BREVITY

@cython.locals(
    shares="float[:, ::1]", row=Py_ssize_t, signal=Py_ssize_t,
    close=double, factor=double, value=double, in_context=double,
)
cpdef weigh(
    const float[:, ::1] values, const float[::1] greatest, const float[:, ::1] counts,
    const float[::1] closeness, const float[::1] brevity,
)

@cython.locals(row=Py_ssize_t, signal=Py_ssize_t, total=double)
cpdef sum_up(const float[:, ::1] shares)
