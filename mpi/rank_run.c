#include "mpi/rank_run.h"

#include <stdio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "mpi/watchdog.h"

enum { EXIT_MISSED = 75 };

/* Rank 0 sends this to the other ranks before each step. */
struct order {
    uint64_t step;
    enum { ORDER_STEP, ORDER_OVER, ORDER_STOP } what;
    char reason[sizeof((struct error *)0)->text]; /* for ORDER_STOP */
};

/* Exits without a call of MPI. The other ranks may be inside an MPI call, and a
 * second thread must not enter the library. When this process exits, the launcher
 * ends the others. */
static void missed(void)
{
    log_event(LOG_ERROR, "rank_missed", "reason",
              "no step has ended for too long: a rank was stopped or cut off",
              (char *)NULL);
    _exit(EXIT_MISSED);
}

/* At rank 0: decides what to do next. */
static enum status decide(const struct rank_run *run, struct order *order,
                          struct error *error)
{
    bool is_over = false;
    enum status status = run->authorise(run->context, order->step, &is_over, error);
    order->what = is_over ? ORDER_OVER : ORDER_STEP;
    if (status == ST_OK)
        return ST_OK;
    order->what = ORDER_STOP;
    snprintf(order->reason, sizeof order->reason, "%s",
             error != NULL ? error->text : status_wire(status));
    return status;
}

/* Takes the next step, if there is one. */
static enum status run_step(const struct rank_run *run, bool *is_over,
                            struct error *error)
{
    const struct group *group = run->group;
    struct order order = {.step = trainer_steps_done(run->trainer)};
    enum status status = group->rank == 0 ? decide(run, &order, error) : ST_OK;
    group_tell(group, &order, sizeof order);
    CHECK(order.step == trainer_steps_done(run->trainer));
    *is_over = order.what == ORDER_OVER;
    switch (order.what) {
    case ORDER_STEP: return trainer_step(run->trainer, error);
    case ORDER_OVER: return ST_OK;
    case ORDER_STOP: break;
    }
    return group->rank == 0
               ? status
               : error_set(error, ST_CANCELLED, "rank 0 stopped: %s", order.reason);
}

enum status rank_run(const struct rank_run *run, struct error *error)
{
    bool is_over = false;
    struct watchdog *watchdog =
        watchdog_open(run->least_ns > 0 ? run->least_ns : WATCHDOG_LEAST_NS, missed);
    enum status status = start_facts_compare(run->facts, run->group, error);
    while (status == ST_OK && !is_over) {
        status = run_step(run, &is_over, error);
        watchdog_step(watchdog);
    }
    watchdog_close(watchdog);
    return status;
}
