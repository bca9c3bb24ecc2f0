/*
 * bench_store - reservations and authorisations a second, in a file of SQLite and on a
 * server of PostgreSQL on this machine's own disk and socket, by 1, 4 and 16 threads of
 * one process, beside as many syncs of the same disk, one after the other.
 *
 *   a reservation    a transaction that reserves: an entry of the ledger
 *   an authorisation a transaction that raises a mark, of a job each
 *
 * Both wait for the disk, so what else the machine does shows: compare within a run.
 */
#include <fcntl.h>
#include <pthread.h>

#include "tests/expect.h"
#include "base/check.h"
#include "base/clock.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"

enum { CLIENTS_MAX = 16, SAMPLES_MAX = 200000, SYNC_SIZE = 4096 };

static const int64_t run_ns = 2000000000;

struct figures {
    size_t count;
    int64_t took_ns[SAMPLES_MAX];
};

struct client {
    struct kit *kit;
    unsigned first, number; /* of jobs */
    bool reserves;
    int64_t end_ns;
    struct figures *figures;
    pthread_t thread;
};

static void *work(void *context)
{
    struct client *client = context;
    uint64_t steps = 0;
    unsigned next = client->first;
    while (clock_monotonic_ns() < client->end_ns) {
        int64_t start_ns = clock_monotonic_ns();
        enum status status = client->reserves
                                 ? kit_reserve(client->kit, "a", next++, 1e6, 1)
                                 : kit_authorise(client->kit, client->number, ++steps);
        CHECK(status == ST_OK && client->figures->count < SAMPLES_MAX);
        client->figures->took_ns[client->figures->count++] =
            clock_monotonic_ns() - start_ns;
    }
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print(const char *what, unsigned clients, struct figures *figures,
                  double seconds)
{
    qsort(figures->took_ns, figures->count, sizeof figures->took_ns[0], by_time);
    printf("%-28s %3u clients %9.0f a second, p50 %7.3f ms, p99 %8.3f ms\n", what,
           clients, (double)figures->count / seconds,
           (double)figures->took_ns[figures->count / 2] / 1e6,
           (double)figures->took_ns[figures->count * 99 / 100] / 1e6);
}

static unsigned jobs_used;

static void run(struct kit *kit, const char *what, unsigned clients, bool reserves)
{
    static struct figures all, own[CLIENTS_MAX];
    struct client workers[CLIENTS_MAX];
    all.count = 0;
    for (unsigned i = 0; i < clients; i++) {
        own[i].count = 0;
        workers[i] = (struct client){.kit = kit,
                                     .first = jobs_used + i * SAMPLES_MAX,
                                     .number = jobs_used + i,
                                     .reserves = reserves,
                                     .figures = &own[i]};
        if (!reserves)
            CHECK(kit_reserve(kit, "a", workers[i].number, 1e6, 1 << 30) == ST_OK);
    }
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
    print(what, clients, &all, (double)(clock_monotonic_ns() - start_ns) / 1e9);
}

static void run_syncs(void)
{
    static struct figures figures;
    static const char page[SYNC_SIZE] = {1};
    char path[] = "/tmp/epsilond-bench-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    figures.count = 0;
    int64_t start_ns = clock_monotonic_ns();
    for (int64_t now = start_ns; now < start_ns + run_ns;) {
        CHECK(write(file, page, sizeof page) == sizeof page && fdatasync(file) == 0);
        int64_t end_ns = clock_monotonic_ns();
        figures.took_ns[figures.count++] = end_ns - now;
        now = end_ns;
    }
    print("the disk's own sync", 1, &figures,
          (double)(clock_monotonic_ns() - start_ns) / 1e9);
    close(file);
    unlink(path);
}

int main(void)
{
    struct postgres_server server;
    struct kit file, remote = {0};
    char folder[] = "/tmp/epsilond-bench-XXXXXX", path[64], command[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/epsilond.db", folder);
    file = kit_open(path);
    CHECK(kit_grant(&file, "a", 8, 1e-5, 0) == ST_OK);
    bool with_server = postgres_make_for_stores(&server, false);
    if (with_server) {
        struct postgres_database database = postgres_schema(&server);
        remote.store = postgres_store(&database);
        CHECK(ledger_open(&remote.ledger, remote.store, NULL) == ST_OK);
        CHECK(kit_grant(&remote, "a", 8, 1e-5, 0) == ST_OK);
    }
    run_syncs();
    for (unsigned clients = 1; clients <= CLIENTS_MAX; clients *= 4) {
        run(&file, "SQLite, reservations", clients, true);
        if (with_server)
            run(&remote, "PostgreSQL, reservations", clients, true);
        run(&file, "SQLite, authorisations", clients, false);
        if (with_server)
            run(&remote, "PostgreSQL, authorisations", clients, false);
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
