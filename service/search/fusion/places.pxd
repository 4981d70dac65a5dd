# The types by which Cython compiles places.py, see setup.py.
import cython

@cython.locals(
    places="Py_ssize_t[:, ::1]", at=Py_ssize_t, column=Py_ssize_t, row=Py_ssize_t, value=float, place=int, equal=int,
    other=Py_ssize_t,
)
cpdef places_of(const float[:, ::1] values, const Py_ssize_t[::1] columns, object keys)
