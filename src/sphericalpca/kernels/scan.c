/* Codes of SphericalCodec: the nearest level of each byte, and sums over one table per byte.
 *
 * A byte of a code names one of 256 levels of a group of components. Scores of queries are
 * sums over the bytes of a table of 256 numbers each; seven queries and the squared length share
 * one read of a code, their tables interleaved, so that one vector load serves all of them.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* the vectors below are not part of the interface */

#define LEVELS 256
#define LANES 8
#define EQUAL 1e-12 /* scores nearer than this are equal */

#if defined(__x86_64__) && defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define WIDE __attribute__((target("avx2,fma")))
#define HAS_WIDE __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
#define WIDEST __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma")))
#define HAS_WIDEST __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && \
    __builtin_cpu_supports("avx512dq")
#else
#define INLINE static inline
#define WIDE
#define HAS_WIDE 0
#define WIDEST
#define HAS_WIDEST 0
#endif

typedef double doubles __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t masks __attribute__((vector_size(8 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float pairs __attribute__((vector_size(8), aligned(4), may_alias));

INLINE doubles larger(doubles a, doubles b)
{
    masks which = a > b;
    return (doubles)((which & (masks)a) | (~which & (masks)b));
}

INLINE int nearest(const double *x, size_t d, const double *levels, const double *half)
{
    /* The scores of 32 levels at a time stay in registers. */
    double score[LEVELS];
    doubles best[4];
    for (int first = 0; first < LEVELS; first += 4 * LANES) {
        doubles sum[4];
        for (int k = 0; k < 4; k++) {
            sum[k] = -*(const doubles *)(half + first + k * LANES);
        }
        for (size_t j = 0; j < d; j++) {
            const double *row = levels + j * LEVELS + first;
            for (int k = 0; k < 4; k++) {
                sum[k] += x[j] * *(const doubles *)(row + k * LANES);
            }
        }
        for (int k = 0; k < 4; k++) {
            *(doubles *)(score + first + k * LANES) = sum[k];
            best[k] = first ? larger(sum[k], best[k]) : sum[k];
        }
    }
    best[0] = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    double most = best[0][0];
    for (int c = 1; c < LANES; c++) {
        most = best[0][c] > most ? best[0][c] : most;
    }
    most -= EQUAL * (1 + fabs(most));
    int index = 0;
    while (score[index] < most && index < LEVELS - 1) {
        index++;
    }
    return index;
}

#define ENCODE_BODY                                                                            \
    for (size_t i = 0; i < n; i++) {                                                           \
        for (size_t b = 0; b < n_bytes; b++) {                                                 \
            size_t j = ends[b];                                                                \
            codes[i * n_bytes + b] = (uint8_t)nearest(                                         \
                X + i * width + j, ends[b + 1] - j, levels + j * LEVELS, half + b * LEVELS);   \
        }                                                                                      \
    }
#define ENCODE_ARGUMENTS                                                                       \
    const double *X, size_t n, size_t width, const int64_t *ends, size_t n_bytes,              \
        const double *levels, const double *half, uint8_t *codes
#define ENCODE_NAMES X, n, width, ends, n_bytes, levels, half, codes

static void encode_plain(ENCODE_ARGUMENTS) { ENCODE_BODY }
WIDE static void encode_wide(ENCODE_ARGUMENTS) { ENCODE_BODY }
WIDEST static void encode_widest(ENCODE_ARGUMENTS) { ENCODE_BODY }

/* For each row and byte the level with the largest <x, level> - half, the first of those that are
 * equal up to rounding. X has the components of byte b in columns ends[b] to ends[b + 1], levels a
 * row of 256 numbers for each column. */
void codec_nearest(ENCODE_ARGUMENTS)
{
    if (HAS_WIDEST) {
        encode_widest(ENCODE_NAMES);
    } else if (HAS_WIDE) {
        encode_wide(ENCODE_NAMES);
    } else {
        encode_plain(ENCODE_NAMES);
    }
}

/* A heap of the best k: its root is the worst of them, ties go to the smaller number. */
INLINE int worse(float a, int64_t ia, float b, int64_t ib) { return a < b || (a == b && ia > ib); }

static void replace_root(float *score, int64_t *id, size_t k, float s, int64_t i)
{
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= k) {
            break;
        }
        if (child + 1 < k && worse(score[child + 1], id[child + 1], score[child], id[child])) {
            child++;
        }
        if (!worse(score[child], id[child], s, i)) {
            break;
        }
        score[at] = score[child];
        id[at] = id[child];
        at = child;
    }
    score[at] = s;
    id[at] = i;
}

#define SEARCH_ARGUMENTS                                                                       \
    const uint8_t *codes, size_t n, size_t n_bytes, const float *table, int64_t first,         \
        size_t k, float *scores, int64_t *ids
#define SEARCH_NAMES codes, n, n_bytes, table, first, k, scores, ids
#define SEARCH_BODY(LINE, WIDTH)                                                               \
    for (size_t i = 0; i < n; i++) {                                                           \
        const uint8_t *code = codes + i * n_bytes;                                             \
        LINE sum = {0}, odd = {0};                                                             \
        size_t b = 0;                                                                          \
        for (; b + 2 <= n_bytes; b += 2) {                                                     \
            sum += *(const LINE *)(table + (b * LEVELS + code[b]) * WIDTH);                    \
            odd += *(const LINE *)(table + ((b + 1) * LEVELS + code[b + 1]) * WIDTH);          \
        }                                                                                      \
        if (b < n_bytes) {                                                                     \
            sum += *(const LINE *)(table + (b * LEVELS + code[b]) * WIDTH);                    \
        }                                                                                      \
        sum += odd;                                                                            \
        float square = sum[WIDTH - 1];                                                         \
        sum *= square > 0 ? 1 / sqrtf(square) : 0;                                             \
        for (int q = 0; q < WIDTH - 1; q++) {                                                  \
            if (sum[q] > scores[q * k]) {                                                      \
                replace_root(scores + q * k, ids + q * k, k, sum[q], first + (int64_t)i);      \
            }                                                                                  \
        }                                                                                      \
    }

static void search_plain(SEARCH_ARGUMENTS) { SEARCH_BODY(floats, LANES) }
WIDE static void search_wide(SEARCH_ARGUMENTS) { SEARCH_BODY(floats, LANES) }

/* The best k rows for seven queries, whose tables are interleaved with that of squared lengths:
 * table[byte][level][query, or length]. scores and ids hold a heap of k for each query, filled
 * with -inf and a large number before the first rows; after the last they are in any order. */
void codec_find(SEARCH_ARGUMENTS)
{
    if (HAS_WIDE) {
        search_wide(SEARCH_NAMES);
    } else {
        search_plain(SEARCH_NAMES);
    }
}

/* For one query, whose table is a quarter of the size and stays in cache. */
void codec_find_one(SEARCH_ARGUMENTS) { SEARCH_BODY(pairs, 2) }
