/* The life of an entry. A caller's transaction is joined (ledger_change_join), the
 * request is checked against the state as that transaction sees it, and only then is
 * the row written, hashed onto the head, and the next state made from it. When the
 * transaction is durable the next state becomes the present one, and when it is undone
 * nothing has happened (ledger_state.h). Authorising steps writes no entry: it raises
 * a mark, in a transaction of its own, because it must be on disk before the steps
 * run. */
#include "accountant/ledger/ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_accounts.h"
#include "accountant/ledger/ledger_catch_up.h"
#include "accountant/ledger/ledger_change.h"
#include "accountant/ledger/ledger_replay.h"
#include "base/check.h"

/* leaves: closed accounts may stay in the store. */
static enum status open_in(struct ledger **out, struct store *store, bool leaves,
                           struct store_tx *tx, struct error *error)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    CHECK(ledger != NULL);
    CHECK(pthread_mutex_init(&ledger->lock, NULL) == 0);
    CHECK(pthread_mutex_init(&ledger->head_lock, NULL) == 0);
    CHECK(pthread_cond_init(&ledger->ended, NULL) == 0);
    ledger->store = store;
    ledger->prices = price_book_create();
    ledger_state_init(&ledger->state);
    enum status status = ledger_replay_read(&ledger->state, &ledger->now,
                                            leaves ? store : NULL, tx, error);
    if (status != ST_OK) {
        ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return ST_OK;
}

enum status ledger_open(struct ledger **out, struct store *store, struct error *error)
{
    struct store_tx *tx;
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = ledger_open_in(out, store, tx, error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status ledger_open_in(struct ledger **out, struct store *store,
                           struct store_tx *tx, struct error *error)
{
    return open_in(out, store, true, tx, error);
}

enum status ledger_open_whole(struct ledger **out, struct store *store,
                              struct store_tx *tx, struct error *error)
{
    return open_in(out, store, false, tx, error);
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    CHECK(!ledger->changing);
    ledger_state_fini(&ledger->state);
    price_book_destroy(ledger->prices);
    pthread_cond_destroy(&ledger->ended);
    pthread_mutex_destroy(&ledger->head_lock);
    pthread_mutex_destroy(&ledger->lock);
    chain_links_fini(&ledger->fresh);
    free(ledger->head_path);
    free(ledger);
}

struct price_book *ledger_prices(const struct ledger *ledger)
{
    return ledger->prices;
}

enum status ledger_follow_in(struct ledger *ledger, struct store_tx *tx,
                             struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    enum status status = ledger_catch_up(ledger, tx, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

enum status ledger_follow_all_in(struct ledger *ledger, struct store_tx *tx,
                                 struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    enum status status = ledger_catch_up_all(ledger, tx, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

enum status ledger_follow(struct ledger *ledger, struct error *error)
{
    struct store_tx *tx = NULL;
    if (!store_shared(ledger->store))
        return ST_OK;
    enum status status;
    do {
        status = store_begin(ledger->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = ledger_follow_in(ledger, tx, error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status ledger_grant(struct ledger *ledger, struct store_tx *tx,
                         const struct ledger_promise *promise, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    struct account *account = NULL;
    enum status status = ledger_catch_up(ledger, tx, error);
    if (status == ST_OK)
        status = ledger_account(ledger, tx, promise->dataset, &account, error);
    if (status == ST_OK && account != NULL)
        status = error_set(error, ST_ALREADY_EXISTS, "dataset %s has a budget",
                           promise->dataset->text);
    if (status == ST_OK)
        status = ledger_change_grant(ledger, tx, NULL, promise, false, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

enum status ledger_grant_anew(struct ledger *ledger, struct store_tx *tx,
                              const struct ledger_promise *promise, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    struct account *account = NULL;
    enum status status = ledger_catch_up(ledger, tx, error);
    if (status == ST_OK)
        status = ledger_account(ledger, tx, promise->dataset, &account, error);
    if (status == ST_OK)
        status = account != NULL ? balances_unused(ledger_state_view(account), error)
                                 : balances_missing(promise->dataset, error);
    if (status == ST_OK)
        status = ledger_change_grant(ledger, tx, account, promise, true, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

static enum status check_fits(const struct balances *balances,
                              const struct holding *holding, struct error *error)
{
    switch (balances_fits(balances, holding->parts, holding->charge)) {
    case FITS_YES: return ST_OK;
    case FITS_HELD:
        return error_set(error, ST_BUDGET_HELD,
                         "running and queued jobs hold the budget this job needs");
    case FITS_NO: break;
    }
    return error_set(error, ST_BUDGET_EXHAUSTED,
                     "the dataset's remaining budget does not cover this job");
}

/* Writes the entry of a holding that fits, and holds it. */
static enum status hold(struct ledger *ledger, struct store_tx *tx,
                        struct account *account, const struct ledger_claim *claim,
                        const struct holding *holding, struct error *error)
{
    uint8_t bytes[ENTRY_COST_SIZE];
    const struct balances *balances = ledger_state_view(account);
    enum parts named = balances_named(balances, holding->parts);
    const bool has_delta = holding->charge->delta > 0;
    size_t size = entry_cost_encode(bytes, holding->charge, has_delta);
    char *meta = entry_reserve_render(claim->mechanism, named, claim->engine);
    struct ledger_row row = {.dataset = account->dataset.text,
                             .epoch = balances->epoch,
                             .job = claim->job->text,
                             .kind = "RESERVE",
                             .curve = bytes,
                             .curve_size = size,
                             .meta = meta,
                             .actor = claim->principal->name};
    enum status status = ledger_change_append(ledger, tx, &row, error);
    free(meta);
    if (status != ST_OK)
        return status;
    mechanism_copy(holding->mechanism_take, claim->mechanism);
    struct reservation *reservation =
        ledger_state_reserve_take(&ledger->state, account, holding);
    if (claim->engine != NULL)
        ledger_state_change(&ledger->state, account)->external = true;
    reservation->entry = ledger->next;
    return ST_OK;
}

static enum status reserve(struct ledger *ledger, struct store_tx *tx,
                           struct account *account, const struct ledger_claim *claim,
                           struct error *error)
{
    struct curve charge;
    struct mechanism copy = {0};
    struct holding holding = {claim->job, &copy, &charge, claim->parts,
                              claim->principal->name};
    const struct balances *balances = ledger_state_view(account);
    enum status status =
        balances_charge(&charge, balances, claim->mechanism, ledger->prices, error);
    if (status == ST_OK)
        status = balances_parts(&holding.parts, balances, claim->parts, error);
    if (status == ST_OK)
        status = check_fits(balances, &holding, error);
    return status == ST_OK ? hold(ledger, tx, account, claim, &holding, error) : status;
}

enum status ledger_reserve(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_claim *claim,
                           struct ledger_entry_name *entry, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    struct account *account = NULL;
    enum status status = ledger_catch_up(ledger, tx, error);
    if (status == ST_OK)
        status = ledger_account(ledger, tx, claim->dataset, &account, error);
    if (status == ST_OK && account == NULL)
        status = balances_missing(claim->dataset, error);
    if (status == ST_OK && ledger_state_reservation(&ledger->state, claim->job) != NULL)
        status = error_set(error, ST_ALREADY_EXISTS, "job %s has a reservation",
                           claim->job->text);
    if (status == ST_OK)
        status = reserve(ledger, tx, account, claim, error);
    if (status == ST_OK)
        *entry = ledger->next;
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

static enum status no_reservation(const struct job_id *job, struct error *error)
{
    return error_set(error, ST_NOT_FOUND, "job %s has no open reservation", job->text);
}

static enum status check_authorise(const struct reservation *reservation,
                                   const struct job_id *job, uint64_t steps,
                                   struct error *error)
{
    if (reservation == NULL || !reservation->durable || !reservation->now.open)
        return no_reservation(job, error);
    if (reservation->account->now->frozen)
        return error_set(error, ST_DATASET_FROZEN,
                         "a restored backup closed the budget's epoch");
    if (steps <= reservation->now.authorised || steps > reservation->steps)
        return error_set(
            error, ST_INVALID,
            "job %s: cannot authorise %" PRIu64 " steps after %" PRIu64 " of %" PRIu64,
            job->text, steps, reservation->now.authorised, reservation->steps);
    if (!reservation->held->mechanism.prefixes_priced && steps != reservation->steps)
        return error_set(error, ST_INVALID,
                         "job %s: its mechanism is authorised whole or not at all",
                         job->text);
    return ST_OK;
}

enum status ledger_authorise_in(struct ledger *ledger, struct store_tx *tx,
                                const struct job_id *job, uint64_t steps,
                                struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    struct reservation *reservation = ledger_state_reservation(&ledger->state, job);
    if (reservation != NULL)
        ledger_change_await(ledger, reservation);
    enum status status = check_authorise(reservation, job, steps, error);
    if (status == ST_OK)
        status = ledger_change_raise(ledger, tx, reservation, steps, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

/* Returns the reservation of the job, once no open transaction has changed it or has a
 * claim on it. It is looked up each time, because one that was never durable is
 * destroyed with its transaction. */
static struct reservation *quiet_reservation(struct ledger *ledger,
                                             const struct job_id *job)
{
    for (;;) {
        struct reservation *reservation = ledger_state_reservation(&ledger->state, job);
        if (reservation == NULL || (!reservation->changed && reservation->raising == 0))
            return reservation;
        pthread_cond_wait(&ledger->ended, &ledger->lock);
    }
}

void ledger_set_inspector(struct ledger *ledger,
                          const struct ledger_inspector *inspector)
{
    pthread_mutex_lock(&ledger->lock);
    ledger->state.inspector = *inspector;
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_set_guard(struct ledger *ledger, const struct ledger_guard *guard)
{
    ledger->guard = *guard;
}

/* Raises the mark in a transaction that does nothing else. */
static enum status raise_alone(struct ledger *ledger, struct store_tx *tx,
                               const struct job_id *job, uint64_t steps,
                               struct error *error)
{
    const struct ledger_guard *guard = &ledger->guard;
    enum status status =
        guard->may != NULL ? guard->may(guard->context, tx, job, error) : ST_OK;
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&ledger->lock);
    struct reservation *reservation = quiet_reservation(ledger, job);
    status = check_authorise(reservation, job, steps, error);
    if (status == ST_OK)
        ledger_change_claim(ledger, tx, reservation, steps);
    pthread_mutex_unlock(&ledger->lock);
    return status == ST_OK ? mark_row_raise(tx, job->text, steps, error) : status;
}

enum status ledger_authorise(struct ledger *ledger, const struct job_id *job,
                             uint64_t steps, struct error *error)
{
    struct store_tx *tx;
    enum status status = store_begin(ledger->store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    status = store_end(tx, raise_alone(ledger, tx, job, steps, error), error);
    if (status == ST_OK && store_poisoned(ledger->store))
        return error_set(error, ST_IO, "the head could not be written elsewhere");
    return status;
}

/* A settled job is never charged more than was held for it, even if another version of
 * this program priced that. It is charged all that was held if this version has no
 * price for the mechanism. */
static void settled_charge(struct curve *charge, const struct held *held,
                           uint64_t steps)
{
    *charge = (struct curve){0};
    if (steps == 0)
        return;
    if (filter_charge(charge, &held->mechanism, steps, NULL) != ST_OK)
        *charge = held->charge;
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        charge->at[i] = fmin(charge->at[i], held->charge.at[i]);
    charge->delta = fmin(charge->delta, held->charge.delta);
}

static const struct reservation_state *
reservation_view(const struct reservation *reservation)
{
    return reservation->changed ? &reservation->next : &reservation->now;
}

static enum status settle(struct ledger *ledger, struct store_tx *tx,
                          struct reservation *reservation, const uint8_t *model_sha256,
                          struct error *error)
{
    struct curve charge, released;
    uint8_t bytes[ENTRY_COST_SIZE], released_bytes[ENTRY_COST_SIZE];
    const bool has_delta = reservation->held->charge.delta > 0;
    struct entry_commit commit = {
        .reserve_seq = reservation->entry.seq,
        .steps = reservation_view(reservation)->authorised,
        .parts =
            balances_named(ledger_state_view(reservation->account), reservation->parts),
        .has_model = model_sha256 != NULL};
    if (model_sha256 != NULL)
        memcpy(commit.model_sha256, model_sha256, SHA256_SIZE);
    settled_charge(&charge, reservation->held, commit.steps);
    entry_released(&released, &reservation->held->charge, &charge);
    size_t size = entry_cost_encode(bytes, &charge, has_delta);
    entry_cost_encode(released_bytes, &released, has_delta);
    char *meta = entry_commit_render(&commit);
    struct ledger_row row = {.dataset = reservation->account->dataset.text,
                             .epoch = ledger_state_view(reservation->account)->epoch,
                             .job = reservation->job.text,
                             .kind = "COMMIT",
                             .curve = bytes,
                             .curve_size = size,
                             .released = released_bytes,
                             .meta = meta,
                             .actor = reservation->held->actor};
    enum status status = ledger_change_append(ledger, tx, &row, error);
    free(meta);
    if (status == ST_OK)
        ledger_state_settle(&ledger->state, reservation, &charge);
    return status;
}

enum status ledger_settle(struct ledger *ledger, struct store_tx *tx,
                          const struct job_id *job, const uint8_t *model_sha256,
                          struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    enum status status = ledger_catch_up(ledger, tx, error);
    struct reservation *reservation = ledger_state_reservation(&ledger->state, job);
    if (status == ST_OK &&
        (reservation == NULL || !reservation_view(reservation)->open))
        status = no_reservation(job, error);
    if (status == ST_OK) {
        ledger_change_await(ledger, reservation);
        status = ledger_catch_up_mark(ledger, tx, reservation, error);
    }
    if (status == ST_OK)
        status = settle(ledger, tx, reservation, model_sha256, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}
