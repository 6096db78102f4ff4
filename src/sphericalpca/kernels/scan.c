/* Codes of SphericalCodec: the nearest level of each byte, and sums over one table per byte.
 *
 * A byte of a code names one of 256 levels of a group of components. Scores of queries are
 * sums over the bytes of a table of 256 numbers each; eight queries share one read of a code,
 * their tables interleaved, so that one vector load serves all of them.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* the vectors below never cross the library's border */

#define LEVELS 256
#define LANES 8

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

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

INLINE lanes larger(lanes a, lanes b)
{
    ints which = a > b;
    return (lanes)((which & (ints)a) | (~which & (ints)b));
}

INLINE int nearest(const float *x, size_t d, const float *levels, const float *half, float slack,
                   int *near)
{
    /* The scores of 32 levels at a time stay in registers. */
    float score[LEVELS];
    lanes best[4];
    for (int first = 0; first < LEVELS; first += 4 * LANES) {
        lanes sum[4];
        for (int k = 0; k < 4; k++) {
            sum[k] = -*(const lanes *)(half + first + k * LANES);
        }
        for (size_t j = 0; j < d; j++) {
            const float *row = levels + j * LEVELS + first;
            for (int k = 0; k < 4; k++) {
                sum[k] += x[j] * *(const lanes *)(row + k * LANES);
            }
        }
        for (int k = 0; k < 4; k++) {
            *(lanes *)(score + first + k * LANES) = sum[k];
            best[k] = first ? larger(sum[k], best[k]) : sum[k];
        }
    }
    best[0] = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    float most = best[0][0];
    for (int c = 1; c < LANES; c++) {
        most = best[0][c] > most ? best[0][c] : most;
    }
    ints close = {0};
    for (int first = 0; first < LEVELS; first += LANES) {
        close += *(const lanes *)(score + first) >= most - slack;
    }
    int count = 0, index = 0;
    for (int c = 0; c < LANES; c++) {
        count -= close[c];
    }
    while (score[index] != most && index < LEVELS - 1) {
        index++;
    }
    *near = count > 1;
    return index;
}

#define ENCODE_BODY                                                                            \
    for (size_t i = 0; i < n; i++) {                                                           \
        for (size_t b = 0; b < n_bytes; b++) {                                                 \
            int close = 0;                                                                     \
            size_t j = ends[b];                                                                \
            codes[i * n_bytes + b] =                                                           \
                (uint8_t)nearest(X + i * width + j, ends[b + 1] - j, levels + j * LEVELS,      \
                                 half + b * LEVELS, slack[b], &close);                         \
            near[i * n_bytes + b] = (uint8_t)close;                                            \
        }                                                                                      \
    }
#define ENCODE_ARGUMENTS                                                                       \
    const float *X, size_t n, size_t width, const int64_t *ends, size_t n_bytes,               \
        const float *levels, const float *half, const float *slack, uint8_t *codes, uint8_t *near
#define ENCODE_NAMES X, n, width, ends, n_bytes, levels, half, slack, codes, near

static void encode_plain(ENCODE_ARGUMENTS) { ENCODE_BODY }
WIDE static void encode_wide(ENCODE_ARGUMENTS) { ENCODE_BODY }
WIDEST static void encode_widest(ENCODE_ARGUMENTS) { ENCODE_BODY }

/* For each row and byte the level with the largest <x, level> - half, the first of equals. X has
 * the components of byte b in columns ends[b] to ends[b + 1], levels a row of 256 numbers for each
 * column. near is 1 where another level comes within the byte's slack. */
void codec_encode(ENCODE_ARGUMENTS)
{
    if (HAS_WIDEST) {
        encode_widest(ENCODE_NAMES);
    } else if (HAS_WIDE) {
        encode_wide(ENCODE_NAMES);
    } else {
        encode_plain(ENCODE_NAMES);
    }
}

INLINE float row_sum(const uint8_t *code, size_t n_bytes, const float *table)
{
    float sum[4] = {0, 0, 0, 0};
    size_t b = 0;
    for (; b + 8 <= n_bytes; b += 8) {
        const float *t = table + b * LEVELS;
        uint64_t word;
        memcpy(&word, code + b, 8);
        sum[0] += t[word & 255] + t[4 * LEVELS + (word >> 32 & 255)];
        sum[1] += t[LEVELS + (word >> 8 & 255)] + t[5 * LEVELS + (word >> 40 & 255)];
        sum[2] += t[2 * LEVELS + (word >> 16 & 255)] + t[6 * LEVELS + (word >> 48 & 255)];
        sum[3] += t[3 * LEVELS + (word >> 24 & 255)] + t[7 * LEVELS + (word >> 56)];
    }
    for (; b < n_bytes; b++) {
        sum[0] += table[b * LEVELS + code[b]];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* out[i] = the sum over the bytes of row i of its table's number. */
void codec_sums(const uint8_t *codes, size_t n, size_t n_bytes, const float *table, float *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = row_sum(codes + i * n_bytes, n_bytes, table);
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
    const uint8_t *codes, size_t n, size_t n_bytes, const float *table, const float *scale,    \
        int64_t first, size_t k, float *scores, int64_t *ids
#define SEARCH_NAMES codes, n, n_bytes, table, scale, first, k, scores, ids
#define SEARCH_BODY                                                                            \
    for (size_t i = 0; i < n; i++) {                                                           \
        const uint8_t *code = codes + i * n_bytes;                                             \
        lanes sum = {0}, odd = {0};                                                            \
        size_t b = 0;                                                                          \
        for (; b + 2 <= n_bytes; b += 2) {                                                     \
            sum += *(const lanes *)(table + (b * LEVELS + code[b]) * LANES);                   \
            odd += *(const lanes *)(table + ((b + 1) * LEVELS + code[b + 1]) * LANES);         \
        }                                                                                      \
        if (b < n_bytes) {                                                                     \
            sum += *(const lanes *)(table + (b * LEVELS + code[b]) * LANES);                   \
        }                                                                                      \
        sum = (sum + odd) * scale[i];                                                          \
        ints better = sum > worst;                                                             \
        int any = 0;                                                                           \
        for (int q = 0; q < LANES; q++) {                                                      \
            any |= better[q];                                                                  \
        }                                                                                      \
        for (int q = 0; any && q < LANES; q++) {                                               \
            if (better[q]) {                                                                   \
                replace_root(scores + q * k, ids + q * k, k, sum[q], first + (int64_t)i);      \
                worst[q] = scores[q * k];                                                      \
            }                                                                                  \
        }                                                                                      \
    }

#define WORST                                                                                  \
    lanes worst;                                                                               \
    for (int q = 0; q < LANES; q++) {                                                          \
        worst[q] = scores[q * k];                                                              \
    }

static void search_plain(SEARCH_ARGUMENTS) { WORST SEARCH_BODY }
WIDE static void search_wide(SEARCH_ARGUMENTS) { WORST SEARCH_BODY }

/* The best k rows for eight queries, whose tables are interleaved: table[byte][level][query].
 * A row's sum is multiplied by its scale. scores and ids hold a heap of k for each query, filled
 * with -inf and a large number before the first rows come, in any order after the last. */
void codec_search(SEARCH_ARGUMENTS)
{
    if (HAS_WIDE) {
        search_wide(SEARCH_NAMES);
    } else {
        search_plain(SEARCH_NAMES);
    }
}

/* The same for one query, whose table is not interleaved. */
void codec_search_one(SEARCH_ARGUMENTS)
{
    for (size_t i = 0; i < n; i++) {
        float sum = row_sum(codes + i * n_bytes, n_bytes, table) * scale[i];
        if (sum > scores[0]) {
            replace_root(scores, ids, k, sum, first + (int64_t)i);
        }
    }
}
