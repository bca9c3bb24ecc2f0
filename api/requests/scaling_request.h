/*
 * scaling_request.h - the "scaling" of a job: the ranges from which its model
 * scales numeric columns, if these come from statistics that were released about
 * the same dataset.
 *
 *   {"statistics":ID}                        the requested form
 *   {"statistics","reserve":{"seq","hash"},
 *    "ranges":[{"column","range":[low,high]},...]}  as stored, returned and certified
 *
 * The range of a column goes from the quantile of the lowest probability to that of the
 * highest. What was released is only post-processed, so it is not charged again; the
 * reservation of the statistics is cited.
 *
 * Ownership: a scaling owns its ranges.
 */
#ifndef API_REQUESTS_SCALING_REQUEST_H
#define API_REQUESTS_SCALING_REQUEST_H

#include "base/hash.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/column_ranges.h"
#include "store/rows/statistics_rows.h"

struct json_node;
struct json_writer;

struct scaling_request {                /* zeroed: the declared ranges are used */
    struct survey_id statistics;        /* "": none */
    uint64_t reserve_seq;               /* the ledger entry that paid for them, */
    char reserve_hash[SHA256_HEX_SIZE]; /* and its hash */
    struct column_ranges ranges;        /* once resolved: at least one */
};

void scaling_request_fini(struct scaling_request *scaling);

/* Reads the requested form, or with kept the stored form, which is resolved. */
void scaling_request_read(struct scaling_request *scaling, struct json_node node,
                          bool kept);

/* Writes the scaling as a member called name. Writes nothing if there is none. */
void scaling_request_write(struct json_writer *writer, const char *name,
                           const struct scaling_request *scaling);

/* Fills in the ranges and the reservation from the statistics that the job names.
 *   row     must be SUCCEEDED
 *   schema  of the dataset of the statistics
 *   ST_INVALID  they contain no quantiles that are a range of a numeric column
 *   ST_CORRUPT  the row does not read back */
enum status scaling_request_resolve(struct scaling_request *scaling,
                                    const struct statistics_row *row,
                                    const struct schema *schema, struct error *error);

/* Writes the JSON Schema of the requested form, as a member called name. */
void scaling_schema_write(struct json_writer *writer, const char *name);

#endif
