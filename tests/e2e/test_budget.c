/* Goal: the budget falls by what jobs are authorised to run, refuses what no longer
 * fits, and is never overspent, however many clients submit however much at once.
 * Method: capacities and sums are recomputed here from the numbers that the daemon
 * shows. */
#include <pthread.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { GRID = 50 };

#define JOB_EPSILON                                                                    \
    "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"        \
    "'batch_size':50,'steps':20,'privacy':{'epsilon':%g}}"

static int begin(void **state)
{
    return stage_begin_with(state, (const char *const[]){"--workers", "2", NULL});
}

static double number_at(const json_t *list, size_t index)
{
    const json_t *value = json_array_get(list, index);
    return json_is_null(value) ? (double)INFINITY : json_number_value(value);
}

/* Returns whether committed + held <= capacity at some weighted order. */
static bool keeps_the_filter(const struct reply *budget)
{
    const json_t *capacity = reply_at(budget, "capacity");
    const json_t *committed = reply_at(budget, "committed");
    const json_t *held = reply_at(budget, "held");
    assert_int_equal(json_array_size(capacity), GRID);
    for (size_t i = 0; i < GRID; i++)
        if (!json_is_null(json_array_get(capacity, i)) &&
            number_at(committed, i) + number_at(held, i) <= number_at(capacity, i))
            return true;
    return false;
}

/* Compares the shares and rooms with the vectors of the same answer: the share belongs
 * to the order with the most room left, and its parts add up to 1. */
static void expect_shares(const struct reply *budget)
{
    const json_t *rooms = reply_at(budget, "rooms");
    double most = -INFINITY, order = 0;
    assert_int_equal(json_array_size(rooms), 2);
    for (size_t r = 0; r < 2; r++) {
        const json_t *room = json_array_get(rooms, r);
        size_t i = 0;
        while (number_at(reply_at(budget, "orders"), i) !=
               json_number_value(json_object_get(room, "order")))
            i++;
        double capacity = number_at(reply_at(budget, "capacity"), i);
        double spent = number_at(reply_at(budget, "committed"), i) / capacity;
        double held = number_at(reply_at(budget, "held"), i) / capacity;
        assert_true(json_number_value(json_object_get(room, "weight")) ==
                    number_at(reply_at(budget, "weights"), i));
        assert_close(json_number_value(json_object_get(room, "spent")), spent, 1e-15);
        assert_close(json_number_value(json_object_get(room, "held")), held, 1e-15);
        if (1 - spent - held > most) {
            most = 1 - spent - held;
            order = number_at(reply_at(budget, "orders"), i);
        }
    }
    double left = reply_number(budget, "share.left");
    assert_true(fabs(left - most) < 1e-14);
    assert_true(fabs(left - reply_number(budget, "fraction_remaining")) < 1e-15);
    assert_true(reply_number(budget, "share.order") == order);
    double sum =
        reply_number(budget, "share.spent") + reply_number(budget, "share.held") + left;
    assert_true(fabs(sum - 1) < 1e-15);
}

static void a_fresh_budget_is_whole(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "fresh", 500, 1, SAMPLE_BUDGET(2));
    const struct reply *budget = client_get(client, "/v1/datasets/fresh/budget");
    assert_status(budget, 200);
    assert_true(reply_number(budget, "epsilon") == 2);
    assert_true(reply_number(budget, "delta") == 1e-5);
    assert_true(reply_number(budget, "guarantee.epsilon") == 2);
    assert_true(reply_number(budget, "epsilon_spent") == 0);
    assert_true(reply_number(budget, "epsilon_held") == 0);
    assert_true(reply_number(budget, "fraction_remaining") == 1);
    assert_true(reply_number(budget, "share.left") == 1);
    assert_true(reply_number(budget, "share.spent") == 0);
    expect_shares(budget);
    double remaining = reply_number(budget, "epsilon_remaining");
    assert_true(remaining > 1.9 && remaining < 2);
    assert_int_equal(json_array_size(reply_at(budget, "orders")), GRID);
    char cache[256];
    assert_true(reply_header(budget, "cache-control", cache));
    assert_string_equal(cache, "no-store");
}

/* B(a) = epsilon - ln(c_a / (w_a delta)) / (a - 1), c_a = (1/a)(1 - 1/a)^(a-1): 3/4 of
 * delta at order 10 and 1/4 at order 7 for a budget of (2, 1e-5) (ledger.md 2). The
 * ledger keeps 2^-40 of delta for the noise, so it may be smaller by that share. */
static void capacities_are_those_of_the_two_weighted_orders(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *budget = client_get(client, "/v1/datasets/fresh/budget");
    const struct {
        double order, weight;
    } weighted[] = {{7, 0.25}, {10, 0.75}};
    const json_t *orders = reply_at(budget, "orders");
    const json_t *capacity = reply_at(budget, "capacity");
    size_t found = 0;
    for (size_t i = 0; i < GRID; i++) {
        if (json_is_null(json_array_get(capacity, i)))
            continue;
        assert_true(found < 2);
        double a = weighted[found].order, w = weighted[found].weight;
        assert_true(number_at(orders, i) == a);
        double c = 1 / a * pow(1 - 1 / a, a - 1);
        double bound = 2 - log(c / (w * 1e-5)) / (a - 1);
        assert_true(number_at(capacity, i) <= bound);
        assert_close(number_at(capacity, i), bound, 1e-6);
        found++;
    }
    assert_int_equal(found, 2);
}

static void an_estimate_is_what_the_job_is_then_charged(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "estimated", 500, 2, SAMPLE_BUDGET(2));
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, JOB_EPSILON, "estimated", 1.0);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    double planned = reply_number(estimate, "epsilon_planned");
    assert_true(planned <= 1 && planned > 0.999);
    assert_true(reply_number(estimate, "steps") == 20);
    assert_true(reply_number(estimate, "order") > 1);
    assert_true(reply_number(estimate, "largest_epsilon") > 1);
    assert_true(reply_number(estimate, "most_steps") > 20);

    const struct reply *job = train(client, JOB_EPSILON, "estimated", 1.0);
    assert_close(reply_number(job, "privacy.noise_multiplier"),
                 reply_number(estimate, "noise_multiplier"), 1e-14);
    assert_close(reply_number(job, "privacy.epsilon_planned"), planned, 1e-14);
    assert_close(reply_number(job, "privacy.epsilon_spent"), planned, 1e-14);
    assert_true(reply_number(job, "privacy.authorised_steps") == 20);
    const struct reply *budget = client_get(client, "/v1/datasets/estimated/budget");
    /* The best order of the grid is at most slightly worse than the job's best real
     * order. */
    double spent = reply_number(budget, "epsilon_spent");
    assert_true(spent >= planned * (1 - 1e-12) && spent < planned * 1.02);
    assert_true(reply_number(budget, "epsilon_held") == 0);
}

static void jobs_are_taken_until_one_is_refused_and_never_more(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "worn", 500, 3, SAMPLE_BUDGET(2));
    double spent = 0;
    unsigned taken = 0;
    const struct reply *reply;
    while (
        (reply = client_create(client, "/v1/jobs", JOB_EPSILON, "worn", 0.8))->status ==
        201) {
        await_end(client, reply_text(reply, "id"));
        const struct reply *budget = client_get(client, "/v1/datasets/worn/budget");
        assert_true(keeps_the_filter(budget));
        expect_shares(budget);
        assert_true(reply_number(budget, "epsilon_spent") > spent);
        spent = reply_number(budget, "epsilon_spent");
        assert_true(spent <= 2);
        assert_true(++taken < 30);
    }
    assert_problem(reply, 409, "budget_exhausted");
    assert_true(taken >= 2);
    assert_true(json_is_false(reply_at(reply, "retryable")));
    double largest = reply_number(reply, "largest_epsilon");
    assert_true(largest >= 0 && largest < 0.8);
    /* The daemon says that this much still fits. It does fit, and after it nothing
     * does. */
    reply = client_create(client, "/v1/jobs", JOB_EPSILON, "worn", largest * 0.9999);
    assert_status(reply, 201);
    await_end(client, reply_text(reply, "id"));
    assert_problem(client_create(client, "/v1/jobs", JOB_EPSILON, "worn", 0.3), 409,
                   "budget_exhausted");
    assert_true(keeps_the_filter(client_get(client, "/v1/datasets/worn/budget")));
}

static void held_budget_is_told_from_spent_budget(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "held", 500, 4, SAMPLE_BUDGET(2));
    /* Holds nearly all of the budget: sigma is calibrated for the whole run. */
    const char *job = submit(client,
                             "{'dataset':'held','model':{'preset':'linear'},"
                             "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':%d,"
                             "'privacy':{'epsilon':1.8}}",
                             SAMPLE_ENDLESS);
    await_training(client, job);
    const struct reply *budget = client_get(client, "/v1/datasets/held/budget");
    assert_true(reply_number(budget, "epsilon_held") > 1.5);
    assert_true(reply_number(budget, "epsilon_spent") == 0);
    assert_true(reply_number(budget, "share.held") > 0.5);
    expect_shares(budget);
    const struct reply *refused =
        client_create(client, "/v1/jobs", JOB_EPSILON, "held", 1.5);
    assert_problem(refused, 409, "budget_held");
    assert_true(json_is_true(reply_at(refused, "retryable")));
    char after[256];
    assert_true(reply_header(refused, "retry-after", after));
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, JOB_EPSILON, "held", 1.5);
    assert_string_equal(reply_text(estimate, "fits"), "held");
    /* More than the whole budget: waiting would not help. */
    assert_problem(client_create(client, "/v1/jobs", JOB_EPSILON, "held", 3.0), 409,
                   "budget_exhausted");

    cancel(client, job);
    const struct reply *ended = await_end(client, job);
    double charged = reply_number(ended, "privacy.epsilon_spent");
    assert_true(charged > 0 && charged < 1.8);
    budget = client_get(client, "/v1/datasets/held/budget");
    assert_true(reply_number(budget, "epsilon_held") == 0);
    assert_true(reply_number(budget, "epsilon_spent") >= charged * (1 - 1e-12));
    assert_status(client_create(client, "/v1/jobs", JOB_EPSILON, "held", 1.5), 201);
}

static void a_share_of_what_is_left_always_fits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "shared", 500, 5, SAMPLE_BUDGET(2));
    double left = 1;
    for (int i = 0; i < 4; i++) {
        train(client, "{'dataset':'shared','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':20,"
                      "'privacy':{'budget_fraction':0.5}}");
        double now = reply_number(client_get(client, "/v1/datasets/shared/budget"),
                                  "fraction_remaining");
        assert_true(now < left && now >= 0.5 * left * (1 - 1e-6));
        left = now;
    }
}

/* Composing privacy losses gives a tighter bound, so the same epsilon needs less noise.
 * The ledger still charges the Renyi curve of what is run. */
static void a_composed_epsilon_takes_less_noise_and_says_so(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "composed", 500, 23, SAMPLE_BUDGET(8));
    static const char job[] =
        "{'dataset':'composed','model':{'preset':'linear'},"
        "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':100,"
        "'privacy':{'epsilon':1,'accountant':'%s'}}";
    char body[512];
    snprintf(body, sizeof body, job, "rdp");
    const struct reply *renyi = await_end(client, submit(client, "%s", body));
    double renyi_noise = reply_number(renyi, "privacy.noise_multiplier");
    assert_string_equal(reply_text(renyi, "privacy.accountant"), "rdp");
    snprintf(body, sizeof body, job, "pld");
    const struct reply *composed = train(client, "%s", body);
    assert_string_equal(reply_text(composed, "privacy.accountant"), "pld");
    assert_true(reply_number(composed, "privacy.noise_multiplier") < renyi_noise);
    assert_true(reply_number(composed, "privacy.epsilon_planned") <= 1);
    assert_true(reply_number(composed, "privacy.epsilon_spent") <= 1);
    const struct reply *model = model_of(client, composed);
    assert_string_equal(reply_text(model, "certificate.guarantee.accountant"), "pld");
    assert_true(reply_number(model, "certificate.guarantee.epsilon") <= 1);
    assert_true(reply_number(client_get(client, "/v1/datasets/composed/budget"),
                             "epsilon_spent") > 1);
}

enum { RIVALS = 8 };

struct rival {
    struct client client;
    unsigned taken, refused, other;
};

static void *compete(void *argument)
{
    struct rival *rival = argument;
    for (int i = 0; i < 4; i++) {
        const struct reply *reply =
            client_create(&rival->client, "/v1/jobs", JOB_EPSILON, "crowded", 0.7);
        rival->taken += reply->status == 201;
        rival->refused += reply->status == 409;
        rival->other += reply->status != 201 && reply->status != 409;
    }
    return NULL;
}

static void rivals_at_once_never_overspend(void **state)
{
    struct stage *stage = *state;
    ready_points(&stage->client, "crowded", 500, 6, SAMPLE_BUDGET(2));
    struct rival rivals[RIVALS] = {0};
    pthread_t threads[RIVALS];
    unsigned taken = 0, refused = 0, other = 0;
    for (int i = 0; i < RIVALS; i++) {
        client_init(&rivals[i].client, &stage->daemon);
        assert_int_equal(pthread_create(&threads[i], NULL, compete, &rivals[i]), 0);
    }
    for (int i = 0; i < RIVALS; i++) {
        pthread_join(threads[i], NULL);
        taken += rivals[i].taken;
        refused += rivals[i].refused;
        other += rivals[i].other;
        client_fini(&rivals[i].client);
    }
    assert_int_equal(other, 0);
    assert_int_equal(taken + refused, RIVALS * 4);
    assert_true(taken >= 2 && refused > 0);
    const struct reply *budget =
        client_get(&stage->client, "/v1/datasets/crowded/budget");
    assert_true(keeps_the_filter(budget));
    /* The number of accepted jobs is that of jobs submitted one after the other: one
     * more does not fit. */
    const struct reply *jobs =
        client_get(&stage->client, "/v1/jobs?dataset=crowded&page_size=100");
    assert_int_equal(json_array_size(reply_at(jobs, "jobs")), taken);
    for (size_t i = 0; i < taken; i++)
        await_end(&stage->client,
                  json_string_value(json_object_get(
                      json_array_get(reply_at(jobs, "jobs"), i), "id")));
    assert_problem(
        client_create(&stage->client, "/v1/jobs", JOB_EPSILON, "crowded", 0.7), 409,
        "budget_exhausted");
}

static void public_data_costs_nothing(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "open", 500, 7, SAMPLE_PUBLIC);
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *plain =
        train(client, "{'dataset':'open','model':{'preset':'linear'},"
                      "'algorithm':{'name':'sgd'},'batch_size':50,'steps':20}");
    train(client, SAMPLE_JOB, "open", 20, 1.0);
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    const struct reply *model = model_of(client, plain);
    assert_true(json_is_null(reply_at(model, "certificate.guarantee")));
}

static void the_ledger_adds_up_to_the_budget(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *ledger =
        client_get(client, "/v1/datasets/worn/ledger?page_size=1000");
    const struct reply *budget = client_get(client, "/v1/datasets/worn/budget");
    const json_t *entries = reply_at(ledger, "entries");
    double sum[GRID] = {0};
    unsigned reserves = 0, commits = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *kind = json_string_value(json_object_get(entry, "kind"));
        assert_int_equal(strlen(json_string_value(json_object_get(entry, "hash"))), 64);
        reserves += strcmp(kind, "RESERVE") == 0;
        if (strcmp(kind, "COMMIT") != 0)
            continue;
        commits++;
        for (size_t k = 0; k < GRID; k++)
            sum[k] += number_at(json_object_get(entry, "curve"), k);
    }
    assert_true(commits > 0 && commits == reserves);
    for (size_t k = 0; k < GRID; k++)
        assert_close(number_at(reply_at(budget, "committed"), k), sum[k], 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_budget_is_whole),
        cmocka_unit_test(capacities_are_those_of_the_two_weighted_orders),
        cmocka_unit_test(an_estimate_is_what_the_job_is_then_charged),
        cmocka_unit_test(jobs_are_taken_until_one_is_refused_and_never_more),
        cmocka_unit_test(held_budget_is_told_from_spent_budget),
        cmocka_unit_test(a_share_of_what_is_left_always_fits),
        cmocka_unit_test(a_composed_epsilon_takes_less_noise_and_says_so),
        cmocka_unit_test(rivals_at_once_never_overspend),
        cmocka_unit_test(public_data_costs_nothing),
        cmocka_unit_test(the_ledger_adds_up_to_the_budget),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
