/* Products of dense matrices with few columns, for one choice of type and instruction set.
 *
 * Included by dense.c with these macros:
 *   T        type of the numbers
 *   NAME(x)  the name of a function for this choice
 *   TARGET   attribute that allows the instruction set
 *   WIDE     bytes of its vectors
 *   SUMS     how many vectors a tile of the result may have: they stay in registers
 */

#define LANES ((int64_t)(WIDE / sizeof(T)))
#define TILE_ROWS(vectors) (SUMS / ((vectors) < 2 ? 2 : (vectors)))

/* Vectors of numbers, which need not be aligned. */
typedef T NAME(vector) __attribute__((vector_size(WIDE), aligned(sizeof(T)), may_alias));

/* Vector v of a row of a tile.  The last one ends with the row, and may overlap the one before, so that nothing
 * past the row is read or written. */
#define PLACE(v) ((v) + 1 < vectors ? (v) * LANES : last)

/* out[i, c] += the sum over k of X[i * down + k * along] B[k, c], for a tile. */
INLINE TARGET void NAME(tile)(const int rows, const int vectors, int64_t terms, const T *restrict X,
                              const int64_t down, const int64_t along, const T *restrict B,
                              int64_t columns, int64_t last, T *restrict out) {
    NAME(vector) sums[SUMS] = {{0}};
    for (int64_t k = 0; k < terms; k++, X += along, B += columns) {
        NAME(vector) b[4];
        UNROLL
        for (int v = 0; v < vectors; v++) b[v] = *(const NAME(vector) *)(B + PLACE(v));
        UNROLL
        for (int i = 0; i < rows; i++) {
            const T x = X[i * down];
            UNROLL
            for (int v = 0; v < vectors; v++) sums[i * vectors + v] += x * b[v];
        }
    }
    for (int i = 0; i < rows; i++, out += columns) {
        /* All are read before any is written: two may overlap. */
        UNROLL
        for (int v = 0; v < vectors; v++) sums[i * vectors + v] += *(NAME(vector) *)(out + PLACE(v));
        UNROLL
        for (int v = 0; v < vectors; v++) *(NAME(vector) *)(out + PLACE(v)) = sums[i * vectors + v];
    }
}

#define TILE(rows, vectors) \
    NAME(tile)(rows, vectors, terms, X + i * down, down, along, B, columns, last, out + i * columns)
#define TILES(vectors)                                                                                        \
    case vectors:                                                                                             \
        for (; i + TILE_ROWS(vectors) <= rows; i += TILE_ROWS(vectors)) TILE(TILE_ROWS(vectors), vectors); \
        for (; i < rows; i++) TILE(1, vectors);                                                             \
        break;

/* The same for some rows and all columns, of which there are at least LANES. */
INLINE TARGET void NAME(tiles)(int64_t rows, int64_t terms, const T *X, const int64_t down, const int64_t along,
                               const T *numbers, int64_t columns, T *result) {
    const int64_t vectors = (columns + LANES - 1) / LANES, strips = (vectors + 3) / 4;
    for (int64_t s = 0; s < strips; s++) {
        const int64_t first = vectors * s / strips, next = vectors * (s + 1) / strips;
        const int64_t from = first * LANES, to = next < vectors ? next * LANES : columns, last = to - LANES - from;
        const T *B = numbers + from;
        T *out = result + from;
        int64_t i = 0;
        switch (next - first) { TILES(1) TILES(2) TILES(3) TILES(4) }
    }
}
#undef TILES
#undef TILE
#undef PLACE

/* Y += X U; rows of X are `stride` numbers apart. */
TARGET void NAME(project)(int64_t n, int64_t m, int64_t stride, int64_t columns, const T *X, const T *U, T *Y) {
    for (int64_t k = 0; k < m; k += LONG_SUM)
        for (int64_t i = 0; i < n; i += FEW_ROWS)
            NAME(tiles)(n - i < FEW_ROWS ? n - i : FEW_ROWS, m - k < LONG_SUM ? m - k : LONG_SUM,
                        X + i * stride + k, stride, 1, U + k * columns, columns, Y + i * columns);
}

/* G += X'V. */
TARGET void NAME(correlate)(int64_t n, int64_t m, int64_t stride, int64_t columns, const T *X, const T *V, T *G) {
    for (int64_t i = 0; i < n; i += SHORT_SUM)
        NAME(tiles)(m, n - i < SHORT_SUM ? n - i : SHORT_SUM, X + i * stride, 1, stride, V + i * columns, columns, G);
}
#undef LANES
#undef TILE_ROWS
