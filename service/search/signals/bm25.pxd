# The types by which Cython compiles bm25.py, see setup.py.
import cython

@cython.locals(
    counts=cython.float[:, :], lengths=cython.float[:], before=cython.int[:, :], after=cython.int[:, :],
    damped=cython.double[:], held=cython.double[:], usual=double, length=double, norm=double, score=double,
    count=double, texts=Py_ssize_t, words=Py_ssize_t, row=Py_ssize_t, word=Py_ssize_t, step=Py_ssize_t, end=Py_ssize_t, times=Py_ssize_t, longest=Py_ssize_t, k1=double, b=double,
)
cpdef score_texts(object evidence, const float[::1] idf, Py_ssize_t reach, double average, float[::1] scores)

@cython.locals(several=Py_ssize_t, texts=Py_ssize_t, near=Py_ssize_t, row=Py_ssize_t, step=Py_ssize_t, end=Py_ssize_t)
cdef double _usual_texts(const int[:, :] before, const int[:, :] after, Py_ssize_t reach)
