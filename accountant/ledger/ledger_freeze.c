/* A chain of hashes cannot show that its end is missing. So the head is written to a
 * file elsewhere after every entry and every authorisation, and compared when the
 * ledger is opened. If a store lacks the entry which the file names, or has authorised
 * fewer steps than it says, it is older than what was promised or another history, and
 * every dataset in it is frozen. */
#include "accountant/ledger/ledger_freeze.h"

#include <inttypes.h>
#include <string.h>

#include "accountant/ledger/ledger_accounts.h"
#include "accountant/ledger/ledger_catch_up.h"
#include "accountant/ledger/ledger_fork.h"
#include "base/check.h"
#include "base/clock.h"
#include "store/rows/ledger_rows.h"

static enum status regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_promise *promise, struct error *error)
{
    const struct dataset_id *dataset = promise->dataset;
    struct account *account = NULL;
    enum status status = ledger_account(ledger, tx, dataset, &account, error);
    if (status != ST_OK)
        return status;
    if (account == NULL)
        return balances_missing(dataset, error);
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
                         dataset->text, privacy_unit_name(balances->grant.unit));
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
    bool found; /* there is an entry of its number */
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

/* The SEAL holds the hash of the entry before it, which was the head when it was
 * sealed; an older entry cannot be compared here. */
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
    struct head_kept kept;
    struct ledger_fork fork;
    bool freezes;
    struct receipts ended;    /* as receipts_hold */
    struct chain_links links; /* the store's, to be kept */
};

static enum status compare(struct ledger *ledger, struct store_tx *tx,
                           const struct head_kept *kept, struct comparison *comparison,
                           struct error *error)
{
    const struct head *head = &kept->head;
    const bool none = head->entry.seq == 0;
    struct search search = {&head->entry, none, none};
    enum status status = ST_OK;
    if (!none)
        status =
            ledger_rows_walk(tx, &(struct ledger_range){.after = head->entry.seq - 1},
                             compare_entry, &search, error);
    if (status == ST_OK)
        status = look_behind(&search, &ledger->state.seal, error);
    bool held = true;
    if (status == ST_OK)
        status = receipts_hold(&head->receipts, tx, &held, &comparison->ended, error);
    comparison->fork =
        (struct ledger_fork){.history = HISTORY_SAME, .shared = head->entry.seq};
    if (status != ST_OK ||
        (search.same && held && ledger->now.authorised >= head->authorised))
        return status;
    return ledger_fork_find(&comparison->fork, ledger, tx, kept, search.same, error);
}

enum status ledger_kept_compare(struct ledger *ledger, struct store_tx *tx,
                                const struct head_kept *kept,
                                enum ledger_history *history, struct error *error)
{
    struct comparison comparison = {.freezes = false};
    pthread_mutex_lock(&ledger->lock);
    enum status status = compare(ledger, tx, kept, &comparison, error);
    pthread_mutex_unlock(&ledger->lock);
    *history = comparison.fork.history;
    return status;
}

/* The contents of the lost entries and marks are unknown. Every open reservation may
 * have run whole, and what was reserved since is in no balance. */
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

/* All accounts are in memory: check_head has read them. */
static enum status freeze_all(struct ledger *ledger, struct store_tx *tx,
                              const struct ledger_entry_name *kept, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < ledger->state.accounts.count; i++) {
        struct account *account = ledger->state.accounts.items[i];
        if (!account->now->frozen)
            status = freeze(ledger, tx, account, kept, error);
    }
    return status;
}

/* --- other timelines --- */

/* From now on the head file names the timeline, too. */
static enum status name_timeline(struct ledger *ledger,
                                 const struct head_timeline *timeline,
                                 struct error *error)
{
    if (head_timelines_add(&ledger->now.timelines, timeline))
        return ST_OK;
    return error_set(
        error, ST_INVALID,
        "%d other timelines of the ledger are known, and this is one more: "
        "register the datasets elsewhere",
        HEAD_TIMELINES_MAX);
}

/* Notes a timeline that no account knows of. A lost end of this store, unless the store
 * went on, is in its epochs, which count whole. */
static enum status note(struct ledger *ledger, struct store_tx *tx,
                        struct comparison *comparison,
                        const struct head_timeline *timeline, struct error *error)
{
    if (ledger->state.accounts.count == 0)
        return ST_OK;
    enum status status = name_timeline(ledger, timeline, error);
    if (status != ST_OK || ledger_fork_known(ledger, &timeline->name))
        return status;
    comparison->freezes = true;
    return timeline->seen ? ledger_fork_note(ledger, tx, timeline, error)
                          : ledger_fork_note_cut(ledger, tx, timeline, error);
}

/* A backup does not know the timelines that were noticed after it was taken. The file
 * does. */
static enum status note_kept(struct ledger *ledger, struct store_tx *tx,
                             struct comparison *comparison, struct error *error)
{
    enum status status = ST_OK;
    const struct head_timelines *kept = &comparison->kept.head.timelines;
    for (size_t i = 0; i < kept->count && status == ST_OK; i++) {
        struct head_timeline timeline = kept->all[i];
        bool went_on = ledger->now.entry.seq > timeline.shared;
        if (!ledger_fork_known(ledger, &timeline.name))
            timeline.seen = timeline.seen || went_on;
        if (timeline.shared > comparison->fork.shared)
            timeline.shared = comparison->fork.shared;
        status = note(ledger, tx, comparison, &timeline, error);
    }
    return status;
}

static enum status note_fork(struct ledger *ledger, struct store_tx *tx,
                             struct comparison *comparison, struct error *error)
{
    const struct ledger_fork *fork = &comparison->fork;
    const struct head_timeline timeline = {fork->name, fork->shared,
                                           fork->history == HISTORY_OTHER};
    if (fork->history == HISTORY_SAME)
        return ST_OK;
    comparison->freezes = comparison->freezes || fork->history == HISTORY_CUT;
    return note(ledger, tx, comparison, &timeline, error);
}

static enum status check_head(struct ledger *ledger, struct store_tx *tx,
                              struct comparison *comparison, struct error *error)
{
    const struct head_kept *kept = &comparison->kept;
    if (kept->head.entry.seq > 0 && ledger->now.entry.seq == 0)
        return error_set(error, ST_CORRUPT,
                         "the store is empty, the head kept elsewhere is not");
    enum status status = compare(ledger, tx, kept, comparison, error);
    if (status == ST_OK &&
        (comparison->fork.history != HISTORY_SAME || kept->head.timelines.count > 0))
        status = ledger_accounts_all(ledger, tx, error);
    if (status == ST_OK)
        status = note_kept(ledger, tx, comparison, error);
    if (status == ST_OK)
        status = note_fork(ledger, tx, comparison, error);
    if (status == ST_OK && comparison->freezes)
        status = freeze_all(ledger, tx, &kept->head.entry, error);
    return status;
}

/* --- links for the file --- */

static bool take_link(void *context, const struct ledger_row *row)
{
    struct chain_link link = {.entry.seq = row->seq,
                              .is_seal = strcmp(row->kind, "SEAL") == 0};
    memcpy(link.entry.hash, row->hash, SHA256_SIZE);
    chain_links_add(context, &link);
    return true;
}

/* Collects the SEALs of before, and all entries since the newest one. What the file
 * knows of this history is not read again. */
static enum status gather_links(const struct ledger *ledger, struct store_tx *tx,
                                struct comparison *comparison, struct error *error)
{
    const struct chain_links *kept = &comparison->kept.links;
    const struct ledger_fork *fork = &comparison->fork;
    const uint64_t seal = ledger->state.seal.entry.seq, first = seal > 0 ? seal : 1;
    uint64_t since = 0;
    for (size_t i = 0; i < kept->count; i++)
        since += kept->items[i].entry.seq >= first;
    bool is_whole = fork->history == HISTORY_SAME && fork->shared >= first &&
                    since == fork->shared - first + 1;
    for (size_t i = 0; i < kept->count; i++) {
        uint64_t seq = kept->items[i].entry.seq;
        if (seq >= first ? is_whole : kept->items[i].is_seal && seq <= fork->shared)
            chain_links_add(&comparison->links, &kept->items[i]);
    }
    return ledger_rows_walk(
        tx, &(struct ledger_range){.after = is_whole ? fork->shared : first - 1},
        take_link, &comparison->links, error);
}

/* Compares the head file at path with the store, and freezes if it is not the store's
 * history. */
static enum status compare_head(struct ledger *ledger, const char *path,
                                struct comparison *comparison, struct error *error)
{
    struct store_tx *tx;
    *comparison = (struct comparison){.fork.history = HISTORY_SAME};
    enum status status = head_file_read_kept(&comparison->kept, path, error);
    if (status == ST_OK)
        status = store_begin(ledger->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&ledger->lock);
    status = ledger_catch_up_all(ledger, tx, error);
    if (status == ST_OK && comparison->kept.found)
        status = check_head(ledger, tx, comparison, error);
    if (status == ST_OK)
        status = gather_links(ledger, tx, comparison, error);
    ledger->state.links = &ledger->fresh;
    pthread_mutex_unlock(&ledger->lock);
    if (status == ST_OK)
        return store_commit(tx, error);
    store_rollback(tx);
    return status;
}

/* From now on the kept head has this daemon's receipts, if it has any. */
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

/* Removes what the file holds of another history. */
static enum status write_kept(const struct ledger *ledger, const char *path,
                              const struct comparison *comparison, struct error *error)
{
    const struct head_raise raise = {.head = &ledger->now,
                                     .links = &comparison->links,
                                     .links_are_all = true,
                                     .ended = &comparison->ended};
    if (comparison->fork.history == HISTORY_SAME && store_shared(ledger->store))
        return head_file_raise(path, &raise, error);
    return head_file_replace(path, &ledger->now, &comparison->links, error);
}

enum status ledger_head_file(struct ledger *ledger, const char *path, bool *frozen,
                             struct error *error)
{
    struct comparison comparison;
    CHECK(ledger->head_path == NULL);
    enum status status = compare_head(ledger, path, &comparison, error);
    *frozen = comparison.freezes;
    if (status == ST_OK)
        status = take_receipts(ledger, error);
    if (status == ST_OK)
        status = write_kept(ledger, path, &comparison, error);
    chain_links_fini(&comparison.links);
    head_kept_fini(&comparison.kept);
    if (status != ST_OK)
        return status;
    pthread_mutex_lock(&ledger->head_lock);
    ledger->kept = ledger->now;
    ledger->head_path = strdup(path);
    CHECK(ledger->head_path != NULL);
    pthread_mutex_unlock(&ledger->head_lock);
    return ST_OK;
}
