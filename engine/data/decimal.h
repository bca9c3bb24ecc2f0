/*
 * decimal.h - reads decimal text as the nearest double, exactly and alike in every
 * locale.
 *
 *   [+-] digits [. digits] [e [+-] digits]     at least one digit before the exponent
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_DECIMAL_H
#define ENGINE_DATA_DECIMAL_H

/* The longest text that is read. A double's exact expansion has at most 1,077
 * characters. */
enum { DECIMAL_SIZE_MAX = 2048 };

/* Reads the longest number that starts at text, before end; *value is an infinity where
 * it is beyond the doubles. Returns the place behind it, or NULL (value untouched)
 * where there is none. */
const char *decimal_read(double *value, const char *text, const char *end);

#endif
