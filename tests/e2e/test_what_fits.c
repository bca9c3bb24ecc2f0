/* Goal: shares of what is left, and what the daemon says would fit, in an estimate and
 * in a refusal alike: a request of that size is then accepted, and a slightly larger
 * one is not. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define JOB                                                                            \
    "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"        \
    "'batch_size':50,'steps':%d,'privacy':{'%s':%.17g}}"

static const struct reply *estimate(struct client *client, const char *dataset,
                                    int steps, const char *target, double value)
{
    return client_post(client, "/v1/jobs:estimate", NULL, JOB, dataset, steps, target,
                       value);
}

static const char *fits(struct client *client, const char *dataset, int steps,
                        const char *target, double value)
{
    const struct reply *reply = estimate(client, dataset, steps, target, value);
    assert_status(reply, 200);
    return reply_text(reply, "fits");
}

/* Checks what reply, an answer to a job of these steps and this noise, says would
 * fit. */
static void expect_room(struct client *client, const char *dataset,
                        const struct reply *reply, int steps, double noise_multiplier)
{
    double largest = reply_number(reply, "largest_epsilon");
    int most = (int)reply_number(reply, "most_steps");
    assert_true(largest > 0);
    assert_string_equal(fits(client, dataset, steps, "epsilon", largest), "yes");
    assert_string_not_equal(fits(client, dataset, steps, "epsilon", largest * 1.001),
                            "yes");
    if (most > 0)
        assert_string_equal(
            fits(client, dataset, most, "noise_multiplier", noise_multiplier), "yes");
    assert_string_not_equal(
        fits(client, dataset, most + 1, "noise_multiplier", noise_multiplier), "yes");
}

static void what_an_estimate_offers_is_taken(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "offered", 500, 1, SAMPLE_BUDGET(2));
    await_end(client, submit(client, JOB, "offered", 20, "epsilon", 0.7));
    const struct reply *asked =
        estimate(client, "offered", 20, "noise_multiplier", 2.71);
    assert_string_equal(reply_text(asked, "fits"), "yes");
    expect_room(client, "offered", asked, 20, 2.71);
    int most = (int)reply_number(asked, "most_steps");
    assert_true(most > 20);
    await_end(client, submit(client, JOB, "offered", most, "noise_multiplier", 2.71));
    assert_string_equal(fits(client, "offered", most, "noise_multiplier", 2.71), "no");
}

/* The largest epsilon, to its last digit. */
static void the_largest_epsilon_is_taken_and_no_more(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "largest", 500, 2, SAMPLE_BUDGET(3));
    for (int i = 0; i < 3; i++) {
        int steps = 7 + 300 * i;
        const struct reply *asked = estimate(client, "largest", steps, "epsilon", 0.1);
        double largest = reply_number(asked, "largest_epsilon");
        assert_problem(client_create(client, "/v1/jobs", JOB, "largest", steps,
                                     "epsilon", largest * 1.001),
                       409, "budget_exhausted");
        if (i < 2) /* spends some, so that the next room differs */
            await_end(client, submit(client, JOB, "largest", 20, "epsilon", 0.3));
        else
            await_end(client,
                      submit(client, JOB, "largest", steps, "epsilon", largest));
    }
}

static void a_refusal_offers_what_an_estimate_does(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    struct account account;
    double needed[ACCOUNT_ORDERS];
    ready_points(client, "refused", 500, 3, SAMPLE_BUDGET(2));
    await_end(client, submit(client, JOB, "refused", 20, "epsilon", 1.1));
    const struct reply *refused =
        client_create(client, "/v1/jobs", JOB, "refused", 400, "noise_multiplier", 2.2);
    assert_problem(refused, 409, "budget_exhausted");
    expect_room(client, "refused", refused, 400, 2.2);
    const struct reply *asked =
        estimate(client, "refused", 400, "noise_multiplier", 2.2);
    assert_string_equal(reply_text(asked, "fits"), "no");
    assert_true(reply_number(asked, "largest_epsilon") ==
                reply_number(refused, "largest_epsilon"));
    assert_true(reply_number(asked, "most_steps") ==
                reply_number(refused, "most_steps"));
    account_read(&account, client, "refused");
    account_curve(needed, reply_at(refused, "needed"));
    const json_t *available = reply_at(refused, "available");
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++) {
        assert_true(json_is_null(json_array_get(available, i)) == !account.weighted[i]);
        if (!account.weighted[i])
            continue;
        double room = account.capacity[i] - account.committed[i];
        assert_true(json_number_value(json_array_get(available, i)) == fmax(0, room));
        assert_true(needed[i] > room);
    }
}

static void held_budget_is_said_to_be_held(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "held", 500, 4, SAMPLE_BUDGET(2));
    const char *job = submit(client, JOB, "held", SAMPLE_ENDLESS, "epsilon", 1.5);
    const struct reply *asked = estimate(client, "held", 20, "epsilon", 1.4);
    assert_string_equal(reply_text(asked, "fits"), "held");
    expect_room(client, "held", asked, 20, reply_number(asked, "noise_multiplier"));
    const struct reply *refused =
        client_create(client, "/v1/jobs", JOB, "held", 20, "epsilon", 1.4);
    assert_problem(refused, 409, "budget_held");
    assert_true(json_is_true(reply_at(refused, "retryable")));
    assert_true(reply_number(refused, "largest_epsilon") ==
                reply_number(asked, "largest_epsilon"));
    assert_string_equal(fits(client, "held", 20, "epsilon", 2.5), "no");
    cancel(client, job);
    await_end(client, job);
    assert_string_equal(fits(client, "held", 20, "epsilon", 1.4), "yes");
}

/* Returns the smallest share of its capacity that a weighted order has left. */
static double least_left(struct client *client, const char *dataset)
{
    struct account account;
    double least = INFINITY;
    account_read(&account, client, dataset);
    assert_true(account_is_sound(&account));
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++)
        if (account.weighted[i])
            least = fmin(
                least, (account.capacity[i] - account.committed[i] - account.held[i]) /
                           account.capacity[i]);
    return least;
}

static void the_whole_of_the_rest_fits_and_leaves_nothing(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "whole", 500, 5, SAMPLE_BUDGET(2));
    await_end(client, submit(client, JOB, "whole", 20, "epsilon", 0.37));
    const struct reply *reply = estimate(client, "whole", 33, "budget_fraction", 1.0);
    assert_string_equal(reply_text(reply, "fits"), "yes");
    double noise = reply_number(reply, "noise_multiplier");
    reply = client_create(client, "/v1/jobs", JOB, "whole", 33, "budget_fraction", 1.0);
    assert_status(reply, 201);
    assert_true(reply_number(reply, "privacy.noise_multiplier") == noise ||
                fabs(reply_number(reply, "privacy.noise_multiplier") / noise - 1) <
                    1e-14);
    /* The search for the noise ends within 1e-6 of the minimum. */
    assert_true(least_left(client, "whole") < 3e-6);
    await_end(client, reply_text(reply, "id"));
    assert_string_equal(fits(client, "whole", 33, "noise_multiplier", noise), "no");
}

/* A job that asks for a fraction of what is left always fits, until even the largest
 * noise that is allowed does not. */
static void shares_end_in_a_refusal_that_says_why(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "shares", 500, 6, SAMPLE_BUDGET(2));
    const struct reply *reply;
    unsigned taken = 0;
    while ((reply = client_create(client, "/v1/jobs", JOB, "shares", 5,
                                  "budget_fraction", 1.0))
               ->status == 201) {
        await_end(client, reply_text(reply, "id"));
        least_left(client, "shares");
        assert_true(++taken < 50);
    }
    assert_true(taken >= 2); /* one at each weighted order, then small rests */
    assert_problem(reply, 409, "budget_exhausted");
    assert_true(reply_number(reply, "largest_epsilon") == 0);
    assert_true(reply_number(reply, "most_steps") >= 0);
    assert_true(reply_number(reply, "most_steps") < 5);
    double needed[ACCOUNT_ORDERS];
    account_curve(needed, reply_at(reply, "needed"));
    const json_t *available = reply_at(reply, "available");
    for (size_t i = 0; i < ACCOUNT_ORDERS; i++)
        if (!json_is_null(json_array_get(available, i)))
            assert_true(needed[i] > json_number_value(json_array_get(available, i)));
    const struct reply *asked = estimate(client, "shares", 5, "budget_fraction", 0.5);
    assert_problem(asked, 409, "budget_exhausted");
    reply_at(asked, "available");
}

static void a_share_of_held_budget_is_refused_as_held(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "waiting", 500, 7, SAMPLE_BUDGET(2));
    const char *jobs[50];
    unsigned count = 0;
    const struct reply *reply;
    while ((reply = client_create(client, "/v1/jobs", JOB, "waiting", SAMPLE_ENDLESS,
                                  "budget_fraction", 1.0))
               ->status == 201) {
        assert_true(count < 50);
        jobs[count++] = reply_text(reply, "id");
    }
    assert_problem(reply, 409, "budget_held");
    assert_true(json_is_true(reply_at(reply, "retryable")));
    reply_at(reply, "needed");
    reply_number(reply, "largest_epsilon");
    while (count-- > 0) {
        cancel(client, jobs[count]);
        await_end(client, jobs[count]);
    }
    assert_string_equal(fits(client, "waiting", 5, "budget_fraction", 1.0), "yes");
}

/* Beyond epsilon 30 the sampler's distance is not covered, so no job may promise more.
 * A job with a smaller delta than the budget's would, even though it fits. */
static void a_job_promises_no_more_than_is_proved(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char job[] =
        "{'dataset':'proved','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':100,'steps':1,'privacy':{'noise_multiplier':%g,'delta':%g}}";
    ready_points(client, "proved", 100, 8,
                 "{'epsilon':30,'delta':0.01}" SAMPLE_CONFIRMED);
    const struct reply *asked =
        client_post(client, "/v1/jobs:estimate", NULL, job, .23, .01);
    assert_string_equal(reply_text(asked, "fits"), "yes");
    assert_true(reply_number(asked, "epsilon_planned") < 30);
    assert_invalid_at(client_post(client, "/v1/jobs:estimate", NULL, job, .23, 1e-9),
                      "/privacy/delta");
    assert_invalid_at(client_create(client, "/v1/jobs", job, .23, 1e-9),
                      "/privacy/delta");
    assert_true(reply_number(client_get(client, "/v1/datasets/proved/budget"),
                             "fraction_remaining") == 1);
    /* A job that does not fit gets the usual answer, with the number for ideal
     * noise. */
    asked = client_post(client, "/v1/jobs:estimate", NULL, job, .05, 1e-9);
    assert_string_equal(reply_text(asked, "fits"), "no");
    assert_true(reply_number(asked, "epsilon_planned") > 100);
}

/* Epsilons are not additive. The number is found by the ledger's own sums, at two
 * orders, and holds however the job asks for its privacy. */
static void jobs_like_this_are_taken_and_not_one_more(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "counted", 500, 9, SAMPLE_BUDGET(2));
    const struct reply *asked = estimate(client, "counted", 20, "epsilon", 0.9);
    unsigned foreseen = (unsigned)reply_number(asked, "jobs_like_this");
    assert_true(foreseen >= 2 && foreseen < 10);
    assert_true(foreseen != (unsigned)(2 / 0.9));
    for (unsigned taken = 0; taken < foreseen; taken++) {
        asked = estimate(client, "counted", 20, "epsilon", 0.9);
        assert_string_equal(reply_text(asked, "fits"), "yes");
        assert_true(reply_number(asked, "jobs_like_this") == foreseen - taken);
        double after = reply_number(asked, "epsilon_after");
        assert_true(json_is_null(reply_at(asked, "exposure_after")));
        double left[2], ask[2];
        for (size_t i = 0; i < 2; i++) {
            const json_t *room = json_array_get(reply_at(asked, "rooms"), i);
            left[i] = 1 - json_number_value(json_object_get(room, "spent"));
            ask[i] = json_number_value(json_object_get(room, "asked"));
        }
        await_end(client, submit(client, JOB, "counted", 20, "epsilon", 0.9));
        const struct reply *budget = client_get(client, "/v1/datasets/counted/budget");
        assert_true(reply_number(budget, "epsilon_spent") == after);
        for (size_t i = 0; i < 2; i++) {
            const json_t *room = json_array_get(reply_at(budget, "rooms"), i);
            double spent = json_number_value(json_object_get(room, "spent"));
            assert_true(fabs(1 - spent - (left[i] - ask[i])) < 1e-14);
        }
    }
    asked = estimate(client, "counted", 20, "epsilon", 0.9);
    assert_string_equal(reply_text(asked, "fits"), "no");
    assert_true(reply_number(asked, "jobs_like_this") == 0);
    assert_true(json_is_false(reply_at(asked, "share.fits")));
    assert_true(reply_number(asked, "share.asked") > reply_number(asked, "share.left"));
    assert_problem(
        client_create(client, "/v1/jobs", JOB, "counted", 20, "epsilon", 0.9), 409,
        "budget_exhausted");
}

static void what_is_held_is_not_counted_on(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "busy", 500, 10, SAMPLE_BUDGET(2));
    const struct reply *asked = estimate(client, "busy", 20, "epsilon", 0.5);
    double free_jobs = reply_number(asked, "jobs_like_this");
    double alone = reply_number(asked, "epsilon_after");
    const char *job = submit(client, JOB, "busy", SAMPLE_ENDLESS, "epsilon", 1.2);
    asked = estimate(client, "busy", 20, "epsilon", 0.5);
    assert_true(reply_number(asked, "jobs_like_this") < free_jobs);
    assert_true(reply_number(asked, "epsilon_after") > alone);
    assert_true(reply_number(asked, "share.held") > 0.2);
    cancel(client, job);
    await_end(client, job);
}

static void no_more_are_counted_than_the_limit(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "endless", 500, 11, SAMPLE_BUDGET(2));
    const struct reply *asked = estimate(client, "endless", 1, "noise_multiplier", 1e6);
    assert_true(reply_number(asked, "jobs_like_this") == 1000000);
    ready_points(client, "free", 500, 12, SAMPLE_PUBLIC);
    asked = estimate(client, "free", 20, "noise_multiplier", 1.0);
    static const char *const names[] = {"share", "rooms", "epsilon_after",
                                        "exposure_after", "jobs_like_this"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(json_is_null(reply_at(asked, names[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_estimate_offers_is_taken),
        cmocka_unit_test(the_largest_epsilon_is_taken_and_no_more),
        cmocka_unit_test(a_refusal_offers_what_an_estimate_does),
        cmocka_unit_test(held_budget_is_said_to_be_held),
        cmocka_unit_test(the_whole_of_the_rest_fits_and_leaves_nothing),
        cmocka_unit_test(shares_end_in_a_refusal_that_says_why),
        cmocka_unit_test(a_share_of_held_budget_is_refused_as_held),
        cmocka_unit_test(a_job_promises_no_more_than_is_proved),
        cmocka_unit_test(jobs_like_this_are_taken_and_not_one_more),
        cmocka_unit_test(what_is_held_is_not_counted_on),
        cmocka_unit_test(no_more_are_counted_than_the_limit),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
