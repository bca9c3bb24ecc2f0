/*
 * processor.h - the sets of instructions that this processor runs, beyond those that
 * the build may always use. Code that is compiled for more instructions asks here
 * before it runs.
 *
 * Threads: pure functions of the processor.
 */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdbool.h>

/* Whether the build is for x86-64, with a compiler that compiles single functions for
 * more instructions. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PROCESSOR_X86_64 1
#else
#define PROCESSOR_X86_64 0
#endif

/* Sets of instructions, a bit each. */
enum processor_instructions {
    PROCESSOR_AVX2 = 1 << 0,
    PROCESSOR_FMA = 1 << 1,
    PROCESSOR_AVX512F = 1 << 2,
    PROCESSOR_AVX512DQ = 1 << 3,
    PROCESSOR_AVX512BW = 1 << 4,
    PROCESSOR_AVX512VL = 1 << 5,
    PROCESSOR_AVX512IFMA = 1 << 6
};

/* Returns whether the processor runs all of these sets, and the system keeps their
 * registers. Only processors of x86-64 run any. */
bool processor_runs(unsigned instructions);

#endif
