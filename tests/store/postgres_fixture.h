/*
 * postgres_fixture.h - a real PostgreSQL server in its own folder, reached by a socket
 * in that folder. Include after expect.h. PostgreSQL refuses to run as root, so root
 * runs it as the user nobody.
 */
#ifndef TESTS_STORE_POSTGRES_FIXTURE_H
#define TESTS_STORE_POSTGRES_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct postgres_server {
    char folder[40]; /* "" if there is no PostgreSQL */
    char bin[48];
    unsigned databases; /* created so far */
};

__attribute__((format(printf, 2, 3))) static inline int
postgres_shell(const struct postgres_server *server, const char *format, ...)
{
    char words[1024], command[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "cd '%s' && PATH=%s:$PATH %s %s", server->folder,
             server->bin,
             geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "",
             words);
    return system(command);
}

static inline bool postgres_start(const struct postgres_server *server)
{
    return postgres_shell(
               server,
               "pg_ctl -D '%s/data' -s -w -l '%s/log' -o \"-k '%s' -c "
               "listen_addresses='' -c max_connections=20 -c shared_buffers=4MB "
               "-c dynamic_shared_memory_type=mmap\" "
               "start >/dev/null 2>&1",
               server->folder, server->folder, server->folder) == 0;
}

enum { GUARD_LIFE = STDERR_FILENO + 1 };

/* Leaves a child process that waits until this process ends for any reason, and then
 * stops the server and removes its folder if they still exist. */
static inline void postgres_guard(const struct postgres_server *server)
{
    int life[2];
    char byte;
    assert_int_equal(pipe(life), 0);
    assert_int_equal(fcntl(life[1], F_SETFD, FD_CLOEXEC), 0);
    pid_t guard = fork();
    assert_true(guard >= 0);
    if (guard > 0) {
        close(life[0]); /* the other end closes when the process ends */
        return;
    }
    setsid(); /* a signal to the group of the tests does not reach it */
    /* Other pipes of the test must end when the test closes them. */
    assert_true(dup2(life[0], GUARD_LIFE) == GUARD_LIFE);
    closefrom(GUARD_LIFE + 1);
    while (read(GUARD_LIFE, &byte, 1) < 0 && errno == EINTR)
        continue;
    if (chdir(server->folder) == 0)
        execl("/bin/sh", "sh", "-c",
              "read -r pid <data/postmaster.pid && kill -QUIT $pid &&"
              " while kill -0 $pid 2>/dev/null; do sleep 0.1; done; cd / && rm -rf "
              "\"$0\"",
              server->folder, (char *)NULL);
    _exit(0);
}

/* Creates the server, either in memory, which suffices because the tests stop servers
 * by signals and never cut the power, or on the disk of /tmp. Prints a message and
 * returns false if PostgreSQL is not installed. */
static inline bool postgres_make(struct postgres_server *server, bool in_memory)
{
    *server = (struct postgres_server){0};
    for (int version = 15; version < 20; version++) {
        char program[80];
        snprintf(server->bin, sizeof server->bin, "/usr/lib/postgresql/%d/bin",
                 version);
        snprintf(program, sizeof program, "%s/pg_ctl", server->bin);
        if (access(program, X_OK) == 0)
            break;
        server->bin[0] = '\0';
    }
    if (server->bin[0] == '\0') {
        skip_part("there is no server of PostgreSQL");
        return false;
    }
    snprintf(server->folder, sizeof server->folder, "%s/epsilond-test-XXXXXX",
             in_memory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(server->folder));
    postgres_guard(server);
    if (geteuid() == 0)
        assert_int_equal(chown(server->folder, 65534, 65534), 0);
    assert_int_equal(postgres_shell(server,
                                    "initdb -D '%s/data' -U epsilond -A trust "
                                    "-E UTF8 --locale=C --no-sync >/dev/null",
                                    server->folder),
                     0);
    char path[64];
    snprintf(path, sizeof path, "%s/data/pg_hba.conf", server->folder);
    FILE *rules = fopen(path, "w");
    assert_non_null(rules);
    fputs("local all strict scram-sha-256\nlocal all all trust\n", rules);
    fclose(rules);
    assert_true(postgres_start(server));
    return true;
}

struct postgres_database {
    char name[16];
    char url[200];
    char words[120]; /* the psql command that reaches it */
};

/* Runs SQL in a database, or outside all of them if it is NULL, and prints nothing. */
static inline int postgres_sql(const struct postgres_server *server,
                               const struct postgres_database *database,
                               const char *sql)
{
    return postgres_shell(server,
                          "%s -X -q -v ON_ERROR_STOP=1 -h '%s' -U epsilond -c "
                          "\"%s\" >/dev/null 2>>'%s/log'",
                          database != NULL ? database->words : "psql -d postgres",
                          server->folder, sql, server->folder);
}

/* Writes the first value that the SQL returns to out, as text. */
static inline void postgres_ask(const struct postgres_server *server,
                                const struct postgres_database *database,
                                const char *sql, char *out, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command,
             "PATH=%s:$PATH %s -X -q -At -h '%s' -U epsilond -c \"%s\" 2>&1",
             server->bin, database != NULL ? database->words : "psql -d postgres",
             server->folder, sql);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    if (fgets(out, (int)size, answer) == NULL)
        out[0] = '\0';
    pclose(answer);
    out[strcspn(out, "\n")] = '\0';
}

/* Creates a separate database, which takes a second. */
static inline struct postgres_database postgres_database(struct postgres_server *server)
{
    struct postgres_database database;
    char sql[64];
    snprintf(database.name, sizeof database.name, "d%u", ++server->databases);
    snprintf(database.url, sizeof database.url, "postgresql://epsilond@/%s?host=%s",
             database.name, server->folder);
    snprintf(database.words, sizeof database.words, "psql -d %s", database.name);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", database.name);
    assert_int_equal(postgres_sql(server, NULL, sql), 0);
    return database;
}

/* Sets the URL of an existing schema, for a user and a server at host. */
static inline void postgres_lead(struct postgres_database *database, const char *user,
                                 const char *host)
{
    snprintf(database->url, sizeof database->url,
             "postgresql://%s@/postgres?host=%s&options=-csearch_path%%3D%s", user,
             host, database->name);
}

/* Creates a schema of its own, which serves a store as well as a database. Only one of
 * them is open at a time. */
static inline struct postgres_database postgres_schema(struct postgres_server *server)
{
    struct postgres_database database;
    char sql[64];
    snprintf(database.name, sizeof database.name, "s%u", ++server->databases);
    postgres_lead(&database, "epsilond", server->folder);
    snprintf(database.words, sizeof database.words,
             "env PGOPTIONS=-csearch_path=%s psql -d postgres", database.name);
    snprintf(sql, sizeof sql, "CREATE SCHEMA %s", database.name);
    assert_int_equal(postgres_sql(server, NULL, sql), 0);
    return database;
}

/* Simulates a power cut: no process of the server does anything more. */
static inline void postgres_kill(const struct postgres_server *server)
{
    char path[64];
    long pid = 0;
    snprintf(path, sizeof path, "%s/data/postmaster.pid", server->folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    /* The children end once they notice that their parent has; until then a start is
     * refused. */
    while (!postgres_start(server))
        continue;
}

static inline void postgres_remove(struct postgres_server *server)
{
    if (server->folder[0] == '\0')
        return;
    postgres_shell(server, "pg_ctl -D '%s/data' -s -w -m immediate stop",
                   server->folder);
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
    assert_int_equal(system(command), 0);
    server->folder[0] = '\0';
}

#endif
