"""Of many rows those with the greatest dot products.

Each sum is numkong's own function: numkong.cdist converts each of its results by way of a complex
number, which takes as long again (numkong 7.8), and what it returns is read twice more to find the
greatest. This file is C at heart: where it is not compiled, scanning.py asks numkong.cdist.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

cdef extern from *:
    """
    #if defined(__GNUC__)
    /* Into all caches: past them (locality 0) Intel takes twice as long for it all. */
    static inline void ask_for(const void *place, Py_ssize_t bytes) {
        for (Py_ssize_t at = 0; at < bytes; at += 64) __builtin_prefetch((const char *) place + at);
    }
    #else
    static inline void ask_for(const void *place, Py_ssize_t bytes) {}
    #endif
    """
    void ask_for(const void* place, Py_ssize_t bytes) noexcept nogil

ctypedef void (*Dot)(const signed char* a, const signed char* b, size_t length, int* sum) noexcept nogil

# So many bytes are asked of the memory before they are needed.
cdef enum:
    AHEAD = 2048


cdef struct Greatest:
    # The greatest so far, the least of them first, each no less than those above it in a binary tree.
    float* heap
    Py_ssize_t held
    Py_ssize_t most


cdef inline void offer(Greatest* greatest, float value) noexcept nogil:
    """Keep a value, if it is among the greatest."""
    cdef float* heap = greatest.heap
    cdef Py_ssize_t place, child
    if greatest.held < greatest.most:
        place = greatest.held
        greatest.held += 1
        while place > 0 and heap[(place - 1) // 2] > value:
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = value
    elif value > heap[0]:
        place = 0
        while True:
            child = 2 * place + 1
            if child >= greatest.most:
                break
            if child + 1 < greatest.most and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[place] = heap[child]
            place = child
        heap[place] = value


def nearest_rows(
    size_t dot, const signed char[::1] query, const signed char[:, ::1] rows, const float[::1] scales,
    const Py_ssize_t[::1] wanted, Py_ssize_t most, float slack, Py_ssize_t[::1] found, float[::1] near,
):
    """Write some of the wanted rows and their dot products times their scales, return of how many.

    At least those of which the product is no less than the `most`-th greatest less the slack, in
    their order. Other threads go on meanwhile. `dot` is the address of a function, as
    numkong.pointer_to_dot("int8") gives it. Wanted rows ascend.
    """
    cdef Dot function = <Dot> <void*> dot
    cdef Py_ssize_t place, row, count = wanted.shape[0], ahead = 1 + AHEAD // rows.shape[1], told = 0
    cdef int sum = 0
    cdef float value, least = -INFINITY
    cdef Greatest greatest
    if count and not (0 <= wanted[0] and wanted[count - 1] < min(rows.shape[0], scales.shape[0])):
        raise IndexError(f"There are {rows.shape[0]} rows.")
    greatest.heap, greatest.held, greatest.most = <float*> malloc(most * sizeof(float)), 0, most
    if greatest.heap is NULL:
        raise MemoryError
    with nogil:
        for place in range(count):
            if place + ahead < count:
                ask_for(&rows[wanted[place + ahead], 0], rows.shape[1])
            row = wanted[place]
            function(&query[0], &rows[row, 0], rows.shape[1], &sum)
            value = sum * scales[row]
            if value >= least:
                found[told] = row
                near[told] = value
                told += 1
                offer(&greatest, value)
                if greatest.held == most:
                    least = greatest.heap[0] - slack
        free(greatest.heap)
    return told
