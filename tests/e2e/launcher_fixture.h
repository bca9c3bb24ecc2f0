/*
 * launcher_fixture.h - a daemon whose ranks a script starts elsewhere than beside it, by ssh or
 * by Slurm. The programs are copies in a folder of the test, so that the processes of ranks are
 * found by theirs, wherever they were started.
 */
#ifndef TESTS_E2E_LAUNCHER_FIXTURE_H
#define TESTS_E2E_LAUNCHER_FIXTURE_H

#include "tests/e2e/rank_fixture.h"

/* Copies epsilond and epsilond-rank into the folder. */
void launcher_copy_programs(const char *folder);

/* A stage whose ranks are started by these words in front of `epsilond rank`, in a script of
 * bash to which "$1" says how many there are; "digits" is ready. */
void launcher_begin(void **state, const char *words);
/* Starts the daemon again, which was stopped. */
void launcher_start_daemon(struct stage *stage);

/* Whether the script shortens the two minutes of the plan, for which others wait for a rank
 * that is stopped, to three seconds. */
void launcher_hasten(const struct stage *stage, bool hastens);

/* The processes of ranks of a job that has taken steps: as many as it has. */
void find_launched(const char *folder, pid_t found[RANKS]);
/* There is none. */
void assert_none_launched(const char *folder);

#endif
