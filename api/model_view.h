/*
 * model_view.h - a published model as answered, and the JSON texts in the metadata of
 * its file: its certificate (P10) and the encoding of its inputs.
 */
#ifndef API_MODEL_VIEW_H
#define API_MODEL_VIEW_H

#include <stdint.h>

#include "accountant/ledger.h"
#include "accountant/odometer.h"
#include "api/ancestry.h"
#include "api/dataset_request.h"
#include "api/job_request.h"
#include "api/job_view.h"
#include "engine/trainer.h"
#include "store/model_rows.h"

struct model_view {
    const struct model_id *id;
    const struct job_id *job;
    const struct dataset_spec *dataset;
    const struct job_request *request;
    const char *mechanism; /* canonical text, or NULL: not private */
    const char *ran; /* the same of a filtered run's steps as they were, or NULL */
    double noise_multiplier, sampling_rate, epsilon, order;
    uint64_t steps;
    const struct ledger_entry_name *reserve; /* NULL: nothing was reserved */
    const struct epochs *epochs;             /* the budget's; NULL where reserve is */
    const char *noise;   /* JSON text of the noise certificate, or NULL */
    const char *quality; /* JSON text of what was measured on a holdout, or NULL */
    const struct ancestry *ancestry; /* NULL: it was started from no weights */
    size_t frozen;                   /* floats of it that were not trained */
    const uint8_t *frozen_sha256;    /* of these, if there are any */
    const char *version;
};

/* The member "noise" of a certificate (noise.md 5). Each named grid of the plan is a
 * member of that name. */
char *noise_render(const struct noise_certificate *noise);

/* "certificate" of the safetensors metadata. Its "guarantee", of this model alone, and
 * its "dataset_guarantee", of all jobs in all epochs, are null where nothing was
 * reserved; its mechanism is the canonical text, byte for byte. */
char *certificate_render(const struct model_view *view);

/* Checks that the row's card reads back as the certificate of its model and job; if
 * not, answers ST_CORRUPT. */
enum status certificate_check(const struct model_row *row, struct error *error);

/* Whether it is that by a glance (json_glance.h), a tenth of the time; false: only
 * certificate_check tells. */
bool certificate_glance(const struct model_row *row);

/* Renders the encoding of columns as "inputs" of the safetensors metadata, which is
 * enough to encode records without this program. */
char *inputs_render(const struct schema *schema);
/* Reads inputs back; answers ST_INVALID where they are no such text. After ST_OK schema
 * must be released with schema_fini. */
enum status inputs_parse(struct schema *schema, const char *text, struct error *error);

struct model_course {                /* what is said of a model beside its row */
    const struct caption *caption;   /* NULL: none */
    const char *dataset, *algorithm; /* the algorithm's name */
    bool regression;
    const struct evaluation_point *evaluation; /* the last; NULL: there was none */
};

/* Renders a model as answered: id, display_name, tags, job, dataset, algorithm, metrics {evaluation}, sha256,
 * size, certificate, create_time. */
char *model_render(const struct model_row *row, const struct model_course *course);

#endif
