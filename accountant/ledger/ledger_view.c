#include "accountant/ledger/ledger_view.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/ledger/ledger_accounts.h"
#include "accountant/pricing/budget_spent.h"
#include "base/check.h"

bool ledger_reservation(struct ledger *ledger, const struct job_id *job,
                        struct ledger_entry_name *entry)
{
    pthread_mutex_lock(&ledger->lock);
    const struct reservation *reservation =
        ledger_state_reservation(&ledger->state, job);
    bool found = reservation != NULL && reservation->durable;
    if (found)
        *entry = reservation->entry;
    pthread_mutex_unlock(&ledger->lock);
    return found;
}

char *ledger_reserved_text(struct ledger *ledger, const struct job_id *job)
{
    pthread_mutex_lock(&ledger->lock);
    const struct reservation *reservation =
        ledger_state_reservation(&ledger->state, job);
    char *text =
        reservation != NULL && reservation->durable && reservation->held != NULL
            ? mechanism_render(&reservation->held->mechanism)
            : NULL;
    pthread_mutex_unlock(&ledger->lock);
    return text;
}

uint64_t ledger_authorised(struct ledger *ledger, const struct job_id *job)
{
    pthread_mutex_lock(&ledger->lock);
    const struct reservation *reservation =
        ledger_state_reservation(&ledger->state, job);
    uint64_t authorised = reservation != NULL ? reservation->now.authorised : 0;
    pthread_mutex_unlock(&ledger->lock);
    return authorised;
}

struct opened {
    uint64_t seq;
    struct ledger_open_reservation reservation;
};

static int compare_seq(const void *a, const void *b)
{
    uint64_t left = ((const struct opened *)a)->seq,
             right = ((const struct opened *)b)->seq;
    return (left > right) - (left < right);
}

/* Returns all open reservations, in the order of seq over all datasets; the caller
 * frees them. */
static struct opened *copy_open(struct ledger *ledger, size_t *count)
{
    const struct pointers *accounts = &ledger->state.accounts;
    size_t total = 0;
    for (size_t i = 0; i < accounts->count; i++) {
        const struct account *account = accounts->items[i];
        total += account->now != NULL ? account->now->open_count : 0;
    }
    struct opened *all = calloc(total + 1, sizeof *all);
    CHECK(all != NULL);
    *count = 0;
    for (size_t i = 0; i < accounts->count; i++) {
        const struct account *account = accounts->items[i];
        for (size_t j = 0; account->now != NULL && j < account->now->open_count; j++) {
            const struct reservation *from = account->now->open[j];
            all[(*count)++] = (struct opened){from->entry.seq,
                                              {.job = from->job,
                                               .dataset = account->dataset,
                                               .steps = from->steps,
                                               .authorised = from->now.authorised}};
        }
    }
    qsort(all, total, sizeof *all, compare_seq);
    return all;
}

void ledger_open_walk(struct ledger *ledger,
                      bool (*visit)(void *context,
                                    const struct ledger_open_reservation *reservation),
                      void *context)
{
    size_t count;
    pthread_mutex_lock(&ledger->lock);
    struct opened *all = copy_open(ledger, &count);
    pthread_mutex_unlock(&ledger->lock);
    for (size_t i = 0; i < count; i++) {
        if (!visit(context, &all[i].reservation))
            break;
    }
    free(all);
}

/* *from = the durable state of dataset, or NULL. */
static enum status durable(struct ledger *ledger, const struct dataset_id *dataset,
                           const struct balances **from, struct error *error)
{
    struct account *account = NULL;
    enum status status = ledger_account(ledger, NULL, dataset, &account, error);
    *from = account != NULL ? account->now : NULL;
    return status;
}

static void copy_balance(struct balance *balance, const struct balances *from,
                         enum part part)
{
    *balance =
        (struct balance){.epsilon = from->grant.epsilon,
                         .delta = from->grant.delta,
                         .curve_delta = grant_curve_delta(&from->grant),
                         .delta_capacity = from->filter.delta_capacity,
                         .relation = from->grant.relation,
                         .unit = from->grant.unit,
                         .epoch = from->epoch,
                         .closed = from->parts[part].closed.count,
                         .timelines = epochs_timelines(&from->parts[part].closed),
                         .frozen = from->frozen,
                         .external = from->external,
                         .committed = from->parts[part].committed,
                         .held = from->parts[part].held};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        balance->weighted[i] = from->filter.weighted[i];
        balance->weights[i] = from->filter.weights[i];
        balance->capacity[i] = from->filter.capacity[i];
    }
}

/* Returns all epochs of the part, including the one in force; the caller releases
 * them. */
static struct epochs epochs_of(const struct balances *balances, enum part part)
{
    struct epoch last = balances_epoch(balances, part);
    struct epochs epochs = epochs_copy(&balances->parts[part].closed);
    epochs_append(&epochs, &last);
    return epochs;
}

struct division ledger_division(struct ledger *ledger, const struct dataset_id *dataset)
{
    const struct balances *from;
    pthread_mutex_lock(&ledger->lock);
    durable(ledger, dataset, &from, NULL);
    struct division division =
        from != NULL ? from->grant.division : (struct division){0};
    pthread_mutex_unlock(&ledger->lock);
    return division;
}

static enum status missing(const struct ledger_part *part, struct error *error)
{
    return part->part == PART_TRAIN
               ? balances_missing(part->dataset, error)
               : error_set(error, ST_NOT_FOUND, "dataset %s has no budget of a %s",
                           part->dataset->text, part_name(part->part));
}

/* *from = the durable state of the part's dataset, if that has the part. */
static enum status durable_part(struct ledger *ledger, const struct ledger_part *part,
                                const struct balances **from, struct error *error)
{
    enum status status = durable(ledger, part->dataset, from, error);
    if (status == ST_OK && (*from == NULL || part->part >= (*from)->part_count))
        return missing(part, error);
    return status;
}

enum status ledger_part_read(struct ledger *ledger, const struct ledger_part *part,
                             struct epochs *epochs, struct balance *balance,
                             struct error *error)
{
    const struct balances *from;
    pthread_mutex_lock(&ledger->lock);
    enum status status = durable_part(ledger, part, &from, error);
    if (status == ST_OK)
        copy_balance(balance, from, part->part);
    if (status == ST_OK && epochs != NULL)
        *epochs = epochs_of(from, part->part);
    pthread_mutex_unlock(&ledger->lock);
    if (status == ST_OK)
        budget_spent_of(balance);
    return status;
}

enum status ledger_balance(struct ledger *ledger, const struct dataset_id *dataset,
                           struct balance *balance, struct error *error)
{
    const struct ledger_part part = {dataset, PART_TRAIN};
    return ledger_part_read(ledger, &part, NULL, balance, error);
}

static double left_unspent(const struct balances *balances, enum part part)
{
    struct balance balance;
    copy_balance(&balance, balances, part);
    balance.held = (struct curve){0};
    return budget_share_of(&balance).left;
}

enum status ledger_left(struct ledger *ledger, const struct ledger_part *part,
                        struct ledger_left *left, struct error *error)
{
    const struct balances *from;
    pthread_mutex_lock(&ledger->lock);
    enum status status = durable_part(ledger, part, &from, error);
    if (status == ST_OK) {
        left->before = left_unspent(from, part->part);
        left->after = left_unspent(
            ledger_state_view(ledger_state_account(&ledger->state, part->dataset)),
            part->part);
    }
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

enum status ledger_share(struct ledger *ledger, const struct ledger_part *part,
                         struct budget_share *share, struct error *error)
{
    struct balance balance;
    const struct balances *from;
    pthread_mutex_lock(&ledger->lock);
    enum status status = durable_part(ledger, part, &from, error);
    if (status == ST_OK)
        copy_balance(&balance, from, part->part);
    pthread_mutex_unlock(&ledger->lock);
    if (status == ST_OK)
        *share = budget_share_of(&balance);
    return status;
}

enum status ledger_share_glance(struct ledger *ledger, const struct ledger_part *part,
                                struct budget_share *share, struct error *error)
{
    struct balance balance;
    struct ledger_state loaded;
    struct account *account = NULL;
    pthread_mutex_lock(&ledger->lock);
    enum status status =
        ledger_account_glance(ledger, part->dataset, &loaded, &account, error);
    if (status == ST_OK && (account == NULL || account->now == NULL ||
                            part->part >= account->now->part_count))
        status = missing(part, error);
    if (status == ST_OK)
        copy_balance(&balance, account->now, part->part);
    ledger_state_fini(&loaded);
    pthread_mutex_unlock(&ledger->lock);
    if (status == ST_OK)
        *share = budget_share_of(&balance);
    return status;
}

uint64_t ledger_version(struct ledger *ledger, const struct dataset_id *dataset)
{
    pthread_mutex_lock(&ledger->lock);
    const struct account *account = ledger_state_account(&ledger->state, dataset);
    uint64_t version = account != NULL ? account->version : 0;
    pthread_mutex_unlock(&ledger->lock);
    return version;
}

enum status ledger_epochs(struct ledger *ledger, const struct dataset_id *dataset,
                          struct epochs *epochs, struct balance *balance,
                          struct error *error)
{
    const struct ledger_part part = {dataset, PART_TRAIN};
    return ledger_part_read(ledger, &part, epochs, balance, error);
}

struct looking {         /* the account at the moment of a question */
    struct balances now; /* its pointers are not followed */
    struct epochs epochs[PARTS_MAX];
    enum parts parts;
};

/* Counts how often the charge fits in all parts, and finds the part that has least left
 * of those that are read. */
static void count_times(struct outlook *outlook, const struct looking *looking,
                        uint64_t times_max)
{
    double least = INFINITY;
    const struct balances *now = &looking->now;
    outlook->times = times_max;
    for (unsigned p = 0; p < now->part_count; p++) {
        struct balance balance;
        if (((unsigned)looking->parts >> p & 1) == 0)
            continue;
        outlook->times =
            filter_times(&now->filter, &now->parts[p].committed, &now->parts[p].held,
                         &outlook->charge, outlook->times);
        copy_balance(&balance, now, (enum part)p);
        double left = budget_share_of(&balance).left;
        if (left < least) {
            least = left;
            outlook->part = (enum part)p;
        }
    }
}

/* Computes the rest of an outlook from the account as it was. */
static void look_ahead(struct outlook *outlook, const struct looking *looking,
                       uint64_t times_max)
{
    const struct balances *now = &looking->now;
    outlook->fits = balances_fits(now, looking->parts, &outlook->charge);
    outlook->part = looking->parts == PARTS_HOLDOUT ? PART_HOLDOUT : PART_TRAIN;
    count_times(outlook, looking, times_max);
    const struct part_balance *part = &now->parts[outlook->part];
    struct curve sum = part->committed;
    curve_add(&sum, &part->held);
    curve_add(&sum, &outlook->charge);
    outlook->epsilon_after = budget_spent_epsilon(&sum, grant_curve_delta(&now->grant));
    outlook->exposure_after = odometer_reading(&looking->epochs[outlook->part], &sum);
    copy_balance(&outlook->balance, now, outlook->part);
    budget_spent_of(&outlook->balance);
}

static enum status look(struct ledger *ledger, const struct dataset_id *dataset,
                        struct looking *looking, struct error *error)
{
    const struct balances *from;
    pthread_mutex_lock(&ledger->lock);
    enum status status = durable(ledger, dataset, &from, error);
    if (status == ST_OK && from == NULL)
        status = balances_missing(dataset, error);
    if (from != NULL) {
        looking->now = *from;
        for (unsigned p = 0; p < from->part_count; p++)
            looking->epochs[p] = epochs_of(from, (enum part)p);
    }
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

static enum status add_charge(struct curve *charge, const struct balances *now,
                              const struct mechanism *also, struct price_book *prices,
                              struct error *error)
{
    struct curve more;
    enum status status = balances_charge(&more, now, also, prices, error);
    if (status == ST_OK)
        curve_add(charge, &more);
    return status;
}

enum status ledger_outlook(struct ledger *ledger,
                           const struct ledger_question *question,
                           struct outlook *outlook, struct error *error)
{
    struct looking looking = {0};
    struct outlook made;
    enum status status = look(ledger, question->dataset, &looking, error);
    if (status != ST_OK)
        return status;
    status = balances_charge(&made.charge, &looking.now, question->mechanism,
                             ledger->prices, error);
    if (status == ST_OK && question->also != NULL)
        status = add_charge(&made.charge, &looking.now, question->also, ledger->prices,
                            error);
    if (status == ST_OK)
        status = balances_parts(&looking.parts, &looking.now, question->parts, error);
    if (status == ST_OK) {
        look_ahead(&made, &looking, question->times_max);
        *outlook = made;
    }
    for (size_t p = 0; p < PARTS_MAX; p++)
        epochs_fini(&looking.epochs[p]);
    return status;
}

void ledger_head(struct ledger *ledger, struct ledger_entry_name *head)
{
    pthread_mutex_lock(&ledger->lock);
    *head = ledger->now.entry;
    pthread_mutex_unlock(&ledger->lock);
}

struct seal ledger_sealed(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    struct seal seal = ledger->state.seal;
    pthread_mutex_unlock(&ledger->lock);
    return seal;
}

struct entry_tally ledger_tally(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    struct entry_tally tally = ledger->state.tally;
    pthread_mutex_unlock(&ledger->lock);
    return tally;
}

enum status ledger_unused(struct ledger *ledger, const struct dataset_id *dataset,
                          struct error *error)
{
    const struct balances *balances;
    pthread_mutex_lock(&ledger->lock);
    enum status status = durable(ledger, dataset, &balances, error);
    if (status == ST_OK)
        status = balances != NULL ? balances_unused(balances, error)
                                  : balances_missing(dataset, error);
    pthread_mutex_unlock(&ledger->lock);
    return status;
}

bool ledger_touched(struct ledger *ledger, const struct dataset_id *dataset)
{
    const struct balances *balances;
    pthread_mutex_lock(&ledger->lock);
    bool known = durable(ledger, dataset, &balances, NULL) == ST_OK;
    bool touched = !known || (balances != NULL && balances->reserved);
    pthread_mutex_unlock(&ledger->lock);
    return touched;
}

bool ledger_in_memory(struct ledger *ledger, const struct dataset_id *dataset)
{
    pthread_mutex_lock(&ledger->lock);
    bool in_memory =
        !ledger->state.partial || ledger_state_account(&ledger->state, dataset) != NULL;
    pthread_mutex_unlock(&ledger->lock);
    return in_memory;
}

bool ledger_all_in_memory(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    bool all = !ledger->state.partial;
    pthread_mutex_unlock(&ledger->lock);
    return all;
}

size_t ledger_accounts_in_memory(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    size_t count = ledger->state.accounts.count;
    pthread_mutex_unlock(&ledger->lock);
    return count;
}
