# The types by which Cython compiles gathering.py, see setup.py.
import cython

@cython.locals(
    sizes="Py_ssize_t[::1]", gathered="int[::1]", last=Py_ssize_t, total=Py_ssize_t, place=Py_ssize_t, at=Py_ssize_t,
    end=Py_ssize_t,
)
cpdef gather(const long long[:] offsets, const int[:] flat, const Py_ssize_t[:] numbers)
