"""Dot products of one int8 vector with many rows, each by numkong's own function.

numkong.cdist converts each of its results by way of a complex number, which takes as long again as
the sums (numkong 7.8). What calls the same function row by row does not. This file is C at heart:
where it is not compiled, scanning.py asks numkong.cdist.
"""

ctypedef void (*Dot)(const signed char* a, const signed char* b, size_t length, int* sum) noexcept nogil


def scale_dots(
    size_t dot, const signed char[::1] query, const signed char[:, ::1] rows, const float[::1] scales, float[::1] near
):
    """Write the dot product with each row times the row's scale; other threads go on meanwhile.

    `dot` is the address of a function, as numkong.pointer_to_dot("int8") gives it.
    """
    cdef Dot function = <Dot> <void*> dot
    cdef Py_ssize_t row
    cdef int sum = 0
    with nogil:
        for row in range(rows.shape[0]):
            function(&query[0], &rows[row, 0], rows.shape[1], &sum)
            near[row] = sum * scales[row]


def scale_dots_at(
    size_t dot, const signed char[::1] query, const signed char[:, ::1] rows, const Py_ssize_t[::1] places,
    const float[::1] scales, float[::1] near,
):
    """Do the same with the rows at some places, of which each has a scale, where they lie."""
    cdef Dot function = <Dot> <void*> dot
    cdef Py_ssize_t place
    cdef int sum = 0
    with nogil:
        for place in range(places.shape[0]):
            function(&query[0], &rows[places[place], 0], rows.shape[1], &sum)
            near[place] = sum * scales[place]
