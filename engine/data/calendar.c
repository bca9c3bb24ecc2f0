/* Days and dates are converted as in "chrono-Compatible Low-Level Date Algorithms" (H.
 * Hinnant, 2013): years begin in March, so that the leap day is the last, and 400 years
 * are an era of 146,097 days. */
#include "engine/data/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ERA_DAYS = 146097, ERA_YEARS = 400, EPOCH_SHIFT = 719468, MONTH_NAME = 3 };

struct date {
    int64_t year;
    unsigned month, day; /* from 1 */
};

static const char month_names[12][MONTH_NAME + 1] = {
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};

/* The signs of a format. */
static const struct sign {
    char letter;
    unsigned digits_min, digits_max;
    unsigned low, high;
} signs[] = {
    {'Y', 4, 4, 1, 9999}, {'m', 1, 2, 1, 12}, {'d', 1, 2, 1, 31}, {'H', 1, 2, 0, 23},
    {'M', 1, 2, 0, 59},   {'S', 1, 2, 0, 59}, {'b', 0, 0, 1, 12},
};

static const struct sign *sign_of(char letter)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].letter == letter)
            return &signs[i];
    return NULL;
}

const char *calendar_format_fault(const char *format)
{
    unsigned years = 0, months = 0, days = 0;
    if (strlen(format) > CALENDAR_FORMAT_MAX)
        return "must have at most 64 bytes";
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%')
            continue;
        at++;
        if (*at == 'y')
            return "must have the year as %Y: with two digits the century is unknown";
        if (*at != '%' && sign_of(*at) == NULL)
            return "must have only %Y, %m, %b, %d, %H, %M, %S and %% after per cent "
                   "signs";
        years += *at == 'Y';
        months += *at == 'm' || *at == 'b';
        days += *at == 'd';
    }
    return years == 1 && months == 1 && days == 1
               ? NULL
               : "must have one year, one month and one day, such as %Y-%m-%d";
}

static const char *read_month_name(unsigned *value, const char *text, const char *end)
{
    for (unsigned i = 0; end - text >= MONTH_NAME && i < 12; i++) {
        if (strncasecmp(text, month_names[i], MONTH_NAME) == 0) {
            *value = i + 1;
            return text + MONTH_NAME;
        }
    }
    return NULL;
}

/* Reads what a sign stands for. Returns the place after it, or NULL. */
static const char *read_sign(unsigned *value, const struct sign *sign, const char *text,
                             const char *end)
{
    unsigned digits = 0;
    if (sign->digits_max == 0)
        return read_month_name(value, text, end);
    for (*value = 0;
         text < end && digits < sign->digits_max && (unsigned char)(*text - '0') < 10;
         digits++)
        *value = *value * 10 + (unsigned)(*text++ - '0');
    return digits >= sign->digits_min && *value >= sign->low && *value <= sign->high
               ? text
               : NULL;
}

static unsigned month_days(int64_t year, unsigned month)
{
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month == 2)
        return leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static int64_t days_of(const struct date *date)
{
    int64_t year = date->year - (date->month <= 2);
    int64_t era = year / ERA_YEARS, of_era = year - era * ERA_YEARS;
    int64_t month = (date->month + 9) % 12; /* from March */
    int64_t of_year = (153 * month + 2) / 5 + date->day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           EPOCH_SHIFT;
}

static struct date date_of(int64_t days)
{
    days += EPOCH_SHIFT;
    int64_t era = days / ERA_DAYS, of_era = days - era * ERA_DAYS;
    int64_t year =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    return (struct date){
        .year = year + era * ERA_YEARS + (month >= 10),
        .month = (unsigned)((month + 2) % 12 + 1),
        .day = (unsigned)(of_year - (153 * month + 2) / 5 + 1),
    };
}

bool calendar_read(double *days, const char *format, const char *text, size_t size)
{
    const char *end = text + size;
    struct date date = {0};
    for (; *format != '\0'; format++) {
        if (*format != '%' || format[1] == '%') {
            format += *format == '%';
            if (text == end || *text++ != *format)
                return false;
            continue;
        }
        unsigned value = 0;
        text = read_sign(&value, sign_of(*++format), text, end);
        if (text == NULL)
            return false;
        switch (*format) {
        case 'Y': date.year = value; break;
        case 'm':
        case 'b': date.month = value; break;
        case 'd': date.day = value; break;
        }
    }
    if (text != end || date.day > month_days(date.year, date.month))
        return false;
    *days = (double)days_of(&date);
    return true;
}

void calendar_write(char text[CALENDAR_TEXT_SIZE], double days)
{
    char wide[64]; /* any date that a double can be */
    const struct date date = date_of((int64_t)days);
    snprintf(wide, sizeof wide, "%04" PRId64 "-%02u-%02u", date.year, date.month,
             date.day);
    memcpy(text, wide, CALENDAR_TEXT_SIZE - 1);
    text[CALENDAR_TEXT_SIZE - 1] = '\0';
}

static uint32_t quarter_of(int64_t days)
{
    return (date_of(days).month - 1) / 3;
}

static uint32_t month_of(int64_t days)
{
    return date_of(days).month - 1;
}

static uint32_t weekday_of(int64_t days)
{
    return (uint32_t)((days + EPOCH_SHIFT + 2) % 7);
}

static const struct {
    const char *name;
    uint32_t size;
    uint32_t (*of)(int64_t days);
} parts_of_year[CALENDAR_PART_COUNT] = {
    [CALENDAR_QUARTER] = {"quarter", 4, quarter_of},
    [CALENDAR_MONTH] = {"month", 12, month_of},
    [CALENDAR_WEEKDAY] = {"weekday", 7, weekday_of},
};

const char *calendar_part_name(enum calendar_part part)
{
    return parts_of_year[part].name;
}

uint32_t calendar_part_size(enum calendar_part part)
{
    return parts_of_year[part].size;
}

uint32_t calendar_parts_size(unsigned parts)
{
    uint32_t size = 0;
    for (int i = 0; i < CALENDAR_PART_COUNT; i++)
        size += (parts >> i & 1) != 0 ? parts_of_year[i].size : 0;
    return size;
}

uint32_t calendar_part_of(enum calendar_part part, int64_t days)
{
    return parts_of_year[part].of(days);
}
