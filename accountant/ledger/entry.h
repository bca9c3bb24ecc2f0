/*
 * entry.h - the form of a ledger entry: its hash, and its meta as one canonical line of
 * JSON. Its curve as bytes is entry_cost.h's. Reading accepts what rendering writes and nothing else.
 *
 *   hash   that of a link of a chain (base/chain_hash.h) of version "v1": seq, dataset,
 *          epoch, job, kind, curve, released, meta, actor, time_ms; released empty if
 *          there is none
 *
 *   GRANT    {"grid":"g1","relation":R,"epsilon":E,"delta":D,"order":null or A,
 *             "orders":[a,b],"weights":[v,w],"noise_delta":N}
 *            curve: B, -infinity at orders without weight.
 *            At the end follow, in this order: if discoveries may use some of delta
 *            "discovery_delta"; for a divided dataset "holdout" and "seed"; for a grant
 *            that takes the place of another "replaces", the seq of that one; if a
 *            second person approved it "approved_by" and "reason". If the privacy unit
 *            is a person, "unit":"person" follows the relation
 *   RESERVE  {"grid":"g1","steps":T,"mechanism":{...}}
 *            curve: held, in each of its parts.
 *            For a divided dataset "parts":["train","holdout"], or one of them, comes
 *            before the mechanism; for work that runs elsewhere "external":NAME, the
 *            engine that runs it, comes before all of these, and the job is a charge's
 *            id
 *   COMMIT   {"grid":"g1","reserve":SEQ,"steps":K,"model_sha256":null or "..."}
 *            curve: committed; released: the rest, rounded down.
 *            If its RESERVE names parts, the same parts follow at the end
 *
 * Threads: pure. Ownership: rendered texts are released with free().
 */
#ifndef ACCOUNTANT_LEDGER_ENTRY_H
#define ACCOUNTANT_LEDGER_ENTRY_H

#include <stdbool.h>

#include "accountant/ledger/entry_cost.h"
#include "accountant/pricing/known_mechanisms.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/principal.h"
#include "store/rows/ledger_rows.h"

struct ledger_entry_name { /* the reference in a certificate */
    uint64_t seq;
    uint8_t hash[SHA256_SIZE];
};

struct entry_tally { /* how many entries there are of each kind */
    uint64_t grants, reserves, commits;
};

enum { GRANT_REASON_SIZE = 256 };

struct grant_approval { /* a second person's agreement; zeroed: none was asked for */
    char approved_by[PRINCIPAL_NAME_SIZE];
    char reason[GRANT_REASON_SIZE]; /* UTF-8 without control characters */
};

struct ledger_promise { /* the promise to the people in a dataset */
    const struct dataset_id *dataset;
    const struct grant *grant;
    const struct principal *principal;     /* who makes the promise */
    const struct grant_approval *approval; /* or NULL */
};

/* hash = the hash of row, from its other members. */
void entry_hash(uint8_t hash[SHA256_SIZE], const struct ledger_row *row);

/* approval may be NULL. replaces: the seq of the GRANT whose place this one takes
 * (ledger_grant_anew), or 0. */
char *entry_grant_render(const struct grant *grant, const struct filter *filter,
                         const struct grant_approval *approval, uint64_t replaces);
/* Reads meta, and the capacities from the entry's curve; approval may be NULL. Returns
 * false if it is not a grant's. */
bool entry_grant_parse(struct grant *grant, struct filter *filter,
                       struct grant_approval *approval, const struct ledger_row *row);
/* Returns the seq of the GRANT whose place a GRANT takes; 0 if it takes none. */
uint64_t entry_replaces(const struct ledger_row *row);

/* The name of an engine that runs work elsewhere: 1 to 63 letters, digits, blanks and
 * . _ + : / ( ) -, the first a letter or digit. */
enum { ENTRY_ENGINE_SIZE = 64 };
bool entry_engine_is_good(const char *text);

/* If parts is PARTS_UNNAMED, no part is named. engine: a good name, for work that runs
 * elsewhere; NULL for a job. */
char *entry_reserve_render(const struct mechanism *m, enum parts parts,
                           const char *engine);
/* Copies the engine that a RESERVE names; "" if the work is a job's. */
void entry_engine(char engine[ENTRY_ENGINE_SIZE], const struct ledger_row *row);
/* On true m must be finished by the caller. */
bool entry_reserve_parse(struct mechanism *m, enum parts *parts,
                         const struct ledger_row *row);
/* Like entry_reserve_parse, faster if many entries are read. */
bool entry_reserve_parse_known(struct mechanism *m, enum parts *parts,
                               const struct ledger_row *row,
                               struct known_mechanisms *known);

/* Returns the parts that the meta of a RESERVE or a COMMIT names, without reading the
 * rest. */
enum parts entry_parts(const struct ledger_row *row);

struct entry_commit {
    uint64_t reserve_seq;
    uint64_t steps;
    enum parts parts; /* those that it names */
    bool has_model;
    uint8_t model_sha256[SHA256_SIZE];
};

char *entry_commit_render(const struct entry_commit *commit);
bool entry_commit_parse(struct entry_commit *commit, const struct ledger_row *row);

#endif
