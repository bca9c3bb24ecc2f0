/*
 * launcher_fixture.h - a daemon whose ranks are started outside the daemon's host by a
 * script, through ssh or Slurm. The test runs copies of the programs in a folder of its
 * own, so that it finds the ranks' processes by the path of their program, however they
 * were started.
 */
#ifndef TESTS_E2E_LAUNCHER_FIXTURE_H
#define TESTS_E2E_LAUNCHER_FIXTURE_H

#include "tests/e2e/rank_fixture.h"

/* A stage whose ranks are started by these words in front of `epsilond rank`, in a bash
 * script whose "$1" is the number of ranks; the dataset "digits" is ready. */
void launcher_begin(void **state, const char *words);
/* Starts the daemon again after a stop. */
void launcher_start_daemon(struct stage *stage);

/* Sets whether the script shortens patience_s of the plan, for which ranks wait for one
 * that is stopped, from two minutes to three seconds. */
void launcher_hasten(const struct stage *stage, bool hastens);

/* Finds the processes of a job's ranks, which must all be there. The job must have
 * taken steps. */
void find_launched(const char *folder, pid_t found[RANKS]);
/* Asserts that no process of a rank is left. */
void assert_none_launched(const char *folder);

#endif
