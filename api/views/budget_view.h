/*
 * budget_view.h - budgets, ledger entries and estimates in API responses. Reals read
 * back to the same double.
 */
#ifndef API_VIEWS_BUDGET_VIEW_H
#define API_VIEWS_BUDGET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/ledger/budget_history.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/budget_share.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/selection_cost.h"
#include "api/json/json_writer.h"
#include "engine/quality/quality_plan.h"
#include "store/rows/ledger_rows.h"

/* The condition that is shown with a budget part of which is for work that
 * runs elsewhere. */
extern const char budget_condition[];

/* Writes the main figures of a budget as a member: "epsilon", "delta",
 * "frozen", "epsilon_spent", "epsilon_held", "epsilon_remaining",
 * "fraction_remaining", "share". */
void budget_figures_write(struct json_writer *writer, const char *name,
                          const struct balance *balance);

/* Writes a budget in shares of its capacity ("order", "spent", "held" and "left") as a
 * member called name. */
void share_write(struct json_writer *writer, const char *name,
                 const struct budget_share *share);

struct budget_part { /* part of a divided dataset */
    enum part part;
    struct balance balance;
    struct epochs epochs;
};

/* Renders the guarantee over all epochs (epochs_view.h); for the last epoch the four
 * figures, its share, and "rooms", the usage at every weighted order; and the vectors
 * on g1 side by side: "orders", "weights", "capacity" (null if an order carries no
 * weight), "committed" and "held". All of these describe the first part. If there are
 * more parts, "parts" has the figures, share, rooms and vectors of each. */
char *budget_render(const struct dataset_id *dataset, const struct budget_part *parts,
                    size_t count);

/* Renders one entry: its curve (capacity, held or committed) as numbers, hashes as
 * hexadecimal digits, and its meta as it is stored. For the RESERVE of a charge,
 * "external" is the engine that runs it. */
char *ledger_entry_render(const struct ledger_row *row);
/* Renders an entry for people to read, without vectors, hashes and meta. "epsilon" is
 * what this entry by itself granted, held or committed, at the delta of its epoch,
 * which must be one of epochs. */
char *ledger_summary_render(const struct ledger_row *row, const struct epochs *epochs);

/* Renders the points of a history, oldest first. */
char *budget_history_render(const struct dataset_id *dataset,
                            const struct budget_history *history);

char *ledger_head_render(const struct ledger_entry_name *head);

const char *ledger_fits_name(enum ledger_fits fits); /* "yes", "held", "no" */
/* Writes the budget next to a mechanism, and after it, as members: "share", "rooms",
 * "epsilon_after", "exposure_after", "jobs_like_this"; nulls if there is no outlook. */
void outlook_write(struct json_writer *writer, const struct outlook *outlook);

struct ranks_view {    /* effect of running the job in several processes */
    unsigned count;    /* 1: a single process, and nothing is shown */
    double efficiency; /* share of their time that is used (engine/efficiency.h) */
};

/* Below this efficiency the estimate says that several processes are not worth it. */
#define RANKS_EFFICIENCY_MIN 0.5

struct job_request;

struct estimate_view {
    const struct job_request *request; /* resolved; NULL: no warnings are shown */
    enum ledger_fits fits;             /* FITS_YES on public data */
    bool is_private;                   /* false: the privacy figures are null */
    const struct outlook *outlook;     /* effect on the budget, with that of moments
                                        * that it buys; NULL: there is none */
    double epsilon_planned, order, noise_multiplier, sampling_rate, delta;
    uint64_t steps, batch_size, parameters, memory;
    struct ranks_view ranks;
    uint64_t seconds;   /* expected run time, from similar jobs; 0: unknown */
    double paper_claim; /* noise multiplier that the paper claims; 0: none */
    double largest_epsilon;
    bool has_most_steps; /* false: steps differ, and most_steps is null */
    uint64_t most_steps;
    const struct quality_plan *quality; /* for an evaluation on a holdout; NULL: none */
    const struct outlook *measurement;  /* its effect on the holdout's budget */
    double measurement_epsilon;
    uint64_t runs; /* number of runs to choose the best of; 0: not asked for */
    struct selection_cost tuning;
};
char *estimate_render(const struct estimate_view *view);

/* Writes the member "measurement": the precision of an evaluation on a holdout, and the
 * budget that it would leave. */
void measurement_estimate_write(struct json_writer *writer,
                                const struct quality_plan *quality, double epsilon,
                                const struct outlook *outlook);

#endif
