#include "service/outbound/s3_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The character of the entity at text, and its length; without an entity, the first
 * character. */
static char decode(const char *text, size_t *length)
{
    static const struct {
        const char *text;
        char character;
    } entities[] = {{"&amp;", '&'},
                    {"&lt;", '<'},
                    {"&gt;", '>'},
                    {"&quot;", '"'},
                    {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        *length = strlen(entities[i].text);
        if (strncmp(text, entities[i].text, *length) == 0)
            return entities[i].character;
    }
    *length = 1;
    return *text;
}

bool s3_text_element(const char *at, const char *name, char *value, size_t size,
                     const char **behind)
{
    char open[64], close[64];
    size_t length, written = 0;
    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *begin = strstr(at, open);
    const char *end = begin != NULL ? strstr(begin, close) : NULL;
    if (end == NULL)
        return false;
    for (begin += strlen(open); begin < end; begin += length) {
        char character = decode(begin, &length);
        if (written + 1 >= size)
            return false;
        value[written++] = character;
    }
    value[written] = '\0';
    *behind = end + strlen(close);
    return true;
}

int64_t s3_text_time(const char *text)
{
    struct tm parts = {0};
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon,
               &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6)
        return -1;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return (int64_t)timegm(&parts);
}
