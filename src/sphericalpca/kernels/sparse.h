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

/* Vectors of numbers, which need not be aligned. */
typedef T NAME(wide) __attribute__((vector_size(WIDE), aligned(sizeof(T)), may_alias));
typedef T NAME(half) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef T NAME(unit) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));

/* Sums of a strip: as many of the widest vectors as fit, one of 32 and one of 16 bytes, and one for the rest
 * of a row: it ends with the row, and overlaps the others, so that nothing past the row is read. */
struct NAME(sums) {
    NAME(wide) wide[UNITS * 16 / WIDE];
    NAME(half) half;
    NAME(unit) unit, tail;
};

/* A strip of columns of the dense matrix. */
struct NAME(strip) {
    const T *numbers; /* where its first row begins */
    int64_t columns;  /* of the whole matrix */
    int64_t width;    /* of the strip */
};

/* Add number p of the sparse matrix times its row of B. */
INLINE TARGET void NAME(add)(const int units, const int tail, struct NAME(sums) *sums, int64_t p,
                             int64_t limit, const I *restrict indices, const T *restrict values,
                             const struct NAME(strip) B) {
    const T x = values[p];
    const T *b = B.numbers + indices[p] * B.columns;
    if (p + AHEAD < limit) {
        const char *later = (const char *)(B.numbers + indices[p + AHEAD] * B.columns);
        for (int byte = 0; byte < 16 * (units + tail); byte += 64) __builtin_prefetch(later + byte);
    }
    const int wides = 16 * units / WIDE, left = units - wides * WIDE / 16;
    UNROLL
    for (int k = 0; k < wides; k++) sums->wide[k] += x * ((const NAME(wide) *)b)[k];
    const T *rest = b + wides * WIDE / sizeof(T);
    if (left >= 2) sums->half += x * *(const NAME(half) *)rest;
    if (left % 2) sums->unit += x * *(const NAME(unit) *)(rest + (left >= 2 ? 2 * LANES : 0));
    if (tail) sums->tail += x * *(const NAME(unit) *)(b + B.width - LANES);
}

/* The sums as numbers in a row. */
INLINE TARGET void NAME(store)(const int units, const int tail, const struct NAME(sums) *sums,
                               int64_t width, T *row) {
    const int wides = 16 * units / WIDE, left = units - wides * WIDE / 16;
    T *rest = row + wides * WIDE / sizeof(T);
    UNROLL
    for (int k = 0; k < wides; k++) ((NAME(wide) *)row)[k] = sums->wide[k];
    if (left >= 2) *(NAME(half) *)rest = sums->half;
    if (left % 2) *(NAME(unit) *)(rest + (left >= 2 ? 2 * LANES : 0)) = sums->unit;
    if (tail) *(NAME(unit) *)(row + width - LANES) = sums->tail;
}

/* row = the sum of numbers `begin` to `end`, which are few, times their rows of B. */
INLINE TARGET void NAME(short_sum)(const int units, const int tail, int64_t begin, int64_t end,
                                   int64_t limit, const I *restrict indices,
                                   const T *restrict values, const struct NAME(strip) B, T *row) {
    /* Two sums in turn: a single narrow one would have to wait for its last addition. */
    const int turns = (units + tail) * 16 <= 2 * WIDE ? 2 : 1;
    struct NAME(sums) sums = {{{0}}, {0}, {0}, {0}}, others = sums;
    int64_t p = begin;
    if (turns == 2)
        for (; p + 1 < end; p += 2) {
            NAME(add)(units, tail, &sums, p, limit, indices, values, B);
            NAME(add)(units, tail, &others, p + 1, limit, indices, values, B);
        }
    for (; p < end; p++) NAME(add)(units, tail, &sums, p, limit, indices, values, B);
    if (turns == 2) {
        for (int k = 0; k < 16 * units / WIDE; k++) sums.wide[k] += others.wide[k];
        sums.half += others.half;
        sums.unit += others.unit;
        sums.tail += others.tail;
    }
    NAME(store)(units, tail, &sums, B.width, row);
}

TARGET static void NAME(any_strip)(int64_t first, int64_t last, const int64_t *pointer,
                                   const I *indices, const T *values, const struct NAME(strip) B,
                                   T *out);

/* A row of many numbers, piece by piece; not part of the loop below, which needs the registers. */
static __attribute__((noinline)) void NAME(long_sum)(int64_t begin, int64_t end, const I *indices,
                                                     const T *values, const struct NAME(strip) B,
                                                     T *row) {
    A total[(UNITS + 1) * LANES] = {0};
    for (int64_t p = begin; p < end; p += SHORT_SUM) {
        const int64_t piece[2] = {p, end - p > SHORT_SUM ? p + SHORT_SUM : end};
        NAME(any_strip)(0, 1, piece, indices, values, B, row);
        for (int k = 0; k < B.width; k++) total[k] += row[k];
    }
    for (int k = 0; k < B.width; k++) row[k] = (T)total[k];
}

/* The columns of a strip in rows `first` to `last` of the product. */
INLINE TARGET void NAME(rows_of_strip)(const int units, const int tail, int64_t first, int64_t last,
                                       const int64_t *pointer, const I *restrict indices,
                                       const T *restrict values, const struct NAME(strip) B,
                                       T *restrict out) {
    const int64_t limit = pointer[last];
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = pointer[i], end = pointer[i + 1];
        T *row = out + i * B.columns;
        if (end - begin <= SHORT_SUM)
            NAME(short_sum)(units, tail, begin, end, limit, indices, values, B, row);
        else
            NAME(long_sum)(begin, end, indices, values, B, row);
    }
}

#define CALL(units, tail) \
    NAME(rows_of_strip)(units, tail, first, last, pointer, indices, values, B, out)
#define CASE(units)              \
    case units:                  \
        if (B.width % LANES)     \
            CALL(units, 1);      \
        else                     \
            CALL(units, 0);      \
        break;

TARGET static void NAME(any_strip)(int64_t first, int64_t last, const int64_t *pointer,
                                   const I *indices, const T *values, const struct NAME(strip) B,
                                   T *out) {
    switch (B.width / LANES) {
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
#undef CALL

typedef double NAME(squares) __attribute__((vector_size(8 * 16 / sizeof(T))));

#define DOUBLES(numbers) __builtin_convertvector(*(const NAME(unit) *)(numbers), NAME(squares))

/* Divide a row by its length, and return the length.  Where squares would leave the range in which they are
 * exact, the row is divided by its largest number first. */
INLINE TARGET double NAME(unit_row)(T *restrict row, int64_t columns) {
    NAME(squares) even = {0}, odd = {0};
    const int64_t whole = columns / LANES * LANES;
    int64_t k = 0;
    for (; k + LANES < whole; k += 2 * LANES) {
        const NAME(squares) x = DOUBLES(row + k), y = DOUBLES(row + k + LANES);
        even += x * x;
        odd += y * y;
    }
    if (k < whole) {
        const NAME(squares) x = DOUBLES(row + k);
        even += x * x;
    }
    double square = 0;
    for (int j = 0; j < LANES; j++) square += even[j] + odd[j];
    for (k = whole; k < columns; k++) square += (double)row[k] * (double)row[k];
    const double length = sqrt(square);
    const T divisor = (T)length;
    if (square > SMALLEST_SQUARE && square < LARGEST_SQUARE && divisor > 0) {
        for (k = 0; k < whole; k += LANES) *(NAME(unit) *)(row + k) /= divisor;
        for (; k < columns; k++) row[k] /= divisor;
        return length;
    }
    double peak = 0, rest = 0;
    for (k = 0; k < columns; k++) peak = fabs((double)row[k]) > peak ? fabs((double)row[k]) : peak;
    if (peak == 0 && square == 0) return 0;
    for (k = 0; k < columns; k++) rest += (row[k] / peak) * (row[k] / peak);
    for (k = 0; k < columns; k++) row[k] = (T)(row[k] / peak / sqrt(rest));
    return peak * sqrt(rest);
}

/* Rows `first` to `last` of scale * (X B - shift); divided by their lengths if those are requested.
 * B must have at least LANES columns. */
TARGET void NAME(gather)(int64_t first, int64_t last, const int64_t *pointer, const I *indices,
                         const T *values, int64_t columns, const T *numbers, const T *scale,
                         const T *shift, T *out, double *lengths) {
    const int64_t units = columns / LANES, strips = (units + UNITS - 1) / UNITS;
    for (int64_t a = first; a < last; a += FEW_ROWS) {
        const int64_t b = last - a > FEW_ROWS ? a + FEW_ROWS : last;
        for (int64_t s = 0; s < strips; s++) {
            const int64_t from = units * s / strips * LANES;
            const int64_t to = s + 1 < strips ? units * (s + 1) / strips * LANES : columns;
            const struct NAME(strip) B = {numbers + from, columns, to - from};
            NAME(any_strip)(a, b, pointer, indices, values, B, out + from);
        }
        for (int64_t i = a; i < b; i++) {
            T *row = out + i * columns;
            for (int64_t k = 0; shift && k < columns; k++) row[k] -= shift[k];
            for (int64_t k = 0; scale && k < columns; k++) row[k] *= scale[i];
            if (lengths) lengths[i] = NAME(unit_row)(row, columns);
        }
    }
}

/* Count how often each column is stored in rows `first` to `last`. */
void NAME(count)(int64_t first, int64_t last, const int64_t *pointer, const I *indices,
                 int64_t *counts) {
    for (int64_t p = pointer[first]; p < pointer[last]; p++) counts[indices[p]]++;
}

/* Whether a column is stored twice in one of these rows; `seen` has the last row of each column, initially -1. */
int64_t NAME(repeats)(int64_t first, int64_t last, const int64_t *pointer, const I *indices,
                      int64_t *seen) {
    int64_t found = 0;
    for (int64_t i = first; i < last; i++)
        for (int64_t p = pointer[i]; p < pointer[i + 1]; p++) {
            found |= seen[indices[p]] == i;
            seen[indices[p]] = i;
        }
    return found;
}

/* Put rows `first` to `last` into a transposed matrix, where `next` is the place of each column's next number. */
void NAME(turn)(int64_t first, int64_t last, const int64_t *pointer, const I *indices,
                int64_t *next, const T *values, I *rows, T *numbers) {
    for (int64_t i = first; i < last; i++)
        for (int64_t p = pointer[i]; p < pointer[i + 1]; p++) {
            const int64_t place = next[indices[p]]++;
            rows[place] = (I)i;
            numbers[place] = values[p];
        }
}
#undef DOUBLES
#undef LANES
