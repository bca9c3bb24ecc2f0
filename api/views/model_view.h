/*
 * model_view.h - a published model in API responses, and the JSON texts in the metadata
 * of its file: its certificate (P10) and the encoding of its inputs.
 */
#ifndef API_VIEWS_MODEL_VIEW_H
#define API_VIEWS_MODEL_VIEW_H

#include <stdint.h>

#include "accountant/ledger/ledger.h"
#include "accountant/pricing/odometer.h"
#include "api/requests/ancestry.h"
#include "api/requests/dataset_request.h"
#include "api/requests/job_request.h"
#include "api/views/job_view.h"
#include "engine/trainer.h"
#include "store/rows/model_rows.h"

/* The uploaded file that has a model's body, if the model's own file was written without
 * it (engine/model_file/model_file.h). */
struct certificate_base {
    char file[WEIGHTS_ID_SIZE];
    char sha256[SHA256_HEX_SIZE];
    char names[16]; /* of the map by which it is read (name_map.h); "": none */
};

struct model_view {
    const struct model_id *id;
    const struct job_id *job;
    const struct dataset_spec *dataset;
    const struct job_request *request;
    const char *mechanism; /* canonical text, or NULL: not private */
    const char *ran; /* of a filtered run: the canonical text of the steps actually run,
                      * or NULL */
    double noise_multiplier, sampling_rate, epsilon, order;
    uint64_t steps;
    const struct ledger_entry_name *reserve; /* NULL: nothing was reserved */
    const struct epochs *epochs;             /* the budget's; NULL if reserve is */
    const char *noise;   /* JSON text of the noise certificate, or NULL */
    const char *quality; /* JSON text of the measurement on a holdout, or NULL */
    const struct ancestry *ancestry; /* NULL: it was not started from other weights */
    size_t frozen;                   /* number of its floats that were not trained */
    const uint8_t *frozen_sha256;    /* of the frozen floats, if there are any */
    const struct certificate_base *base; /* NULL: its file is whole */
    const char *version;
};

/* Renders the member "noise" of a certificate (noise.md 5). Each named grid of the plan
 * is a member of that name. */
char *noise_render(const struct noise_certificate *noise);

/* Renders "certificate" of the safetensors metadata. Its "guarantee", only of this
 * model, and its "dataset_guarantee", of all jobs in all epochs, are null if nothing
 * was reserved. Its mechanism is the canonical text, byte for byte. */
char *certificate_render(const struct model_view *view);

/* Renders "base" of the safetensors metadata. */
char *certificate_base_render(const struct certificate_base *base);

/* Reads the member "base" of the row's certificate. Returns false if it has none. */
bool certificate_base(struct certificate_base *base, const struct model_row *row);

/* Reads the member "text" of the row's certificate: how its texts become ids, and the
 * digests of the tokenizer's files. Returns false if it has none. */
bool certificate_text(struct text_column *text, const struct model_row *row);

/* Checks that the row's card parses as the certificate of its model and job. Otherwise
 * returns ST_CORRUPT. */
enum status certificate_check(const struct model_row *row, struct error *error);

/* Makes the same check by json_scan.h, in a tenth of the time. false: call
 * certificate_check to find out. */
bool certificate_glance(const struct model_row *row);

/* Renders the encoding of columns as "inputs" of the safetensors metadata, which is
 * enough to encode records without this program. */
char *inputs_render(const struct schema *schema);
/* Reads inputs back. Returns ST_INVALID if text was not rendered so. After ST_OK schema
 * must be released with schema_fini. */
enum status inputs_parse(struct schema *schema, const char *text, struct error *error);

struct model_course {                /* facts about a model that are not in its row */
    const struct caption *caption;   /* NULL: none */
    const char *dataset, *algorithm; /* algorithm: its name */
    bool regression;
    const struct evaluation_point *evaluation; /* the last; NULL: there was none */
    const struct holdout_score *holdout;       /* the newest; NULL: there was none */
};

/* Renders a model for a response: id, display_name, tags, job, dataset, algorithm,
 * metrics {evaluation, holdout}, sha256, size, certificate, create_time. */
char *model_render(const struct model_row *row, const struct model_course *course);

#endif
