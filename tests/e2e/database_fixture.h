/*
 * database_fixture.h - a real PostgreSQL server of a third party, which the daemon calls
 * over TCP: with TLS for localhost, and with the role "reader", who has a password and
 * may only read the table people. Include after postgres_fixture.h and
 * receiver_fixture.h, whose certificate it takes.
 */
#ifndef TESTS_E2E_DATABASE_FIXTURE_H
#define TESTS_E2E_DATABASE_FIXTURE_H

#include <arpa/inet.h>
#include <sys/socket.h>

#define DATABASE_PASSWORD "tok3n of a reader"

struct database {
    struct postgres_server server;
    unsigned port;
};

static inline unsigned database_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(probe >= 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&at, &size), 0);
    close(probe);
    return ntohs(at.sin_port);
}

/* Starts the server on its port. psql finds its socket by $PGPORT. */
static inline void database_start(const struct database *database)
{
    const struct postgres_server *server = &database->server;
    assert_int_equal(
        postgres_shell(server,
                       "pg_ctl -D data -s -w -l log -o \"-k '%s' -c port=%u "
                       "-c listen_addresses=127.0.0.1 -c max_connections=20 "
                       "-c shared_buffers=4MB -c dynamic_shared_memory_type=mmap "
                       "-c ssl=on -c ssl_cert_file=../certificate.pem "
                       "-c ssl_key_file=../key.pem\" start >/dev/null 2>&1",
                       server->folder, database->port),
        0);
}

/* Ends the server as a crash does. */
static inline void database_stop(const struct database *database)
{
    assert_int_equal(
        postgres_shell(&database->server, "pg_ctl -D data -s -w -m immediate stop"), 0);
}

static inline void database_sql(const struct database *database, const char *sql)
{
    assert_int_equal(postgres_sql(&database->server, NULL, sql), 0);
}

static inline int database_count(const struct database *database, const char *sql)
{
    char answer[64];
    postgres_ask(&database->server, NULL, sql, answer, sizeof answer);
    return atoi(answer);
}

static inline void database_take_keys(const struct database *database,
                                      const char *certificates)
{
    char command[400];
    const char *folder = database->server.folder;
    snprintf(
        command, sizeof command,
        "cd '%s' && cp '%s/certificate.pem' '%s/key.pem' . && chmod 600 key.pem && "
        "{ [ $(id -u) != 0 ] || chown 65534:65534 key.pem; }",
        folder, certificates, certificates);
    assert_int_equal(system(command), 0);
}

/* Returns false, and says so, if there is no PostgreSQL. certificates is a folder. */
static inline bool database_make(struct database *database, const char *certificates)
{
    char path[64], port[16];
    *database = (struct database){.port = database_free_port()};
    if (!daemon_has_postgres() || !postgres_make(&database->server, true))
        return false;
    database_stop(database);
    database_take_keys(database, certificates);
    snprintf(path, sizeof path, "%s/data/pg_hba.conf", database->server.folder);
    FILE *rules = fopen(path, "a");
    assert_non_null(rules);
    fputs("host all reader 127.0.0.1/32 scram-sha-256\n", rules);
    fclose(rules);
    snprintf(port, sizeof port, "%u", database->port);
    assert_int_equal(setenv("PGPORT", port, 1), 0);
    database_start(database);
    database_sql(database, "CREATE ROLE reader LOGIN PASSWORD '" DATABASE_PASSWORD "'");
    database_sql(database, "CREATE TABLE people"
                           " (id serial PRIMARY KEY, x text, y text, above text)");
    database_sql(database, "GRANT SELECT ON people TO reader");
    return true;
}

#endif
