/* Dense products with few columns, compiled for the instruction sets with long vectors. */
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
/* How many products are added up in registers, in rows and in columns of X: the numbers they reuse stay
 * in cache. */
#define LONG_SUM 512
#define SHORT_SUM 128
/* Rows whose results stay in L1 cache. */
#define FEW_ROWS 48

#define JOIN(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) JOIN(a, b, c)
#define NAME(function) PASTE(function, SET, NUMBER)

#if defined(__x86_64__)
#define SET avx2
#define WIDE 32
#define SUMS 12
#define TARGET __attribute__((target("avx2,fma")))
#define T float
#define NUMBER f4
#include "dense.h"
#undef T
#undef NUMBER
#define T double
#define NUMBER f8
#include "dense.h"
#undef T
#undef NUMBER
#undef SET
#undef WIDE
#undef SUMS
#undef TARGET

#define SET avx512
#define WIDE 64
#define SUMS 24
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,fma")))
#else
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,fma,prefer-vector-width=512")))
#endif
#define T float
#define NUMBER f4
#include "dense.h"
#undef T
#undef NUMBER
#define T double
#define NUMBER f8
#include "dense.h"
#endif
