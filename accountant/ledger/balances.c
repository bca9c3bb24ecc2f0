#include "accountant/ledger/balances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

void balances_destroy(struct balances *balances)
{
    if (balances != NULL) {
        for (size_t p = 0; p < PARTS_MAX; p++)
            epochs_fini(&balances->parts[p].closed);
        free(balances->open);
    }
    free(balances);
}

struct balances *balances_copy(const struct balances *from)
{
    struct balances *copy = malloc(sizeof *copy);
    CHECK(copy != NULL);
    *copy = *from;
    for (size_t p = 0; p < PARTS_MAX; p++)
        copy->parts[p].closed = epochs_copy(&from->parts[p].closed);
    copy->open = calloc(from->open_count + 1, sizeof *copy->open);
    CHECK(copy->open != NULL);
    if (from->open_count > 0)
        memcpy(copy->open, from->open, from->open_count * sizeof *copy->open);
    return copy;
}

enum status balances_unused(const struct balances *balances, struct error *error)
{
    if (balances->reserved || balances->parts[PART_TRAIN].closed.count > 0)
        return error_set(error, ST_DATASET_IMMUTABLE,
                         "its budget was drawn on: what was promised stays");
    if (!balances->frozen)
        return ST_OK;
    return error_set(
        error, ST_DATASET_FROZEN,
        "a restored backup closed the budget's epoch: what was drawn on it "
        "since is unknown");
}

void balances_close_epoch(struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct epoch before = balances_epoch(balances, (enum part)p);
        epochs_append(&balances->parts[p].closed, &before);
    }
}

/* Returns whether the reservation reads the part, and is charged to it. */
static bool reads(const struct reservation *reservation, unsigned part)
{
    return ((unsigned)reservation->parts >> part & 1) != 0;
}

void balances_hold(struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct curve *held = &balances->parts[p].held;
        *held = (struct curve){0};
        for (size_t i = 0; i < balances->open_count; i++)
            if (reads(balances->open[i], p))
                curve_add(held, &balances->open[i]->held->charge);
    }
}

static double held_delta(const struct balances *balances, unsigned part)
{
    double held = 0;
    for (size_t i = 0; i < balances->open_count; i++)
        if (reads(balances->open[i], part))
            held = round_up_add(held, balances->open[i]->held->charge.delta);
    return held;
}

static double held_at(const struct balances *balances, unsigned part, size_t order)
{
    double held = 0;
    for (size_t i = 0; i < balances->open_count; i++)
        if (reads(balances->open[i], part))
            held = round_up_add(held, balances->open[i]->held->charge.at[order]);
    return held;
}

static void hold_weighted(struct balances *balances)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t order = balances->filter.weighted[i];
        for (unsigned p = 0; p < balances->part_count; p++)
            balances->parts[p].held.at[order] = held_at(balances, p, order);
    }
    for (unsigned p = 0; p < balances->part_count; p++)
        balances->parts[p].held.delta = held_delta(balances, p);
}

void balances_open(struct balances *balances, struct reservation *reservation)
{
    balances->open =
        reallocarray(balances->open, balances->open_count + 1, sizeof *balances->open);
    CHECK(balances->open != NULL);
    balances->open[balances->open_count++] = reservation;
    balances->reserved = true;
    for (unsigned p = 0; p < balances->part_count; p++)
        if (reads(reservation, p))
            curve_add(&balances->parts[p].held, &reservation->held->charge);
}

void balances_settle(struct balances *balances, const struct reservation *reservation,
                     const struct curve *charge, bool replaying)
{
    size_t kept = 0;
    for (size_t i = 0; i < balances->open_count; i++) {
        if (balances->open[i] != reservation)
            balances->open[kept++] = balances->open[i];
    }
    CHECK(kept + 1 == balances->open_count);
    balances->open_count = kept;
    if (replaying)
        hold_weighted(balances);
    else
        balances_hold(balances);
    for (unsigned p = 0; p < balances->part_count; p++)
        if (reads(reservation, p))
            curve_add(&balances->parts[p].committed, charge);
}

struct epoch balances_epoch(const struct balances *balances, enum part part)
{
    return (struct epoch){.number = balances->epoch,
                          .grant = balances->grant,
                          .filter = balances->filter,
                          .committed = balances->parts[part].committed,
                          .frozen = balances->frozen};
}

static bool is_within(const struct balances *balances, const struct part_balance *part)
{
    if (!(round_up_add(part->committed.delta, part->held.delta) <=
          balances->filter.delta_capacity))
        return false;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t order = balances->filter.weighted[i];
        if (round_up_add(part->committed.at[order], part->held.at[order]) <=
            balances->filter.capacity[i])
            return true;
    }
    return false;
}

bool balances_sound(const struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++)
        if (!is_within(balances, &balances->parts[p]))
            return false;
    return true;
}

enum status balances_missing(const struct dataset_id *dataset, struct error *error)
{
    return error_set(error, ST_NOT_FOUND, "dataset %s has no budget", dataset->text);
}

/* Without a share of delta that was set aside, no discovery has a bound. */
static enum status check_delta(const struct curve *charge,
                               const struct balances *balances, struct error *error)
{
    if (charge->delta <= balances->filter.delta_capacity)
        return ST_OK;
    return balances->filter.delta_capacity == 0
               ? error_set(error, ST_INVALID,
                           "the dataset's grant sets no delta aside for discoveries: "
                           "declare \"discovery_delta\" with its budget")
               : error_set(error, ST_INVALID,
                           "the discovery needs a delta of %.3g, and the grant sets "
                           "%.3g aside",
                           charge->delta, balances->filter.delta_capacity);
}

enum status balances_charge(struct curve *charge, const struct balances *balances,
                            const struct mechanism *m, struct price_book *book,
                            struct error *error)
{
    const struct price_terms terms = {.book = book};
    if (balances->frozen)
        return error_set(error, ST_DATASET_FROZEN,
                         "a restored backup closed the budget's epoch");
    if (balances->grant.relation != m->relation)
        return error_set(
            error, ST_INVALID, "the dataset's relation is %s, the job's %s",
            relation_name(balances->grant.relation), relation_name(m->relation));
    if (balances->grant.unit != m->unit)
        return error_set(
            error, ST_INVALID, "the dataset's privacy unit is the %s, the job's the %s",
            privacy_unit_name(balances->grant.unit), privacy_unit_name(m->unit));
    enum status status = price_charge(charge, m, &terms, error);
    if (status == ST_OK)
        status = check_delta(charge, balances, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (isfinite(charge->at[balances->filter.weighted[i]]))
            return ST_OK;
    }
    return error_set(error, ST_INVALID, "the job's privacy loss is not finite");
}

enum status balances_parts(enum parts *all, const struct balances *balances,
                           enum parts parts, struct error *error)
{
    if (!division_resolve(&balances->grant.division, parts, all))
        return error_set(error, ST_INVALID, "the dataset is not divided into parts");
    return ST_OK;
}

enum parts balances_named(const struct balances *balances, enum parts all)
{
    return balances->part_count > 1 ? all : PARTS_UNNAMED;
}

enum ledger_fits balances_fits(const struct balances *balances, enum parts parts,
                               const struct curve *charge)
{
    enum ledger_fits all = FITS_YES;
    for (unsigned p = 0; p < balances->part_count; p++) {
        const struct part_balance *part = &balances->parts[p];
        enum ledger_fits fits = FITS_YES;
        if (((unsigned)parts >> p & 1) != 0)
            fits =
                filter_fits(&balances->filter, &part->committed, &part->held, charge);
        if (fits == FITS_NO || (fits == FITS_HELD && all == FITS_YES))
            all = fits;
    }
    return all;
}
