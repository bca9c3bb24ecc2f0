/*
 * dataset_request.h - the body of POST /v1/datasets, and the same text as stored. With
 * every default written in, it parses to the same struct.
 *
 *   {"id","format":name,"task":classification|regression,"classes",
 *    "features":{"shape","scale"} | {"count","range"},
 *    "header","delimiter","decimal","columns":[{"name","kind","range","values","default"}],
 *    "labels":[...],"target":{"range":[a,b]},"privacy_id"?,"rows_kept"?,
 *    "privacy":"public" | {"epsilon","delta","relation","order","discovery_delta"?},
 *    "holdout"?,"holdout_seed"?, only for private data (base/part.h),
 *    "acknowledge"?,"display_name"?,"tags"?}                        (api.md)
 *
 * The stored text has "hash_seed" too, from which all hashed columns take their seed.
 *
 * The last two are the caption. It is not part of the declaration, and neither is what
 * its sender confirms (acknowledgement.h): both are read from the body, but not
 * rendered with the rest or compared.
 */
#ifndef API_REQUESTS_DATASET_REQUEST_H
#define API_REQUESTS_DATASET_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/ledger.h"
#include "api/json/json_reader.h"
#include "api/requests/acknowledgement.h"
#include "api/requests/caption.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct dataset_spec {
    struct dataset_id id;
    struct schema schema; /* owned */
    /* The seed of every hashed column that the dataset has or will have. Drawn once, and
     * kept when it is declared again, so that it cannot be chosen after the data. Only in
     * the stored text: requests and answers have it at each hashed column. */
    uint64_t hash_seed;
    bool has_hash_seed; /* false: not drawn yet, as in datasets of earlier versions */
    bool is_public;
    struct grant grant;     /* if not public */
    struct caption caption; /* owned */
    /* What the sender confirms: exactly what the grant needs. Restored: nothing. */
    enum acknowledged acknowledged;
};

/*   ST_INVALID  error->pointer names the member: bad JSON, unknown or duplicate member,
 *               wrong type, out of range, a missing confirmation or one that nothing
 *               asked for; error->text says what is allowed
 * On ST_OK spec must be released with dataset_spec_fini. */
enum status dataset_spec_parse(struct dataset_spec *spec, struct json_text body,
                               struct error *error);
/* The same for a text that was rendered and stored. Its epsilon may be above
 * LIMIT_EPSILON, because earlier versions granted more. */
enum status dataset_spec_restore(struct dataset_spec *spec, const char *text,
                                 struct error *error);
void dataset_spec_fini(struct dataset_spec *spec); /* a zeroed one is allowed */

/* Returns whether both grant the same: both public, or identical budgets. */
bool dataset_spec_same_privacy(const struct dataset_spec *a,
                               const struct dataset_spec *b);

/* Renders the canonical text, to be freed. */
char *dataset_spec_render(const struct dataset_spec *spec);
/* Renders the same with the caption and what is confirmed: a body that parses to
 * spec. */
char *dataset_body_render(const struct dataset_spec *spec);

/* Reads the id of a dataset, in a body that names one. */
void dataset_request_read_id(struct dataset_id *id, struct json_node node);

/* Reads the numbers of a grant from an object: epsilon, delta and, if present, order
 * and discovery_delta. The rest of grant is untouched. */
void dataset_grant_read(struct grant *grant, struct json_node *node,
                        double epsilon_max);

/* Writes the spec's members into an object that the caller has opened. */
struct json_writer;
void dataset_spec_write(struct json_writer *writer, const struct dataset_spec *spec);
/* Write single members of these: "privacy"; and "holdout" and "holdout_seed", if the
 * dataset is divided. */
void dataset_privacy_write(struct json_writer *writer, const struct dataset_spec *spec);
void dataset_division_write(struct json_writer *writer,
                            const struct dataset_spec *spec);

#endif
