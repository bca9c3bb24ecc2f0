/* Goal: a policy holds of the step of a job that has least noise, not of the number that was
 * asked for, and of its evaluation on a holdout as of its training. Method: a key in a service of its own, and plans of jobs against it. */
#include "service/policy.h"

#include "accountant/run_filter.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;
static struct principal ana; /* whose key asks for a noise multiplier of 2 */

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

/* The member that a job with this algorithm and noise breaks, or NULL. */
static const char *breach_of(const char *algorithm, double noise, double *share)
{
    char rest[96];
    struct policy_breach breach;
    snprintf(rest, sizeof rest, "\"steps\":3,\"privacy\":{\"noise_multiplier\":%.17g}",
             noise);
    struct job_plan plan = scene_plan(&scene, algorithm, rest);
    *share = run_filter_guards(&plan.mechanism) ? plan.mechanism.filter.noise_share : 1;
    const struct policy_asked asked = policy_asked_of_job(&plan);
    assert_int_equal(policy_find_breach(&scene.context, &ana, &asked, &breach, NULL),
                     ST_OK);
    job_plan_fini(&plan);
    return breach.member;
}

static void noise_of_one_level_is_what_was_asked_for(void **state)
{
    (void)state;
    double share;
    assert_string_equal(breach_of("\"name\":\"dpsgd\"", 1.99, &share),
                        "min_noise_multiplier");
    assert_null(breach_of("\"name\":\"dpsgd\"", 2, &share));
    assert_true(share == 1);
}

/* ADP whose noise follows the divisor begins with a share of the job's noise. */
static const char follows[] = "\"name\":\"adp\",\"schedule\":\"adagrad_norm\","
                              "\"noise_follows\":\"divisor\"";

static void noise_that_begins_lower_is_held_at_its_least(void **state)
{
    (void)state;
    double share;
    assert_string_equal(breach_of(follows, 2, &share), "min_noise_multiplier");
    assert_true(share > 0 && share < 1);
    assert_string_equal(breach_of(follows, 1.99 / share, &share),
                        "min_noise_multiplier");
    assert_null(breach_of(follows, 2.01 / share, &share));
}

/* What a plan that trains at this noise and is measured at this epsilon breaks of a policy. */
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
    assert_int_equal(policy_find_breach(&scene.context, &ana, &asked, &breach, NULL),
                     ST_OK);
    job_plan_fini(&plan);
    return breach;
}

static void an_evaluation_on_a_holdout_is_held_to_epsilon(void **state)
{
    (void)state;
    const struct key_policy policy = {.max_epsilon_per_job = 1};
    struct policy_breach breach = breach_of_measured(&policy, 20, 1.5);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "max_epsilon_per_job");
    assert_string_equal(breach.pointer, "/evaluation/epsilon");
    assert_true(breach.limit == 1);
    assert_null(breach_of_measured(&policy, 20, 1).member);
    breach = breach_of_measured(&policy, 0.5, 1);
    assert_non_null(breach.member);
    assert_string_equal(breach.member, "max_epsilon_per_job");
    assert_string_equal(breach.pointer, "/privacy/noise_multiplier");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_of_one_level_is_what_was_asked_for),
        cmocka_unit_test(noise_that_begins_lower_is_held_at_its_least),
        cmocka_unit_test(an_evaluation_on_a_holdout_is_held_to_epsilon),
        cmocka_unit_test(an_evaluation_on_a_holdout_is_held_to_noise),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
