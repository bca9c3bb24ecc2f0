/*
 * daemon_fixture.h - the real daemon as a child process: started on a free loopback
 * port in a directory of its own, stopped by signals, and started again on the files
 * that it left.
 *
 * The binary is the one that $EPSILOND names. It may be built with a sanitizer; the test
 * programs never are (make/tests.mk), so SANITIZED of expect.h says nothing here, and
 * may not be used: daemon_sanitizer() says it. Any failure of the fixture fails the
 * running test. A daemon dies with the test program that started it.
 */
#ifndef TESTS_E2E_DAEMON_FIXTURE_H
#define TESTS_E2E_DAEMON_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/expect.h"

#pragma GCC poison SANITIZED RACES_SOUGHT

enum daemon_sanitizer { SANITIZER_NONE, SANITIZER_ADDRESS, SANITIZER_THREAD };

struct daemon {
    pid_t pid; /* 0: not running */
    unsigned port;
    char directory[64]; /* fresh; holds data/ and log */
    char data_dir[80];
    char base[48];           /* http://127.0.0.1:PORT, or https: with --tls-cert */
    const char *certificate; /* the file given to --tls-cert, or NULL */
    const char *socket_path; /* the path given to --listen unix:, or NULL */
};

/* Returns the sanitizer that the binary is built with. */
enum daemon_sanitizer daemon_sanitizer(void);

/* Makes the directory but starts no daemon. */
void daemon_init(struct daemon *daemon);

/* Starts the daemon on 127.0.0.1:0 with further options (NULL-ended, or NULL; their
 * strings must outlive the daemon), and waits until it listens. May be called again
 * after daemon_stop. */
void daemon_start(struct daemon *daemon, const char *const *options);

/* Sends the signal and waits for the daemon to end. Returns the exit code, or 128 + the
 * signal that ended it. */
int daemon_stop(struct daemon *daemon, int signal);

/* Runs the binary with the arguments (NULL-ended) until it ends, and returns the exit
 * code. Its output is appended to the log. A run that takes more than five minutes
 * fails the test. */
int daemon_run(struct daemon *daemon, const char *const *arguments);

/* Runs `epsilond verify` on the daemon's directory, whether it is running or not, and
 * returns the exit code. */
int daemon_verify(struct daemon *daemon);

/* Waits for a daemon that ends by itself; returns what daemon_stop does. */
int daemon_wait(struct daemon *daemon);

/* Returns whether the daemon was built with support for PostgreSQL; reports it if
 * not. */
bool daemon_has_postgres(void);

/* Sends SIGKILL if the daemon runs, and removes the directory. If a sanitizer wrote
 * anything to the log, shows the log and makes the program's exit code that of a
 * failure, even if all its tests pass. */
void daemon_fini(struct daemon *daemon);

/* Copies the whole log to stderr. */
void daemon_show_log(const struct daemon *daemon);

/* Returns whether the log contains text. */
bool daemon_logged(const struct daemon *daemon, const char *text);

/* Resident memory in KiB: now, and its maximum so far. */
long daemon_resident(const struct daemon *daemon);
long daemon_resident_peak(const struct daemon *daemon);

/* Asserts that memory grew by less than `most` KiB. A sanitizer keeps freed memory, so
 * under one this proves nothing, and says so. */
void assert_growth(long grown, long most);

/* Seconds for which threads of the daemon and of this program were ready to run while
 * other processes had the processors, summed over the threads that are alive: the delay
 * that a busy machine adds to a wait. 0 if the kernel does not count it. */
double daemon_starved_s(const struct daemon *daemon);

#endif
