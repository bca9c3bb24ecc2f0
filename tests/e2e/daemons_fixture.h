/*
 * daemons_fixture.h - several daemons that share a database of a real server and the bucket
 * of a small server of S3: each a real process with a directory, a role and a client of its
 * own.
 *
 * Whatever goes wrong fails the running test. Threads: one, and a client belongs to one.
 */
#ifndef TESTS_E2E_DAEMONS_FIXTURE_H
#define TESTS_E2E_DAEMONS_FIXTURE_H

#include "tests/e2e/client_fixture.h"

enum { DAEMONS_MAX = 4 };

struct daemons {
    size_t count;
    const char *roles[DAEMONS_MAX]; /* as --role says them */
    struct daemon all[DAEMONS_MAX];
    struct client clients[DAEMONS_MAX];
};

/* Makes the server of the database, before the group of tests; false, aloud, where there is
 * none here. */
bool daemons_can_start(void);
/* The same with a standby that COMMITs wait for, whose address the daemons have, too. */
bool daemons_can_start_replicated(void);

/* cmocka's setup and teardown of a group, whose state is a daemon for each of the roles, which
 * NULL ends, on a fresh database and bucket. The end is by SIGKILL where they still run. */
int daemons_begin(void **state, const char *const *roles);
int daemons_end(void **state);

/* Starts one again, that was stopped. */
void daemons_start(struct daemons *daemons, size_t index);
/* Runs a command of one of them, with `--data-dir` and what it shares behind the words: its
 * exit code. */
int daemons_command(struct daemons *daemons, size_t index, const char *const *words);
/* `epsilond verify`, beside those that run: the exit code. */
int daemons_verify(struct daemons *daemons);

/* What SQL answers in the database that they share. */
double daemons_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The server of the database is gone, and back. */
void daemons_kill_server(void);
/* The machine of the database's server goes for good, and the standby is promoted. */
void daemons_fail_over(void);
/* The daemon reaches the server no more, and the server it; until it does again. */
void daemons_cut(struct daemons *daemons, size_t index);
void daemons_join(struct daemons *daemons, size_t index);

#endif
