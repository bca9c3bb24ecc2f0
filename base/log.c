#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"

enum { LINE_SIZE = 4096 }; /* bytes; longer lines are cut between two members */

static enum log_level level_min = LOG_INFO;

struct line {
    size_t size;
    char text[LINE_SIZE];
};

void log_level_set(enum log_level level)
{
    level_min = level;
}

bool log_shows(enum log_level level)
{
    return level >= level_min;
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_DEBUG: return "debug";
    case LOG_INFO: return "info";
    case LOG_WARNING: return "warning";
    case LOG_ERROR: return "error";
    }
    return "error";
}

static void put(struct line *line, char c)
{
    if (line->size < LINE_SIZE)
        line->text[line->size++] = c;
}

static void put_plain(struct line *line, const char *text)
{
    while (*text != '\0')
        put(line, *text++);
}

static void put_escaped(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        char escape[8];
        if (c == '"' || c == '\\') {
            put(line, '\\');
            put(line, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", c);
            put_plain(line, escape);
        } else {
            put(line, (char)c);
        }
    }
}

static void put_member(struct line *line, const char *name, const char *value)
{
    put_plain(line, line->size == 0 ? "{\"" : ",\"");
    put_plain(line, name);
    put_plain(line, "\":\"");
    put_escaped(line, value);
    put(line, '"');
}

/* Room for the closing brace and newline. */
static const size_t tail_size = 2;

void log_event(enum log_level level, const char *event, ...)
{
    struct line line = {0};
    char now[CLOCK_TEXT_SIZE];
    const char *name;
    va_list pairs;

    if (!log_shows(level))
        return;
    clock_render(now, clock_wall_ms());
    put_member(&line, "ts", now);
    put_member(&line, "level", level_name(level));
    put_member(&line, "event", event);
    va_start(pairs, event);
    while ((name = va_arg(pairs, const char *)) != NULL) {
        size_t before = line.size;
        put_member(&line, name, va_arg(pairs, const char *));
        if (line.size > LINE_SIZE - tail_size)
            line.size = before;
    }
    va_end(pairs);
    put_plain(&line, "}\n");
    /* A log that cannot be written must not stop the service. */
    ssize_t written = write(STDERR_FILENO, line.text, line.size);
    (void)written;
}

void log_fatal(const char *event, const char *detail)
{
    log_event(LOG_ERROR, event, "detail", detail, (char *)NULL);
    _exit(EX_TEMPFAIL);
}
