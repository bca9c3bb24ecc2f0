/* Goal: through any history the ledger holds the balances of a model that fits on a
 * page. Method: random histories of grants, reservations, authorisations, settlements,
 * transactions that are rolled back, several entries in one, threads racing and
 * restarts drive both; after each step every balance and every mark must agree. A
 * history that fails is reduced to the steps that matter and printed. HISTORIES=n in
 * the environment runs n of them. A few also run on a PostgreSQL server, and with two
 * ledgers that share a store on it. */
#include "accountant/audit/verify.h"

#include <pthread.h>

#include "accountant/ledger/ledger_view.h"
#include "tests/expect.h"
#include "base/random.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"

enum {
    DATASETS = 2,
    JOBS_MAX = 64,
    STEPS_MAX = 30,
    RACERS = 3,
    SERVER_HISTORIES = SANITIZED ? 2 : 6, /* each has its own tables, and waits */
    HISTORIES = RACES_SOUGHT ? 200
                : SANITIZED  ? 300
                             : 2500,
};

/* ---- the model ---- */

struct model_job {
    int dataset;
    double sigma;
    uint64_t steps, authorised;
    bool exists, open, whole;
};

struct model {
    bool granted[DATASETS];
    struct filter filter[DATASETS];
    struct model_job jobs[JOBS_MAX];
};

static struct mechanism model_mechanism(const struct model_job *job)
{
    struct mechanism m = kit_gaussian(job->sigma, job->steps);
    m.prefixes_priced = !job->whole;
    return m;
}

static struct curve model_charge(const struct model_job *job, uint64_t steps)
{
    struct curve curve = {0};
    struct mechanism m = model_mechanism(job);
    assert_int_equal(filter_charge(&curve, &m, steps, NULL), ST_OK);
    mechanism_fini(&m);
    return curve;
}

/* Plain additions: charges are on a grid, so nothing needs rounding. */
static struct curve model_sum(const struct model *model, int dataset, bool open)
{
    struct curve sum = {0};
    for (int i = 0; i < JOBS_MAX; i++) {
        const struct model_job *job = &model->jobs[i];
        if (!job->exists || job->dataset != dataset || job->open != open)
            continue;
        struct curve charge = model_charge(job, open ? job->steps : job->authorised);
        for (size_t j = 0; j < CURVE_ORDERS; j++)
            sum.at[j] += charge.at[j];
    }
    return sum;
}

static bool model_room(const struct model *model, int dataset, const struct curve *held,
                       const struct curve *charge)
{
    const struct filter *filter = &model->filter[dataset];
    struct curve committed = model_sum(model, dataset, false);
    for (size_t k = 0; k < LEDGER_WEIGHTED; k++) {
        size_t i = filter->weighted[k];
        if (committed.at[i] + held->at[i] + charge->at[i] <= filter->capacity[k])
            return true;
    }
    return false;
}

static enum status model_reserve(struct model *model, int number, struct model_job job)
{
    static const struct curve nothing = {0};
    if (!model->granted[job.dataset])
        return ST_NOT_FOUND;
    if (model->jobs[number].exists)
        return ST_ALREADY_EXISTS;
    struct curve charge = model_charge(&job, job.steps);
    struct curve held = model_sum(model, job.dataset, true);
    if (model_room(model, job.dataset, &held, &charge)) {
        model->jobs[number] = job;
        return ST_OK;
    }
    return model_room(model, job.dataset, &nothing, &charge) ? ST_BUDGET_HELD
                                                             : ST_BUDGET_EXHAUSTED;
}

static enum status model_authorise(struct model *model, int number, uint64_t steps)
{
    struct model_job *job = &model->jobs[number];
    if (!job->exists || !job->open)
        return ST_NOT_FOUND;
    if (steps <= job->authorised || steps > job->steps ||
        (job->whole && steps != job->steps))
        return ST_INVALID;
    job->authorised = steps;
    return ST_OK;
}

static enum status model_settle(struct model *model, int number)
{
    struct model_job *job = &model->jobs[number];
    if (!job->exists || !job->open)
        return ST_NOT_FOUND;
    job->open = false;
    return ST_OK;
}

/* ---- a history ---- */

enum step_kind {
    STEP_GRANT,
    STEP_RESERVE,
    STEP_AUTHORISE,
    STEP_SETTLE,
    STEP_UNDONE,  /* a reservation and a settlement, rolled back */
    STEP_SEVERAL, /* two reservations and a settlement in one transaction */
    STEP_RACE,    /* reservations from threads */
    STEP_RESTART, /* with a transaction left open */
    STEP_KINDS,
};

struct step {
    enum step_kind kind;
    unsigned job, other;
    struct model_job what;
    uint64_t count;
};

static const char *const step_names[] = {"grant",  "reserve", "authorise", "settle",
                                         "undone", "several", "race",      "restart"};

struct history {
    size_t count;
    struct step steps[STEPS_MAX];
};

/* Several ledgers may share a store. Each has every kit_count-th job, as a daemon has
 * the jobs that it runs, and either ledger takes steps. */
enum { KITS_MAX = 2 };

struct run {
    struct kit kits[KITS_MAX];
    unsigned kit_count;
    struct kit *kit; /* takes the current step */
    struct model model;
};

static struct kit *kit_of(struct run *run, unsigned job)
{
    return &run->kits[job % run->kit_count];
}

static bool follow(struct kit *kit)
{
    return ledger_follow(kit->ledger, NULL) == ST_OK;
}

static const char *dataset_name(int dataset)
{
    return dataset == 0 ? "a" : "b";
}

static enum status reserve_in(struct run *run, struct store_tx *tx, unsigned number,
                              const struct model_job *job)
{
    struct dataset_id dataset = kit_dataset(dataset_name(job->dataset));
    struct job_id id = kit_job(number);
    struct ledger_entry_name entry;
    struct mechanism m = model_mechanism(job);
    struct ledger_claim claim = {&dataset,         &id,           &m,
                                 &principal_local, PARTS_UNNAMED, NULL};
    enum status status = ledger_reserve(run->kit->ledger, tx, &claim, &entry, NULL);
    mechanism_fini(&m);
    return status;
}

static enum status settle_in(struct run *run, struct store_tx *tx, unsigned number)
{
    struct job_id id = kit_job(number);
    return ledger_settle(run->kit->ledger, tx, &id, NULL, NULL);
}

static bool step_grant(struct run *run, const struct step *step)
{
    int dataset = step->what.dataset;
    struct grant grant = {RELATION_ZERO_OUT,
                          dataset == 0 ? 2 : 1,
                          1e-5,
                          0,
                          {0, 0},
                          PRIVACY_UNIT_RECORD,
                          0};
    enum status expected = run->model.granted[dataset] ? ST_ALREADY_EXISTS : ST_OK;
    if (kit_grant(run->kit, dataset_name(dataset), grant.epsilon, grant.delta, 0) !=
        expected)
        return false;
    run->model.granted[dataset] = true;
    return filter_of(&run->model.filter[dataset], &grant, NULL) == ST_OK;
}

static bool step_reserve(struct run *run, const struct step *step)
{
    struct store_tx *tx = kit_begin(run->kit);
    enum status expected = model_reserve(&run->model, (int)step->job, step->what);
    return kit_end(tx, reserve_in(run, tx, step->job, &step->what)) == expected;
}

static bool step_undone(struct run *run, const struct step *step)
{
    struct model before = run->model;
    struct store_tx *tx = kit_begin(run->kit);
    bool good = reserve_in(run, tx, step->job, &step->what) ==
                model_reserve(&run->model, (int)step->job, step->what);
    good = settle_in(run, tx, step->other) ==
               model_settle(&run->model, (int)step->other) &&
           good;
    store_rollback(tx);
    run->model = before;
    return good;
}

static bool step_several(struct run *run, const struct step *step)
{
    struct model_job twin = step->what;
    unsigned second = (step->job + 1) % JOBS_MAX;
    struct store_tx *tx = kit_begin(run->kit);
    twin.sigma *= 1.25;
    bool good = reserve_in(run, tx, step->job, &step->what) ==
                model_reserve(&run->model, (int)step->job, step->what);
    good = reserve_in(run, tx, second, &twin) ==
               model_reserve(&run->model, (int)second, twin) &&
           good;
    good = settle_in(run, tx, step->other) ==
               model_settle(&run->model, (int)step->other) &&
           good;
    return store_commit(tx, NULL) == ST_OK && good;
}

struct racer {
    struct run run; /* with its own kit */
    unsigned number;
    struct model_job job;
    enum status status;
};

static void *race(void *context)
{
    struct racer *racer = context;
    struct store_tx *tx;
    racer->status = store_begin(racer->run.kit->store, STORE_LEDGER, &tx, NULL);
    if (racer->status == ST_OK)
        racer->status =
            kit_end(tx, reserve_in(&racer->run, tx, racer->number, &racer->job));
    return NULL;
}

/* The entries show who won: the model takes the reservations in the order of seq. */
static bool step_race(struct run *run, const struct step *step)
{
    struct racer racers[RACERS];
    pthread_t threads[RACERS];
    struct ledger_entry_name head, entry;
    ledger_head(run->kit->ledger, &head);
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){
            .number = (step->job + i) % JOBS_MAX, .job = step->what, .status = ST_IO};
        racers[i].run.kit = kit_of(run, step->other + i);
        racers[i].job.sigma *= 1 + .5 * i;
        if (pthread_create(&threads[i], NULL, race, &racers[i]) != 0)
            return false;
    }
    for (unsigned i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    if (!follow(run->kit))
        return false;
    for (uint64_t seq = head.seq + 1; seq <= head.seq + RACERS; seq++) {
        for (unsigned i = 0; i < RACERS; i++) {
            struct job_id id = kit_job(racers[i].number);
            if (racers[i].status == ST_OK &&
                ledger_reservation(run->kit->ledger, &id, &entry) && entry.seq == seq &&
                model_reserve(&run->model, (int)racers[i].number, racers[i].job) !=
                    ST_OK)
                return false;
        }
    }
    for (unsigned i = 0; i < RACERS; i++) {
        struct model after = run->model;
        if (racers[i].status != ST_OK &&
            model_reserve(&after, (int)racers[i].number, racers[i].job) !=
                racers[i].status)
            return false;
    }
    return true;
}

static bool step_restart(struct run *run, const struct step *step)
{
    struct store_tx *tx = kit_begin(run->kit);
    reserve_in(run, tx, step->job, &step->what);
    store_rollback(tx);
    kit_reopen_ledger(run->kit);
    return true;
}

static bool take_step(struct run *run, const struct step *step)
{
    run->kit = kit_of(run, step->other + step->job);
    switch (step->kind) {
    case STEP_GRANT: return step_grant(run, step);
    case STEP_RESERVE: return step_reserve(run, step);
    case STEP_AUTHORISE:
        return kit_authorise(kit_of(run, step->job), step->job, step->count) ==
               model_authorise(&run->model, (int)step->job, step->count);
    case STEP_SETTLE:
        return kit_settle(run->kit, step->job) ==
               model_settle(&run->model, (int)step->job);
    case STEP_UNDONE: return step_undone(run, step);
    case STEP_SEVERAL: return step_several(run, step);
    case STEP_RACE: return step_race(run, step);
    case STEP_RESTART: return step_restart(run, step);
    case STEP_KINDS: break;
    }
    return false;
}

/* Returns whether the balances that the ledger shows are the model's. */
static bool balances_agree(struct run *run, struct kit *kit)
{
    for (int i = 0; i < DATASETS; i++) {
        struct balance balance;
        struct dataset_id id = kit_dataset(dataset_name(i));
        enum status status = ledger_balance(kit->ledger, &id, &balance, NULL);
        if (status != (run->model.granted[i] ? ST_OK : ST_NOT_FOUND))
            return false;
        if (status != ST_OK)
            continue;
        struct curve committed = model_sum(&run->model, i, false);
        struct curve held = model_sum(&run->model, i, true);
        if (memcmp(&committed, &balance.committed, sizeof committed) != 0 ||
            memcmp(&held, &balance.held, sizeof held) != 0)
            return false;
    }
    return true;
}

static bool agrees(struct run *run)
{
    for (unsigned i = 0; i < run->kit_count; i++)
        if (!follow(&run->kits[i]) || !balances_agree(run, &run->kits[i]))
            return false;
    for (unsigned i = 0; i < JOBS_MAX; i++) {
        struct job_id id = kit_job(i);
        if (run->model.jobs[i].exists &&
            ledger_authorised(kit_of(run, i)->ledger, &id) !=
                run->model.jobs[i].authorised)
            return false;
    }
    return true;
}

static struct postgres_server
    server; /* if it runs, each history has a database of its own */

static unsigned ledgers = 1; /* ledgers that share a store of the server */

static void open_kits(struct run *run)
{
    run->kit_count = ledgers;
    if (server.folder[0] == '\0') {
        run->kits[0] = kit_open(":memory:");
        return;
    }
    const struct postgres_database database = postgres_schema(&server);
    for (unsigned i = 0; i < ledgers; i++)
        run->kits[i] = kit_take(ledgers > 1 ? postgres_shared_store(&database)
                                            : postgres_store(&database));
}

/* Returns the index of the first step after which ledger and model differ, or count if
 * none does. */
static size_t play(const struct history *history)
{
    struct run run = {0};
    struct verify_report report;
    size_t i = 0;
    open_kits(&run);
    while (i < history->count && take_step(&run, &history->steps[i]) && agrees(&run))
        i++;
    if (i == history->count && verify_store(run.kits[0].store, &report, NULL) != ST_OK)
        i = history->count - 1;
    for (unsigned k = 0; k < run.kit_count; k++)
        kit_close(&run.kits[k]);
    return i;
}

/* ---- random histories ---- */

struct dice {
    struct stream *stream;
    uint8_t key[STREAM_KEY_SIZE];
    uint64_t block;
};

static unsigned roll(struct dice *dice, unsigned below)
{
    uint32_t bits;
    stream_read(dice->stream, &bits, sizeof bits,
                &(struct stream_position){dice->key, 0, dice->block++});
    return bits % below;
}

/* Few names and large jobs make refusals and repeats common. */
static struct history random_history(struct dice *dice)
{
    static const enum step_kind often[] = {
        STEP_RESERVE,   STEP_RESERVE,   STEP_RESERVE, STEP_AUTHORISE,
        STEP_AUTHORISE, STEP_AUTHORISE, STEP_SETTLE,  STEP_SETTLE,
        STEP_SEVERAL,   STEP_UNDONE,    STEP_RESTART, STEP_GRANT};
    struct history history = {.count = 2 + roll(dice, STEPS_MAX - 2)};
    for (size_t i = 0; i < history.count; i++) {
        struct step *step = &history.steps[i];
        step->kind = i == 0 ? STEP_GRANT : often[roll(dice, 12)];
        if (roll(dice, 200) == 0)
            step->kind = STEP_RACE;
        step->job = roll(dice, 10);
        step->other = roll(dice, 10);
        step->count = roll(dice, 14);
        step->what = (struct model_job){.dataset = (int)(roll(dice, 5) == 0),
                                        .sigma = 3 + roll(dice, 300) / 10.0,
                                        .steps = 1 + roll(dice, 12),
                                        .whole = roll(dice, 6) == 0,
                                        .exists = true,
                                        .open = true};
    }
    return history;
}

/* Drops every step without which the history still fails, then prints the rest. */
static void print_smallest(struct history history)
{
    for (size_t i = 0; i < history.count;) {
        struct history less = history;
        memmove(&less.steps[i], &less.steps[i + 1],
                (history.count - i - 1) * sizeof *less.steps);
        less.count--;
        if (less.count > 0 && play(&less) < less.count)
            history = less;
        else
            i++;
    }
    for (size_t i = 0; i < history.count; i++) {
        const struct step *step = &history.steps[i];
        print_error("  %-9s dataset %d job %u other %u steps %d of %d sigma %g%s\n",
                    step_names[step->kind], step->what.dataset, step->job, step->other,
                    (int)step->count, (int)step->what.steps, step->what.sigma,
                    step->what.whole ? " whole" : "");
    }
}

static void play_histories(long histories)
{
    struct dice dice = {.stream = stream_create(), .key = {20}};
    for (long i = 0; i < histories; i++) {
        struct history history = random_history(&dice);
        if (play(&history) == history.count)
            continue;
        print_error("history %ld fails; the steps that matter:\n", i);
        print_smallest(history);
        fail();
    }
    stream_destroy(dice.stream);
}

static void every_history_keeps_the_balances_of_the_model(void **state)
{
    (void)state;
    const char *asked = getenv("HISTORIES");
    play_histories(asked != NULL ? atol(asked) : HISTORIES);
}

static void every_history_keeps_them_on_a_server_too(void **state)
{
    (void)state;
    if (!postgres_make_for_stores(&server, true))
        skip_because("there is no server of PostgreSQL");
    play_histories(SERVER_HISTORIES);
}

static void every_history_of_two_ledgers_keeps_them_too(void **state)
{
    (void)state;
    if (server.folder[0] == '\0')
        skip_because("there is no server of PostgreSQL");
    ledgers = KITS_MAX;
    play_histories(SERVER_HISTORIES);
    postgres_remove(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_history_keeps_the_balances_of_the_model),
        cmocka_unit_test(every_history_keeps_them_on_a_server_too),
        cmocka_unit_test(every_history_of_two_ledgers_keeps_them_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
