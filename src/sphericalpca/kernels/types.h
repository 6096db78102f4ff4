/* The functions of sparse.h for every choice of types, for one instruction set. */

#define T float
#define NUMBER f4
#define A double
#define I int32_t
#define INDEX i4
#include "sparse.h"
#undef I
#undef INDEX
#define I int64_t
#define INDEX i8
#include "sparse.h"
#undef I
#undef INDEX
#undef T
#undef NUMBER

#define T double
#define NUMBER f8
#define I int32_t
#define INDEX i4
#include "sparse.h"
#undef I
#undef INDEX
#define I int64_t
#define INDEX i8
#include "sparse.h"
#undef I
#undef INDEX
#undef T
#undef NUMBER
#undef A
