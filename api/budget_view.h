/*
 * budget_view.h - budgets, ledger entries and estimates as answered. Reals read back to
 * the same double.
 */
#ifndef API_BUDGET_VIEW_H
#define API_BUDGET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/budget_history.h"
#include "accountant/figures.h"
#include "accountant/ledger_view.h"
#include "accountant/share.h"
#include "accountant/tuning.h"
#include "api/json_writer.h"
#include "engine/quality/quality_plan.h"
#include "store/ledger_rows.h"

/* What people are told of a budget of which something is for work that runs elsewhere. */
extern const char budget_condition[];

/* Writes a budget in a few figures, as a member: "epsilon", "delta", "frozen",
 * "epsilon_spent", "epsilon_held", "epsilon_remaining", "fraction_remaining", "share". */
void budget_figures_write(struct json_writer *writer, const char *name,
                          const struct balance *balance);

/* Writes a budget in shares of its capacity ("order", "spent", "held" and "left") as a
 * member called name. */
void share_write(struct json_writer *writer, const char *name,
                 const struct share *share);

struct budget_part { /* of a divided dataset */
    enum part part;
    struct balance balance;
    struct epochs epochs;
};

/* Renders the guarantee over all epochs (epochs_view.h); of the last one the four
 * figures, its share, and "rooms", what is taken at every weighted order; and the
 * vectors on g1 side by side: "orders", "weights", "capacity" (null where an order
 * carries no weight), "committed" and "held". All of that is about the first part; where
 * there are more, "parts" has figures, share, rooms and vectors of each. */
char *budget_render(const struct dataset_id *dataset, const struct budget_part *parts,
                    size_t count);

/* Renders one entry: its curve (capacity, held or committed) as numbers, hashes as
 * hexadecimal digits, its meta as it is stored; of the RESERVE of a charge "external" is
 * the engine that runs it. */
char *ledger_entry_render(const struct ledger_row *row);
/* Renders an entry for people who look: without vectors, hashes and meta, but with
 * "epsilon", what it granted, held or committed by itself, at the delta of its epoch,
 * which is one of epochs. */
char *ledger_summary_render(const struct ledger_row *row, const struct epochs *epochs);

/* Renders the points of a history, oldest first. */
char *budget_history_render(const struct dataset_id *dataset,
                            const struct budget_history *history);

char *ledger_head_render(const struct ledger_entry_name *head);

const char *ledger_fits_name(enum ledger_fits fits); /* "yes", "held", "no" */
/* Writes the budget beside a mechanism, and after it, as members: "share", "rooms",
 * "epsilon_after", "exposure_after", "jobs_like_this"; nulls where there is no outlook. */
void outlook_write(struct json_writer *writer, const struct outlook *outlook);

struct ranks_view { /* what several processes would make of it */
    unsigned count;    /* 1: it has no company, and nothing is shown */
    double efficiency; /* the share of their time that it would use (engine/efficiency.h) */
};

/* Below it a job is said not to pay. */
#define RANKS_EFFICIENCY_MIN 0.5

struct estimate_view {
    enum ledger_fits fits; /* FITS_YES on public data */
    bool is_private;       /* false: the figures of privacy are null */
    const struct outlook
        *outlook; /* what it would do to the budget; NULL: there is none */
    double epsilon_planned, order, noise_multiplier, sampling_rate, delta;
    uint64_t steps, batch_size, parameters, memory;
    struct ranks_view ranks;
    uint64_t seconds;   /* that it would run, by jobs like it; 0: there is none */
    double paper_claim; /* noise multiplier that the paper claims; 0: none */
    double largest_epsilon;
    bool has_most_steps; /* false: steps differ, and it is null */
    uint64_t most_steps;
    const struct quality_plan *quality; /* of an evaluation on a holdout; NULL: none */
    const struct outlook *measurement;  /* what that would do to the holdout's budget */
    double measurement_epsilon;
    uint64_t runs; /* to choose the best of; 0: not asked for */
    struct tuning tuning;
};
char *estimate_render(const struct estimate_view *view);

#endif
