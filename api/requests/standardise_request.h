/*
 * standardise_request.h - the "standardise" of a job: the model begins with a layer
 * that scales each number by its mean and deviation. These are moments that were
 * released about the same dataset with the same clip length, or that this job buys.
 *
 *   true, {"epsilon"?,"clip_norm"?}             the requested form
 *   {"epsilon"?,"clip_norm"?,"statistics",
 *    "reserve":{"seq","hash"}}                  as stored, returned and certified; the
 *                                               epsilon is that of what this job bought
 *
 * Threads: plain values.
 */
#ifndef API_REQUESTS_STANDARDISE_REQUEST_H
#define API_REQUESTS_STANDARDISE_REQUEST_H

#include "base/hash.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/nn/network.h"
#include "engine/start_point.h"
#include "engine/statistics/statistic.h"
#include "store/rows/statistics_rows.h"

struct json_node;
struct json_writer;

/* What a job pays for moments if it names no epsilon: this share of its own. */
#define STANDARDISE_EPSILON_SHARE 0.1

struct standardise_request { /* zeroed: columns are taken as they are */
    bool is_asked;
    double epsilon;                     /* of the purchase; 0: not named, or none */
    double clip_norm;                   /* 0: the default */
    struct moments_prefix prefix;       /* of the features, once they are sought */
    struct survey_id statistics;        /* "": not found yet */
    uint64_t reserve_seq;               /* the ledger entry that paid for them, */
    char reserve_hash[SHA256_HEX_SIZE]; /* and its hash */
};

/* Reads the requested form, or with kept the stored form. */
void standardise_request_read(struct standardise_request *standardise,
                              struct json_node node, bool kept);

/* Writes it as a member called name. Writes nothing if it is not asked for. */
void standardise_request_write(struct json_writer *writer, const char *name,
                               const struct standardise_request *standardise);

/* Makes the statistics that it needs: moments, to be released with statistics_fini. */
struct statistics standardise_statistics(const struct standardise_request *standardise);

/* Takes the id, and the entry that paid, from the guarantee of these statistics.
 *   ST_CORRUPT  it does not read back */
enum status standardise_request_cite(struct standardise_request *standardise,
                                     const struct statistics_row *row,
                                     struct error *error);

/* Returns whether the layer reads the columns or the features of a record as they are
 * stored; otherwise it reads channels, behind the layers before it. */
bool standardise_reads_columns(const struct network *network);

/* scale = weights and biases of the network's layer, from the answers of these
 * statistics; the caller releases it.
 *   row     SUCCEEDED
 *   schema  of their dataset
 *   ST_CORRUPT  the answers do not read back, or are not those of the layer */
enum status standardise_scale(struct feature_scale *scale,
                              const struct statistics_row *row,
                              const struct schema *schema,
                              const struct network *network, struct error *error);

/* Writes the JSON Schema of the requested form, as a member called name. */
void standardise_schema_write(struct json_writer *writer, const char *name);

#endif
