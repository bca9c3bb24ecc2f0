/*
 * rank_fixture.h - the processes of a job of several ranks, as somebody sees them who looks
 * at the machine: whether they can be started, which there are, that they are gone.
 */
#ifndef TESTS_E2E_RANK_FIXTURE_H
#define TESTS_E2E_RANK_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/e2e/stage_fixture.h"

/* mpirun on this machine, in memory, whoever runs it and however few processors there are. */
#define RANKS_MPIRUN                                                                   \
    "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca btl self,vader "  \
    "--mca btl_vader_single_copy_mechanism none --mca oob_tcp_if_include lo "          \
    "--mca mpi_yield_when_idle 1"

/* A job on the digits: its steps, a few or more than anybody waits for, and its noise. */
#define RANKS_JOB                                                                      \
    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':512,'steps':%d,'ranks':2,'privacy':{'noise_multiplier':%g}}"
enum { RANKS = 2, FEW_STEPS = 40, ENDLESS_STEPS = 1000000 };

/* Whether there is an mpirun, and no sanitizer, which knows nothing of its threads. */
bool ranks_can_start(void);

/* The client of a stage. Without one, because ranks cannot start, the test is skipped aloud. */
struct client *ranks_client(struct stage *stage);

/* How many processes of ranks there are below the daemon's launcher. found gets the numbers
 * of at most max. */
unsigned find_ranks(const struct daemon *daemon, pid_t *found, unsigned max);

/* The process that has started a rank: mpirun. */
pid_t launcher_of(pid_t rank);

/* The same of processes of this program, an absolute path, wherever they were started. */
unsigned find_processes(const char *program, pid_t *found, unsigned max);

/* Asserts that the processes end within a minute, in which whoever reaps them may come to
 * it. */
void assert_ranks_gone(const pid_t *found, unsigned count);

/* A job of ENDLESS_STEPS that has ended early, without a model, and was charged what was
 * authorised. */
void assert_charged_in_part(const struct reply *job);

#endif
