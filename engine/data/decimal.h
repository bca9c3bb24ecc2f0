/*
 * decimal.h - reads decimal text as the nearest double: exactly, and with the same
 * result in every locale.
 *
 *   [+-] digits [. digits] [e [+-] digits]     at least one digit before the exponent
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_DECIMAL_H
#define ENGINE_DATA_DECIMAL_H

/* The longest accepted text. A double's exact expansion has at most 1,077
 * characters. */
enum { DECIMAL_SIZE_MAX = 2048 };

/* Reads the longest number that starts at text, before end; *value is an infinity if
 * the number is beyond the doubles. Returns the place after the number, or NULL (value
 * unchanged) if there is none. */
const char *decimal_read(double *value, const char *text, const char *end);

/* The same for numbers that have a comma in place of the point. */
const char *decimal_read_comma(double *value, const char *text, const char *end);

#endif
