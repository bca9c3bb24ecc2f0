/*
 * calendar.h - dates: a declared format, the days of a date, and the parts of the year.
 * The calendar is the Gregorian one of all years, without time zones and leap seconds.
 *
 * A format is text in which these stand for numbers, and everything else for itself:
 *
 *   %Y  the year, four digits      %H %M %S  hour, minute, second; read and dropped
 *   %m  the month, 1 or 2 digits   %b        the month as Jan to Dec, in any case
 *   %d  the day, 1 or 2 digits     %%        a per cent sign
 *
 * Years of two digits are not read, because the century would be a guess.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_CALENDAR_H
#define ENGINE_DATA_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALENDAR_FORMAT_MAX = 64 }; /* bytes of a format */

/* Returns NULL if the text is a format with one year, one month and one day; else what
 * is wrong with it. */
const char *calendar_format_fault(const char *format);

/* Reads a date that fills text[0..size), as days since 1970-01-01. Returns false if the
 * text is no such date. */
bool calendar_read(double *days, const char *format, const char *text, size_t size);

/* Writes days as YYYY-MM-DD. */
enum { CALENDAR_TEXT_SIZE = 11 };
void calendar_write(char text[CALENDAR_TEXT_SIZE], double days);

/* The format of dates in requests, and the days of the first and the last date that can
 * be declared: 0001-01-01 and 9999-12-31. */
#define CALENDAR_ISO "%Y-%m-%d"
#define CALENDAR_MIN (-719162.0)
#define CALENDAR_MAX 2932896.0

/* The parts of the year that a date can have as features, in this order. */
enum calendar_part {
    CALENDAR_QUARTER, /* 4 features: January to March first */
    CALENDAR_MONTH,   /* 12 */
    CALENDAR_WEEKDAY, /* 7: Monday first */
    CALENDAR_PART_COUNT
};
const char *calendar_part_name(enum calendar_part part);
uint32_t calendar_part_size(enum calendar_part part);

/* Returns the features of all parts in the set, whose bits are 1 << part. */
uint32_t calendar_parts_size(unsigned parts);

/* Returns the value of a part on a day from CALENDAR_MIN to CALENDAR_MAX, from 0. */
uint32_t calendar_part_of(enum calendar_part part, int64_t days);

#endif
