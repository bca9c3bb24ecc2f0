/*
 * views.h - resources as answered: plain structs to JSON text. Every renderer returns
 * text to be released with free(). Reals have 15 significant digits, on ledger, budget
 * and estimate routes 17; infinity is null; times are RFC 3339 UTC in whole seconds; 0
 * ms is null.
 */
#ifndef API_VIEWS_H
#define API_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/figures.h"
#include "accountant/ledger.h"
#include "api/dataset_request.h"
#include "api/job_request.h"
#include "api/limits.h"
#include "engine/trainer.h"
#include "store/rows.h"

struct dataset_view {
    const struct dataset_spec *spec;
    const char *state; /* CREATED IMPORTING READY FAILED DELETED */
    uint64_t records;  /* once READY */
    uint64_t size;     /* of the matrix, bytes, once READY */
    const uint8_t *sha256;
    const char *reason; /* of FAILED, told to the owner; or NULL */
    int64_t create_ms, import_ms;
};
char *dataset_render(const struct dataset_view *view);

struct evaluation_point {
    uint64_t step;
    double loss, quality; /* accuracy, or rmse in the label's unit */
};

struct job_view {
    const struct job_id *id;
    const char *state, *state_reason; /* reason or NULL */
    uint32_t attempt;
    const struct job_request *request; /* resolved */
    uint64_t step, steps;
    bool is_private;
    double noise_multiplier, sampling_rate, epsilon_planned, epsilon_spent;
    uint64_t authorised_steps, ledger_seq; /* seq of RESERVE */
    bool regression;
    size_t point_count;
    const struct evaluation_point *points; /* oldest first */
    const struct model_id *model;          /* once published, or NULL */
    int64_t create_ms, start_ms, end_ms;
};
char *job_render(const struct job_view *view);

/* What of a job is stored beside its request; read back at start. */
char *job_detail_render(const struct job_view *view);
struct job_detail {
    char state_reason[24]; /* "" for null */
    uint64_t step, authorised_steps, ledger_seq;
    double noise_multiplier, sampling_rate, epsilon_planned, epsilon_spent;
    size_t point_count;
    struct evaluation_point points[LIMIT_HISTORY];
    bool has_model;
    struct model_id model;
    int64_t start_ms, end_ms;
};
enum status job_detail_parse(struct job_detail *detail, const char *text,
                             struct error *error);

struct dataset_detail {
    uint64_t records, size;
    char reason[320];
    int64_t import_ms;
};
char *dataset_detail_render(const struct dataset_detail *detail);
enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error);

char *budget_render(const struct dataset_id *dataset, const struct balance *balance);

/* One entry; capacity, held or committed curve as numbers, hashes as hex. */
char *ledger_entry_render(const struct ledger_row *row);
char *ledger_head_render(const struct ledger_entry_name *head);

struct estimate_view {
    enum ledger_fits fits; /* FITS_YES on public data */
    bool is_private;
    double epsilon_planned, order, noise_multiplier, sampling_rate, delta;
    uint64_t steps, batch_size, parameters, memory;
    double largest_epsilon;
    uint64_t most_steps;
};
char *estimate_render(const struct estimate_view *view);

struct model_view { /* the card and the certificate (P10) */
    const struct model_id *id;
    const struct job_id *job;
    const struct dataset_spec *dataset;
    const struct job_request *request;
    const char *mechanism; /* canonical text, or NULL: not private */
    double noise_multiplier, sampling_rate, epsilon, order;
    uint64_t steps;
    const struct ledger_entry_name *reserve;
    const char *noise; /* JSON text of the noise certificate, or NULL */
    const char *version;
};
/* The member "noise" of a certificate (NOISE.md 5.4). */
char *noise_render(const struct noise_certificate *noise);
/* "certificate" of the safetensors metadata. */
char *certificate_render(const struct model_view *view);
/* "inputs" of the safetensors metadata: the encoding of columns, enough to do without
 * us. */
char *inputs_render(const struct schema *schema);
/* Reads inputs back. On ST_OK schema must be released with schema_fini. */
enum status inputs_parse(struct schema *schema, const char *text, struct error *error);
/* A model as answered, from its row: id, job, sha256, size, certificate, create_time.
 */
char *model_render(const struct model_row *row);

/* {"<name>":[items...],"next_page_token":token or null}; items are JSON texts. */
char *page_render(const char *name, char *const *items, size_t count,
                  const char *token);

char *algorithms_render(void); /* GET /v1/algorithms */
char *version_render(const char *version, const char *kernel);

#endif
