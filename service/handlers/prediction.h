/*
 * prediction.h - the model of a request that predicts: what of its job and dataset a
 * prediction needs, and the model itself, ready to predict.
 *
 * Threads: prediction_load reads files and may wait for a bucket, so it is not for the
 * HTTP server's threads.
 */
#ifndef SERVICE_HANDLERS_PREDICTION_H
#define SERVICE_HANDLERS_PREDICTION_H

#include "engine/data/schema.h"
#include "engine/predictor.h"

struct daemon_state;
struct model_row;
struct model_spec;
struct request;
struct tokenizer;

/* All parts outlive requests, except what schema owns. */
struct prediction {
    const struct model_row *row;
    const struct model_spec *model;
    const struct schema *declared;
    struct schema schema; /* with the ranges that the model takes */
};

/* Finds the model that the request's path names.
 *   ST_NOT_FOUND  there is none that the caller may read
 *   ST_INTERNAL   as job_check */
enum status prediction_find(struct daemon_state *context, const struct request *request,
                            struct prediction *prediction, struct error *error);
void prediction_fini(struct prediction *prediction);

/* Returns the floating-point operations of one row. */
double prediction_row_flops(const struct prediction *prediction);

/* Takes the model for a while. The caller gives it back with prediction_unload.
 *   ST_NOT_FOUND      it was deleted meanwhile
 *   ST_MODEL_CORRUPT  its file is missing or damaged
 *   ST_INTERNAL       the store of its file does not answer
 *   ST_NO_MEMORY */
enum status prediction_load(struct daemon_state *context,
                            const struct prediction *prediction,
                            struct predictor **predictor, struct error *error);
/* Takes the tokenizer of the rows, if they have a text; else *tokenizer is NULL. The
 * caller gives it back with tokenizers_give. Statuses as above. */
enum status prediction_tokenizer(struct daemon_state *context,
                                 const struct prediction *prediction,
                                 const struct tokenizer **tokenizer,
                                 struct error *error);
void prediction_unload(struct daemon_state *context,
                       const struct prediction *prediction,
                       struct predictor *predictor_take);

#endif
