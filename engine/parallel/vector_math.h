/*
 * vector_math.h - libm's functions under names for which gcc can vectorise loops marked
 * by VECTOR_LOOP, with calls of libmvec: 0.2 ns an element against 1.5 to 14
 * (network.md 6). Other compilers and sanitized builds call the scalar functions.
 *
 *   VECTOR_LOOP      the iterations of the loop that follows are independent
 *   VECTOR_SUM(...)  they are independent, and may add to these sums in any order
 *   VECTOR_CLONES    the function is compiled for wider registers too, and the
 *                    processor decides which one runs
 *
 * The widths differ in the last bits, the lanes of one width do not: loops run over
 * whole padded rows, so that a row's results do not depend on its place (noise.md 2.5).
 */
#ifndef ENGINE_PARALLEL_VECTOR_MATH_H
#define ENGINE_PARALLEL_VECTOR_MATH_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) &&                 \
    defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&                         \
    !defined(__SANITIZE_THREAD__)
#define VECTOR_LOOP      _Pragma("omp simd")
#define VECTOR_SUM(...)  _Pragma(VECTOR_TEXT(omp simd reduction(+ : __VA_ARGS__)))
#define VECTOR_TEXT(...) #__VA_ARGS__
#define VECTOR_LANES     __attribute__((simd("notinbranch"), const))
#define VECTOR_CLONES                                                                  \
    __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VECTOR_LOOP
#define VECTOR_SUM(...)
#define VECTOR_LANES __attribute__((const))
#define VECTOR_CLONES
#endif

float lanes_expf(float x) __asm__("expf") VECTOR_LANES;
float lanes_erff(float x) __asm__("erff") VECTOR_LANES;
float lanes_expm1f(float x) __asm__("expm1f") VECTOR_LANES;
float lanes_log1pf(float x) __asm__("log1pf") VECTOR_LANES;
float lanes_tanhf(float x) __asm__("tanhf") VECTOR_LANES;
double lanes_exp(double x) __asm__("exp") VECTOR_LANES;
double lanes_expm1(double x) __asm__("expm1") VECTOR_LANES;
double lanes_log1p(double x) __asm__("log1p") VECTOR_LANES;

#endif
