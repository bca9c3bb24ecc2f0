/* Goal: computing from releases costs nothing: a job with averages, schedules, weight
 * decay and class weights is charged, to the bit, what a job without them is charged,
 * and its model lists what was computed. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define PLAIN                                                                          \
    "{'dataset':'points','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':50,'steps':40,'privacy':{'noise_multiplier':6}"

static int begin(void **state)
{
    int result = stage_begin(state);
    struct stage *stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(4));
    return result;
}

/* Returns the entry without the members that differ between any two entries. */
static json_t *nameless(struct client *client, const char *kind, const char *job)
{
    static const char *const own[] = {"seq", "job", "time", "prev", "hash"};
    const struct reply *ledger = client_get(client, "/v1/datasets/points/ledger");
    json_t *entry = json_deep_copy(account_entry(ledger, kind, job));
    assert_non_null(entry);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_int_equal(json_object_del(entry, own[i]), 0);
    if (strcmp(kind, "COMMIT") == 0) /* it names the model */
        json_object_del(entry, "meta");
    return entry;
}

static void post_processing_changes_no_entry(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char *const additions[] = {
        ",'averaging':{'kind':'tail'}",
        ",'averaging':{'kind':'ema','decay':0.9},'class_weights':[1,3]",
        ",'optimizer':{'name':'adam','schedule':'cosine','warmup':0.1,'weight_decay':0."
        "5}"};
    static const char *const kinds[] = {"RESERVE", "COMMIT"};
    const char *plain = reply_text(train(client, "%s}", PLAIN), "id");
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        const char *job = reply_text(train(client, "%s%s}", PLAIN, additions[i]), "id");
        for (int k = 0; k < 2; k++) {
            json_t *a = nameless(client, kinds[k], plain);
            json_t *b = nameless(client, kinds[k], job);
            assert_true(json_equal(a, b));
            json_decref(a);
            json_decref(b);
        }
    }
}

static void a_certificate_names_what_was_made_of_the_releases(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *model =
        model_of(client, train(client,
                               "%s,'averaging':{'kind':'tail','share':0.25},"
                               "'class_weights':[1,3],'optimizer':{'name':'sgd',"
                               "'schedule':'cosine','weight_decay':0.01}}",
                               PLAIN));
    assert_string_equal(reply_text(model, "certificate.averaging.kind"), "tail");
    assert_true(reply_number(model, "certificate.averaging.share") == 0.25);
    assert_true(reply_number(model, "certificate.class_weights.1") == 3);
    assert_string_equal(reply_text(model, "certificate.optimizer.schedule"), "cosine");
    model = model_of(client, train(client, "%s}", PLAIN));
    const json_t *certificate = reply_at(model, "certificate");
    assert_null(json_object_get(certificate, "averaging"));
    assert_null(json_object_get(certificate, "class_weights"));
    assert_null(json_object_get(certificate, "optimizer"));
}

static void proofs_about_plain_steps_refuse_others_by_name(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const struct {
        const char *algorithm, *addition, *pointer;
    } cases[] = {
        {"value_clip", "'class_weights':[1,3]", "/class_weights"},
        {"diff2_gd", "'class_weights':[1,3]", "/class_weights"},
        {"diff2_gd", "'optimizer':{'name':'sgd','schedule':'cosine'}",
         "/optimizer/schedule"},
        {"diff2_gd", "'optimizer':{'name':'sgd','warmup':0.5}", "/optimizer/warmup"},
        {"diff2_bvr_l_sgd", "'optimizer':{'name':'sgd','weight_decay':0.1}",
         "/optimizer/weight_decay"},
        {"dpsgd", "'class_weights':[1,2,3]", "/class_weights"},
        {"dpsgd", "'optimizer':{'name':'sgd','learning_rate':2,'weight_decay':0.5}",
         "/optimizer/weight_decay"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(
            client_post(client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'points','model':{'preset':'linear'},"
                        "'algorithm':{'name':'%s'},'privacy':{'epsilon':1},%s}",
                        cases[i].algorithm, cases[i].addition),
            cases[i].pointer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post_processing_changes_no_entry),
        cmocka_unit_test(a_certificate_names_what_was_made_of_the_releases),
        cmocka_unit_test(proofs_about_plain_steps_refuse_others_by_name),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
