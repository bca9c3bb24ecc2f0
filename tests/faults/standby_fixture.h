/*
 * standby_fixture.h - a standby of a PostgreSQL server, and a server that is lost for
 * good. Include it after postgres_fixture.h.
 */
#ifndef TESTS_FAULTS_STANDBY_FIXTURE_H
#define TESTS_FAULTS_STANDBY_FIXTURE_H

#include <dirent.h>
#include <time.h>

static inline void standby_rest(void)
{
    static const struct timespec moment = {.tv_nsec = 10000000};
    nanosleep(&moment, NULL);
}

static inline void standby_append(const struct postgres_server *server,
                                  const char *file, const char *line)
{
    char path[96];
    snprintf(path, sizeof path, "%s/data/%s", server->folder, file);
    FILE *opened = fopen(path, "a");
    assert_non_null(opened);
    fprintf(opened, "%s\n", line);
    assert_int_equal(fclose(opened), 0);
    assert_int_equal(
        postgres_shell(server, "pg_ctl -D '%s/data' -s reload", server->folder), 0);
}

/* Waits until the SQL query gives this answer. */
static inline void standby_await(const struct postgres_server *server, const char *sql,
                                 const char *expected)
{
    char answer[64] = "";
    for (postgres_ask(server, NULL, sql, answer, sizeof answer);
         strcmp(answer, expected) != 0;
         postgres_ask(server, NULL, sql, answer, sizeof answer))
        standby_rest();
}

/* Makes a standby that follows primary. If synchronous, the primary's COMMITs wait for
 * the standby. */
static inline void standby_make(struct postgres_server *standby,
                                const struct postgres_server *primary, bool synchronous)
{
    *standby = *primary;
    snprintf(standby->folder, sizeof standby->folder, "%s/epsilond-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(standby->folder));
    postgres_guard(standby);
    if (geteuid() == 0)
        assert_int_equal(chown(standby->folder, 65534, 65534), 0);
    standby_append(primary, "pg_hba.conf", "local replication all trust");
    assert_int_equal(
        postgres_shell(standby,
                       "pg_basebackup -D '%s/data' -R -X stream -c fast --no-sync -d "
                       "'host=%s user=epsilond application_name=standby'",
                       standby->folder, primary->folder),
        0);
    assert_true(postgres_start(standby));
    if (synchronous)
        standby_append(primary, "postgresql.auto.conf",
                       "synchronous_standby_names='standby'");
    standby_await(primary, "SELECT sync_state FROM pg_stat_replication",
                  synchronous ? "sync" : "async");
}

/* Stops the replication to the standby without the primary's knowledge. */
static inline void standby_cut_off(const struct postgres_server *standby)
{
    standby_append(standby, "postgresql.auto.conf", "primary_conninfo=''");
    standby_await(standby, "SELECT count(*) FROM pg_stat_wal_receiver", "0");
}

static inline void standby_promote(const struct postgres_server *standby)
{
    assert_int_equal(
        postgres_shell(standby, "pg_ctl -D '%s/data' -s -w promote", standby->folder),
        0);
}

static inline long standby_parent_of(const char *pid)
{
    char path[300];
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %*c %ld", &parent) != 1)
        parent = 0;
    fclose(file);
    return parent;
}

/* Simulates the loss of the machine: all processes and files of the server are
 * removed. */
static inline void server_end(struct postgres_server *server)
{
    char path[64], command[64];
    long pid = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/data/postmaster.pid", server->folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    /* First stop the server, so that it starts no more processes. */
    assert_int_equal(kill((pid_t)pid, SIGSTOP), 0);
    while ((entry = readdir(processes)) != NULL)
        if (atol(entry->d_name) > 1 && standby_parent_of(entry->d_name) == pid)
            kill((pid_t)atol(entry->d_name), SIGKILL);
    closedir(processes);
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
    assert_int_equal(system(command), 0);
    server->folder[0] = '\0';
}

#endif
