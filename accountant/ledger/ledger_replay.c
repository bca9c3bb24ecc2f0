/* Replaying is a walk over three tables. Marks are read first and kept by job, and
 * those of reservations that are known already are taken. Then each entry is checked
 * (number, chain, hash, form, and the conditions of its kind) and changes the state as
 * it did when it was written; a RESERVE takes the mark of its job. Freezes come last. A
 * mark that no reservation took, or a freeze of an unknown epoch, is a fault. Nothing
 * is priced here: that is what verify does. */
#include "accountant/ledger/ledger_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/timeline.h"
#include "base/check.h"
#include "store/rows/sealed_rows.h"

struct mark {
    char job[sizeof(struct job_id)];
    uint64_t authorised;
    bool used;
};

struct reading {
    struct ledger_state *state;
    struct store_tx *tx;
    struct head *head;
    struct mark *marks; /* sorted by job */
    size_t mark_count, mark_capacity;
    size_t next_mark; /* after the one that was taken last */
    struct known_mechanisms *known;
    const struct sealed *sealed; /* while entries before the newest SEAL are read */
    enum status status;
    struct error *error;
};

/* Returns false, so that a check can end with it. */
static bool wrong(struct reading *reading, uint64_t seq, const char *what)
{
    reading->status = error_set(reading->error, ST_CORRUPT,
                                "ledger entry %" PRIu64 ": %s", seq, what);
    return false;
}

static bool read_mark(void *context, const char *job, uint64_t authorised)
{
    struct reading *reading = context;
    if (reading->mark_count == reading->mark_capacity) {
        reading->mark_capacity =
            reading->mark_capacity == 0 ? 64 : 2 * reading->mark_capacity;
        reading->marks = reallocarray(reading->marks, reading->mark_capacity,
                                      sizeof *reading->marks);
        CHECK(reading->marks != NULL);
    }
    struct mark *mark = &reading->marks[reading->mark_count++];
    *mark = (struct mark){.authorised = authorised};
    snprintf(mark->job, sizeof mark->job, "%s", job);
    return true;
}

static int compare_mark(const void *job, const void *mark)
{
    return strcmp(job, ((const struct mark *)mark)->job);
}

/* Jobs reserve nearly in the order of their names. */
static struct mark *mark_of(struct reading *reading, const struct job_id *job)
{
    struct mark *mark = NULL;
    if (reading->next_mark < reading->mark_count &&
        strcmp(reading->marks[reading->next_mark].job, job->text) == 0)
        mark = &reading->marks[reading->next_mark];
    else if (reading->mark_count > 0)
        mark = bsearch(job->text, reading->marks, reading->mark_count,
                       sizeof *reading->marks, compare_mark);
    if (mark != NULL)
        reading->next_mark = (size_t)(mark - reading->marks) + 1;
    return mark;
}

/* *account = the dataset's, read from the store if only that has it; NULL: there is
 * none. */
static bool account_of(struct reading *reading, const struct dataset_id *dataset,
                       struct account **account)
{
    reading->status = ledger_replay_account(reading->state, dataset, reading->tx,
                                            account, reading->error);
    return reading->status == ST_OK;
}

/* Returns whether the GRANT of row may take the place of the one that it names. */
static bool may_replace(const struct account *account, const struct ledger_row *row)
{
    return account != NULL && entry_replaces(row) == account->now->grant_seq &&
           balances_unused(account->now, NULL) == ST_OK;
}

static bool read_grant(struct reading *reading, const struct ledger_row *row,
                       const struct dataset_id *dataset)
{
    struct grant grant;
    struct filter filter;
    struct account *account = NULL;
    if (!account_of(reading, dataset, &account))
        return false;
    uint64_t epoch = account != NULL ? account->now->epoch : 0;
    bool replaces = entry_replaces(row) != 0;
    if (!entry_grant_parse(&grant, &filter, NULL, row))
        return wrong(reading, row->seq, "is not the form of a GRANT");
    if (row->epoch != epoch + 1 || (account != NULL && account->now->open_count > 0))
        return wrong(reading, row->seq, "grants an epoch out of turn");
    if (replaces && !may_replace(account, row))
        return wrong(reading, row->seq, "replaces a grant that stays");
    if (!replaces && account != NULL &&
        !division_same(&grant.division, &account->now->grant.division))
        return wrong(reading, row->seq, "divides the dataset anew");
    ledger_state_grant(reading->state, &(struct granting){dataset, account, &grant,
                                                          &filter, row->seq, replaces});
    return true;
}

/* A job that is still open may have a mark higher than anything that was settled of
 * it. */
static bool take_mark(struct reading *reading, struct mark *mark,
                      struct reservation *reservation)
{
    struct reservation_state *next =
        ledger_state_change_reservation(reading->state, reservation);
    mark->used = true;
    if (mark->authorised <= next->authorised)
        return true;
    if (!next->open || mark->authorised > reservation->steps ||
        (!reservation->held->mechanism.prefixes_priced &&
         mark->authorised != reservation->steps))
        return wrong(reading, reservation->entry.seq,
                     "authorised steps that were not reserved");
    reading->head->authorised += mark->authorised - next->authorised;
    next->authorised = mark->authorised;
    return true;
}

/* Takes the marks of reservations that are known. */
static bool take_marks(struct reading *reading)
{
    bool good = true;
    for (size_t i = 0; good && i < reading->mark_count; i++) {
        struct mark *mark = &reading->marks[i];
        struct job_id job;
        struct reservation *reservation =
            charged_id_parse(&job, mark->job)
                ? ledger_state_reservation(reading->state, &job)
                : NULL;
        if (reservation != NULL)
            good = take_mark(reading, mark, reservation);
    }
    ledger_state_keep(reading->state);
    return good;
}

static bool read_reserve(struct reading *reading, const struct ledger_row *row,
                         struct account *account, const struct job_id *job)
{
    struct mechanism m;
    struct curve charge;
    struct principal principal;
    struct holding holding = {job, &m, &charge, PARTS_UNNAMED, row->actor};
    enum parts named;
    char engine[ENTRY_ENGINE_SIZE];
    if (ledger_state_reservation(reading->state, job) != NULL)
        return wrong(reading, row->seq, "the job has a reservation already");
    if (!principal_parse(&principal, row->actor))
        return wrong(reading, row->seq, "the actor is no principal");
    if (!entry_charge_decode(&charge, row->curve, row->curve_size))
        return wrong(reading, row->seq, "the curve is not one of grid g1");
    if (!entry_reserve_parse_known(&m, &named, row, reading->known))
        return wrong(reading, row->seq, "is not the form of a RESERVE");
    if (!division_resolve(&account->now->grant.division, named, &holding.parts)) {
        mechanism_fini(&m);
        return wrong(reading, row->seq, "names a part that there is not");
    }
    struct reservation *reservation =
        ledger_state_reserve_take(reading->state, account, &holding);
    entry_engine(engine, row);
    if (engine[0] != '\0')
        ledger_state_change(reading->state, account)->external = true;
    reservation->entry.seq = row->seq;
    memcpy(reservation->entry.hash, row->hash, SHA256_SIZE);
    struct mark *mark = mark_of(reading, job);
    return mark == NULL || take_mark(reading, mark, reservation);
}

static bool curve_within(const struct curve *part, const struct curve *whole)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (!(part->at[i] <= whole->at[i]))
            return false;
    }
    return true;
}

static bool read_commit(struct reading *reading, const struct ledger_row *row,
                        struct account *account, const struct job_id *job)
{
    struct entry_commit commit;
    struct curve charge, released, expected;
    struct reservation *reservation = ledger_state_reservation(reading->state, job);
    if (reservation == NULL || !reservation->now.open ||
        reservation->account != account)
        return wrong(reading, row->seq, "commits a job that holds nothing");
    if (!entry_commit_parse(&commit, row) ||
        commit.reserve_seq != reservation->entry.seq)
        return wrong(reading, row->seq, "is not the form of a COMMIT");
    if (commit.parts != balances_named(account->now, reservation->parts))
        return wrong(reading, row->seq, "commits to other parts than were reserved");
    if (commit.steps != reservation->now.authorised)
        return wrong(reading, row->seq, "commits other steps than were authorised");
    if (!entry_charge_decode(&charge, row->curve, row->curve_size) ||
        !entry_charge_decode(&released, row->released, row->curve_size) ||
        !curve_within(&charge, &reservation->held->charge))
        return wrong(reading, row->seq, "the curve is not within the reserved one");
    entry_released(&expected, &reservation->held->charge, &charge);
    if (memcmp(&released, &expected, sizeof released) != 0)
        return wrong(reading, row->seq, "releases another curve than the rest");
    ledger_state_settle(reading->state, reservation, &charge);
    return true;
}

static bool read_kind(struct reading *reading, const struct ledger_row *row)
{
    struct dataset_id dataset;
    struct job_id job;
    if (!dataset_id_parse(&dataset, row->dataset))
        return wrong(reading, row->seq, "is not of a dataset");
    if (strcmp(row->kind, "GRANT") == 0)
        return read_grant(reading, row, &dataset);
    struct account *account = NULL;
    if (!account_of(reading, &dataset, &account))
        return false;
    if (account == NULL || account->now->epoch != row->epoch)
        return wrong(reading, row->seq, "is not of the dataset's epoch");
    if (!charged_id_parse(&job, row->job))
        return wrong(reading, row->seq, "is not of a job");
    if (strcmp(row->kind, "RESERVE") == 0)
        return read_reserve(reading, row, account, &job);
    if (strcmp(row->kind, "COMMIT") == 0)
        return read_commit(reading, row, account, &job);
    return wrong(reading, row->seq, "is of no known kind");
}

/* Keeps what the entry has changed, if its dataset's balance is sound with it. */
static bool keep_sound(struct reading *reading, const struct ledger_row *row)
{
    struct dataset_id dataset;
    if (!dataset_id_parse(&dataset, row->dataset) ||
        !balances_sound(
            ledger_state_view(ledger_state_account(reading->state, &dataset))))
        return wrong(reading, row->seq, "passes the capacity at every weighted order");
    ledger_state_keep(reading->state);
    return true;
}

static bool read_row(void *context, const struct ledger_row *row)
{
    struct reading *reading = context;
    struct ledger_entry_name *head = &reading->head->entry;
    uint8_t hash[SHA256_SIZE];
    if (row->seq != head->seq + 1)
        return wrong(reading, head->seq + 1, "is missing");
    entry_hash(hash, row);
    if (memcmp(row->prev, head->hash, SHA256_SIZE) != 0)
        return wrong(reading, row->seq, "does not continue the chain");
    if (memcmp(row->hash, hash, SHA256_SIZE) != 0)
        return wrong(reading, row->seq, "does not have its hash");
    if (!read_kind(reading, row) || !keep_sound(reading, row))
        return false;
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    if (reading->state->links != NULL)
        chain_links_add(reading->state->links, &(struct chain_link){.entry = *head});
    return true;
}

/* --- entries before the newest SEAL --- */

/* Reads an entry that stays of a part that is archived: the sums contain what was
 * between it and the next. */
static bool read_kept(void *context, const struct ledger_row *row)
{
    struct reading *reading = context;
    if (!sealed_take(reading->sealed, row))
        return wrong(reading, row->seq, "is not one that the seal kept");
    return read_kind(reading, row) && keep_sound(reading, row);
}

/* Replaces what was archived by the sums. */
static bool take_sums(struct reading *reading, const struct sealed *sealed)
{
    const char *dataset = "";
    bool good = sealed_taken(sealed, &dataset);
    for (size_t i = 0; good && i < sealed->count; i++) {
        dataset = sealed->sums[i].dataset;
        good = ledger_state_sealed(reading->state, &sealed->sums[i]);
    }
    if (!good)
        reading->status = error_set(reading->error, ST_CORRUPT,
                                    "table sealed_sum, row %.64s: an entry that the "
                                    "seal kept is missing",
                                    dataset);
    return good;
}

/* Reads what the sums replace: of one dataset, or of all if dataset is NULL. */
static enum status read_before(struct reading *reading, const struct sealed *sealed,
                               const char *dataset)
{
    const struct ledger_range range = {.dataset = dataset,
                                       .before = sealed->seal.entry.seq};
    reading->sealed = sealed;
    enum status status =
        ledger_rows_walk(reading->tx, &range, read_kept, reading, reading->error);
    if (status == ST_OK && reading->status == ST_OK)
        take_sums(reading, sealed);
    return status != ST_OK ? status : reading->status;
}

/* Begins at the SEAL. */
static void take_seal(struct reading *reading, const struct seal *seal)
{
    reading->state->seal = *seal;
    reading->head->entry = seal->entry;
    reading->head->authorised = seal->authorised;
}

/* The entries that stay are among those that the SEAL counts. */
static void take_tally(struct reading *reading)
{
    struct ledger_state *state = reading->state;
    state->tally = state->next_tally = state->seal.tally;
}

static enum status read_sealed(struct reading *reading)
{
    struct sealed sealed;
    enum status status = sealed_read(&sealed, reading->tx, reading->error);
    if (status == ST_OK) {
        take_seal(reading, &sealed.seal);
        status = read_before(reading, &sealed, NULL);
    }
    take_tally(reading);
    sealed_fini(&sealed);
    return status;
}

/* --- accounts that stay in the store --- */

enum status ledger_replay_sealed(struct ledger_state *loaded, const struct seal *seal,
                                 const struct dataset_id *dataset, struct store_tx *tx,
                                 struct error *error)
{
    struct sealed sealed = {0};
    struct head head = {0};
    struct reading reading = {.state = loaded, .tx = tx, .head = &head, .error = error};
    enum status status = dataset == NULL
                             ? sealed_read(&sealed, tx, error)
                             : sealed_read_one(&sealed, seal, dataset->text, tx, error);
    if (status == ST_OK &&
        memcmp(sealed.seal.entry.hash, seal->entry.hash, SHA256_SIZE) != 0)
        status = error_set(error, ST_CORRUPT, "the newest seal is another one now");
    if (status == ST_OK)
        status = read_before(&reading, &sealed, dataset != NULL ? dataset->text : NULL);
    sealed_fini(&sealed);
    return status;
}

/* Passes an account that is loaded after a start to the inspector. No account may then
 * have an open reservation that the start has not found. */
static enum status inspect(const struct ledger_state *state,
                           const struct account *account, struct error *error)
{
    const struct ledger_inspector *inspector = &state->inspector;
    const struct balances *now = account->now;
    const struct epochs *closed = &now->parts[PART_TRAIN].closed;
    if (now->open_count > 0)
        return error_set(
            error, ST_CORRUPT,
            "dataset %s has an open reservation that the start did not find",
            account->dataset.text);
    return inspector->check != NULL
               ? inspector->check(inspector->context, &account->dataset,
                                  closed->count > 0 ? &closed->items[0].grant
                                                    : &now->grant,
                                  now->reserved, error)
               : ST_OK;
}

enum status ledger_replay_adopt(struct ledger_state *state, struct ledger_state *loaded,
                                struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < loaded->accounts.count; i++) {
        const struct account *account = loaded->accounts.items[i];
        if (!state->replaying && ledger_state_account(state, &account->dataset) == NULL)
            status = inspect(state, account, error);
    }
    if (status == ST_OK)
        ledger_state_adopt(state, loaded);
    return status;
}

/* Loads the account of the dataset, or all that are not in memory if dataset is
 * NULL. */
static enum status load(struct ledger_state *state, const struct dataset_id *dataset,
                        struct store_tx *tx, struct error *error)
{
    struct ledger_state loaded;
    ledger_state_init(&loaded);
    enum status status =
        ledger_replay_sealed(&loaded, &state->seal, dataset, tx, error);
    if (status == ST_OK)
        status = ledger_replay_adopt(state, &loaded, error);
    ledger_state_fini(&loaded);
    return status;
}

enum status ledger_replay_account(struct ledger_state *state,
                                  const struct dataset_id *dataset, struct store_tx *tx,
                                  struct account **out, struct error *error)
{
    *out = ledger_state_account(state, dataset);
    if (*out != NULL || !state->partial)
        return ST_OK;
    enum status status = load(state, dataset, tx, error);
    *out = ledger_state_account(state, dataset);
    return status;
}

enum status ledger_replay_rest(struct ledger_state *state, struct store_tx *tx,
                               struct error *error)
{
    if (!state->partial)
        return ST_OK;
    enum status status = load(state, NULL, tx, error);
    state->partial = status != ST_OK;
    return status;
}

/* Loads the account of an entry that the seal left in the store because it was open. */
static bool read_open(void *context, const char *dataset)
{
    struct reading *reading = context;
    struct dataset_id id;
    struct account *account = NULL;
    if (!dataset_id_parse(&id, dataset))
        return wrong(reading, reading->head->entry.seq, "seals what is of no dataset");
    return account_of(reading, &id, &account);
}

/* Begins at the newest SEAL, if there is one, with the accounts that are not closed. */
static enum status read_seal(struct reading *reading, struct store *store)
{
    struct seal seal;
    enum status status = sealed_read_seal(&seal, reading->tx, reading->error);
    if (status != ST_OK || seal.entry.seq == 0)
        return status;
    if (store == NULL || seal.accounts == 0 || !store_reads_sealed(store))
        return read_sealed(reading);
    take_seal(reading, &seal);
    take_tally(reading);
    reading->state->partial = true;
    status = ledger_rows_of_jobs(reading->tx, seal.entry.seq, read_open, reading,
                                 reading->error);
    return status != ST_OK ? status : reading->status;
}

static bool wrong_freeze(struct reading *reading, const struct freeze_row *row)
{
    reading->status =
        error_set(reading->error, ST_CORRUPT,
                  "table freeze, row %.64s %" PRIu64
                  ": a freeze of an unknown epoch, or one that was replaced",
                  row->dataset, row->epoch);
    return false;
}

static bool wrong_timeline(struct reading *reading, const struct timeline_row *row)
{
    reading->status = error_set(reading->error, ST_CORRUPT,
                                "table timeline, row %.64s %" PRIu64
                                ": not a timeline of an epoch that was frozen",
                                row->dataset, row->epoch);
    return false;
}

/* A timeline counts in every part: only its entries name their parts, and those are
 * lost. */
static bool read_timeline(void *context, const struct timeline_row *row)
{
    struct reading *reading = context;
    struct dataset_id dataset;
    struct account *account = NULL;
    struct timeline timeline;
    reading->state->freezes++;
    if (dataset_id_parse(&dataset, row->dataset) &&
        !account_of(reading, &dataset, &account))
        return false;
    if (account == NULL)
        return wrong_timeline(reading, row);
    struct balances *balances = ledger_state_change(reading->state, account);
    const struct epoch last = balances_epoch(balances, PART_TRAIN),
                       *epoch = row->epoch == last.number
                                    ? &last
                                    : epochs_find(&balances->parts[PART_TRAIN].closed,
                                                  row->epoch);
    bool good = timeline_read(&timeline, epoch, row) && epoch->frozen;
    for (unsigned p = 0; p < balances->part_count && good; p++)
        epochs_add_timeline(&balances->parts[p].closed, &timeline);
    ledger_state_keep(reading->state);
    return good || wrong_timeline(reading, row);
}

static bool read_freeze(void *context, const struct freeze_row *row)
{
    struct reading *reading = context;
    struct dataset_id dataset;
    struct account *account = NULL;
    reading->state->freezes++;
    if (dataset_id_parse(&dataset, row->dataset) &&
        !account_of(reading, &dataset, &account))
        return false;
    if (account == NULL)
        return wrong_freeze(reading, row);
    struct balances *balances = ledger_state_change(reading->state, account);
    bool is_known = row->epoch == balances->epoch;
    balances->frozen = balances->frozen || is_known;
    for (unsigned p = 0; p < balances->part_count; p++) {
        struct epoch *closed = epochs_find(&balances->parts[p].closed, row->epoch);
        if (closed != NULL)
            closed->frozen = is_known = true;
    }
    ledger_state_keep(reading->state);
    return is_known || wrong_freeze(reading, row);
}

/* Checks that every mark that was read has a reservation. */
static void check_marks(struct reading *reading)
{
    for (size_t i = 0; i < reading->mark_count; i++) {
        if (reading->status == ST_OK && !reading->marks[i].used)
            reading->status =
                error_set(reading->error, ST_CORRUPT,
                          "table mark, row %s: authorised steps of no reservation",
                          reading->marks[i].job);
    }
}

static enum status read_entries(struct reading *reading)
{
    const struct ledger_range range = {.after = reading->head->entry.seq};
    if (!take_marks(reading))
        return reading->status;
    enum status status =
        ledger_rows_walk(reading->tx, &range, read_row, reading, reading->error);
    if (status == ST_OK)
        status = reading->status;
    return status;
}

static enum status read_freezes(struct reading *reading)
{
    reading->state->freezes = 0;
    enum status status =
        freeze_rows_walk(reading->tx, read_freeze, reading, reading->error);
    if (status == ST_OK && reading->status == ST_OK)
        status =
            timeline_rows_walk(reading->tx, read_timeline, reading, reading->error);
    return status != ST_OK ? status : reading->status;
}

static enum status read_all(struct reading *reading, struct store *store)
{
    enum status status =
        mark_rows_walk(reading->tx, read_mark, reading, reading->error);
    if (status == ST_OK)
        status = read_seal(reading, store);
    if (status == ST_OK)
        status = read_entries(reading);
    if (status == ST_OK)
        status = read_freezes(reading);
    if (status != ST_OK)
        return status;
    check_marks(reading);
    return reading->status;
}

enum status ledger_replay_read(struct ledger_state *state, struct head *head,
                               struct store *store, struct store_tx *tx,
                               struct error *error)
{
    struct reading reading = {.state = state, .tx = tx, .head = head, .error = error};
    *head = (struct head){0};
    state->replaying = true;
    reading.known = known_mechanisms_create();
    enum status status = read_all(&reading, store);
    free(reading.marks);
    known_mechanisms_destroy(reading.known);
    if (status != ST_OK)
        ledger_state_drop(state);
    ledger_state_replayed(state);
    return status;
}

/* A freeze closes an epoch by authorising all that it holds, so every mark is read. */
static enum status read_more(struct reading *reading, bool all_marks,
                             struct store_tx *tx)
{
    struct ledger_extent extent = {0};
    enum status status = ledger_rows_extent(tx, &extent, reading->error);
    bool frozen = extent.freezes != reading->state->freezes;
    if (status != ST_OK ||
        (extent.entries == reading->head->entry.seq && !frozen && !all_marks))
        return status;
    if (all_marks || frozen)
        status = mark_rows_walk(tx, read_mark, reading, reading->error);
    else
        status = mark_rows_walk_after(tx, reading->head->entry.seq, read_mark, reading,
                                      reading->error);
    if (status == ST_OK)
        status = read_entries(reading);
    if (status == ST_OK && frozen)
        status = read_freezes(reading);
    if (status != ST_OK)
        return status;
    check_marks(reading);
    return reading->status;
}

enum status ledger_replay_more(struct ledger_state *state, struct head *head,
                               bool all_marks, struct store_tx *tx, struct error *error)
{
    struct reading reading = {.state = state, .tx = tx, .head = head, .error = error};
    enum status status = read_more(&reading, all_marks, tx);
    free(reading.marks);
    if (status != ST_OK)
        ledger_state_drop(state);
    return status;
}
