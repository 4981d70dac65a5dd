# The types by which Cython compiles places.py, see setup.py.
import cython

@cython.locals(row=Py_ssize_t, value=float, place=Py_ssize_t, other=Py_ssize_t)
cpdef places_of(const float[:, ::1] values, Py_ssize_t column, object keys)
