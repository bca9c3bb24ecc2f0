/* A stratum has at least two indices, as h is at most 1/2. So the k-th held-out index
 * is the one of stratum k. The k-th index that is not held out is found from the
 * stratum in which it must lie: before stratum j there are first(j) indices, of which j
 * are held out. first is monotone. Doubles are the same on every machine, so the
 * division is too. */
#include "base/part.h"

#include <math.h>

#include "base/check.h"

const char *part_name(enum part part)
{
    switch (part) {
    case PART_TRAIN: return "train";
    case PART_HOLDOUT: return "holdout";
    }
    return "";
}

bool division_valid(const struct division *division)
{
    if (division->holdout == 0)
        return division->seed == 0;
    return division->holdout >= DIVISION_HOLDOUT_MIN &&
           division->holdout <= DIVISION_HOLDOUT_MAX;
}

bool division_same(const struct division *a, const struct division *b)
{
    return a->holdout == b->holdout && a->seed == b->seed;
}

unsigned division_parts(const struct division *division)
{
    return division->holdout > 0 ? PARTS_MAX : 1;
}

bool division_resolve(const struct division *division, enum parts parts,
                      enum parts *all)
{
    enum parts there = division_parts(division) == PARTS_MAX ? PARTS_BOTH : PARTS_TRAIN;
    if ((parts & there) != parts)
        return false;
    *all = parts == PARTS_UNNAMED ? there : parts;
    return true;
}

static uint64_t first_of(const struct division *division, uint64_t stratum)
{
    return (uint64_t)ceil((double)stratum / division->holdout);
}

/* Returns the stratum of an index: the greatest one whose first index is not
 * above it. */
static uint64_t stratum_of(const struct division *division, uint64_t index)
{
    uint64_t stratum = (uint64_t)((double)index * division->holdout);
    while (stratum > 0 && first_of(division, stratum) > index)
        stratum--;
    while (first_of(division, stratum + 1) <= index)
        stratum++;
    return stratum;
}

static uint64_t splitmix64(uint64_t seed, uint64_t number)
{
    uint64_t word = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* Returns the index that is held out of a stratum. */
static uint64_t held_out(const struct division *division, uint64_t stratum)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t first = first_of(division, stratum);
    uint64_t size = first_of(division, stratum + 1) - first;
    return first + (uint64_t)((wide)size * splitmix64(division->seed, stratum) >> 64);
}

uint64_t division_count(const struct division *division, uint64_t records,
                        enum part part)
{
    uint64_t out = 0;
    if (division_parts(division) == PARTS_MAX && records > 0) {
        uint64_t last = stratum_of(division, records - 1);
        out = last + (held_out(division, last) < records ? 1 : 0);
    }
    return part == PART_HOLDOUT ? out : records - out;
}

/* Uses that of the indices before stratum j, first(j) - j are trained on. */
static uint64_t trained_index(const struct division *division, uint64_t place)
{
    double share = division->holdout;
    uint64_t stratum = (uint64_t)((double)place * (share / (1 - share)));
    while (stratum > 0 && first_of(division, stratum) - stratum > place)
        stratum--;
    while (first_of(division, stratum + 1) - (stratum + 1) <= place)
        stratum++;
    uint64_t index = place + stratum;
    return index < held_out(division, stratum) ? index : index + 1;
}

uint64_t division_index(const struct division *division, enum part part, uint64_t place)
{
    if (division_parts(division) == 1) {
        CHECK(part == PART_TRAIN);
        return place;
    }
    return part == PART_HOLDOUT ? held_out(division, place)
                                : trained_index(division, place);
}

enum part division_part(const struct division *division, uint64_t index)
{
    if (division_parts(division) == 1)
        return PART_TRAIN;
    return held_out(division, stratum_of(division, index)) == index ? PART_HOLDOUT
                                                                    : PART_TRAIN;
}
