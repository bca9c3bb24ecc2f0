/* Accounts and reservations are kept sorted by name, and found by bisection from the
 * greatest names down: names of jobs grow with time, and the newest are wanted most.
 * The first change of an account inside a transaction copies its balances into next,
 * and later ones change the copy; both lists of changes determine what to keep or to
 * drop at the end. So there is no undo code: dropping destroys the copy. */
#include "accountant/ledger/ledger_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

static void append(struct pointers *list, void *item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->items = reallocarray(list->items, list->capacity, sizeof *list->items);
        CHECK(list->items != NULL);
    }
    list->items[list->count++] = item;
}

/* Returns the index where the item called name is, or would be. */
static size_t place(const struct pointers *sorted, const char *name)
{
    size_t high = sorted->count, step = 1;
    for (; step <= high && strcmp(sorted->items[high - step], name) >= 0; step *= 2)
        high -= step;
    size_t low = step <= high ? high - step + 1 : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sorted->items[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void *find(const struct pointers *sorted, const char *name)
{
    size_t at = place(sorted, name);
    if (at == sorted->count || strcmp(sorted->items[at], name) != 0)
        return NULL;
    return sorted->items[at];
}

static void insert(struct pointers *sorted, void *item)
{
    size_t at = place(sorted, item);
    append(sorted, item);
    memmove(sorted->items + at + 1, sorted->items + at,
            (sorted->count - 1 - at) * sizeof *sorted->items);
    sorted->items[at] = item;
}

static void take_out(struct pointers *sorted, const char *name)
{
    size_t at = place(sorted, name);
    sorted->count--;
    memmove(sorted->items + at, sorted->items + at + 1,
            (sorted->count - at) * sizeof *sorted->items);
}

static void balances_destroy(struct balances *balances)
{
    if (balances != NULL) {
        for (size_t p = 0; p < PARTS_MAX; p++)
            epochs_fini(&balances->parts[p].closed);
        free(balances->open);
    }
    free(balances);
}

static void account_destroy(struct account *account)
{
    balances_destroy(account->now);
    balances_destroy(account->next);
    free(account);
}

/* Frees what is kept of an open reservation. */
static void forget_held(struct reservation *reservation)
{
    if (reservation->held != NULL)
        mechanism_fini(&reservation->held->mechanism);
    free(reservation->held);
    reservation->held = NULL;
}

static void reservation_destroy(struct reservation *reservation)
{
    forget_held(reservation);
    free(reservation);
}

void ledger_state_init(struct ledger_state *state)
{
    *state = (struct ledger_state){0};
}

void ledger_state_fini(struct ledger_state *state)
{
    for (size_t i = 0; i < state->accounts.count; i++)
        account_destroy(state->accounts.items[i]);
    for (size_t i = 0; i < state->reservations.count; i++)
        reservation_destroy(state->reservations.items[i]);
    free(state->accounts.items);
    free(state->reservations.items);
    free(state->changed_accounts.items);
    free(state->changed_reservations.items);
    *state = (struct ledger_state){0};
}

struct account *ledger_state_account(const struct ledger_state *state,
                                     const struct dataset_id *dataset)
{
    return find(&state->accounts, dataset->text);
}

struct reservation *ledger_state_reservation(const struct ledger_state *state,
                                             const struct job_id *job)
{
    return find(&state->reservations, job->text);
}

/* --- accounts from elsewhere --- */

/* Merges the sorted items of more into those of list, from their ends: if few are added
 * to many, only items after the first of them are moved. */
static void merge(struct pointers *list, const struct pointers *more)
{
    size_t from = list->count, left = more->count;
    for (size_t i = 0; i < more->count; i++)
        append(list, more->items[i]);
    for (size_t at = list->count; left > 0; at--) {
        const char *newest = more->items[left - 1];
        bool moves = from > 0 && strcmp(list->items[from - 1], newest) > 0;
        list->items[at - 1] = moves ? list->items[--from] : more->items[--left];
    }
}

/* Keeps in list what is not owned by an account that state has already. */
static void leave_known(struct pointers *list, const struct ledger_state *state,
                        const struct account *(*owner)(void *item),
                        void (*destroy)(void *item))
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (ledger_state_account(state, &owner(list->items[i])->dataset) == NULL)
            list->items[kept++] = list->items[i];
        else
            destroy(list->items[i]);
    }
    list->count = kept;
}

static const struct account *owner_of_itself(void *item)
{
    return item;
}

static const struct account *owner_of_reservation(void *item)
{
    return ((const struct reservation *)item)->account;
}

static void destroy_account(void *item)
{
    account_destroy(item);
}

static void destroy_reservation(void *item)
{
    reservation_destroy(item);
}

void ledger_state_adopt(struct ledger_state *state, struct ledger_state *loaded)
{
    CHECK(loaded->changed_accounts.count == 0 &&
          loaded->changed_reservations.count == 0);
    leave_known(&loaded->reservations, state, owner_of_reservation,
                destroy_reservation);
    leave_known(&loaded->accounts, state, owner_of_itself, destroy_account);
    for (size_t i = 0; i < loaded->accounts.count; i++)
        ((struct account *)loaded->accounts.items[i])->version = 0;
    merge(&state->reservations, &loaded->reservations);
    merge(&state->accounts, &loaded->accounts);
    loaded->reservations.count = loaded->accounts.count = 0;
}

const struct balances *ledger_state_view(const struct account *account)
{
    return account->next != NULL ? account->next : account->now;
}

/* Has room for one reservation more, which a change may add. */
static struct balances *copy_of(const struct balances *from)
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

struct balances *ledger_state_change(struct ledger_state *state,
                                     struct account *account)
{
    static const struct balances nothing = {0};
    if (account->next == NULL) {
        account->next = copy_of(account->now != NULL ? account->now : &nothing);
        append(&state->changed_accounts, account);
    }
    return account->next;
}

struct reservation_state *
ledger_state_change_reservation(struct ledger_state *state,
                                struct reservation *reservation)
{
    if (!reservation->changed) {
        reservation->next = reservation->now;
        reservation->changed = true;
        append(&state->changed_reservations, reservation);
    }
    return &reservation->next;
}

enum status ledger_state_unused(const struct balances *balances, struct error *error)
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

/* The epoch in force is kept, because it counts. */
static void close_epoch(struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct epoch before = ledger_state_epoch(balances, (enum part)p);
        epochs_append(&balances->parts[p].closed, &before);
    }
}

void ledger_state_grant(struct ledger_state *state, const struct granting *granting)
{
    struct account *account = granting->account;
    if (account == NULL) {
        CHECK(ledger_state_account(state, granting->dataset) == NULL);
        account = calloc(1, sizeof *account);
        CHECK(account != NULL);
        account->dataset = *granting->dataset;
        insert(&state->accounts, account);
    }
    struct balances *balances = ledger_state_change(state, account);
    CHECK(balances->open_count == 0);
    if (granting->replaces)
        CHECK(ledger_state_unused(balances, NULL) == ST_OK);
    else
        close_epoch(balances);
    balances->epoch++;
    balances->frozen = false;
    balances->grant = *granting->grant;
    balances->grant_seq = granting->seq;
    balances->filter = *granting->filter;
    balances->part_count = division_parts(&granting->grant->division);
    for (size_t p = 0; p < PARTS_MAX; p++)
        balances->parts[p].committed = balances->parts[p].held = (struct curve){{0}};
    state->next_tally.grants++;
}

/* Returns whether the reservation reads the part, and is charged to it. */
static bool reads(const struct reservation *reservation, unsigned part)
{
    return ((unsigned)reservation->parts >> part & 1) != 0;
}

struct reservation *ledger_state_reserve_take(struct ledger_state *state,
                                              struct account *account,
                                              const struct holding *holding)
{
    struct reservation *reservation = calloc(1, sizeof *reservation);
    struct held *held = malloc(sizeof *held);
    CHECK(reservation != NULL && held != NULL && holding->parts != PARTS_UNNAMED);
    held->mechanism = *holding->mechanism_take;
    *holding->mechanism_take = (struct mechanism){0};
    held->charge = *holding->charge;
    snprintf(held->actor, sizeof held->actor, "%s", holding->actor);
    reservation->held = held;
    reservation->job = *holding->job;
    reservation->account = account;
    reservation->parts = holding->parts;
    reservation->steps = mechanism_steps(&held->mechanism);
    insert(&state->reservations, reservation);
    ledger_state_change_reservation(state, reservation)->open = true;

    struct balances *balances = ledger_state_change(state, account);
    balances->open =
        reallocarray(balances->open, balances->open_count + 1, sizeof *balances->open);
    CHECK(balances->open != NULL);
    balances->open[balances->open_count++] = reservation;
    balances->reserved = true;
    for (unsigned p = 0; p < balances->part_count; p++)
        if (reads(reservation, p))
            curve_add(&balances->parts[p].held, holding->charge);
    state->next_tally.reserves++;
    return reservation;
}

static void hold_all(struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct curve *held = &balances->parts[p].held;
        *held = (struct curve){{0}};
        for (size_t i = 0; i < balances->open_count; i++)
            if (reads(balances->open[i], p))
                curve_add(held, &balances->open[i]->held->charge);
    }
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
}

void ledger_state_settle(struct ledger_state *state, struct reservation *reservation,
                         const struct curve *charge)
{
    struct balances *balances = ledger_state_change(state, reservation->account);
    size_t kept = 0;
    for (size_t i = 0; i < balances->open_count; i++) {
        if (balances->open[i] != reservation)
            balances->open[kept++] = balances->open[i];
    }
    CHECK(kept + 1 == balances->open_count);
    balances->open_count = kept;
    if (state->replaying)
        hold_weighted(balances);
    else
        hold_all(balances);
    for (unsigned p = 0; p < balances->part_count; p++)
        if (reads(reservation, p))
            curve_add(&balances->parts[p].committed, charge);
    ledger_state_change_reservation(state, reservation)->open = false;
    state->next_tally.commits++;
}

bool ledger_state_sealed(struct ledger_state *state, const struct sealed_sum *sum)
{
    struct dataset_id dataset;
    struct account *account = dataset_id_parse(&dataset, sum->dataset)
                                  ? ledger_state_account(state, &dataset)
                                  : NULL;
    if (account == NULL)
        return false;
    struct balances *balances = ledger_state_change(state, account);
    size_t closed = balances->parts[PART_TRAIN].closed.count, at = 0;
    if (sum->epoch != balances->epoch || sum->part_count != balances->part_count ||
        sum->epoch_count != closed + 1 || sum->open.count != balances->open_count)
        return false;
    for (size_t e = 0; e <= closed; e++)
        for (unsigned p = 0; p < sum->part_count; p++) {
            struct part_balance *part = &balances->parts[p];
            *(e < closed ? &part->closed.items[e].committed : &part->committed) =
                sum->committed[at++];
        }
    balances->reserved = sum->reserved;
    balances->external = sum->external;
    bool sound = ledger_state_sound(balances);
    if (sound)
        ledger_state_keep(state);
    return sound;
}

void ledger_state_replayed(struct ledger_state *state)
{
    for (size_t i = 0; i < state->accounts.count; i++) {
        struct account *account = state->accounts.items[i];
        if (account->now != NULL)
            hold_all(account->now);
    }
    state->replaying = false;
}

struct epoch ledger_state_epoch(const struct balances *balances, enum part part)
{
    return (struct epoch){.number = balances->epoch,
                          .grant = balances->grant,
                          .filter = balances->filter,
                          .committed = balances->parts[part].committed,
                          .frozen = balances->frozen};
}

static bool is_within(const struct balances *balances, const struct part_balance *part)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t order = balances->filter.weighted[i];
        if (round_up_add(part->committed.at[order], part->held.at[order]) <=
            balances->filter.capacity[i])
            return true;
    }
    return false;
}

bool ledger_state_sound(const struct balances *balances)
{
    for (unsigned p = 0; p < balances->part_count; p++)
        if (!is_within(balances, &balances->parts[p]))
            return false;
    return true;
}

void ledger_state_keep(struct ledger_state *state)
{
    for (size_t i = 0; i < state->changed_accounts.count; i++) {
        struct account *account = state->changed_accounts.items[i];
        balances_destroy(account->now);
        account->now = account->next;
        account->next = NULL;
        account->version++;
        CHECK(ledger_state_sound(account->now));
    }
    for (size_t i = 0; i < state->changed_reservations.count; i++) {
        struct reservation *reservation = state->changed_reservations.items[i];
        reservation->now = reservation->next;
        reservation->changed = false;
        reservation->durable = true;
        if (!reservation->now.open)
            forget_held(reservation);
    }
    state->changed_accounts.count = state->changed_reservations.count = 0;
    state->tally = state->next_tally;
}

void ledger_state_drop(struct ledger_state *state)
{
    for (size_t i = 0; i < state->changed_accounts.count; i++) {
        struct account *account = state->changed_accounts.items[i];
        balances_destroy(account->next);
        account->next = NULL;
        if (account->now == NULL) {
            take_out(&state->accounts, account->dataset.text);
            account_destroy(account);
        }
    }
    for (size_t i = 0; i < state->changed_reservations.count; i++) {
        struct reservation *reservation = state->changed_reservations.items[i];
        reservation->changed = false;
        if (!reservation->durable) {
            take_out(&state->reservations, reservation->job.text);
            reservation_destroy(reservation);
        }
    }
    state->changed_accounts.count = state->changed_reservations.count = 0;
    state->next_tally = state->tally;
}

enum status ledger_state_missing(const struct dataset_id *dataset, struct error *error)
{
    return error_set(error, ST_NOT_FOUND, "dataset %s has no budget", dataset->text);
}

enum status ledger_state_charge(struct curve *charge, const struct balances *balances,
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
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (isfinite(charge->at[balances->filter.weighted[i]]))
            return ST_OK;
    }
    return error_set(error, ST_INVALID, "the job's privacy loss is not finite");
}

enum status ledger_state_parts(enum parts *all, const struct balances *balances,
                               enum parts parts, struct error *error)
{
    if (!division_resolve(&balances->grant.division, parts, all))
        return error_set(error, ST_INVALID, "the dataset is not divided into parts");
    return ST_OK;
}

enum parts ledger_state_named(const struct balances *balances, enum parts all)
{
    return balances->part_count > 1 ? all : PARTS_UNNAMED;
}

enum ledger_fits ledger_state_fits(const struct balances *balances, enum parts parts,
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
