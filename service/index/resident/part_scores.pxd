# The types by which Cython compiles part_scores.py, see setup.py.
import cython

@cython.locals(times="const unsigned short[::1]", damped="const double[::1]", document=Py_ssize_t, share=double)
cpdef add_column(float[::1] scores, const float[::1] norms, object counts, double weight)

@cython.locals(
    documents="const Py_ssize_t[::1]", times="const unsigned short[::1]", damped="const double[::1]", at=Py_ssize_t,
    document=Py_ssize_t, share=double,
)
cpdef add_listed(float[::1] scores, const float[::1] norms, object postings, double weight)

@cython.locals(
    seen="const unsigned char[:]", kept="int[::1]", reached="float[::1]", count=Py_ssize_t, document=Py_ssize_t,
)
cpdef keep_reached(const float[::1] scores, const int[::1] rows, object mask)
