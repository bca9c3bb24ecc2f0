#include "accountant/ledger/ledger_change.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

enum { MS_PER_S = 1000 };

/* --- the head, elsewhere --- */

static bool is_older(const struct head *one, const struct head *other)
{
    return one->entry.seq < other->entry.seq || one->authorised < other->authorised;
}

/* Returns the head as it is now. Moves the entries that its file lacks to links, if
 * that is not NULL. */
static struct head head_now(struct ledger *ledger, struct chain_links *links)
{
    pthread_mutex_lock(&ledger->lock);
    struct head now = ledger->now;
    receipts_renew(&now.receipts, ledger->store);
    struct chain_links *fresh = &ledger->fresh;
    if (links != NULL && ledger->fresh_durable > 0) {
        for (size_t i = 0; i < ledger->fresh_durable; i++)
            chain_links_add(links, &fresh->items[i]);
        fresh->count -= ledger->fresh_durable;
        memmove(fresh->items, fresh->items + ledger->fresh_durable,
                fresh->count * sizeof *fresh->items);
        ledger->fresh_durable = 0;
    }
    pthread_mutex_unlock(&ledger->lock);
    return now;
}

static enum status write_head(struct ledger *ledger, struct error *error)
{
    struct chain_links links = {0};
    const char *path = ledger->head_path;
    ledger->kept = head_now(ledger, &links);
    const struct head_raise raise = {.head = &ledger->kept, .links = &links};
    enum status status = store_shared(ledger->store)
                             ? head_file_raise(path, &raise, error)
                             : head_file_append(path, &ledger->kept, &links, error);
    chain_links_fini(&links);
    return status;
}

/* Writes the head to the file elsewhere, if the file is older. A thread that comes
 * while another writes it waits, and may then find that a third wrote it for both:
 * there are fewer syncs than commits. A write that failed is not tried again. */
static void keep_head(struct ledger *ledger)
{
    struct error error = {0};
    const struct head mine = head_now(ledger, NULL);
    pthread_mutex_lock(&ledger->head_lock);
    if (ledger->head_path != NULL && !store_poisoned(ledger->store) &&
        is_older(&ledger->kept, &mine) && write_head(ledger, &error) != ST_OK) {
        log_event(LOG_ERROR, "head_file_failed", "detail", error.text, (char *)NULL);
        store_poison(ledger->store);
    }
    pthread_mutex_unlock(&ledger->head_lock);
}

/* --- a transaction that joins --- */

static void on_durable(void *context)
{
    struct ledger *ledger = context;
    pthread_mutex_lock(&ledger->lock);
    ledger_state_keep(&ledger->state);
    ledger->now.entry = ledger->next;
    ledger->now.authorised += ledger->raised;
    ledger->fresh_durable = ledger->fresh.count;
    ledger->changing = false;
    pthread_cond_broadcast(&ledger->ended);
    pthread_mutex_unlock(&ledger->lock);
    keep_head(ledger);
}

static void on_undone(void *context)
{
    struct ledger *ledger = context;
    pthread_mutex_lock(&ledger->lock);
    ledger_state_drop(&ledger->state);
    ledger->fresh.count = ledger->fresh_durable;
    ledger->changing = false;
    pthread_cond_broadcast(&ledger->ended);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_change_join(struct ledger *ledger, struct store_tx *tx)
{
    if (ledger->changing)
        return;
    store_tx_on_end(tx, on_durable, on_undone, ledger);
    ledger->changing = true;
    ledger->next = ledger->now.entry;
    ledger->raised = 0;
}

enum status ledger_change_append(struct ledger *ledger, struct store_tx *tx,
                                 struct ledger_row *row, struct error *error)
{
    ledger_change_join(ledger, tx);
    struct ledger_entry_name *head = &ledger->next;
    row->seq = head->seq + 1;
    row->time_ms = clock_wall_s() * MS_PER_S;
    memcpy(row->prev, head->hash, SHA256_SIZE);
    entry_hash(row->hash, row);
    enum status status = ledger_row_insert(tx, row, error);
    if (status != ST_OK)
        return status;
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    if (ledger->state.links != NULL)
        chain_links_add(&ledger->fresh,
                        &(struct chain_link){
                            .entry = *head, .is_seal = strcmp(row->kind, "SEAL") == 0});
    return ST_OK;
}

enum status ledger_change_grant(struct ledger *ledger, struct store_tx *tx,
                                struct account *account,
                                const struct ledger_promise *promise, bool anew,
                                struct error *error)
{
    static const struct balances none = {0};
    const struct dataset_id *dataset = promise->dataset;
    const struct grant *grant = promise->grant;
    struct filter filter;
    struct curve capacity;
    uint8_t bytes[ENTRY_COST_SIZE];
    if (grant->epsilon > LEDGER_EPSILON_MAX)
        return error_set_at(
            error, ST_INVALID, "/privacy/epsilon",
            "epsilon must be at most %g: beyond it the noise sampler is "
            "not proved near enough to its law",
            LEDGER_EPSILON_MAX);
    enum status status = filter_of(&filter, grant, error);
    if (status != ST_OK)
        return status;
    entry_capacity(&capacity, &filter);
    size_t size = entry_cost_encode(bytes, &capacity, grant->discovery_delta != 0);
    const struct balances *before =
        account != NULL ? ledger_state_view(account) : &none;
    char *meta = entry_grant_render(grant, &filter, promise->approval,
                                    anew ? before->grant_seq : 0);
    struct ledger_row row = {.dataset = dataset->text,
                             .epoch = before->epoch + 1,
                             .job = "",
                             .kind = "GRANT",
                             .curve = bytes,
                             .curve_size = size,
                             .meta = meta,
                             .actor = promise->principal->name};
    status = ledger_change_append(ledger, tx, &row, error);
    free(meta);
    if (status == ST_OK)
        ledger_state_grant(&ledger->state, &(struct granting){dataset, account, grant,
                                                              &filter, row.seq, anew});
    return status;
}

enum status ledger_change_raise(struct ledger *ledger, struct store_tx *tx,
                                struct reservation *reservation, uint64_t steps,
                                struct error *error)
{
    CHECK(reservation->raising == 0);
    enum status status = mark_row_raise(tx, reservation->job.text, steps, error);
    if (status != ST_OK)
        return status;
    ledger_change_join(ledger, tx);
    struct reservation_state *state =
        ledger_state_change_reservation(&ledger->state, reservation);
    ledger->raised += steps - state->authorised;
    state->authorised = steps;
    return ST_OK;
}

/* --- a transaction of one mark --- */

struct claim {
    struct ledger *ledger;
    struct reservation *reservation;
};

static void on_claim_durable(void *context)
{
    struct claim *claim = context;
    struct ledger *ledger = claim->ledger;
    struct reservation *reservation = claim->reservation;
    pthread_mutex_lock(&ledger->lock);
    ledger->now.authorised += reservation->raising - reservation->now.authorised;
    reservation->now.authorised = reservation->raising;
    reservation->raising = 0;
    pthread_cond_broadcast(&ledger->ended);
    pthread_mutex_unlock(&ledger->lock);
    free(claim);
    keep_head(ledger);
}

static void on_claim_undone(void *context)
{
    struct claim *claim = context;
    struct ledger *ledger = claim->ledger;
    pthread_mutex_lock(&ledger->lock);
    claim->reservation->raising = 0;
    pthread_cond_broadcast(&ledger->ended);
    pthread_mutex_unlock(&ledger->lock);
    free(claim);
}

void ledger_change_await(struct ledger *ledger, const struct reservation *reservation)
{
    while (reservation->raising != 0)
        pthread_cond_wait(&ledger->ended, &ledger->lock);
}

void ledger_change_claim(struct ledger *ledger, struct store_tx *tx,
                         struct reservation *reservation, uint64_t steps)
{
    CHECK(reservation->raising == 0 && !reservation->changed);
    struct claim *claim = malloc(sizeof *claim);
    CHECK(claim != NULL);
    *claim = (struct claim){ledger, reservation};
    reservation->raising = steps;
    store_tx_on_end(tx, on_claim_durable, on_claim_undone, claim);
}
