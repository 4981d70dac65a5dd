# The types by which Cython compiles counting.py, see setup.py.
import cython

@cython.locals(
    held="const unsigned char[:]", width=Py_ssize_t, term=Py_ssize_t, row=Py_ssize_t, at=Py_ssize_t,
    rows="Py_ssize_t[:]", found=Py_ssize_t, place=Py_ssize_t,
)
cpdef count_terms(
    object columns, const float[:] sizes, const int[:] places, Py_ssize_t slot, float[:, :] counts, float[:] lengths,
)
