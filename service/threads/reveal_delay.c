#include "service/threads/reveal_delay.h"

#include "base/check.h"
#include "base/clock.h"
#include "service/threads/tick_clock.h"

enum { NS_PER_MS = 1000000 };

/* floor(width * word / 2^64): uniform in [0, width) up to width / 2^64. */
static uint64_t scale(uint64_t width, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)width * word >> 64);
}

void reveal_delay_draw(struct reveal_delay *delay, unsigned width_ms,
                       void (*fill)(void *out, size_t size))
{
    uint64_t words[REVEAL_MARKS];
    fill(words, sizeof words);
    for (size_t i = 0; i < REVEAL_MARKS; i++)
        delay->wait_ns[i] = scale((uint64_t)width_ms * NS_PER_MS, words[i]);
    delay->used = 0;
}

/* The moment of the monotonic clock at which the next mark may be shown. */
static int64_t next_end(struct reveal_delay *delay)
{
    CHECK(delay->used < REVEAL_MARKS);
    return clock_monotonic_ns() + (int64_t)delay->wait_ns[delay->used++];
}

void reveal_delay_wait(struct reveal_delay *delay, struct tick_clock *clock,
                       const atomic_bool *stop)
{
    tick_clock_wait_until(clock, next_end(delay), stop);
}

void reveal_delay_end(struct reveal_delay *delay, struct tick_clock *clock,
                      const atomic_bool *stop)
{
    if (!atomic_load(stop))
        reveal_delay_wait(delay, clock, stop);
    if (atomic_load(stop))
        tick_clock_wait_until(clock, next_end(delay), NULL);
}
