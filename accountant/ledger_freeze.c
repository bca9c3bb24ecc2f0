/* A chain of hashes cannot tell that its end is missing. So the head is written to a
 * file elsewhere after every entry and every authorisation, and compared when the
 * ledger is opened. A store that lacks the entry which the file names, or has
 * authorised fewer steps than it says, is older than what was promised, and every
 * dataset in it is frozen. */
#include "accountant/ledger_freeze.h"

#include <inttypes.h>
#include <string.h>

#include "accountant/ledger_accounts.h"
#include "accountant/ledger_catch_up.h"
#include "base/check.h"
#include "base/clock.h"
#include "store/ledger_rows.h"

static enum status regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_promise *promise, struct error *error)
{
    const struct dataset_id *dataset = promise->dataset;
    struct account *account = NULL;
    enum status status = ledger_account(ledger, tx, dataset, &account, error);
    if (status != ST_OK)
        return status;
    if (account == NULL)
        return ledger_state_missing(dataset, error);
    const struct balances *balances = ledger_state_view(account);
    if (!balances->frozen)
        return error_set(error, ST_INVALID, "dataset %s is not frozen", dataset->text);
    if (balances->grant.relation != promise->grant->relation)
        return error_set(error, ST_INVALID, "dataset %s has relation %s", dataset->text,
                         relation_name(balances->grant.relation));
    if (!division_same(&balances->grant.division, &promise->grant->division))
        return error_set(error, ST_INVALID, "dataset %s is divided for good",
                         dataset->text);
    if (balances->grant.unit != promise->grant->unit)
        return error_set(error, ST_INVALID, "the privacy unit of dataset %s is the %s",
                         dataset->text, unit_name(balances->grant.unit));
    if (balances->open_count > 0)
        return error_set(error, ST_DATASET_IN_USE, "dataset %s has open reservations",
                         dataset->text);
    return ledger_change_grant(ledger, tx, account, promise, false, error);
}

enum status ledger_regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_promise *promise, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    enum status status = ledger_catch_up(ledger, tx, error);
    if (status == ST_OK)
        status = regrant(ledger, tx, promise, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

struct search {
    const struct ledger_entry_name *wanted;
    bool found; /* its number is there */
    bool same;  /* with its hash */
};

static bool compare_entry(void *context, const struct ledger_row *row)
{
    struct search *search = context;
    search->found = row->seq == search->wanted->seq;
    search->same =
        search->found && memcmp(row->hash, search->wanted->hash, SHA256_SIZE) == 0;
    return false;
}

/* The SEAL says what the hash before it was, which is the head of whoever seals; whether an
 * older entry is the one cannot be told from here. */
static enum status look_behind(struct search *search, const struct seal *seal,
                               struct error *error)
{
    const struct ledger_entry_name *wanted = search->wanted;
    if (search->found || wanted->seq >= seal->entry.seq)
        return ST_OK;
    search->found = wanted->seq == seal->last;
    search->same = search->found && memcmp(seal->prev, wanted->hash, SHA256_SIZE) == 0;
    if (search->found)
        return ST_OK;
    return error_set(
        error, ST_INVALID,
        "the head kept elsewhere, entry %" PRIu64 ", is of a part that was "
        "archived since (up to %" PRIu64 "): epsilond verify --from-genesis "
        "--archive FOLDER compares it; where it is well, put the file away",
        wanted->seq, seal->last);
}

struct comparison { /* of a head kept elsewhere with the store */
    struct head kept;
    bool holds;            /* the store is at least as new */
    struct receipts ended; /* as receipts_hold */
};

static enum status compare(struct ledger *ledger, struct store_tx *tx,
                           struct comparison *comparison, struct error *error)
{
    const struct head *kept = &comparison->kept;
    const bool none = kept->entry.seq == 0;
    struct search search = {&kept->entry, none, none};
    enum status status = ST_OK;
    if (kept->entry.seq > 0)
        status =
            ledger_rows_walk(tx, &(struct ledger_range){.after = kept->entry.seq - 1},
                             compare_entry, &search, error);
    if (status == ST_OK)
        status = look_behind(&search, &ledger->state.seal, error);
    bool held = true;
    if (status == ST_OK)
        status = receipts_hold(&kept->receipts, tx, &held, &comparison->ended, error);
    comparison->holds =
        search.same && held && ledger->now.authorised >= kept->authorised;
    return status;
}

enum status ledger_holds(struct ledger *ledger, struct store_tx *tx,
                         const struct head *kept, bool *holds, struct error *error)
{
    struct comparison comparison = {.kept = *kept};
    pthread_mutex_lock(&ledger->lock);
    enum status status = compare(ledger, tx, &comparison, error);
    pthread_mutex_unlock(&ledger->lock);
    *holds = comparison.holds;
    return status;
}

/* What the lost entries and marks said is unknown. Every open reservation may have run
 * whole, and what was reserved since is in no balance. */
static enum status freeze(struct ledger *ledger, struct store_tx *tx,
                          struct account *account, const struct ledger_entry_name *kept,
                          struct error *error)
{
    const struct balances *balances = account->now;
    struct freeze_row row = {.dataset = account->dataset.text,
                             .epoch = balances->epoch,
                             .seq = kept->seq,
                             .time_ms = clock_wall_ms()};
    memcpy(row.hash, kept->hash, SHA256_SIZE);
    enum status status = freeze_row_insert(tx, &row, error);
    for (size_t i = 0; status == ST_OK && i < balances->open_count; i++) {
        struct reservation *reservation = balances->open[i];
        if (reservation->now.authorised < reservation->steps)
            status =
                ledger_change_raise(ledger, tx, reservation, reservation->steps, error);
    }
    if (status != ST_OK)
        return status;
    ledger_change_join(ledger, tx);
    ledger_state_change(&ledger->state, account)->frozen = true;
    return ST_OK;
}

static enum status freeze_all(struct ledger *ledger, struct store_tx *tx,
                              const struct ledger_entry_name *kept, struct error *error)
{
    enum status status = ledger_accounts_all(ledger, tx, error);
    for (size_t i = 0; status == ST_OK && i < ledger->state.accounts.count; i++) {
        struct account *account = ledger->state.accounts.items[i];
        if (!account->now->frozen)
            status = freeze(ledger, tx, account, kept, error);
    }
    return status;
}

static enum status check_head(struct ledger *ledger, struct store_tx *tx,
                              struct comparison *comparison, struct error *error)
{
    const struct ledger_entry_name *kept = &comparison->kept.entry;
    if (kept->seq > 0 && ledger->now.entry.seq == 0)
        return error_set(error, ST_CORRUPT,
                         "the store is empty, the head kept elsewhere is not");
    enum status status = compare(ledger, tx, comparison, error);
    if (status == ST_OK && !comparison->holds)
        status = freeze_all(ledger, tx, kept, error);
    return status;
}

/* Compares what is kept at path with the store, and freezes if that is older. */
static enum status compare_head(struct ledger *ledger, const char *path,
                                struct comparison *comparison, struct error *error)
{
    struct store_tx *tx;
    bool found = false;
    *comparison = (struct comparison){.holds = true};
    enum status status = head_file_read(path, &comparison->kept, &found, error);
    if (status != ST_OK || !found)
        return status;
    status = store_begin(ledger->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&ledger->lock);
    status = ledger_catch_up_all(ledger, tx, error);
    if (status == ST_OK)
        status = check_head(ledger, tx, comparison, error);
    pthread_mutex_unlock(&ledger->lock);
    if (status == ST_OK)
        return store_commit(tx, error);
    store_rollback(tx);
    return status;
}

/* From now on the head that is kept has this daemon's receipts, where it has any. */
static enum status take_receipts(struct ledger *ledger, struct error *error)
{
    struct store_tx *tx;
    enum status status;
    do {
        status = store_begin(ledger->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        pthread_mutex_lock(&ledger->lock);
        status = receipts_own(&ledger->now.receipts, ledger->store, tx, error);
        pthread_mutex_unlock(&ledger->lock);
    } while (store_again(tx, &status, error));
    return status;
}

enum status ledger_head_file(struct ledger *ledger, const char *path, bool *frozen,
                             struct error *error)
{
    struct comparison comparison;
    CHECK(ledger->head_path == NULL);
    enum status status = compare_head(ledger, path, &comparison, error);
    *frozen = !comparison.holds;
    if (status == ST_OK)
        status = take_receipts(ledger, error);
    if (status == ST_OK)
        status = *frozen || !store_shared(ledger->store)
                     ? head_file_write(path, &ledger->now, error)
                     : head_file_raise(path, &ledger->now, &comparison.ended, error);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&ledger->head_lock);
    ledger->kept = ledger->now;
    ledger->head_path = strdup(path);
    CHECK(ledger->head_path != NULL);
    pthread_mutex_unlock(&ledger->head_lock);
    return ST_OK;
}
