/*
 * scaling_request.h - the "scaling" of a job: over which ranges its model takes numeric
 * columns, where these are statistics that were released of the same dataset.
 *
 *   {"statistics":ID}                        as it is asked for
 *   {"statistics","reserve":{"seq","hash"},"ranges":[{"column","range":[low,high]},...]}
 *                                            as it is kept, answered and certified
 *
 * The range of a column goes from the quantile of the lowest probability to that of the
 * highest. What was released is post-processed, so nothing is charged for it again; the
 * reservation of the statistics is cited.
 *
 * Ownership: a scaling owns its ranges.
 */
#ifndef API_SCALING_REQUEST_H
#define API_SCALING_REQUEST_H

#include "base/hash.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/column_ranges.h"
#include "store/survey_rows.h"

struct json_node;
struct json_writer;

struct scaling_request {         /* zeroed: as declared */
    struct survey_id statistics; /* "": none */
    uint64_t reserve_seq;        /* the entry of the ledger that paid for them, */
    char reserve_hash[SHA256_HEX_SIZE]; /* and its hash */
    struct column_ranges ranges;        /* resolved: at least one */
};

void scaling_request_fini(struct scaling_request *scaling);

/* Reads one that is asked for; or what was kept, which is resolved. */
void scaling_request_read(struct scaling_request *scaling, struct json_node node,
                          bool kept);

/* Writes it, as a member of the name; nothing where there is none. */
void scaling_request_write(struct json_writer *writer, const char *name,
                           const struct scaling_request *scaling);

/* Fills in the ranges and the reservation from the statistics that were asked for.
 *   row     SUCCEEDED
 *   schema  of the dataset that they are of
 *   ST_INVALID  they hold no quantiles that are a range of a numeric column
 *   ST_CORRUPT  the row does not read back */
enum status scaling_request_resolve(struct scaling_request *scaling,
                                    const struct survey_row *row,
                                    const struct schema *schema, struct error *error);

/* Writes what may be asked for, as JSON Schema, a member of the name. */
void scaling_schema_write(struct json_writer *writer, const char *name);

#endif
