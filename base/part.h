/*
 * part.h - how a dataset is divided, permanently, into two parts: the records that
 * models are trained on, and a holdout on which quality is measured.
 *
 * An undivided dataset has one part, PART_TRAIN, which is all of it. In a divided one
 * the records are cut by index into strata, and one record of each is held out:
 *
 *   stratum j   the indices from ceil(j / h) up to ceil((j + 1) / h), h the holdout
 *   held out    its first index + floor(size * splitmix64(seed, j) / 2^64), if that is
 *               below n
 *
 * So the part of a record depends only on its index, n and the seed, which are all
 * public. The same holds for the sizes of the parts (ledger.md 7 needs both).
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

/* A set of parts, which a mechanism reads and is charged to. PARTS_UNNAMED means
 * every part that there is: a mechanism that does not say what it reads is assumed to
 * read everything. */
enum parts {
    PARTS_UNNAMED = 0,
    PARTS_TRAIN = 1 << PART_TRAIN,
    PARTS_HOLDOUT = 1 << PART_HOLDOUT,
    PARTS_BOTH = PARTS_TRAIN | PARTS_HOLDOUT,
};

struct division {
    double holdout; /* share of records held out, in [2^-20, 1/2]; 0: undivided */
    uint64_t seed;
};

#define DIVISION_HOLDOUT_MIN 0x1p-20
#define DIVISION_HOLDOUT_MAX 0.5

/* Returns whether the members are in range. An undivided one has no seed. */
bool division_valid(const struct division *division);

bool division_same(const struct division *a, const struct division *b);

/* Returns the number of parts: 1 or 2. */
unsigned division_parts(const struct division *division);

/* Writes the set that parts means: the named parts, or all that there are. Returns
 * false, all untouched, if it names a part that does not exist. */
bool division_resolve(const struct division *division, enum parts parts,
                      enum parts *all);

/* Returns how many of the indices below records, which is below 2^31, are in
 * the part. */
uint64_t division_count(const struct division *division, uint64_t records,
                        enum part part);

/* Returns the place-th index of the part, counted from 0. It grows with place, and is
 * below records for every place below division_count. */
uint64_t division_index(const struct division *division, enum part part,
                        uint64_t place);

/* Returns the part of the record with that index. */
enum part division_part(const struct division *division, uint64_t index);

#endif
