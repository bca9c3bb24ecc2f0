/*
 * daemon_fixture.h - the real daemon as a child process: started on a free loopback
 * port in a directory of its own, stopped by signals, started again on what it left.
 *
 * The binary is the one named by $EPSILOND. Whatever goes wrong fails the running test.
 * A daemon dies with the test program that started it.
 */
#ifndef TESTS_E2E_DAEMON_FIXTURE_H
#define TESTS_E2E_DAEMON_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

struct daemon {
    pid_t pid; /* 0: not running */
    unsigned port;
    char directory[64]; /* fresh; holds data/ and log */
    char data_dir[80];
    char base[48];           /* http://127.0.0.1:PORT, or https: with --tls-cert */
    const char *certificate; /* what --tls-cert named, or NULL */
    const char *socket_path; /* what --listen unix: named, or NULL */
};

/* Makes the directory and starts nothing. */
void daemon_init(struct daemon *daemon);

/* Starts it on 127.0.0.1:0 with further options (NULL-ended, or NULL; they are kept), and
 * waits until it listens. May be called again after daemon_stop. */
void daemon_start(struct daemon *daemon, const char *const *options);

/* Sends the signal and waits for the end: the exit code, or 128 + the signal that ended
 * it. */
int daemon_stop(struct daemon *daemon, int signal);

/* Runs the binary with the arguments (NULL-ended) to its own end: the exit code. What
 * it prints is appended to the log. One that has not ended after five minutes fails the test.
 */
int daemon_run(struct daemon *daemon, const char *const *arguments);

/* `epsilond verify` on its directory, running or not: the exit code. */
int daemon_verify(struct daemon *daemon);

/* Waits for a daemon that ends by itself: as daemon_stop. */
int daemon_wait(struct daemon *daemon);

/* Whether the daemon was built to speak to servers of PostgreSQL; says so where it was not. */
bool daemon_has_postgres(void);

/* SIGKILL where it runs; the directory goes. If a sanitizer said anything in its log, the log
 * is shown and the program's exit code is a failure's, whatever its tests found. */
void daemon_fini(struct daemon *daemon);

/* Its whole log, on stderr. */
void daemon_show_log(const struct daemon *daemon);

/* Whether its log holds text. */
bool daemon_logged(const struct daemon *daemon, const char *text);

/* Resident memory, KiB: now, and the most it ever was. */
long daemon_resident(const struct daemon *daemon);
long daemon_resident_peak(const struct daemon *daemon);

/* Asserts that memory grew by less than so many KiB. A sanitizer keeps freed memory, so
 * there it proves nothing, and this says so. */
void assert_growth(long grown, long most);

/* Seconds for which its threads, and this program's, were ready to run while others had
 * the processors, summed over those that live: what a busy machine adds to a wait. 0 where
 * the kernel does not count them. */
double daemon_starved_s(const struct daemon *daemon);

#endif
