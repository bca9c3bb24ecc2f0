#include "accountant/ledger_view.h"

#include <stdlib.h>

#include "accountant/ledger_change.h"
#include "accountant/spending.h"
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
    char *text = reservation != NULL && reservation->durable
                     ? mechanism_render(&reservation->mechanism)
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

/* All open reservations, to be freed; in the order of seq over all datasets. */
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

/* The durable state of dataset, or NULL. */
static const struct balances *durable(struct ledger *ledger,
                                      const struct dataset_id *dataset)
{
    const struct account *account = ledger_state_account(&ledger->state, dataset);
    return account != NULL ? account->now : NULL;
}

static void copy_balance(struct balance *balance, const struct balances *from)
{
    *balance = (struct balance){.epsilon = from->grant.epsilon,
                                .delta = from->grant.delta,
                                .relation = from->grant.relation,
                                .epoch = from->epoch,
                                .frozen = from->frozen,
                                .committed = from->committed,
                                .held = from->held};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        balance->weighted[i] = from->filter.weighted[i];
        balance->weights[i] = from->filter.weights[i];
        balance->capacity[i] = from->filter.capacity[i];
    }
}

enum status ledger_balance(struct ledger *ledger, const struct dataset_id *dataset,
                           struct balance *balance, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    const struct balances *from = durable(ledger, dataset);
    if (from != NULL)
        copy_balance(balance, from);
    pthread_mutex_unlock(&ledger->lock);
    if (from == NULL)
        return ledger_state_missing(dataset, error);
    spending_of(balance);
    return ST_OK;
}

static double left_unspent(const struct balances *balances)
{
    struct balance balance;
    copy_balance(&balance, balances);
    balance.held = (struct curve){0};
    return share_of(&balance).left;
}

enum status ledger_left(struct ledger *ledger, const struct dataset_id *dataset,
                        struct ledger_left *left, struct error *error)
{
    pthread_mutex_lock(&ledger->lock);
    const struct account *account = ledger_state_account(&ledger->state, dataset);
    bool found = account != NULL && account->now != NULL;
    if (found) {
        left->before = left_unspent(account->now);
        left->after = left_unspent(ledger_state_view(account));
    }
    pthread_mutex_unlock(&ledger->lock);
    return found ? ST_OK : ledger_state_missing(dataset, error);
}

/* All epochs, the one in force too; to be released. */
static struct epochs epochs_of(const struct balances *balances)
{
    struct epoch last = ledger_state_epoch(balances);
    struct epochs epochs = epochs_copy(&balances->closed);
    epochs_append(&epochs, &last);
    return epochs;
}

enum status ledger_share(struct ledger *ledger, const struct dataset_id *dataset,
                         struct share *share, struct error *error)
{
    struct balance balance;
    pthread_mutex_lock(&ledger->lock);
    const struct balances *from = durable(ledger, dataset);
    if (from != NULL)
        copy_balance(&balance, from);
    pthread_mutex_unlock(&ledger->lock);
    if (from == NULL)
        return ledger_state_missing(dataset, error);
    *share = share_of(&balance);
    return ST_OK;
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
    pthread_mutex_lock(&ledger->lock);
    const struct balances *from = durable(ledger, dataset);
    if (from != NULL) {
        copy_balance(balance, from);
        *epochs = epochs_of(from);
    }
    pthread_mutex_unlock(&ledger->lock);
    if (from == NULL)
        return ledger_state_missing(dataset, error);
    spending_of(balance);
    return ST_OK;
}

/* The rest of an outlook, from what the account was at its moment. */
static void look_ahead(struct outlook *outlook, const struct balances *now,
                       const struct epochs *epochs, uint64_t times_max)
{
    struct curve sum = now->committed;
    curve_add(&sum, &now->held);
    curve_add(&sum, &outlook->charge);
    outlook->fits =
        filter_fits(&now->filter, &now->committed, &now->held, &outlook->charge);
    outlook->times = filter_times(&now->filter, &now->committed, &now->held,
                                  &outlook->charge, times_max);
    outlook->epsilon_after = spending_epsilon(&sum, now->grant.delta);
    outlook->exposure_after = odometer_reading(epochs, &sum);
    copy_balance(&outlook->balance, now);
    spending_of(&outlook->balance);
}

enum status ledger_outlook(struct ledger *ledger, const struct dataset_id *dataset,
                           const struct mechanism *m, uint64_t times_max,
                           struct outlook *outlook, struct error *error)
{
    struct balances now;
    struct epochs epochs = {0};
    struct outlook made;
    pthread_mutex_lock(&ledger->lock);
    const struct balances *from = durable(ledger, dataset);
    if (from != NULL) {
        now = *from;
        epochs = epochs_of(from);
    }
    pthread_mutex_unlock(&ledger->lock);
    if (from == NULL)
        return ledger_state_missing(dataset, error);
    enum status status = ledger_state_charge(&made.charge, &now, m, error);
    if (status == ST_OK) {
        look_ahead(&made, &now, &epochs, times_max);
        *outlook = made;
    }
    epochs_fini(&epochs);
    return status;
}

void ledger_head(struct ledger *ledger, struct ledger_entry_name *head)
{
    pthread_mutex_lock(&ledger->lock);
    *head = ledger->now.entry;
    pthread_mutex_unlock(&ledger->lock);
}

struct entry_tally ledger_tally(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    struct entry_tally tally = ledger->state.tally;
    pthread_mutex_unlock(&ledger->lock);
    return tally;
}

bool ledger_touched(struct ledger *ledger, const struct dataset_id *dataset)
{
    pthread_mutex_lock(&ledger->lock);
    const struct balances *balances = durable(ledger, dataset);
    bool touched = balances != NULL && balances->reserved;
    pthread_mutex_unlock(&ledger->lock);
    return touched;
}
