#include "engine/rounding/small_floats.h"

#if defined(__x86_64__)

#include <xmmintrin.h>

enum { FLUSH_RESULTS = 0x8000, READ_AS_ZERO = 0x0040 }; /* FTZ and DAZ of MXCSR */

struct small_floats small_floats_drop(void)
{
    struct small_floats before = {_mm_getcsr()};
    _mm_setcsr((unsigned)before.mode | FLUSH_RESULTS | READ_AS_ZERO);
    return before;
}

void small_floats_restore(struct small_floats before)
{
    _mm_setcsr((unsigned)before.mode);
}

#elif defined(__aarch64__)

static const uint64_t flush = UINT64_C(1) << 24; /* FZ of FPCR: inputs and results */

static void set(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}

struct small_floats small_floats_drop(void)
{
    struct small_floats before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before.mode));
    set(before.mode | flush);
    return before;
}

void small_floats_restore(struct small_floats before)
{
    set(before.mode);
}

#else

struct small_floats small_floats_drop(void)
{
    return (struct small_floats){0};
}

void small_floats_restore(struct small_floats before)
{
    (void)before;
}

#endif
