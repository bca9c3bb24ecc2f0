/*
 * charge_view.h - charges in API responses: work that runs elsewhere, how much of it
 * was granted, and its cost.
 */
#ifndef API_VIEWS_CHARGE_VIEW_H
#define API_VIEWS_CHARGE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/figures.h"
#include "api/requests/charge_request.h"

struct charge_figures {            /* price of a charge, at the delta of its dataset */
    double epsilon_planned, order; /* of all its steps; order 0: not from an order */
    double delta;
    double epsilon_spent; /* of the steps that are authorised */
};

struct charge_view {
    const struct charge_id *id;
    const struct charge_request *request;
    const char *project, *created_by, *state;
    struct charge_figures figures;
    uint64_t blocks, ledger_seq;             /* granted so far; of its RESERVE entry */
    int64_t lease_end_ms, create_ms, end_ms; /* end_ms 0: it is open */
};

char *charge_render(const struct charge_view *view);

/* Renders a granted block: its steps, and the end of the lease. */
char *block_render(const struct charge_view *view);

struct charge_estimate {
    const struct charge_request *request;
    struct charge_figures figures;
    const struct outlook *outlook;
    struct balance_room room;
    const char *priced_as; /* the mechanism's canonical text */
};

char *charge_estimate_render(const struct charge_estimate *estimate);

/* Render the figures as they are stored, and read them back. Parsing returns false,
 * figures untouched, if text was not rendered here. */
char *charge_figures_render(const struct charge_figures *figures);
bool charge_figures_parse(struct charge_figures *figures, const char *text);

/* Renders the audit trail's detail for a new charge; to be freed. */
char *charge_act_render(const struct charge_view *view);

#endif
