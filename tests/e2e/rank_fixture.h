/*
 * rank_fixture.h - the processes of a job of several ranks, as seen from outside on the
 * machine: whether they can be started, which ones run, and that they have ended.
 */
#ifndef TESTS_E2E_RANK_FIXTURE_H
#define TESTS_E2E_RANK_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/e2e/stage_fixture.h"

/* mpirun on this machine, over shared memory, for any user and any number of
 * processors. */
#define RANKS_MPIRUN                                                                   \
    "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca btl self,vader "  \
    "--mca btl_vader_single_copy_mechanism none --mca oob_tcp_if_include lo "          \
    "--mca mpi_yield_when_idle 1"

/* A job on the digits with a given number of steps and noise. ENDLESS_STEPS outlast
 * every test. */
#define RANKS_JOB                                                                      \
    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':512,'steps':%d,'ranks':2,'privacy':{'noise_multiplier':%g}}"
enum { RANKS = 2, FEW_STEPS = 40, ENDLESS_STEPS = 1000000 };

/* Returns whether mpirun is installed and this program has no sanitizer: sanitizers do
 * not understand mpirun's threads. */
bool ranks_can_start(void);

/* Returns the client of a stage. stage is NULL if ranks cannot start: the test is then
 * skipped with a reason. */
struct client *ranks_client(struct stage *stage);

/* Returns the number of rank processes below the daemon's launcher. Stores the process
 * ids of at most max of them in found. */
unsigned find_ranks(const struct daemon *daemon, pid_t *found, unsigned max);

/* Returns the process that has started a rank: mpirun. */
pid_t launcher_of(pid_t rank);

/* The same for processes of this program, an absolute path, started by any process. */
unsigned find_processes(const char *program, pid_t *found, unsigned max);

/* Asserts that the processes end within a minute, which includes the time until they
 * are reaped. */
void assert_ranks_gone(const pid_t *found, unsigned count);

/* Asserts that a job of ENDLESS_STEPS has ended early, without a model, and was charged
 * the steps that were authorised. */
void assert_charged_in_part(const struct reply *job);

#endif
