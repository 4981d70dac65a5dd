# The types by which Cython compiles reading.py, see setup.py.
import cython

cdef Py_ssize_t _ENOUGH_WORDS
cdef double _NEIGHBOUR, _SECTION, _LEAST_FULLNESS

@cython.locals(
    read="float[:, ::1]", told="const float[:]", is_turn="const unsigned char[:]", before="const int[:, :]", after="const int[:, :]",
    own=double, total=double, weight=double, row=Py_ssize_t, side=Py_ssize_t, sides=Py_ssize_t, end=Py_ssize_t,
)
cpdef read_meaning(object evidence)

@cython.locals(
    read="float[:, ::1]", counts="const float[:, :]", lengths="const float[:]", is_turn="const unsigned char[:]",
    mentioned="const unsigned char[:, :]", named="const unsigned char[:, :]", damped="const double[:]",
    words=Py_ssize_t, word=Py_ssize_t, row=Py_ssize_t, length=Py_ssize_t, lacks="bint",
    whole=double, scale=double, told=double, name=double, said=double, full=double,
)
cpdef read_words(object evidence, const float[::1] telling, double lacking)
