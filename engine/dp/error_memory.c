#include "engine/dp/error_memory.h"

#include <math.h>

#include "engine/parallel/vector_math.h"

__extension__ typedef unsigned __int128 wide;

static void add_wide(struct error_memory_squares *sum, wide low, uint64_t high)
{
    wide old = (wide)sum->middle << 64 | sum->low, total = old + low;
    sum->low = (uint64_t)total;
    sum->middle = (uint64_t)(total >> 64);
    sum->high += high + (total < low);
}

/* The squares (2^26 h + l)^2 are summed in runs, with h at most 2^26 and l below it: a
 * run has 2^11 terms of 2^52. */
enum { RUN = 1 << 11, LOW_BITS = 26 };

struct run_squares {
    uint64_t high, mixed, low; /* h h, h l, l l */
};

VECTOR_CLONES
static struct run_squares measure_run(int64_t *memory, size_t count)
{
    struct run_squares sum = {0};
    for (size_t j = 0; j < count; j++) {
        int64_t value = memory[j];
        value = value > ERROR_MEMORY_BOX ? ERROR_MEMORY_BOX : value;
        value = value < -ERROR_MEMORY_BOX ? -ERROR_MEMORY_BOX : value;
        memory[j] = value;
        uint64_t size = (uint64_t)(value < 0 ? -value : value);
        uint32_t high = (uint32_t)(size >> LOW_BITS);
        uint32_t low = (uint32_t)size & ((1U << LOW_BITS) - 1);
        sum.high += (uint64_t)high * high;
        sum.mixed += (uint64_t)high * low;
        sum.low += (uint64_t)low * low;
    }
    return sum;
}

void error_memory_measure(struct error_memory_squares *sum, int64_t *memory,
                          size_t count)
{
    for (size_t first = 0; first < count; first += RUN) {
        size_t left = count - first;
        struct run_squares run = measure_run(memory + first, left < RUN ? left : RUN);
        add_wide(sum, (wide)run.high << 2 * LOW_BITS, 0);
        add_wide(sum, (wide)run.mixed << (LOW_BITS + 1), 0);
        add_wide(sum, run.low, 0);
    }
}

void error_memory_squares_add(struct error_memory_squares *sum,
                              const struct error_memory_squares *addend)
{
    add_wide(sum, (wide)addend->middle << 64 | addend->low, addend->high);
}

double error_memory_share(const struct error_memory_squares *squares, double radius)
{
    double norm = sqrt((double)squares->high * 0x1p128 +
                       (double)squares->middle * 0x1p64 + (double)squares->low);
    return norm > radius ? radius / norm : 1;
}

VECTOR_CLONES
void error_memory_feedback(int64_t *sum, int64_t *memory, size_t count, double share)
{
    for (size_t j = 0; j < count; j++) {
        int64_t back = (int64_t)rint((double)memory[j] * share);
        sum[j] = (int64_t)((uint64_t)sum[j] + (uint64_t)back);
        memory[j] -= back;
    }
}

/* The norm has a relative error of 2^-51, the share and the product 2^-53 each; rint
 * moves a coordinate by at most 1/2 step. No norm in the box exceeds 2^52 sqrt(dim). */
double error_memory_rounding(size_t dim, double radius)
{
    double root = nextafter(sqrt((double)dim), HUGE_VAL);
    if (radius == 0)
        return 0;
    return (0.5 * root + 0x1p-50 * fmin(radius, (double)ERROR_MEMORY_BOX * root)) *
           (1 + 0x1p-50);
}
