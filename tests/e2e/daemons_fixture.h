/*
 * daemons_fixture.h - several daemons that share a database on a real PostgreSQL server
 * and a bucket on a small S3 server: each is a real process with its own directory,
 * role and client.
 *
 * Any failure of the fixture fails the running test. Threads: one, and a client belongs
 * to one.
 */
#ifndef TESTS_E2E_DAEMONS_FIXTURE_H
#define TESTS_E2E_DAEMONS_FIXTURE_H

#include "tests/e2e/client_fixture.h"

enum { DAEMONS_MAX = 4 };

struct daemons {
    size_t count;
    const char *roles[DAEMONS_MAX]; /* values of --role */
    struct daemon all[DAEMONS_MAX];
    struct client clients[DAEMONS_MAX];
};

/* Starts the database server, before the group of tests; returns false, and reports it,
 * if PostgreSQL is not installed. */
bool daemons_can_start(void);
/* The same, with a standby that COMMITs wait for; the daemons have its address, too. */
bool daemons_can_start_replicated(void);

/* cmocka's setup and teardown of a group. The state holds one daemon for each of the
 * NULL-ended roles, on a fresh database and bucket. The teardown kills the daemons that
 * still run. */
int daemons_begin(void **state, const char *const *roles);
int daemons_end(void **state);

/* Starts a daemon again that was stopped. */
void daemons_start(struct daemons *daemons, size_t index);
/* Runs a command of the binary for one daemon: the words, followed by `--data-dir` and
 * the options of the shared stores. Returns the exit code. */
int daemons_command(struct daemons *daemons, size_t index, const char *const *words);
/* Runs `epsilond verify` while the daemons run; returns the exit code. */
int daemons_verify(struct daemons *daemons);

/* Returns the number that a SQL query of the shared database answers. */
double daemons_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Kills the database server and starts it again. */
void daemons_kill_server(void);
/* The machine of the database server is lost for good, and the standby is promoted. */
void daemons_fail_over(void);
/* Cuts the daemon off from the database server, in both directions, until
 * daemons_join. */
void daemons_cut(struct daemons *daemons, size_t index);
void daemons_join(struct daemons *daemons, size_t index);

#endif
