/*
 * sweep_fixture.h - common setup for tests of sweeps: points to sweep over, small
 * grids, and counts of what the ledger recorded.
 */
#ifndef TESTS_E2E_SWEEP_FIXTURE_H
#define TESTS_E2E_SWEEP_FIXTURE_H

#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* The job that all runs share, as a member of a sweep; and a sweep of three runs. */
#define SWEEP_RUNS                                                                     \
    "'job':{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"       \
    "'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd'},'batch_size':50,"         \
    "'steps':20,'privacy':{'epsilon':0.5}}"
#define SWEEP_GRID "{" SWEEP_RUNS ",'grid':{'/optimizer/learning_rate':[0.0001,1,2]}}"

/* cmocka's setup of a test; its teardown is stage_end. It makes the private dataset
 * "points" with a budget of 2, and the public one "open". With the first setup runs
 * train in parallel; with the second they train one by one, in the order of their
 * reservations. */
int sweep_begin(void **state);
int sweep_begin_one_worker(void **state);
/* The same with other options of the daemon. */
int sweep_begin_with(void **state, const char *const *options);
extern const char *const sweep_one_worker[]; /* the options of sweep_begin_one_worker */

struct client *sweep_client(void **state);

/* Returns the number of ledger entries of this kind for "points". */
size_t sweep_entries(struct client *client, const char *kind);
/* Returns a number of the budget of "points". */
double sweep_figure(struct client *client, const char *name);
/* Returns the sweep once all its runs are terminal. */
const struct reply *sweep_await(struct client *client, const struct reply *sweep);

#endif
