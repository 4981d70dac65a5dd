"""For every row the sum of what a table has for its half bytes, 32 rows at once.

This file is C at heart: where it is not compiled, sketches.py adds up with NumPy, and where the
processor has no instruction for it (AVX2, NEON), one row after the other; all sums are equal.
"""

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #define BLOCK 32
    /* So many bytes are asked of the memory before they are needed. */
    #define AHEAD 4096

    /* What no instruction is known for. */
    static void add_up_plain(const uint8_t *sketches, const uint8_t *table, Py_ssize_t blocks, Py_ssize_t bytes, uint16_t *sums) {
        for (; blocks > 0; blocks--, sums += BLOCK) {
            memset(sums, 0, BLOCK * sizeof(uint16_t));
            for (Py_ssize_t at = 0; at < bytes; at++, sketches += BLOCK)
                for (int row = 0; row < BLOCK; row++)
                    sums[row] += table[32 * at + (sketches[row] & 15)] + table[32 * at + 16 + (sketches[row] >> 4)];
        }
    }

    #if defined(__GNUC__) && defined(__x86_64__)
    #include <immintrin.h>

    static int is_quick(void) { return __builtin_cpu_supports("avx2"); }

    __attribute__((target("avx2")))
    static void add_up_quick(const uint8_t *sketches, const uint8_t *table, Py_ssize_t blocks, Py_ssize_t bytes, uint16_t *sums) {
        const __m256i half = _mm256_set1_epi8(15), low = _mm256_set1_epi16(255);
        for (; blocks > 0; blocks--, sums += BLOCK) {
            /* Rows in turn: two sums of 8 bits in 16 are added up as one of each place. */
            __m256i even = _mm256_setzero_si256(), odd = _mm256_setzero_si256();
            for (Py_ssize_t at = 0; at < bytes; at++, sketches += BLOCK) {
                /* Into all caches: past them (locality 0) Intel takes three times as long for it all. */
                __builtin_prefetch(sketches + AHEAD);
                const __m256i rows = _mm256_loadu_si256((const __m256i *) sketches);
                const __m256i lower = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (table + 32 * at)));
                const __m256i upper = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (table + 32 * at + 16)));
                const __m256i both = _mm256_add_epi8(
                    _mm256_shuffle_epi8(lower, _mm256_and_si256(rows, half)),
                    _mm256_shuffle_epi8(upper, _mm256_and_si256(_mm256_srli_epi16(rows, 4), half)));
                even = _mm256_add_epi16(even, _mm256_and_si256(both, low));
                odd = _mm256_add_epi16(odd, _mm256_srli_epi16(both, 8));
            }
            const __m256i outer = _mm256_unpacklo_epi16(even, odd), inner = _mm256_unpackhi_epi16(even, odd);
            _mm256_storeu_si256((__m256i *) sums, _mm256_permute2x128_si256(outer, inner, 0x20));
            _mm256_storeu_si256((__m256i *) (sums + 16), _mm256_permute2x128_si256(outer, inner, 0x31));
        }
    }

    #elif defined(__GNUC__) && defined(__aarch64__)
    #include <arm_neon.h>

    static int is_quick(void) { return 1; }

    static void add_up_quick(const uint8_t *sketches, const uint8_t *table, Py_ssize_t blocks, Py_ssize_t bytes, uint16_t *sums) {
        const uint8x16_t half = vdupq_n_u8(15);
        for (; blocks > 0; blocks--, sums += BLOCK) {
            uint16x8_t parts[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
            for (Py_ssize_t at = 0; at < bytes; at++, sketches += BLOCK) {
                __builtin_prefetch(sketches + AHEAD);
                const uint8x16_t lower = vld1q_u8(table + 32 * at), upper = vld1q_u8(table + 32 * at + 16);
                for (int side = 0; side < 2; side++) {
                    const uint8x16_t rows = vld1q_u8(sketches + 16 * side);
                    const uint8x16_t both = vaddq_u8(
                        vqtbl1q_u8(lower, vandq_u8(rows, half)), vqtbl1q_u8(upper, vshrq_n_u8(rows, 4)));
                    parts[2 * side] = vaddw_u8(parts[2 * side], vget_low_u8(both));
                    parts[2 * side + 1] = vaddw_u8(parts[2 * side + 1], vget_high_u8(both));
                }
            }
            for (int part = 0; part < 4; part++) vst1q_u16(sums + 8 * part, parts[part]);
        }
    }

    #else
    static int is_quick(void) { return 0; }
    #define add_up_quick add_up_plain
    #endif
    """
    void add_up_plain(const unsigned char* sketches, const unsigned char* table, Py_ssize_t blocks, Py_ssize_t bytes, unsigned short* sums) noexcept nogil
    void add_up_quick(const unsigned char* sketches, const unsigned char* table, Py_ssize_t blocks, Py_ssize_t bytes, unsigned short* sums) noexcept nogil
    bint is_quick() noexcept nogil


def is_fast():
    """Tell whether this processor has the instruction."""
    return is_quick()


def add_up(
    const unsigned char[:, :, ::1] sketches, const unsigned char[:, :, ::1] table,
    unsigned short[:, ::1] sums, bint plainly=False,
):
    """Write each row's sum. `sketches` are (blocks, bytes, 32), `table` (bytes, 2, 16).

    Two numbers of a byte's halves are 255 together at most, all of a row 65,535. `plainly` is for
    tests: as where there is no such instruction. Other threads go on meanwhile.
    """
    cdef Py_ssize_t blocks = sketches.shape[0], size = sketches.shape[1]
    if not (sketches.shape[2] == sums.shape[1] == 32 and table.shape[1] == 2 and table.shape[2] == 16):
        raise ValueError("Blocks are of 32 rows, halves of 16 numbers.")
    if table.shape[0] != size or sums.shape[0] != blocks:
        raise ValueError(f"{table.shape[0]} and {sums.shape[0]} in place of {size} and {blocks}.")
    if not (blocks and size):
        return
    with nogil:
        if plainly or not is_quick():
            add_up_plain(&sketches[0, 0, 0], &table[0, 0, 0], blocks, size, &sums[0, 0])
        else:
            add_up_quick(&sketches[0, 0, 0], &table[0, 0, 0], blocks, size, &sums[0, 0])
