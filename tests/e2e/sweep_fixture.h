/*
 * sweep_fixture.h - what tests of sweeps stand on: points to sweep over, small grids, and what
 * became of them in the ledger.
 */
#ifndef TESTS_E2E_SWEEP_FIXTURE_H
#define TESTS_E2E_SWEEP_FIXTURE_H

#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* The job of all runs, a member of a sweep; and a sweep of three of them. */
#define SWEEP_RUNS                                                                     \
    "'job':{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"       \
    "'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd'},'batch_size':50,"         \
    "'steps':20,'privacy':{'epsilon':0.5}}"
#define SWEEP_GRID "{" SWEEP_RUNS ",'grid':{'/optimizer/learning_rate':[0.0001,1,2]}}"

/* cmocka's setup of a test, whose teardown is stage_end: the private dataset "points", of a
 * budget of 2, and the public one "open". Runs train side by side in the first, and one by
 * one, in the order in which they were reserved, in the second. */
int sweep_begin(void **state);
int sweep_begin_one_worker(void **state);
/* Under other options of the daemon. */
int sweep_begin_with(void **state, const char *const *options);
extern const char *const sweep_one_worker[]; /* the options of the second */

struct client *sweep_client(void **state);

/* How many entries of the kind the ledger has of "points". */
size_t sweep_entries(struct client *client, const char *kind);
/* A number in the budget of "points". */
double sweep_figure(struct client *client, const char *name);
/* The sweep once all its runs are terminal. */
const struct reply *sweep_await(struct client *client, const struct reply *sweep);

#endif
