/* Goal: a policy applies to the step of a job that has the least noise and not to the
 * requested number, and to a job and its evaluation on a holdout together. Method: a
 * key in a service of its own, and plans of jobs checked against it. */
#include "accountant/ledger/ledger_view.h"
#include "api/requests/key_policy.h"
#include "api/requests/key_request.h"
#include "engine/dp/algorithms/registry.h"
#include "service/identity/access_keys.h"
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_info.h"
#include "service/access/policy.h"

#include "accountant/ledger/ledger_seal.h"
#include "accountant/mechanisms/discovery.h"
#include "accountant/pricing/run_filter.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;
static struct principal ana; /* whose key requires a noise multiplier of 2 */

static int begin(void **state)
{
    struct access_key_made made;
    struct access_key key;
    const struct key_request request = {
        .principal = {.name = "ana", .project = "default", .role = ROLE_ANALYST},
        .days = 1,
        .policy = {.min_noise_multiplier = 2}};
    (void)state;
    scene_open(&scene);
    struct dataset *points = scene_declare(
        &scene, "points", "{\"epsilon\":8,\"delta\":1e-5},\"holdout\":0.2");
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    scene_declare(&scene, "visits",
                  "{\"epsilon\":8,\"delta\":1e-5,\"discovery_delta\":2e-6}");
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, access_keys_add(scene.context.keys, tx, &request, &made, NULL));
    assert_true(access_keys_find(scene.context.keys, made.id, &key));
    ana = key.principal;
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

/* Returns the policy member that a job with this algorithm and noise breaks, or NULL.
 * *share = the noise of the step with the least noise, divided by the job's. */
static const char *breach_of(const char *algorithm, double noise, double *share)
{
    char rest[96];
    struct policy_breach breach;
    snprintf(rest, sizeof rest, "\"steps\":3,\"privacy\":{\"noise_multiplier\":%.17g}",
             noise);
    struct job_plan plan = scene_plan(&scene, algorithm, rest);
    *share = run_filter_guards(&plan.mechanism) ? plan.mechanism.filter.noise_share : 1;
    for (size_t i = 0; i < plan.mechanism.run_count; i++)
        if (plan.mechanism.runs[i].noise_multiplier < *share * noise)
            *share = plan.mechanism.runs[i].noise_multiplier / noise;
    const struct policy_asked asked = policy_asked_of_job(&plan);
    const struct policy_inquiry inquiry = {&ana, &asked, 1};
    assert_int_equal(policy_find_breach(&scene.context, &inquiry, &breach, NULL),
                     ST_OK);
    job_plan_fini(&plan);
    return breach.member;
}

static void the_least_noise_holds_of_the_step_that_has_least(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm;
        bool is_level; /* all of its steps have the requested noise */
    } cases[] = {
        {"\"name\":\"dpsgd\"", true},
        {"\"name\":\"dpgd\"", true},
        /* The noise follows the divisor, and begins with a share of the job's. */
        {"\"name\":\"adp\",\"schedule\":\"adagrad_norm\",\"noise_follows\":"
         "\"divisor\"",
         false},
        /* Differences begin after the first restart, and use most of the budget. */
        {"\"name\":\"diff2_gd\",\"restart_interval\":3,\"split\":20", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share, unused;
        const char *algorithm = cases[i].algorithm;
        const char *breach = breach_of(algorithm, 2, &share);
        assert_true(cases[i].is_level ? share == 1 : share < 0.9);
        if (cases[i].is_level)
            assert_null(breach);
        else
            assert_string_equal(breach, "min_noise_multiplier");
        assert_string_equal(breach_of(algorithm, 1.99 / share, &unused),
                            "min_noise_multiplier");
        assert_null(breach_of(algorithm, 2.01 / share, &unused));
    }
}

/* Returns which limit of a policy a plan breaks that trains with this noise and is
 * evaluated with this epsilon. */
static struct policy_breach breach_of_measured(const struct key_policy *policy,
                                               double noise, double epsilon)
{
    char rest[160];
    struct policy_breach breach;
    snprintf(rest, sizeof rest,
             "\"evaluation\":{\"holdout\":true,\"epsilon\":%g},\"batch_size\":100,"
             "\"steps\":5,\"privacy\":{\"noise_multiplier\":%g}",
             epsilon, noise);
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, access_keys_limit(scene.context.keys, tx, ana.key, policy, NULL));
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", rest);
    const struct policy_asked asked = policy_asked_of_job(&plan);
    const struct policy_inquiry inquiry = {&ana, &asked, 1};
    assert_int_equal(policy_find_breach(&scene.context, &inquiry, &breach, NULL),
                     ST_OK);
    job_plan_fini(&plan);
    return breach;
}

/* Returns the epsilon that training with this noise costs. */
static double epsilon_of(double noise)
{
    char rest[96];
    snprintf(rest, sizeof rest,
             "\"batch_size\":100,\"steps\":5,\"privacy\":{\"noise_multiplier\":%g}",
             noise);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", rest);
    double epsilon = plan.epsilon_planned;
    job_plan_fini(&plan);
    return epsilon;
}

/* Training and evaluation do not each get the whole limit: they share it. */
static void a_job_and_its_evaluation_stay_within_epsilon_together(void **state)
{
    (void)state;
    const double trained = epsilon_of(20);
    const struct {
        double limit, noise, measured;
        const char *pointer; /* NULL: within the limit */
    } cases[] = {
        {1 + trained * 1.01, 20, 1, NULL},
        {1 + trained * 0.99, 20, 1, "/evaluation/epsilon"},
        {1, 20, 1, "/evaluation/epsilon"},
        {1, 20, 1.5, "/evaluation/epsilon"},
        {1, 0.5, 0.1, "/privacy/noise_multiplier"},
        {1, 0.5, 1.5, "/privacy/noise_multiplier"},
        {trained * 1.01, 20, 0.001 * trained, NULL},
        {trained * 0.99, 20, 0.001 * trained, "/privacy/noise_multiplier"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct key_policy policy = {.max_epsilon_per_job = cases[i].limit};
        struct policy_breach breach =
            breach_of_measured(&policy, cases[i].noise, cases[i].measured);
        if (cases[i].pointer == NULL) {
            assert_null(breach.member);
            continue;
        }
        assert_non_null(breach.member);
        assert_string_equal(breach.member, "max_epsilon_per_job");
        assert_string_equal(breach.pointer, cases[i].pointer);
        assert_true(breach.limit == cases[i].limit);
    }
}

/* Returns which limit of a policy a plan breaks that buys moments of this epsilon. */
static struct policy_breach breach_of_buyer(const struct key_policy *policy,
                                            double noise, double epsilon)
{
    char rest[160];
    struct policy_breach breach;
    snprintf(rest, sizeof rest,
             "\"standardise\":{\"epsilon\":%g},\"batch_size\":100,\"steps\":5,"
             "\"privacy\":{\"noise_multiplier\":%g}",
             epsilon, noise);
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, access_keys_limit(scene.context.keys, tx, ana.key, policy, NULL));
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", rest);
    assert_int_equal(plan.purchase.run_count, 1);
    const struct policy_asked asked = policy_asked_of_job(&plan);
    const struct policy_inquiry inquiry = {&ana, &asked, 1};
    assert_int_equal(policy_find_breach(&scene.context, &inquiry, &breach, NULL),
                     ST_OK);
    job_plan_fini(&plan);
    return breach;
}

static void a_job_and_the_moments_that_it_buys_stay_within_a_policy(void **state)
{
    (void)state;
    const double trained = epsilon_of(20);
    struct key_policy policy = {.max_epsilon_per_job = trained + 0.5};
    assert_null(breach_of_buyer(&policy, 20, 0.49).member);
    struct policy_breach breach = breach_of_buyer(&policy, 20, 0.51);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "max_epsilon_per_job");
    assert_string_equal(breach.pointer, "/standardise");
    policy = (struct key_policy){.min_noise_multiplier = 5};
    assert_null(breach_of_buyer(&policy, 20, 0.1).member);
    breach = breach_of_buyer(&policy, 20, 1.5);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "min_noise_multiplier");
    assert_string_equal(breach.pointer, "/standardise");
    /* Moments are statistics, which are none of the algorithms. */
    policy = (struct key_policy){.algorithm_count = 1,
                                 .algorithms = {algorithm_find("dpsgd")}};
    breach = breach_of_buyer(&policy, 20, 0.1);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "algorithms");
    assert_string_equal(breach.pointer, "/standardise");
}

static void an_evaluation_on_a_holdout_is_held_to_noise(void **state)
{
    (void)state;
    const struct key_policy policy = {.min_noise_multiplier = 5};
    struct policy_breach breach = breach_of_measured(&policy, 20, 1.5);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "min_noise_multiplier");
    assert_string_equal(breach.pointer, "/evaluation/epsilon");
    assert_null(breach_of_measured(&policy, 20, 0.1).member);
    breach = breach_of_measured(&policy, 4.9, 0.1);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "min_noise_multiplier");
    assert_string_equal(breach.pointer, "/privacy/noise_multiplier");
}

/* --- a share of a period --- */

/* Commits a mechanism in ana's name. */
static void commit_mechanism(const struct dataset_id *dataset,
                             const struct mechanism *m)
{
    struct job_id id;
    struct ledger_entry_name entry;
    job_id_make(&id);
    const struct ledger_claim claim = {dataset, &id, m, &ana, PARTS_TRAIN, NULL};
    struct ledger *ledger = scene.context.ledger;
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, ledger_reserve(ledger, tx, &claim, &entry, NULL));
    assert_int_equal(ledger_authorise(ledger, &id, 1, NULL), ST_OK);
    tx = scene_begin(&scene);
    scene_commit(tx, ledger_settle(ledger, tx, &id, NULL, NULL));
}

static void commit(double noise)
{
    const struct dataset_id points = {"points"};
    struct mechanism m;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, noise, 1});
    commit_mechanism(&points, &m);
    mechanism_fini(&m);
}

static void seal(const struct place *archive)
{
    struct seal done;
    struct daemon_state *context = &scene.context;
    bool any = false;
    assert_int_equal(ledger_seal(context->ledger, archive->folder, &done, &any, NULL),
                     ST_OK);
    assert_true(any);
    ledger_close(context->ledger);
    assert_int_equal(ledger_open(&context->ledger, context->store, NULL), ST_OK);
}

static bool fits(double share)
{
    const struct key_policy policy = {.max_share = share, .share_days = 1};
    struct policy_breach breach = breach_of_measured(&policy, 200, 0.01);
    if (breach.member != NULL)
        assert_string_equal(breach.member, "max_share");
    return breach.member == NULL;
}

/* Returns the smallest share limit under which the job may run: what ana has spent in
 * the period, plus the job. */
static double least_share(void)
{
    double low = 0, high = 1;
    for (int i = 0; i < 30; i++) {
        double middle = (low + high) / 2;
        *(fits(middle) ? &high : &low) = middle;
    }
    return high;
}

static void what_is_archived_counts_within_its_period(void **state)
{
    (void)state;
    struct place archive = place_make();
    const double alone = least_share();
    commit(20);
    const double spent = least_share();
    assert_true(spent > alone + 0.001);
    seal(&archive);
    assert_close(least_share(), spent, 1e-6);
    commit(20);
    const double twice = least_share();
    assert_close(twice - alone, 2 * (spent - alone), 0.01);
    seal(&archive);
    assert_close(least_share(), twice, 1e-6);
    place_remove(&archive);
}

static const struct dataset_id visits = {"visits"};

/* Returns whether ana may discover words under the share. */
static bool words_fit(const struct mechanism *m, double share)
{
    const struct key_policy policy = {.max_share = share, .share_days = 1};
    const struct policy_asked asked = {.dataset = &visits,
                                       .mechanism = m,
                                       .parts = PARTS_TRAIN,
                                       .is_private = true,
                                       .pointer = "/privacy/epsilon"};
    const struct policy_inquiry inquiry = {&ana, &asked, 1};
    struct policy_breach breach;
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, access_keys_limit(scene.context.keys, tx, ana.key, &policy, NULL));
    assert_int_equal(policy_find_breach(&scene.context, &inquiry, &breach, NULL),
                     ST_OK);
    return breach.member == NULL;
}

/* A discovery takes half of the delta that is set aside, and next to nothing of epsilon. */
static void discoveries_take_their_share_of_delta(void **state)
{
    (void)state;
    struct place archive = place_make();
    struct mechanism m;
    mechanism_init(&m, MECHANISM_DISCOVERY, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 1000, 1});
    m.discovery = (struct mechanism_discovery){.rows = 1, .threshold = 2};
    m.discovery.threshold = discovery_threshold(&m, 1e-6);
    assert_false(words_fit(&m, 0.49));
    assert_true(words_fit(&m, 0.51));
    commit_mechanism(&visits, &m);
    assert_false(words_fit(&m, 0.99));
    seal(&archive);
    assert_false(words_fit(&m, 0.99));
    mechanism_fini(&m);
    place_remove(&archive);
}

/* Appends an entry that holds nothing, as if the clock were set back to that time. */
static void append_at(int64_t time_ms)
{
    static const uint8_t curve[8];
    struct ledger_entry_name head;
    struct store_tx *tx = scene_begin(&scene);
    ledger_head(scene.context.ledger, &head);
    struct ledger_row row = {.seq = head.seq + 1,
                             .dataset = "points",
                             .epoch = 1,
                             .job = "job_none",
                             .kind = "RESERVE",
                             .curve = curve,
                             .curve_size = sizeof curve,
                             .meta = "{}",
                             .actor = ana.name,
                             .time_ms = time_ms};
    memcpy(row.prev, head.hash, sizeof row.prev);
    entry_hash(row.hash, &row);
    scene_commit(tx, ledger_row_insert(tx, &row, NULL));
}

/* This must be the last test: the ledger in memory does not know the appended entry. */
static void what_stands_before_an_entry_that_looks_older_counts(void **state)
{
    (void)state;
    const double alone = least_share();
    commit(20);
    const double spent = least_share();
    assert_true(spent > alone + 0.001);
    append_at(1000);
    assert_close(least_share(), spent, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_noise_holds_of_the_step_that_has_least),
        cmocka_unit_test(a_job_and_its_evaluation_stay_within_epsilon_together),
        cmocka_unit_test(a_job_and_the_moments_that_it_buys_stay_within_a_policy),
        cmocka_unit_test(an_evaluation_on_a_holdout_is_held_to_noise),
        cmocka_unit_test(discoveries_take_their_share_of_delta),
        cmocka_unit_test(what_is_archived_counts_within_its_period),
        cmocka_unit_test(what_stands_before_an_entry_that_looks_older_counts),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
