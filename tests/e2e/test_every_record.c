/* Goal: algorithms whose steps use every record train the digits through HTTP without a
 * batch_size, are charged and certified as Gaussians, and refuse other batches. */
#include <math.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static void dpgd_trains_with_its_defaults(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job = train(
        client,
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':{'name':'dpgd'},'privacy':{'epsilon':2}}");
    assert_true(reply_number(job, "batch_size") == SAMPLE_TRAIN_ROWS);
    assert_true(reply_number(job, "progress.steps") == 200);
    double planned = reply_number(job, "privacy.epsilon_planned");
    assert_true(planned <= 2 && planned > 1.999);
    assert_true(reply_number(job, "privacy.epsilon_spent") == planned);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.85);
    const struct reply *model = model_of(client, job);
    assert_string_equal(reply_text(model, "certificate.guarantee.mechanism.kind"),
                        "gaussian");
    assert_true(reply_number(model, "certificate.guarantee.mechanism.runs.0.0") == 1);
}

/* 200 Gaussians of multiplier s at order a cost 100 a / s^2. The claim is the paper's
 * formula, which covers only distance 2. */
static void dpgd_shows_what_its_paper_claims(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *estimate = client_post(
        client, "/v1/jobs:estimate", NULL,
        "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpgd'},"
        "'steps':200,'privacy':{'epsilon':3}}");
    assert_status(estimate, 200);
    double planned = reply_number(estimate, "epsilon_planned");
    double order = 1 + ceil(2 * log(1e5) / planned);
    assert_close(reply_number(estimate, "paper_claim"), sqrt(4 * order * 200 / planned),
                 1e-6);
    assert_true(reply_number(estimate, "noise_multiplier") <
                reply_number(estimate, "paper_claim"));
}

static void other_batches_are_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *reply = client_create(
        client, "/v1/jobs",
        "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpgd'},"
        "'batch_size':256,'privacy':{'epsilon':2}}");
    assert_invalid_at(reply, "/batch_size");
    assert_non_null(strstr(reply_text(reply, "errors.0.detail"), "dpsgd"));
}

static int begin(void **state)
{
    return stage_begin_digits(state, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dpgd_trains_with_its_defaults),
        cmocka_unit_test(dpgd_shows_what_its_paper_claims),
        cmocka_unit_test(other_batches_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
