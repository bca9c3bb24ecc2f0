/*
 * bench_store - reservations and authorisations a second, in a SQLite file and on a
 * PostgreSQL server on this machine's own disk and socket, by 1, 4 and 16 threads of
 * one process, next to the same number of syncs of the same disk, one after the other.
 *
 *   a reservation    a transaction that reserves: an entry of the ledger, all of them
 *                    on one dataset or on a hundred in turn; or eight in a
 *                    transaction, as for jobs that are submitted at once
 *   a job            reserved, authorised and settled: three transactions, on a dataset
 *                    of which nothing else is held
 *   an authorisation a transaction that raises a mark, each of another job
 *
 * At the end reservations and authorisations with the head kept in a file, too, as a
 * daemon on a server does.
 *
 * The file is in $TMPDIR (/tmp). Transactions wait for the disk, so other load on the
 * machine matters: compare within a run. The processor time of this process is shown
 * next to each, without a server's; compare two builds by that, with one client, in
 * turns.
 */
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "tests/expect.h"
#include "base/check.h"
#include "base/clock.h"
#include "accountant/ledger/ledger_freeze.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"

enum {
    CLIENTS_MAX = 16,
    SAMPLES_MAX = 200000,
    SYNC_SIZE = 4096,
    DATASETS = 100,
    TOGETHER = 8,
    NAME_SIZE = 8,
    PATH_SIZE = 512,
};

enum kind { RESERVE_ON_ONE, RESERVE_ON_ALL, RESERVE_TOGETHER, JOB, AUTHORISE, KINDS };

static const char *const kind_names[KINDS] = {
    "reservations, 1 dataset", "reservations, 100 datasets", "reservations, 8 at once",
    "jobs, to their end", "authorisations"};

static const int64_t run_ns = 2000000000;

struct figures {
    size_t count;
    int64_t took_ns[SAMPLES_MAX];
};

struct client {
    struct kit *kit;
    unsigned first, number; /* of jobs */
    enum kind kind;
    int64_t end_ns;
    struct figures *figures;
    pthread_t thread;
};

static void name_dataset(char name[NAME_SIZE], unsigned number)
{
    snprintf(name, NAME_SIZE, "d%u", number % DATASETS);
}

static enum status reserve_together(struct kit *kit, unsigned first)
{
    struct store_tx *tx = kit_begin(kit);
    enum status status = ST_OK;
    struct mechanism m = kit_gaussian(1e6, 1);
    for (unsigned i = 0; i < TOGETHER && status == ST_OK; i++) {
        struct dataset_id dataset = kit_dataset("d0");
        struct job_id id = kit_job(first + i);
        struct ledger_claim claim = {&dataset,         &id,           &m,
                                     &principal_local, PARTS_UNNAMED, NULL};
        struct ledger_entry_name entry;
        status = ledger_reserve(kit->ledger, tx, &claim, &entry, NULL);
    }
    mechanism_fini(&m);
    return kit_end(tx, status);
}

static enum status do_job(struct kit *kit, unsigned job)
{
    enum status status = kit_reserve(kit, "jobs", job, 1e6, 1);
    if (status == ST_OK)
        status = kit_authorise(kit, job, 1);
    return status == ST_OK ? kit_settle(kit, job) : status;
}

/* Runs the client's next transaction; returns the number of operations in it. */
static size_t do_next(struct client *client, unsigned done)
{
    char name[NAME_SIZE];
    unsigned job = client->first + done;
    enum status status = ST_OK;
    name_dataset(name, client->kind == RESERVE_ON_ALL ? job : 0);
    switch (client->kind) {
    case RESERVE_ON_ONE:
    case RESERVE_ON_ALL: status = kit_reserve(client->kit, name, job, 1e6, 1); break;
    case RESERVE_TOGETHER: status = reserve_together(client->kit, job); break;
    case JOB: status = do_job(client->kit, job); break;
    case AUTHORISE:
        status = kit_authorise(client->kit, client->number, done + 1);
        break;
    case KINDS: break;
    }
    CHECK(status == ST_OK);
    return client->kind == RESERVE_TOGETHER ? TOGETHER : 1;
}

static void *work(void *context)
{
    struct client *client = context;
    while (clock_monotonic_ns() < client->end_ns) {
        int64_t start_ns = clock_monotonic_ns();
        size_t count = do_next(client, (unsigned)client->figures->count);
        int64_t took_ns = clock_monotonic_ns() - start_ns;
        CHECK(client->figures->count + count <= SAMPLES_MAX);
        while (count-- > 0)
            client->figures->took_ns[client->figures->count++] = took_ns;
    }
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print(const char *what, unsigned clients, struct figures *figures,
                  double seconds, double processor)
{
    qsort(figures->took_ns, figures->count, sizeof figures->took_ns[0], by_time);
    printf("%-38s %3u clients %9.0f a second, p50 %7.3f ms, p99 %8.3f ms, "
           "%6.1f us of processor\n",
           what, clients, (double)figures->count / seconds,
           (double)figures->took_ns[figures->count / 2] / 1e6,
           (double)figures->took_ns[figures->count * 99 / 100] / 1e6,
           processor * 1e6 / (double)figures->count);
}

static unsigned jobs_used;

static void run(struct kit *kit, const char *where, unsigned clients, enum kind kind)
{
    char what[64];
    static struct figures all, own[CLIENTS_MAX];
    struct client workers[CLIENTS_MAX];
    all.count = 0;
    for (unsigned i = 0; i < clients; i++) {
        own[i].count = 0;
        workers[i] = (struct client){.kit = kit,
                                     .first = jobs_used + i * SAMPLES_MAX,
                                     .number = jobs_used + i,
                                     .kind = kind,
                                     .figures = &own[i]};
        if (kind == AUTHORISE)
            CHECK(kit_reserve(kit, "d0", workers[i].number, 1e6, 1 << 30) == ST_OK);
    }
    double before = processor_s();
    int64_t start_ns = clock_monotonic_ns();
    for (unsigned i = 0; i < clients; i++) {
        workers[i].end_ns = start_ns + run_ns;
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(workers[i].thread, NULL);
        memcpy(all.took_ns + all.count, own[i].took_ns,
               own[i].count * sizeof all.took_ns[0]);
        all.count += own[i].count;
    }
    jobs_used += clients * SAMPLES_MAX;
    snprintf(what, sizeof what, "%s, %s", where, kind_names[kind]);
    double spent = processor_s() - before;
    print(what, clients, &all, (double)(clock_monotonic_ns() - start_ns) / 1e9, spent);
}

static void grant_all(struct kit *kit)
{
    char name[NAME_SIZE];
    CHECK(kit_grant(kit, "jobs", 8, 1e-5, 0) == ST_OK);
    for (unsigned i = 0; i < DATASETS; i++) {
        name_dataset(name, i);
        CHECK(kit_grant(kit, name, 8, 1e-5, 0) == ST_OK);
    }
}

static void keep_head(struct kit *kit, const char *folder, const char *name)
{
    char path[PATH_SIZE];
    bool frozen = false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(ledger_head_file(kit->ledger, path, &frozen, NULL) == ST_OK && !frozen);
}

static void run_syncs(void)
{
    static struct figures figures;
    static const char page[SYNC_SIZE] = {1};
    char path[] = "/tmp/epsilond-bench-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    figures.count = 0;
    double before = processor_s();
    int64_t start_ns = clock_monotonic_ns();
    for (int64_t now = start_ns; now < start_ns + run_ns;) {
        CHECK(write(file, page, sizeof page) == sizeof page && fdatasync(file) == 0);
        int64_t end_ns = clock_monotonic_ns();
        figures.took_ns[figures.count++] = end_ns - now;
        now = end_ns;
    }
    print("the disk's own sync", 1, &figures,
          (double)(clock_monotonic_ns() - start_ns) / 1e9, processor_s() - before);
    close(file);
    unlink(path);
}

int main(void)
{
    struct postgres_server server;
    struct kit file, remote = {0};
    const char *root = getenv("TMPDIR");
    char folder[PATH_SIZE - 16], path[PATH_SIZE], command[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/epsilond-bench-XXXXXX",
             root != NULL ? root : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/epsilond.db", folder);
    file = kit_open(path);
    grant_all(&file);
    bool with_server = postgres_make_for_stores(&server, false);
    if (with_server) {
        struct postgres_database database = postgres_schema(&server);
        remote.store = postgres_store(&database);
        CHECK(ledger_open(&remote.ledger, remote.store, NULL) == ST_OK);
        grant_all(&remote);
    }
    run_syncs();
    for (unsigned clients = 1; clients <= CLIENTS_MAX; clients *= 4) {
        for (enum kind kind = 0; kind < KINDS; kind++) {
            run(&file, "SQLite", clients, kind);
            if (with_server)
                run(&remote, "PostgreSQL", clients, kind);
        }
    }
    keep_head(&file, folder, "head");
    run(&file, "SQLite, head kept", 1, RESERVE_ON_ALL);
    run(&file, "SQLite, head kept", CLIENTS_MAX, RESERVE_ON_ALL);
    run(&file, "SQLite, head kept", CLIENTS_MAX, AUTHORISE);
    if (with_server) {
        keep_head(&remote, folder, "remote");
        run(&remote, "PostgreSQL, head kept", CLIENTS_MAX, RESERVE_ON_ALL);
        run(&remote, "PostgreSQL, head kept", CLIENTS_MAX, AUTHORISE);
    }
    run_syncs();
    kit_close(&file);
    if (with_server) {
        kit_close(&remote);
        postgres_remove(&server);
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}
