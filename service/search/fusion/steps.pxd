# The types by which Cython compiles steps.py, see setup.py.
import cython

@cython.locals(
    along="Py_ssize_t[:, ::1]", totals="double[::1]", borders="Py_ssize_t[:]", beam=Py_ssize_t, first=Py_ssize_t,
    last=Py_ssize_t, trail=Py_ssize_t, end=Py_ssize_t, least=double, total=double,
)
cpdef steps_further(object links, const Py_ssize_t[:] ranks, double[::1] scores, object beams, Py_ssize_t width)

@cython.locals(
    along="Py_ssize_t[:, ::1]", starts="const Py_ssize_t[:]", sizes="const Py_ssize_t[:]", ends="const Py_ssize_t[:]",
    last=Py_ssize_t, trail=Py_ssize_t, begin=Py_ssize_t, link=Py_ssize_t, at=Py_ssize_t, known=Py_ssize_t,
    memory=Py_ssize_t,
)
cdef _links_along(object links, const Py_ssize_t[:] ranks, Py_ssize_t[:, :] places)

@cython.locals(width=Py_ssize_t, end=Py_ssize_t, trail=Py_ssize_t, place=Py_ssize_t, best=double)
cdef double _least(Py_ssize_t[:, ::1] along, double[::1] totals, double[::1] scores, double[:] greatest)
