/*
 * part.h - how a dataset is divided, for good, into two parts: the records that models are
 * trained on, and a holdout that quality is measured on.
 *
 * An undivided dataset has one part, PART_TRAIN, which is all of it. In a divided one the
 * records are cut by index into strata, and one record of each is held out:
 *
 *   stratum j   the indices from ceil(j / h) up to ceil((j + 1) / h), h the holdout
 *   held out    its first index + floor(size * splitmix64(seed, j) / 2^64), where that is
 *               below n
 *
 * So the part of a record is a function of its index, n and the seed, all of them public,
 * and of nothing else; and so are the parts' sizes (ledger.md 7 needs both).
 *
 * Threads: pure. Source of splitmix64: Steele, Lea and Flood, OOPSLA 2014.
 */
#ifndef BASE_PART_H
#define BASE_PART_H

#include <stdbool.h>
#include <stdint.h>

enum part { PART_TRAIN, PART_HOLDOUT };
enum { PARTS_MAX = 2 };

const char *part_name(enum part part); /* "train", "holdout" */

/* A set of parts: what a mechanism reads, and is charged to. PARTS_UNNAMED stands for
 * every part that there is: whoever does not say what it reads has read all of it. */
enum parts {
    PARTS_UNNAMED = 0,
    PARTS_TRAIN = 1 << PART_TRAIN,
    PARTS_HOLDOUT = 1 << PART_HOLDOUT,
    PARTS_BOTH = PARTS_TRAIN | PARTS_HOLDOUT,
};

struct division {
    double holdout; /* the share that is held out, in [2^-20, 1/2]; 0: undivided */
    uint64_t seed;
};

#define DIVISION_HOLDOUT_MIN 0x1p-20
#define DIVISION_HOLDOUT_MAX 0.5

/* Whether the members are in range; an undivided one has no seed. */
bool division_valid(const struct division *division);

bool division_same(const struct division *a, const struct division *b);

/* How many parts there are: 1 or 2. */
unsigned division_parts(const struct division *division);

/* The parts that a set stands for: those named, or all that there are.
 * False, all untouched: it names one that there is not. */
bool division_resolve(const struct division *division, enum parts parts,
                      enum parts *all);

/* How many of records indices, below 2^31, are in the part. */
uint64_t division_count(const struct division *division, uint64_t records,
                        enum part part);

/* The place-th index of the part, counted from 0: it grows with place. It is below records
 * for every place below division_count. */
uint64_t division_index(const struct division *division, enum part part,
                        uint64_t place);

/* The part that the record of that index is in. */
enum part division_part(const struct division *division, uint64_t index);

#endif
