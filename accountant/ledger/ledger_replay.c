/* Replaying is a walk over three tables. Marks are read first and kept by job, and
 * those of reservations that are known already are taken. Then each entry is checked
 * (number, chain, hash, form, and the conditions of its kind) and changes the state as
 * it did when it was written; a RESERVE takes the mark of its job. Freezes come last. A
 * mark that no reservation took, or a freeze of an unknown epoch, is a fault. Nothing
 * is priced here: that is what verify does. */
#include "accountant/ledger/ledger_replay.h"

#include <inttypes.h>
#include <string.h>

#include "accountant/ledger/account_replay.h"
#include "accountant/ledger/timeline.h"
#include "store/rows/sealed_rows.h"

static bool read_mark(void *context, const char *job, uint64_t authorised)
{
    struct replay *replay = context;
    replay_marks_add(&replay->marks, job, authorised);
    return true;
}

/* Takes the marks of reservations that are known. */
static bool take_marks(struct replay *replay)
{
    bool good = true;
    for (size_t i = 0; good && i < replay->marks.count; i++) {
        struct mark *mark = &replay->marks.items[i];
        struct job_id job;
        struct reservation *reservation =
            charged_id_parse(&job, mark->job)
                ? ledger_state_reservation(replay->state, &job)
                : NULL;
        if (reservation != NULL)
            good = account_replay_mark(replay, mark, reservation);
    }
    ledger_state_keep(replay->state);
    return good;
}

static bool read_row(void *context, const struct ledger_row *row)
{
    struct replay *replay = context;
    struct ledger_entry_name *head = &replay->head->entry;
    uint8_t hash[SHA256_SIZE];
    if (row->seq != head->seq + 1)
        return account_replay_fault(replay, head->seq + 1, "is missing");
    entry_hash(hash, row);
    if (memcmp(row->prev, head->hash, SHA256_SIZE) != 0)
        return account_replay_fault(replay, row->seq, "does not continue the chain");
    if (memcmp(row->hash, hash, SHA256_SIZE) != 0)
        return account_replay_fault(replay, row->seq, "does not have its hash");
    if (!account_replay_entry(replay, row))
        return false;
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    if (replay->state->links != NULL)
        chain_links_add(replay->state->links, &(struct chain_link){.entry = *head});
    return true;
}

/* Begins at the SEAL. */
static void take_seal(struct replay *replay, const struct seal *seal)
{
    replay->state->seal = *seal;
    replay->head->entry = seal->entry;
    replay->head->authorised = seal->authorised;
}

/* The entries that stay are among those that the SEAL counts. */
static void take_tally(struct replay *replay)
{
    struct ledger_state *state = replay->state;
    state->tally = state->next_tally = state->seal.tally;
}

static enum status read_sealed(struct replay *replay)
{
    struct sealed sealed;
    enum status status = sealed_read(&sealed, replay->tx, replay->error);
    if (status == ST_OK) {
        take_seal(replay, &sealed.seal);
        status = account_replay_before(replay, &sealed, NULL);
    }
    take_tally(replay);
    sealed_fini(&sealed);
    return status;
}

/* Loads the account of an entry that the seal left in the store because it was open. */
static bool read_open(void *context, const char *dataset)
{
    struct replay *replay = context;
    struct dataset_id id;
    struct account *account = NULL;
    if (!dataset_id_parse(&id, dataset))
        return account_replay_fault(replay, replay->head->entry.seq,
                                    "seals what is of no dataset");
    return account_replay_of(replay, &id, &account);
}

/* Begins at the newest SEAL, if there is one, with the accounts that are not closed. */
static enum status read_seal(struct replay *replay, struct store *store)
{
    struct seal seal;
    enum status status = sealed_read_seal(&seal, replay->tx, replay->error);
    if (status != ST_OK || seal.entry.seq == 0)
        return status;
    if (store == NULL || seal.accounts == 0 || !store_reads_sealed(store))
        return read_sealed(replay);
    take_seal(replay, &seal);
    take_tally(replay);
    replay->state->partial = true;
    status = ledger_rows_of_jobs(replay->tx, seal.entry.seq, read_open, replay,
                                 replay->error);
    return status != ST_OK ? status : replay->status;
}

static bool wrong_freeze(struct replay *replay, const struct freeze_row *row)
{
    replay->status =
        error_set(replay->error, ST_CORRUPT,
                  "table freeze, row %.64s %" PRIu64
                  ": a freeze of an unknown epoch, or one that was replaced",
                  row->dataset, row->epoch);
    return false;
}

static bool wrong_timeline(struct replay *replay, const struct timeline_row *row)
{
    replay->status = error_set(replay->error, ST_CORRUPT,
                               "table timeline, row %.64s %" PRIu64
                               ": not a timeline of an epoch that was frozen",
                               row->dataset, row->epoch);
    return false;
}

/* A timeline counts in every part: only its entries name their parts, and those are
 * lost. */
static bool read_timeline(void *context, const struct timeline_row *row)
{
    struct replay *replay = context;
    struct dataset_id dataset;
    struct account *account = NULL;
    struct timeline timeline;
    replay->state->freezes++;
    if (dataset_id_parse(&dataset, row->dataset) &&
        !account_replay_of(replay, &dataset, &account))
        return false;
    if (account == NULL)
        return wrong_timeline(replay, row);
    struct balances *balances = ledger_state_change(replay->state, account);
    const struct epoch last = balances_epoch(balances, PART_TRAIN),
                       *epoch = row->epoch == last.number
                                    ? &last
                                    : epochs_find(&balances->parts[PART_TRAIN].closed,
                                                  row->epoch);
    bool good = timeline_read(&timeline, epoch, row) && epoch->frozen;
    for (unsigned p = 0; p < balances->part_count && good; p++)
        epochs_add_timeline(&balances->parts[p].closed, &timeline);
    ledger_state_keep(replay->state);
    return good || wrong_timeline(replay, row);
}

static bool read_freeze(void *context, const struct freeze_row *row)
{
    struct replay *replay = context;
    struct dataset_id dataset;
    struct account *account = NULL;
    replay->state->freezes++;
    if (dataset_id_parse(&dataset, row->dataset) &&
        !account_replay_of(replay, &dataset, &account))
        return false;
    if (account == NULL)
        return wrong_freeze(replay, row);
    struct balances *balances = ledger_state_change(replay->state, account);
    bool is_known = row->epoch == balances->epoch;
    balances->frozen = balances->frozen || is_known;
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct epoch *closed = epochs_find(&balances->parts[p].closed, row->epoch);
        if (closed != NULL)
            closed->frozen = is_known = true;
    }
    ledger_state_keep(replay->state);
    return is_known || wrong_freeze(replay, row);
}

/* Checks that every mark that was read has a reservation. */
static enum status check_marks(const struct replay *replay)
{
    const struct mark *unused = replay_marks_unused(&replay->marks);
    return unused == NULL
               ? ST_OK
               : error_set(replay->error, ST_CORRUPT,
                           "table mark, row %s: authorised steps of no reservation",
                           unused->job);
}

static enum status read_entries(struct replay *replay)
{
    const struct ledger_range range = {.after = replay->head->entry.seq};
    if (!take_marks(replay))
        return replay->status;
    enum status status =
        ledger_rows_walk(replay->tx, &range, read_row, replay, replay->error);
    if (status == ST_OK)
        status = replay->status;
    return status;
}

static enum status read_freezes(struct replay *replay)
{
    replay->state->freezes = 0;
    enum status status =
        freeze_rows_walk(replay->tx, read_freeze, replay, replay->error);
    if (status == ST_OK && replay->status == ST_OK)
        status = timeline_rows_walk(replay->tx, read_timeline, replay, replay->error);
    return status != ST_OK ? status : replay->status;
}

static enum status read_all(struct replay *replay, struct store *store)
{
    enum status status = mark_rows_walk(replay->tx, read_mark, replay, replay->error);
    if (status == ST_OK)
        status = read_seal(replay, store);
    if (status == ST_OK)
        status = read_entries(replay);
    if (status == ST_OK)
        status = read_freezes(replay);
    return status == ST_OK ? check_marks(replay) : status;
}

enum status ledger_replay_read(struct ledger_state *state, struct head *head,
                               struct store *store, struct store_tx *tx,
                               struct error *error)
{
    struct replay replay = {.state = state, .tx = tx, .head = head, .error = error};
    *head = (struct head){0};
    state->replaying = true;
    replay.known = known_mechanisms_create();
    enum status status = read_all(&replay, store);
    replay_marks_fini(&replay.marks);
    known_mechanisms_destroy(replay.known);
    if (status != ST_OK)
        ledger_state_drop(state);
    ledger_state_replayed(state);
    return status;
}

/* A freeze closes an epoch by authorising all that it holds, so every mark is read. */
static enum status read_more(struct replay *replay, bool all_marks, struct store_tx *tx)
{
    struct ledger_extent extent = {0};
    enum status status = ledger_rows_extent(tx, &extent, replay->error);
    bool frozen = extent.freezes != replay->state->freezes;
    if (status != ST_OK ||
        (extent.entries == replay->head->entry.seq && !frozen && !all_marks))
        return status;
    if (all_marks || frozen)
        status = mark_rows_walk(tx, read_mark, replay, replay->error);
    else
        status = mark_rows_walk_after(tx, replay->head->entry.seq, read_mark, replay,
                                      replay->error);
    if (status == ST_OK)
        status = read_entries(replay);
    if (status == ST_OK && frozen)
        status = read_freezes(replay);
    return status == ST_OK ? check_marks(replay) : status;
}

enum status ledger_replay_more(struct ledger_state *state, struct head *head,
                               bool all_marks, struct store_tx *tx, struct error *error)
{
    struct replay replay = {.state = state, .tx = tx, .head = head, .error = error};
    enum status status = read_more(&replay, all_marks, tx);
    replay_marks_fini(&replay.marks);
    if (status != ST_OK)
        ledger_state_drop(state);
    return status;
}
