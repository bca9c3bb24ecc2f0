/* An entry is checked for its form and the conditions of its kind, and changes the state
 * as it did when it was written. An entry may need the account of a dataset that only
 * the store has: then that account is computed first, from the entries that its SEAL has
 * kept and from its sums, and by the functions that read every other entry. */
#include "accountant/ledger/account_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/pricing/known_mechanisms.h"
#include "store/rows/sealed_rows.h"

bool account_replay_fault(struct replay *replay, uint64_t seq, const char *what)
{
    replay->status =
        error_set(replay->error, ST_CORRUPT, "ledger entry %" PRIu64 ": %s", seq, what);
    return false;
}

static enum status load(struct ledger_state *state, const struct dataset_id *dataset,
                        struct store_tx *tx, struct error *error);

bool account_replay_of(struct replay *replay, const struct dataset_id *dataset,
                       struct account **account)
{
    struct ledger_state *state = replay->state;
    *account = ledger_state_account(state, dataset);
    if (*account != NULL || !state->partial)
        return true;
    replay->status = load(state, dataset, replay->tx, replay->error);
    *account = ledger_state_account(state, dataset);
    return replay->status == ST_OK;
}

/* Returns whether the GRANT of row may take the place of the one that it names. */
static bool may_replace(const struct account *account, const struct ledger_row *row)
{
    return account != NULL && entry_replaces(row) == account->now->grant_seq &&
           balances_unused(account->now, NULL) == ST_OK;
}

static bool read_grant(struct replay *replay, const struct ledger_row *row,
                       const struct dataset_id *dataset)
{
    struct grant grant;
    struct filter filter;
    struct account *account = NULL;
    if (!account_replay_of(replay, dataset, &account))
        return false;
    uint64_t epoch = account != NULL ? account->now->epoch : 0;
    bool replaces = entry_replaces(row) != 0;
    if (!entry_grant_parse(&grant, &filter, NULL, row))
        return account_replay_fault(replay, row->seq, "is not the form of a GRANT");
    if (row->epoch != epoch + 1 || (account != NULL && account->now->open_count > 0))
        return account_replay_fault(replay, row->seq, "grants an epoch out of turn");
    if (replaces && !may_replace(account, row))
        return account_replay_fault(replay, row->seq, "replaces a grant that stays");
    if (!replaces && account != NULL &&
        !division_same(&grant.division, &account->now->grant.division))
        return account_replay_fault(replay, row->seq, "divides the dataset anew");
    ledger_state_grant(replay->state, &(struct granting){dataset, account, &grant,
                                                         &filter, row->seq, replaces});
    return true;
}

bool account_replay_mark(struct replay *replay, struct mark *mark,
                         struct reservation *reservation)
{
    struct reservation_state *next =
        ledger_state_change_reservation(replay->state, reservation);
    mark->used = true;
    if (mark->authorised <= next->authorised)
        return true;
    if (!next->open || mark->authorised > reservation->steps ||
        (!reservation->held->mechanism.prefixes_priced &&
         mark->authorised != reservation->steps))
        return account_replay_fault(replay, reservation->entry.seq,
                                    "authorised steps that were not reserved");
    replay->head->authorised += mark->authorised - next->authorised;
    next->authorised = mark->authorised;
    return true;
}

static bool read_reserve(struct replay *replay, const struct ledger_row *row,
                         struct account *account, const struct job_id *job)
{
    struct mechanism m;
    struct curve charge;
    struct principal principal;
    struct holding holding = {job, &m, &charge, PARTS_UNNAMED, row->actor};
    enum parts named;
    char engine[ENTRY_ENGINE_SIZE];
    if (ledger_state_reservation(replay->state, job) != NULL)
        return account_replay_fault(replay, row->seq,
                                    "the job has a reservation already");
    if (!principal_parse(&principal, row->actor))
        return account_replay_fault(replay, row->seq, "the actor is no principal");
    if (!entry_charge_decode(&charge, row->curve, row->curve_size) ||
        !entry_has_delta(row, charge.delta))
        return account_replay_fault(replay, row->seq,
                                    "the curve is not one of grid g1");
    if (!entry_reserve_parse_known(&m, &named, row, replay->known))
        return account_replay_fault(replay, row->seq, "is not the form of a RESERVE");
    if (!division_resolve(&account->now->grant.division, named, &holding.parts)) {
        mechanism_fini(&m);
        return account_replay_fault(replay, row->seq, "names a part that there is not");
    }
    struct reservation *reservation =
        ledger_state_reserve_take(replay->state, account, &holding);
    entry_engine(engine, row);
    if (engine[0] != '\0')
        ledger_state_change(replay->state, account)->external = true;
    reservation->entry.seq = row->seq;
    memcpy(reservation->entry.hash, row->hash, SHA256_SIZE);
    struct mark *mark = replay_marks_find(&replay->marks, job);
    return mark == NULL || account_replay_mark(replay, mark, reservation);
}

static bool curve_within(const struct curve *part, const struct curve *whole)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (!(part->at[i] <= whole->at[i]))
            return false;
    }
    return part->delta <= whole->delta;
}

static bool read_commit(struct replay *replay, const struct ledger_row *row,
                        struct account *account, const struct job_id *job)
{
    struct entry_commit commit;
    struct curve charge, released, expected;
    struct reservation *reservation = ledger_state_reservation(replay->state, job);
    if (reservation == NULL || !reservation->now.open ||
        reservation->account != account)
        return account_replay_fault(replay, row->seq,
                                    "commits a job that holds nothing");
    if (!entry_commit_parse(&commit, row) ||
        commit.reserve_seq != reservation->entry.seq)
        return account_replay_fault(replay, row->seq, "is not the form of a COMMIT");
    if (commit.parts != balances_named(account->now, reservation->parts))
        return account_replay_fault(replay, row->seq,
                                    "commits to other parts than were reserved");
    if (commit.steps != reservation->now.authorised)
        return account_replay_fault(replay, row->seq,
                                    "commits other steps than were authorised");
    if (!entry_charge_decode(&charge, row->curve, row->curve_size) ||
        !entry_charge_decode(&released, row->released, row->curve_size) ||
        !entry_has_delta(row, reservation->held->charge.delta) ||
        !curve_within(&charge, &reservation->held->charge))
        return account_replay_fault(replay, row->seq,
                                    "the curve is not within the reserved one");
    entry_released(&expected, &reservation->held->charge, &charge);
    if (memcmp(&released, &expected, sizeof released) != 0)
        return account_replay_fault(replay, row->seq,
                                    "releases another curve than the rest");
    ledger_state_settle(replay->state, reservation, &charge);
    return true;
}

static bool read_kind(struct replay *replay, const struct ledger_row *row)
{
    struct dataset_id dataset;
    struct job_id job;
    if (!dataset_id_parse(&dataset, row->dataset))
        return account_replay_fault(replay, row->seq, "is not of a dataset");
    if (strcmp(row->kind, "GRANT") == 0)
        return read_grant(replay, row, &dataset);
    struct account *account = NULL;
    if (!account_replay_of(replay, &dataset, &account))
        return false;
    if (account == NULL || account->now->epoch != row->epoch)
        return account_replay_fault(replay, row->seq, "is not of the dataset's epoch");
    if (!charged_id_parse(&job, row->job))
        return account_replay_fault(replay, row->seq, "is not of a job");
    if (strcmp(row->kind, "RESERVE") == 0)
        return read_reserve(replay, row, account, &job);
    if (strcmp(row->kind, "COMMIT") == 0)
        return read_commit(replay, row, account, &job);
    return account_replay_fault(replay, row->seq, "is of no known kind");
}

/* Keeps what the entry has changed, if its dataset's balance is sound with it. */
static bool keep_sound(struct replay *replay, const struct ledger_row *row)
{
    struct dataset_id dataset;
    if (!dataset_id_parse(&dataset, row->dataset) ||
        !balances_sound(
            ledger_state_view(ledger_state_account(replay->state, &dataset))))
        return account_replay_fault(replay, row->seq,
                                    "passes the capacity at every weighted order");
    ledger_state_keep(replay->state);
    return true;
}

bool account_replay_entry(struct replay *replay, const struct ledger_row *row)
{
    return read_kind(replay, row) && keep_sound(replay, row);
}

/* Reads an entry that stays of a part that is archived: the sums contain what was
 * between it and the next. */
static bool read_kept(void *context, const struct ledger_row *row)
{
    struct replay *replay = context;
    if (!sealed_take(replay->sealed, row))
        return account_replay_fault(replay, row->seq, "is not one that the seal kept");
    return account_replay_entry(replay, row);
}

/* Replaces what was archived by the sums. */
static bool take_sums(struct replay *replay, const struct sealed *sealed)
{
    const char *dataset = "";
    bool good = sealed_taken(sealed, &dataset);
    for (size_t i = 0; good && i < sealed->count; i++) {
        dataset = sealed->sums[i].dataset;
        good = ledger_state_sealed(replay->state, &sealed->sums[i]);
    }
    if (!good)
        replay->status = error_set(replay->error, ST_CORRUPT,
                                   "table sealed_sum, row %.64s: an entry that the "
                                   "seal kept is missing",
                                   dataset);
    return good;
}

enum status account_replay_before(struct replay *replay, const struct sealed *sealed,
                                  const char *dataset)
{
    const struct ledger_range range = {.dataset = dataset,
                                       .before = sealed->seal.entry.seq};
    replay->sealed = sealed;
    enum status status =
        ledger_rows_walk(replay->tx, &range, read_kept, replay, replay->error);
    if (status == ST_OK && replay->status == ST_OK)
        take_sums(replay, sealed);
    return status != ST_OK ? status : replay->status;
}

enum status account_replay_sealed(struct ledger_state *loaded, const struct seal *seal,
                                  const struct dataset_id *dataset, struct store_tx *tx,
                                  struct error *error)
{
    struct sealed sealed = {0};
    struct head head = {0};
    struct replay replay = {.state = loaded, .tx = tx, .head = &head, .error = error};
    enum status status = dataset == NULL
                             ? sealed_read(&sealed, tx, error)
                             : sealed_read_one(&sealed, seal, dataset->text, tx, error);
    if (status == ST_OK &&
        memcmp(sealed.seal.entry.hash, seal->entry.hash, SHA256_SIZE) != 0)
        status = error_set(error, ST_CORRUPT, "the newest seal is another one now");
    if (status == ST_OK)
        status = account_replay_before(&replay, &sealed,
                                       dataset != NULL ? dataset->text : NULL);
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

enum status account_replay_adopt(struct ledger_state *state,
                                 struct ledger_state *loaded, struct error *error)
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
        account_replay_sealed(&loaded, &state->seal, dataset, tx, error);
    if (status == ST_OK)
        status = account_replay_adopt(state, &loaded, error);
    ledger_state_fini(&loaded);
    return status;
}

enum status account_replay_rest(struct ledger_state *state, struct store_tx *tx,
                                struct error *error)
{
    if (!state->partial)
        return ST_OK;
    enum status status = load(state, NULL, tx, error);
    state->partial = status != ST_OK;
    return status;
}
