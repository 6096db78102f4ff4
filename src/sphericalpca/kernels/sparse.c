/* Products of sparse matrices, compiled for several instruction sets; `library.py` chooses one.
 *
 * Plain C without Python's headers: called through ctypes, which releases the interpreter lock.
 * Callers have checked the matrices: nothing here checks that an index is in range.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
/* This many products are added up in the type of the numbers before their sum is added to the total. */
#define SHORT_SUM 1024
/* How far ahead rows of the dense matrix are prefetched. */
#define AHEAD 16
/* Rows that are finished together, while they are in L1 cache. */
#define FEW_ROWS 32
/* Between these a sum of squares of doubles keeps all its digits. */
#define SMALLEST_SQUARE 1e-290
#define LARGEST_SQUARE 1e308

#define JOIN(a, b, c, d) a##_##b##_##c##_##d
#define PASTE(a, b, c, d) JOIN(a, b, c, d)
#define NAME(function) PASTE(function, SET, NUMBER, INDEX)

#define SET generic
#define WIDE 16
#define TARGET
#define UNITS 8
#include "types.h"
#undef SET
#undef WIDE
#undef TARGET
#undef UNITS

#if defined(__x86_64__)
#define SET avx2
#define WIDE 32
#define TARGET __attribute__((target("avx2,fma")))
#define UNITS 14
#include "types.h"
#undef SET
#undef WIDE
#undef TARGET
#undef UNITS

#define SET avx512
#define WIDE 64
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,fma")))
#else
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,fma,prefer-vector-width=512")))
#endif
#define UNITS 28
#include "types.h"
#endif

/* Part of every such processor, with more registers than others: wider strips than "generic". */
#if defined(__aarch64__)
#define SET neon
#define WIDE 16
#define TARGET
#define UNITS 14
#include "types.h"
#endif

/* Instruction sets that this processor has, best first. */
const char *instruction_sets(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return avx512 ? "avx512 avx2 generic" : avx2 ? "avx2 generic" : "generic";
#elif defined(__aarch64__)
    return "neon generic";
#else
    return "generic";
#endif
}
