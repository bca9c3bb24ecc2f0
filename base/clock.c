#include "base/clock.h"

#include <time.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

int64_t clock_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

int64_t clock_wall_s(void)
{
    return clock_wall_ms() / MS_PER_S;
}

int64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void clock_render(char text[CLOCK_TEXT_SIZE], int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / MS_PER_S);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
