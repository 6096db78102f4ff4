/* Gathered products beside plain sums, for every instruction set that the processor has.
 *
 * For machines without a Python of their own: compiled and run by test_compilers.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sparse.c"

#define ROWS 9
#define COLUMNS 7
#define WIDEST 130
#define MOST 3000

static double drawn(void) { return rand() / (double)RAND_MAX - 0.5; }

/* The largest error of any number of any width, in roundings of its sum. */
#define CHECK(set, T, number, I, index, rounding)                                                \
    {                                                                                            \
        static T values[ROWS * MOST], B[COLUMNS * WIDEST];                                        \
        static T out[ROWS * WIDEST];                                                             \
        static I indices[ROWS * MOST];                                                           \
        const int64_t counts[ROWS] = {0, 1, 5, MOST, 2, 1024, 1025, 0, 33};                      \
        int64_t pointer[ROWS + 1] = {0};                                                         \
        for (int i = 0; i < ROWS; i++) pointer[i + 1] = pointer[i] + counts[i];                  \
        for (int64_t p = 0; p < pointer[ROWS]; p++) {                                            \
            values[p] = (T)drawn();                                                              \
            indices[p] = (I)(rand() % COLUMNS);                                                  \
        }                                                                                        \
        for (int64_t r = 16 / sizeof(T); r <= WIDEST; r++) {                                     \
            for (int64_t k = 0; k < COLUMNS * r; k++) B[k] = (T)drawn();                         \
            gather_##set##_##number##_##index(0, ROWS, pointer, indices, values, r, B, NULL,     \
                                              NULL, out, NULL);                                  \
            for (int i = 0; i < ROWS; i++)                                                       \
                for (int64_t k = 0; k < r; k++) {                                                \
                    double sum = 0, size = 0;                                                    \
                    for (int64_t p = pointer[i]; p < pointer[i + 1]; p++) {                      \
                        const double term = (double)values[p] * (double)B[indices[p] * r + k];   \
                        sum += term;                                                             \
                        size += fabs(term);                                                      \
                    }                                                                            \
                    if (!(fabs((double)out[i * r + k] - sum) <= 100 * rounding * size)) {        \
                        printf("%s %s %s: width %d, row %d\n", #set, #number, #index, (int)r, i); \
                        return 1;                                                                \
                    }                                                                            \
                }                                                                                \
        }                                                                                        \
    }

#define CHECK_ALL(set)                           \
    if (strstr(instruction_sets(), #set)) {      \
        CHECK(set, float, f4, int32_t, i4, 6e-8) \
        CHECK(set, float, f4, int64_t, i8, 6e-8) \
        CHECK(set, double, f8, int32_t, i4, 1.2e-16) \
        CHECK(set, double, f8, int64_t, i8, 1.2e-16) \
        printf("%s ", #set);                     \
    }

int main(void) {
#if defined(__x86_64__)
    CHECK_ALL(avx512)
    CHECK_ALL(avx2)
#elif defined(__aarch64__)
    CHECK_ALL(neon)
#endif
    CHECK_ALL(generic)
    printf("agree with plain sums\n");
    return 0;
}
