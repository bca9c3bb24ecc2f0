/*
 * load_fixture.h - a process that reserves, authorises and settles on a database as
 * fast as it can, until it is asked to stop or its budget is used up, and notes in
 * memory that outlives it what was acknowledged; and a checker that reads through psql
 * what the database has of that. Include it after ledger_fixture.h,
 * postgres_store_fixture.h and proxy_fixture.h.
 */
#ifndef TESTS_FAULTS_LOAD_FIXTURE_H
#define TESTS_FAULTS_LOAD_FIXTURE_H

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "accountant/audit/verify.h"

enum { LOAD_JOBS_MAX = 20000, LOAD_STEPS = 9, LOAD_AT_ONCE = 3, LOAD_TRIES = 30 };

struct load_job {
    atomic_bool reserved, settled;
    atomic_uint asked, authorised; /* steps: requested, and acknowledged */
};

struct load {
    double noise_multiplier; /* of each job */
    atomic_bool stop;
    atomic_bool ended;        /* the process has ended by itself */
    atomic_bool used_up;      /* nothing more fits into the budget */
    atomic_uint begun;        /* number of jobs */
    atomic_uint acknowledged; /* number of writes of all kinds */
    char proxy[40];           /* folder of the process's proxy */
    struct load_job jobs[LOAD_JOBS_MAX];
};

/* The dataset of the load is "a". */
static inline struct load *load_create(double noise_multiplier)
{
    struct load *memory = mmap(NULL, sizeof(struct load), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memory->noise_multiplier = noise_multiplier;
    return memory;
}

static inline void load_destroy(struct load *load)
{
    assert_int_equal(munmap(load, sizeof *load), 0);
}

static inline enum status load_reserve(struct kit *kit, double noise_multiplier,
                                       const struct job_id *id)
{
    struct store_tx *tx = NULL;
    struct ledger_entry_name entry;
    struct dataset_id dataset = kit_dataset("a");
    struct mechanism m = kit_gaussian(noise_multiplier, LOAD_STEPS);
    struct ledger_claim claim = {&dataset,      id,  &m, &principal_local,
                                 PARTS_UNNAMED, NULL};
    enum status status = store_begin(kit->store, STORE_LEDGER, &tx, NULL);
    if (status == ST_OK)
        status =
            store_end(tx, ledger_reserve(kit->ledger, tx, &claim, &entry, NULL), NULL);
    mechanism_fini(&m);
    return status;
}

static inline enum status load_settle(struct kit *kit, const struct job_id *id)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(kit->store, STORE_LEDGER, &tx, NULL);
    return status == ST_OK
               ? store_end(tx, ledger_settle(kit->ledger, tx, id, NULL, NULL), NULL)
               : status;
}

/* Runs one job from its reservation to its end, and notes each step that was
 * acknowledged. */
static inline enum status load_job(struct kit *kit, struct load *load)
{
    unsigned number = atomic_fetch_add(&load->begun, 1);
    struct load_job *job = &load->jobs[number];
    struct job_id id = kit_job(number);
    enum status status = load_reserve(kit, load->noise_multiplier, &id);
    if (status != ST_OK)
        return status;
    atomic_store(&job->reserved, true);
    atomic_fetch_add(&load->acknowledged, 1);
    for (unsigned steps = LOAD_AT_ONCE; steps <= LOAD_STEPS; steps += LOAD_AT_ONCE) {
        atomic_store(&job->asked, steps);
        status = ledger_authorise(kit->ledger, &id, steps, NULL);
        if (status != ST_OK)
            return status;
        atomic_store(&job->authorised, steps);
        atomic_fetch_add(&load->acknowledged, 1);
    }
    status = load_settle(kit, &id);
    atomic_store(&job->settled, status == ST_OK);
    return status;
}

/* The process's main: returns 0 if it was asked to stop, 75 if a write failed. If cut
 * is a server, the process's COMMITs pass a proxy that cuts some of them off. */
static inline int load_run(struct load *load, const struct postgres_database *database,
                           const struct postgres_server *cut)
{
    struct proxy proxy;
    struct postgres_database way = *database;
    struct store *store = NULL;
    if (cut != NULL) {
        proxy_open(&proxy, cut);
        snprintf(load->proxy, sizeof load->proxy, "%s", proxy.folder);
        postgres_lead(&way, "epsilond", proxy.folder);
    }
    const struct store_server place = postgres_place(&way);
    /* After a kill, the server may notice late that the process's connections are
     * gone. */
    for (int tries = 0; store_open_server(&store, &place, NULL) != ST_OK; tries++) {
        if (tries == LOAD_TRIES)
            return 75;
        standby_rest();
    }
    struct kit kit = {.store = store};
    enum status status = ledger_open(&kit.ledger, store, NULL);
    while (status == ST_OK && !atomic_load(&load->stop))
        status = load_job(&kit, load);
    bool used_up = status == ST_BUDGET_EXHAUSTED || status == ST_BUDGET_HELD;
    atomic_store(&load->used_up, used_up);
    kit_close(&kit);
    if (cut != NULL)
        proxy_close(&proxy);
    return status == ST_OK || used_up ? 0 : 75;
}

static inline pid_t load_start(struct load *load,
                               const struct postgres_database *database,
                               const struct postgres_server *cut)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int code = load_run(load, database, cut);
        atomic_store(&load->ended, true);
        _exit(code);
    }
    return child;
}

/* Waits for `more` further acknowledged writes, or until the budget is used up. */
static inline void load_await(struct load *load, unsigned more)
{
    unsigned seen = atomic_load(&load->acknowledged);
    while (atomic_load(&load->acknowledged) < seen + more &&
           !atomic_load(&load->used_up)) {
        if (atomic_load(&load->ended))
            fail_msg("the process has ended after %u writes", seen);
        standby_rest();
    }
}

static inline int load_wait(pid_t child)
{
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

static inline int load_stop(struct load *load, pid_t child)
{
    atomic_store(&load->stop, true);
    return load_wait(child);
}

static inline void load_kill(struct load *load, pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(load_wait(child), 128 + SIGKILL);
    if (load->proxy[0] == '\0')
        return;
    unlink(proxy_address(load->proxy).sun_path);
    rmdir(load->proxy);
    load->proxy[0] = '\0';
}

/* Stores in found the numbers of the lines "job number" that the SQL query prints. */
static inline void load_ask(const struct postgres_server *server,
                            const struct postgres_database *database, const char *sql,
                            unsigned *found)
{
    struct dump dump = dump_create();
    dump_postgres(&dump, server, database, sql);
    for (char *line = strtok(dump.text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        unsigned job, number;
        assert_int_equal(sscanf(line, "job_%u %u", &job, &number), 2);
        assert_true(job < LOAD_JOBS_MAX && found[job] == 0);
        found[job] = number;
    }
    free(dump.text);
}

/* Checks by SQL only that each entry continues the one before it, and that the head is
 * the newest. */
static inline void load_expect_chain(const struct postgres_server *server,
                                     const struct postgres_database *database)
{
    char answer[64];
    postgres_ask(
        server, database,
        "SELECT count(*)=max(seq) AND min(seq)=1 AND count(DISTINCT hash)=count(*)"
        " AND bool_and(prev IS NOT DISTINCT FROM before) AND (SELECT hash FROM "
        "head)=(SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1) FROM "
        "(SELECT seq,hash,CASE seq WHEN 1 THEN NULL ELSE prev END AS prev,"
        "lag(hash) OVER(ORDER BY seq) AS before FROM ledger) l",
        answer, sizeof answer);
    assert_string_equal(answer, "t");
}

/* Everything that was acknowledged is in the database, nothing is there that was not
 * requested, and the ledger verifies: its chain is dense, and nothing is overspent. */
static inline void load_check(const struct load *load,
                              const struct postgres_server *server,
                              const struct postgres_database *database,
                              const struct store_server *place)
{
    static unsigned reserved[LOAD_JOBS_MAX], settled[LOAD_JOBS_MAX],
        authorised[LOAD_JOBS_MAX];
    struct verify_report report;
    struct store *store = NULL;
    struct error error = {0};
    memset(reserved, 0, sizeof reserved);
    memset(settled, 0, sizeof settled);
    memset(authorised, 0, sizeof authorised);
    load_ask(server, database, "SELECT job||' 1' FROM ledger WHERE kind='RESERVE'",
             reserved);
    load_ask(server, database, "SELECT job||' 1' FROM ledger WHERE kind='COMMIT'",
             settled);
    load_ask(server, database, "SELECT job||' '||authorised FROM mark", authorised);
    for (unsigned i = 0; i < LOAD_JOBS_MAX; i++) {
        const struct load_job *job = &load->jobs[i];
        if (job->reserved && reserved[i] == 0)
            fail_msg("the reservation of job %u is lost", i);
        if (job->settled && settled[i] == 0)
            fail_msg("the settlement of job %u is lost", i);
        if (authorised[i] < job->authorised)
            fail_msg("job %u: %u steps are lost", i, job->authorised - authorised[i]);
        assert_true(authorised[i] <= job->asked);
        assert_true(reserved[i] == 0 || i < load->begun);
    }
    load_expect_chain(server, database);
    assert_int_equal(store_open_server_read(&store, place, &error), ST_OK);
    if (verify_store(store, &report, &error) != ST_OK)
        fail_msg("entry %llu: %s", (unsigned long long)report.seq, error.text);
    store_close(store);
    print_message("%u jobs, %u writes acknowledged, %llu entries\n", load->begun,
                  load->acknowledged, (unsigned long long)report.entries);
}

#endif
