/*
 * charge_view.h - charges as answered: work that runs elsewhere, what of it was granted,
 * and what it costs.
 */
#ifndef API_CHARGE_VIEW_H
#define API_CHARGE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/figures.h"
#include "accountant/ledger_view.h"
#include "api/charge_request.h"

struct charge_figures { /* what a charge is priced at, at the delta of its dataset */
    double epsilon_planned, order; /* of all its steps; order 0: none gave it */
    double delta;
    double epsilon_spent; /* of the steps that are authorised */
};

struct charge_view {
    const struct charge_id *id;
    const struct charge_request *request;
    const char *project, *created_by, *state;
    struct charge_figures figures;
    uint64_t blocks, ledger_seq;             /* granted so far; of its RESERVE */
    int64_t lease_end_ms, create_ms, end_ms; /* end_ms 0: it is open */
};

char *charge_render(const struct charge_view *view);

/* A block that was granted: which steps, and until when the lease lasts. */
char *block_render(const struct charge_view *view);

struct charge_estimate {
    const struct charge_request *request;
    struct charge_figures figures;
    const struct outlook *outlook;
    struct figure_room room;
    const char *priced_as; /* the mechanism's canonical text */
};

char *charge_estimate_render(const struct charge_estimate *estimate);

/* The figures as they are stored, and back; false, figures untouched, if text is not what
 * was rendered. */
char *charge_figures_render(const struct charge_figures *figures);
bool charge_figures_parse(struct charge_figures *figures, const char *text);

/* What the audit trail says of a charge that was made; to be freed. */
char *charge_act_render(const struct charge_view *view);

#endif
