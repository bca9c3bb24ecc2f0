/*
 * dataset_request.h - the body of POST /v1/datasets, and the same text as stored: with
 * every default written in, it parses to the same struct.
 *
 *   {"id","format":name,"task":classification|regression,"classes",
 *    "features":{"shape","scale"} | {"count","range"},
 *    "header","columns":[{"name","kind","range","values","default"}],
 *    "labels":[...],"target":{"range":[a,b]},"privacy_id"?,"rows_kept"?,
 *    "privacy":"public" | {"epsilon","delta","relation","order"},
 *    "holdout"?,"holdout_seed"?, of private data alone (base/part.h),
 *    "display_name"?,"tags"?}                                       (api.md)
 *
 * The caption, which is the last two, is no part of the declaration: it is read from the
 * body, and neither rendered with the rest nor compared.
 */
#ifndef API_DATASET_REQUEST_H
#define API_DATASET_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/ledger.h"
#include "api/caption.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct dataset_spec {
    struct dataset_id id;
    struct schema schema; /* owned */
    bool is_public;
    struct grant grant;     /* where not public */
    struct caption caption; /* owned */
};

/*   ST_INVALID  error->pointer names the member: bad JSON, unknown or duplicate member,
 *               wrong type, out of range; error->text says what is allowed
 * On ST_OK spec must be released with dataset_spec_fini. */
enum status dataset_spec_parse(struct dataset_spec *spec, const char *body, size_t size,
                               struct error *error);
/* The same of a text that was rendered and kept: epsilon may be above LIMIT_EPSILON, as
 * earlier versions granted. */
enum status dataset_spec_restore(struct dataset_spec *spec, const char *text,
                                 struct error *error);
void dataset_spec_fini(struct dataset_spec *spec); /* a zeroed one is allowed */

/* Whether both grant the same: public, or one budget to the last digit. */
bool dataset_spec_same_privacy(const struct dataset_spec *a,
                               const struct dataset_spec *b);

/* The canonical text, to be freed. */
char *dataset_spec_render(const struct dataset_spec *spec);
/* The same and the caption: a body that is read as spec. */
char *dataset_body_render(const struct dataset_spec *spec);

/* Reads the numbers of a grant out of an object: epsilon, delta and, where it is there,
 * order. The rest of grant is untouched. */
void dataset_grant_read(struct grant *grant, struct json_node *node,
                        double epsilon_max);

/* Its members, into an object that the caller has opened. */
struct json_writer;
void dataset_spec_write(struct json_writer *writer, const struct dataset_spec *spec);
/* The last of them, "privacy", and "holdout" and "holdout_seed" of what is divided. */
void dataset_privacy_write(struct json_writer *writer, const struct dataset_spec *spec);
void dataset_division_write(struct json_writer *writer,
                            const struct dataset_spec *spec);

#endif
