# The types by which Cython compiles ways.py, see setup.py.
import cython



@cython.locals(
    seen="int[:, :, ::1]", place=Py_ssize_t, side=Py_ssize_t, step=Py_ssize_t, end=Py_ssize_t,
)
cpdef see_ways(const Py_ssize_t[:] rows, const int[:, :, ::1] ways, const unsigned char[:] mask, Py_ssize_t reach)

@cython.locals(met="Py_ssize_t[::1]", numbers="int[::1]", count=Py_ssize_t, near=Py_ssize_t, place=Py_ssize_t)
cpdef number_rows(const Py_ssize_t[:] rows, int[:, :] before, int[:, :] after, Py_ssize_t size)

@cython.locals(count=Py_ssize_t)
cpdef number_places(object rows, Py_ssize_t size)

@cython.locals(place=Py_ssize_t, step=Py_ssize_t, row=Py_ssize_t, number=Py_ssize_t)
cdef Py_ssize_t _number(int[:, :] ways, Py_ssize_t[::1] met, int[::1] numbers, Py_ssize_t count)
