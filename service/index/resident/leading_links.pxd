# The types by which Cython compiles leading_links.py, see setup.py.
import cython

@cython.locals(
    own="Py_ssize_t[::1]", places="Py_ssize_t[::1]", told="const long long[:]", count=Py_ssize_t, at=Py_ssize_t,
    place=Py_ssize_t,
)
cpdef keep_linking(
    const Py_ssize_t[:] rows, const Py_ssize_t[:] sizes, object concepts, object memories, long long most_memories
)

@cython.locals(
    links="Py_ssize_t[::1]", told="Py_ssize_t[::1]", led="int[::1]", count=Py_ssize_t, total=Py_ssize_t, at=Py_ssize_t,
    first=Py_ssize_t, last=Py_ssize_t, link=Py_ssize_t, before=Py_ssize_t, end=Py_ssize_t, leads=bint,
    sizes="const Py_ssize_t[:]", every_end="const int[:]", of_names="const Py_ssize_t[:]",
    every_name="const long long[:]",
)
cpdef keep_leading(
    const Py_ssize_t[:] starts, const unsigned char[:] is_few, object ends, const long long[:] subjects, object names
)

@cython.locals(place=Py_ssize_t)
cdef bint _is_named(long long subject, const long long[:] names, Py_ssize_t first, Py_ssize_t last) noexcept
