/* Goal: every day has one text, and its parts are those of the calendar. Method: the
 * days of all declarable years against gmtime, and formats and texts by hand. */
#include "tests/expect.h"

#include <string.h>
#include <time.h>

#include "engine/data/calendar.h"

static void every_day_is_that_of_the_calendar(void **state)
{
    (void)state;
    for (int64_t day = (int64_t)CALENDAR_MIN; day <= (int64_t)CALENDAR_MAX; day++) {
        char text[CALENDAR_TEXT_SIZE], expected[64];
        struct tm tm;
        double days;
        const time_t seconds = (time_t)(day * 86400);
        assert_non_null(gmtime_r(&seconds, &tm));
        snprintf(expected, sizeof expected, "%04d-%02d-%02d", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday);
        calendar_write(text, (double)day);
        if (strcmp(text, expected) != 0)
            fail_msg("%s is %s", expected, text);
        if (!calendar_read(&days, CALENDAR_ISO, text, strlen(text)) ||
            days != (double)day)
            fail_msg("%s is read as day %g", text, days);
        if (calendar_part_of(CALENDAR_MONTH, day) != (uint32_t)tm.tm_mon ||
            calendar_part_of(CALENDAR_QUARTER, day) != (uint32_t)tm.tm_mon / 3 ||
            calendar_part_of(CALENDAR_WEEKDAY, day) != (uint32_t)(tm.tm_wday + 6) % 7)
            fail_msg("%s has other parts", text);
    }
}

static void a_format_has_one_whole_date(void **state)
{
    (void)state;
    static const struct {
        const char *format, *fault; /* NULL: it is one */
    } cases[] = {
        {"%Y-%m-%d", NULL},          {"%d.%m.%Y", NULL},      {"%d %b %Y", NULL},
        {"%m/%d/%Y %H:%M:%S", NULL}, {"%%%Y%m%d", NULL},      {"%Y-%m", "one day"},
        {"%Y-%m-%d%d", "one day"},   {"%d.%m.%y", "century"}, {"%Y-%j", "per cent"},
        {"%Y-%m-%d%", "per cent"},   {"", "one year"},        {"%Y%m%b%d", "one month"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *fault = calendar_format_fault(cases[i].format);
        if ((fault == NULL) != (cases[i].fault == NULL) ||
            (fault != NULL && strstr(fault, cases[i].fault) == NULL))
            fail_msg("%s: %s", cases[i].format, fault != NULL ? fault : "no fault");
    }
    char longest[CALENDAR_FORMAT_MAX + 2] = "%Y%m%d";
    memset(longest + 6, '-', CALENDAR_FORMAT_MAX + 1 - 6);
    assert_non_null(calendar_format_fault(longest));
    longest[CALENDAR_FORMAT_MAX] = '\0';
    assert_null(calendar_format_fault(longest));
}

static void only_dates_of_the_format_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
        double days; /* -1: it is none */
    } cases[] = {
        {"%d.%m.%Y", "2.1.1970", 1},
        {"%d.%m.%Y", "02.01.1970", 1},
        {"%d.%m.%Y", "002.1.1970", -1},
        {"%d.%m.%Y", "2.1.70", -1},
        {"%d.%m.%Y", "2.13.1970", -1},
        {"%d.%m.%Y", "31.4.1970", -1},
        {"%d.%m.%Y", "2.1.1970 ", -1},
        {"%d.%m.%Y", "2.1.197", -1},
        {"%d.%m.%Y", "", -1},
        {"%d.%m.%Y", "0.1.1970", -1},
        {"%Y-%m-%d", "2000-02-29", 11016},
        {"%Y-%m-%d", "1900-02-29", -1},
        {"%Y-%m-%d", "0000-01-01", -1},
        {"%d %b %Y", "2 JAN 1970", 1},
        {"%d %b %Y", "2 j", -1},
        {"%m/%d/%Y %H:%M:%S", "1/2/1970 23:59:59", 1},
        {"%m/%d/%Y %H:%M:%S", "1/2/1970 24:00:00", -1},
        {"%%%Y%m%d", "%19700102", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double days = -1;
        bool read =
            calendar_read(&days, cases[i].format, cases[i].text, strlen(cases[i].text));
        if (read != (cases[i].days >= 0) || days != cases[i].days)
            fail_msg("%s: \"%s\" is %g", cases[i].format, cases[i].text, days);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_is_that_of_the_calendar),
        cmocka_unit_test(a_format_has_one_whole_date),
        cmocka_unit_test(only_dates_of_the_format_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
