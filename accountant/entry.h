/*
 * entry.h - the form of a ledger entry: its hash, its curve as bytes, its meta as one
 * canonical line of JSON. Reading accepts what rendering writes and nothing else.
 *
 *   hash   that of a link of a chain (base/chain_hash.h) of version "v1": seq, dataset,
 *          epoch, job, kind, curve, released, meta, actor, time_ms; released empty where
 *          there is none
 *   curve  50 doubles, 8 bytes each, little-endian, in the order of g1
 *
 *   GRANT    {"grid":"g1","relation":R,"epsilon":E,"delta":D,"order":null or A,
 *             "orders":[a,b],"weights":[v,w],"noise_delta":N}       curve: B, -infinity
 *             at orders without weight; of a divided dataset "holdout" and "seed" stand
 *             behind the rest, of one that takes the place of another the "replaces" of
 *             that one's seq behind those, and where a second person approved it
 *             "approved_by" and "reason" behind these; where the privacy unit is a person
 *             "unit":"person" stands behind the relation
 *   RESERVE  {"grid":"g1","steps":T,"mechanism":{...}}              curve: held, in each
 *             of its parts; of a divided dataset "parts":["train","holdout"], or one of
 *             them, stands before the mechanism; of work that runs elsewhere
 *             "external":NAME, the engine that runs it, stands before all of these, and
 *             the job is a charge's id
 *   COMMIT   {"grid":"g1","reserve":SEQ,"steps":K,"model_sha256":null or "..."}
 *             curve: committed; released: the rest, rounded down; the parts of its RESERVE,
 *             where that names some, stand behind the rest
 *
 * Threads: pure. Ownership: rendered texts are released with free().
 */
#ifndef ACCOUNTANT_ENTRY_H
#define ACCOUNTANT_ENTRY_H

#include <stdbool.h>

#include "accountant/curve.h"
#include "accountant/filter.h"
#include "accountant/known_mechanisms.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/principal.h"
#include "store/ledger_rows.h"

struct ledger_entry_name { /* what a certificate cites */
    uint64_t seq;
    uint8_t hash[SHA256_SIZE];
};

struct entry_tally { /* how many entries there are of each kind */
    uint64_t grants, reserves, commits;
};

enum { GRANT_REASON_SIZE = 256 };

struct grant_approval { /* that a second person agreed; zeroed: nobody was asked */
    char approved_by[PRINCIPAL_NAME_SIZE];
    char reason[GRANT_REASON_SIZE]; /* UTF-8 without control characters */
};

struct ledger_promise { /* what is promised to the people in a dataset */
    const struct dataset_id *dataset;
    const struct grant *grant;
    const struct principal *principal;     /* who promises it */
    const struct grant_approval *approval; /* or NULL */
};

enum { ENTRY_CURVE_SIZE = 8 * CURVE_ORDERS };

/* hash = the hash of row, from its other members. */
void entry_hash(uint8_t hash[SHA256_SIZE], const struct ledger_row *row);

void entry_curve_encode(uint8_t bytes[ENTRY_CURVE_SIZE], const struct curve *curve);
/* False, curve untouched, if size is another grid's or a value is NaN or negative. */
bool entry_charge_decode(struct curve *curve, const uint8_t *bytes, size_t size);

/* The capacities as a curve. */
void entry_capacity(struct curve *curve, const struct filter *filter);

/* approval may be NULL. replaces: the seq of the GRANT in whose place it stands
 * (ledger_grant_anew), or 0. */
char *entry_grant_render(const struct grant *grant, const struct filter *filter,
                         const struct grant_approval *approval, uint64_t replaces);
/* Reads meta, and the capacities from the entry's curve; approval may be NULL. False: it is
 * not a grant's. */
bool entry_grant_parse(struct grant *grant, struct filter *filter,
                       struct grant_approval *approval, const struct ledger_row *row);
/* The seq of the GRANT in whose place a GRANT stands; 0 where it stands in none. */
uint64_t entry_replaces(const struct ledger_row *row);

/* The name of an engine that runs work elsewhere: 1 to 63 letters, digits, blanks and
 * . _ + : / ( ) -, the first a letter or digit. */
enum { ENTRY_ENGINE_SIZE = 64 };
bool entry_engine_is_good(const char *text);

/* Where parts is PARTS_UNNAMED no part is named. engine: of work that runs elsewhere, a
 * good name; NULL: of a job's. */
char *entry_reserve_render(const struct mechanism *m, enum parts parts,
                           const char *engine);
/* The engine that a RESERVE names; "" where the work is a job's. */
void entry_engine(char engine[ENTRY_ENGINE_SIZE], const struct ledger_row *row);
/* On true m must be finished by the caller. */
bool entry_reserve_parse(struct mechanism *m, enum parts *parts,
                         const struct ledger_row *row);
/* The same where many are read. */
bool entry_reserve_parse_known(struct mechanism *m, enum parts *parts,
                               const struct ledger_row *row,
                               struct known_mechanisms *known);

/* The parts that the meta of a RESERVE or a COMMIT names, read without the rest of it. */
enum parts entry_parts(const struct ledger_row *row);

struct entry_commit {
    uint64_t reserve_seq;
    uint64_t steps;
    enum parts parts; /* that are named */
    bool has_model;
    uint8_t model_sha256[SHA256_SIZE];
};

char *entry_commit_render(const struct entry_commit *commit);
bool entry_commit_parse(struct entry_commit *commit, const struct ledger_row *row);

/* released = held - committed, rounded down, never negative. */
void entry_released(struct curve *released, const struct curve *held,
                    const struct curve *committed);

#endif
