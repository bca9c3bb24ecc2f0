#define _GNU_SOURCE /* pipe2 */
#include "tests/e2e/daemons_fixture.h"

#include <sys/stat.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/s3_fixture.h"
#include "tests/store/postgres_fixture.h"
#include "tests/faults/standby_fixture.h"

enum { OPTIONS_MAX = 24, WORDS_MAX = 32 };

static const char key[] =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static struct postgres_server server, standby;
static struct {
    char ways[40], standby[40]; /* folders; standby: "" if there is none */
    bool moved;                 /* the standby has taken over */
} addresses;
static struct postgres_database database;
static struct s3_process s3;

bool daemons_can_start(void)
{
    if (!daemon_has_postgres() || !postgres_make(&server, true))
        return false;
    assert_int_equal(postgres_sql(&server, NULL, "ALTER SYSTEM SET max_connections=90"),
                     0);
    postgres_kill(&server); /* its start applies the setting */
    snprintf(addresses.ways, sizeof addresses.ways, "%s", server.folder);
    return true;
}

bool daemons_can_start_replicated(void)
{
    if (!daemons_can_start())
        return false;
    standby_make(&standby, &server, true);
    snprintf(addresses.standby, sizeof addresses.standby, "%s", standby.folder);
    return true;
}

/* Each daemon reaches the server's socket through its own symbolic link. */
static void way_of(char path[80], size_t index, const char *file)
{
    snprintf(path, 80, "%s/way%zu%s", addresses.ways, index, file);
}

static void link_way(size_t index)
{
    char socket[80], link[80];
    snprintf(socket, sizeof socket, "%s/.s.PGSQL.5432", server.folder);
    way_of(link, index, "/.s.PGSQL.5432");
    assert_int_equal(symlink(socket, link), 0);
}

static void unlink_way(size_t index)
{
    char link[80];
    way_of(link, index, "/.s.PGSQL.5432");
    assert_int_equal(unlink(link), 0);
}

static size_t shared_options(const char *options[OPTIONS_MAX], size_t index)
{
    static char urls[DAEMONS_MAX][200];
    char way[80];
    way_of(way, index, "");
    snprintf(urls[index], sizeof urls[index], "postgresql://epsilond@/%s?host=%s%s%s",
             database.name, way, addresses.standby[0] != '\0' ? "," : "",
             addresses.standby);
    const char *const shared[] = {"--store", urls[index], "--single-server",
                                  "on",      "--blobs",   "s3://" S3_BUCKET "/eps"};
    size_t count = sizeof shared / sizeof *shared;
    memcpy(options, shared, sizeof shared);
    return count;
}

void daemons_start(struct daemons *daemons, size_t index)
{
    const char *options[OPTIONS_MAX];
    size_t count = shared_options(options, index);
    const char *const own[] = {
        "--role", daemons->roles[index], "--workers", "1", "--threads",
        "1",      "--drain-timeout",     "1",         NULL};
    memcpy(options + count, own, sizeof own);
    daemon_start(&daemons->all[index], options);
}

int daemons_begin(void **state, const char *const *roles)
{
    struct daemons *daemons = calloc(1, sizeof *daemons);
    assert_non_null(daemons);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    database = postgres_database(&server);
    s3_start(&s3);
    setenv("AWS_ENDPOINT_URL_S3", s3.endpoint, 1);
    setenv("AWS_ACCESS_KEY_ID", S3_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET, 1);
    setenv("AWS_REGION", "eu-central-1", 1);
    setenv("EPSILOND_BLOBS_KEY", key, 1);
    for (size_t i = 0; roles[i] != NULL; i++) {
        char way[80];
        assert_true(i < DAEMONS_MAX);
        way_of(way, i, "");
        assert_int_equal(mkdir(way, 0755), 0);
        link_way(i);
        daemons->roles[i] = roles[i];
        daemon_init(&daemons->all[i]);
        daemons_start(daemons, i);
        client_init(&daemons->clients[i], &daemons->all[i]);
        daemons->count++;
    }
    *state = daemons;
    return 0;
}

int daemons_end(void **state)
{
    struct daemons *daemons = *state;
    for (size_t i = 0; i < daemons->count; i++) {
        char way[80];
        way_of(way, i, "");
        if (!addresses.moved) { /* otherwise they were lost with the machine */
            unlink_way(i);
            assert_int_equal(rmdir(way), 0);
        }
        client_fini(&daemons->clients[i]);
        daemon_fini(&daemons->all[i]);
    }
    free(daemons);
    s3_stop(&s3);
    postgres_remove(&standby);
    postgres_remove(&server);
    return 0;
}

int daemons_command(struct daemons *daemons, size_t index, const char *const *words)
{
    const char *all[WORDS_MAX], *options[OPTIONS_MAX];
    size_t count = 0;
    for (; words[count] != NULL; count++)
        all[count] = words[count];
    all[count++] = "--data-dir";
    all[count++] = daemons->all[index].data_dir;
    size_t shared = shared_options(options, index);
    memcpy(all + count, options, shared * sizeof *options);
    all[count + shared] = NULL;
    return daemon_run(&daemons->all[index], all);
}

int daemons_verify(struct daemons *daemons)
{
    const char *const words[] = {"verify", NULL};
    return daemons_command(daemons, 0, words);
}

double daemons_ask(const char *format, ...)
{
    char sql[512], answer[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    postgres_ask(&server, &database, sql, answer, sizeof answer);
    return strtod(answer, NULL);
}

void daemons_kill_server(void)
{
    postgres_kill(&server);
}

void daemons_fail_over(void)
{
    server_end(&server);
    standby_promote(&standby);
    server = standby;
    standby.folder[0] = '\0';
    addresses.moved = true;
}

/* The other daemons lose their connections as well, and reconnect at once. */
void daemons_cut(struct daemons *daemons, size_t index)
{
    assert_true(index < daemons->count);
    unlink_way(index);
    daemons_ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                " pid<>pg_backend_pid() AND backend_type='client backend'");
}

void daemons_join(struct daemons *daemons, size_t index)
{
    assert_true(index < daemons->count);
    link_way(index);
}
