/* Products of CSR matrices with dense ones, for one choice of types and instruction set.
 *
 * Included by sparse.c with these macros:
 *   T, A      type of the numbers, and of sums over many of them
 *   I         type of the column indices
 *   NAME(x)   the name of a function for this choice
 *   TARGET    attribute that allows the instruction set
 *   WIDE      bytes of the widest vectors
 *   UNITS     how many units of 16 bytes a strip of columns may have: its sums stay in registers
 */

#define LANES ((int64_t)(16 / sizeof(T)))

/* The dense matrix.  The last strip of a row may reach beyond it, into the next one: what is computed
 * there is not stored.  The last rows, behind which nothing may be read, are taken from a copy. */
struct NAME(dense) {
    const T *numbers;
    int64_t columns;
    int64_t copied; /* rows from here on are in the copy */
    const T *copy;
};

INLINE TARGET const T *NAME(row)(const struct NAME(dense) *B, int64_t row) {
    return row < B->copied ? B->numbers + row * B->columns
                           : B->copy + (row - B->copied) * B->columns;
}

/* Vectors of numbers, which need not be aligned. */
typedef T NAME(wide) __attribute__((vector_size(WIDE), aligned(sizeof(T)), may_alias));
typedef T NAME(half) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef T NAME(unit) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));

/* Sums of a strip: as many of the widest vectors as fit, one of 32 and one of 16 bytes. */
struct NAME(sums) {
    NAME(wide) wide[UNITS * 16 / WIDE];
    NAME(half) half;
    NAME(unit) unit;
};

/* Add number p of the sparse matrix times its row of B. */
INLINE TARGET void NAME(add)(const int units, struct NAME(sums) *sums, int64_t p, int64_t limit,
                             const I *restrict indices, const T *restrict values,
                             const struct NAME(dense) *B, int64_t column) {
    const T x = values[p];
    const T *b = NAME(row)(B, indices[p]) + column;
    if (p + AHEAD < limit) {
        const char *later = (const char *)(B->numbers + indices[p + AHEAD] * B->columns + column);
        for (int byte = 0; byte < 16 * units; byte += 64) __builtin_prefetch(later + byte);
    }
    const int wides = 16 * units / WIDE, left = units - wides * WIDE / 16;
    UNROLL
    for (int k = 0; k < wides; k++) sums->wide[k] += x * ((const NAME(wide) *)b)[k];
    b += wides * WIDE / sizeof(T);
    if (left >= 2) sums->half += x * *(const NAME(half) *)b;
    if (left % 2) sums->unit += x * *(const NAME(unit) *)(b + (left >= 2 ? 2 * LANES : 0));
}

/* The sums as numbers in a row. */
INLINE TARGET void NAME(store)(const int units, const struct NAME(sums) *sums, T *row) {
    const int wides = 16 * units / WIDE, left = units - wides * WIDE / 16;
    UNROLL
    for (int k = 0; k < wides; k++) ((NAME(wide) *)row)[k] = sums->wide[k];
    row += wides * WIDE / sizeof(T);
    if (left >= 2) *(NAME(half) *)row = sums->half;
    if (left % 2) *(NAME(unit) *)(row + (left >= 2 ? 2 * LANES : 0)) = sums->unit;
}

/* row = the sum of numbers `begin` to `end`, which are few, times their rows of B. */
INLINE TARGET void NAME(short_sum)(const int units, int64_t begin, int64_t end, int64_t limit,
                                   const I *restrict indices, const T *restrict values,
                                   const struct NAME(dense) *B, int64_t column, T *row) {
    /* Two sums by turns: a narrow one would wait for itself. */
    const int turns = units * 16 <= 2 * WIDE ? 2 : 1;
    struct NAME(sums) sums = {{{0}}, {0}, {0}}, others = sums;
    int64_t p = begin;
    if (turns == 2)
        for (; p + 1 < end; p += 2) {
            NAME(add)(units, &sums, p, limit, indices, values, B, column);
            NAME(add)(units, &others, p + 1, limit, indices, values, B, column);
        }
    for (; p < end; p++) NAME(add)(units, &sums, p, limit, indices, values, B, column);
    if (turns == 2) {
        for (int k = 0; k < 16 * units / WIDE; k++) sums.wide[k] += others.wide[k];
        sums.half += others.half;
        sums.unit += others.unit;
    }
    NAME(store)(units, &sums, row);
}

/* Columns `column` to `column + stored` of rows `first` to `last` of the product. */
INLINE TARGET void NAME(strip)(const int units, int64_t first, int64_t last, const int64_t *pointer,
                               const I *restrict indices, const T *restrict values,
                               const struct NAME(dense) *B, int64_t column, int64_t stored,
                               T *restrict out) {
    const int64_t limit = pointer[last];
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = pointer[i], end = pointer[i + 1];
        T row[UNITS * LANES];
        if (end - begin <= SHORT_SUM) {
            NAME(short_sum)(units, begin, end, limit, indices, values, B, column, row);
        } else {
            A total[UNITS * LANES] = {0};
            for (int64_t p = begin; p < end; p += SHORT_SUM) {
                const int64_t stop = end - p > SHORT_SUM ? p + SHORT_SUM : end;
                NAME(short_sum)(units, p, stop, limit, indices, values, B, column, row);
                for (int k = 0; k < units * LANES; k++) total[k] += row[k];
            }
            for (int k = 0; k < units * LANES; k++) row[k] = (T)total[k];
        }
        memcpy(out + i * B->columns + column, row, stored * sizeof(T));
    }
}

#define CASE(units)                                                                      \
    case units:                                                                          \
        NAME(strip)                                                                      \
        (units, first, last, pointer, indices, values, B, column, stored, out); \
        break;

TARGET static void NAME(any_strip)(int64_t units, int64_t first, int64_t last,
                                   const int64_t *pointer, const I *indices, const T *values,
                                   const struct NAME(dense) *B, int64_t column, int64_t stored,
                                   T *out) {
    switch (units) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#if UNITS > 8
        CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)
#endif
#if UNITS > 14
        CASE(15) CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21)
        CASE(22) CASE(23) CASE(24) CASE(25) CASE(26) CASE(27) CASE(28)
#endif
    }
}
#undef CASE

/* Divide a row by its length, and return that; -1, and nothing is changed, if its square is out of range. */
INLINE TARGET double NAME(unit_row)(T *restrict row, int64_t columns) {
    double part[8] = {0};
    int64_t k = 0;
    for (; k + 8 <= columns; k += 8)
        for (int j = 0; j < 8; j++) part[j] += (double)row[k + j] * (double)row[k + j];
    for (; k < columns; k++) part[0] += (double)row[k] * (double)row[k];
    const double square = ((part[0] + part[1]) + (part[2] + part[3])) +
                          ((part[4] + part[5]) + (part[6] + part[7]));
    if (square == 0) { /* a zero row, or squares that are too small */
        for (k = 0; k < columns; k++)
            if (row[k] != 0) return -1;
        return 0;
    }
    const double length = sqrt(square);
    const T divisor = (T)length;
    if (!(square > SMALLEST_SQUARE && square < LARGEST_SQUARE && divisor > 0)) return -1;
    for (k = 0; k < columns; k++) row[k] /= divisor;
    return length;
}

/* Rows `first` to `last` of scale * (X B - shift); divided by their lengths if those are wanted. */
TARGET void NAME(gather)(int64_t first, int64_t last, const int64_t *pointer, const I *indices,
                         const T *values, int64_t rows, int64_t columns, const T *numbers,
                         const T *copy, const T *scale, const T *shift, T *out, double *lengths) {
    const struct NAME(dense) B = {numbers, columns, rows > LANES ? rows - LANES : 0, copy};
    const int64_t units = (columns + LANES - 1) / LANES, strips = (units + UNITS - 1) / UNITS;
    for (int64_t a = first; a < last; a += FEW_ROWS) {
        const int64_t b = last - a > FEW_ROWS ? a + FEW_ROWS : last;
        for (int64_t s = 0; s < strips; s++) {
            const int64_t from = units * s / strips, to = units * (s + 1) / strips;
            const int64_t column = from * LANES;
            const int64_t stored = (to * LANES < columns ? to * LANES : columns) - column;
            NAME(any_strip)(to - from, a, b, pointer, indices, values, &B, column, stored, out);
        }
        for (int64_t i = a; i < b; i++) {
            T *row = out + i * columns;
            for (int64_t k = 0; shift && k < columns; k++) row[k] -= shift[k];
            for (int64_t k = 0; scale && k < columns; k++) row[k] *= scale[i];
            if (lengths) lengths[i] = NAME(unit_row)(row, columns);
        }
    }
}
#undef LANES
