/* Goal: a webhook's message is written in the transaction of the change that it
 * reports, or not at all. Method: a service whose webhook sender was ended, so that the
 * outbox stays as written; transactions that are committed and that are rolled back. */
#include "api/requests/key_request.h"
#include "api/requests/webhook_event.h"
#include "base/principal.h"
#include "service/identity/access_keys.h"
#include "service/jobs/job_plan.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/delivery_rows.h"
#include "store/rows/webhook_rows.h"
#include "tests/expect.h"

#include "service/webhooks/webhook_events.h"
#include "service/runs/settlement.h"
#include "tests/service/service_fixture.h"
#include "tests/service/webhook_fixture.h"

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene_open(scene);
    hook_keep_outbox(scene);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    scene_close(*state);
    free(*state);
    return 0;
}

static struct job *make_job(struct scene *scene)
{
    struct dataset *dataset =
        scene_declare(scene, "points", "{\"epsilon\":4,\"delta\":1e-5}");
    scene_import(scene, dataset, "0.5");
    struct job_plan plan = scene_plan(
        scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":10,\"privacy\":{\"noise_multiplier\":4}");
    struct mechanism m = plan.mechanism;
    return scene_submit(scene, &plan, &m);
}

static void an_end_is_told_where_it_is_durable(void **state)
{
    struct scene *scene = *state;
    struct daemon_state *context = &scene->context;
    const struct webhook webhook = hook_make(scene, 1u << EVENT_JOB_CANCELLED);
    const struct settlement settlement = {
        .job = make_job(scene), .move = {.state = JOB_CANCELLED, .second = 7}};
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(settlement_add(context, tx, &settlement, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(hook_waiting(scene, &webhook), 0);
    tx = scene_begin(scene);
    scene_commit(tx, settlement_add(context, tx, &settlement, NULL));
    assert_int_equal(hook_waiting(scene, &webhook), 1);
}

static void a_message_says_what_is_public_and_no_more(void **state)
{
    struct scene *scene = *state;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    char message[] = "{\"type\":\"dataset.imported\",\"timestamp\":"
                     "\"1970-01-01T00:00:07Z\",\"id\":\"points\",\"state\":\"READY\"}";
    const struct webhook webhook = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, webhook_events_imported(&scene->context, tx, dataset, 7, NULL));
    hook_expect(scene, &webhook, 1, message);
}

static void whoever_does_not_ask_is_not_told(void **state)
{
    struct scene *scene = *state;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    struct webhook other = hook_make(scene, 1u << EVENT_JOB_FAILED);
    struct webhook disabled = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    struct webhook foreign = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    struct webhook officer = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    disabled.disabled = true;
    snprintf(foreign.owner.project, sizeof foreign.owner.project, "fraud");
    officer.owner = foreign.owner;
    officer.everywhere = true;
    struct webhook *const changed[] = {&disabled, &foreign, &officer};
    struct store_tx *tx = NULL;
    for (size_t i = 0; i < 3; i++) {
        tx = scene_begin(scene);
        scene_commit(tx, webhook_row_delete(tx, &changed[i]->id, NULL));
        tx = scene_begin(scene);
        scene_commit(tx, webhooks_put(scene->context.webhooks, tx, changed[i], NULL));
    }
    tx = scene_begin(scene);
    scene_commit(tx, webhook_events_imported(&scene->context, tx, dataset, 7, NULL));
    assert_int_equal(hook_waiting(scene, &other), 0);
    assert_int_equal(hook_waiting(scene, &foreign), 0);
    assert_int_equal(hook_waiting(scene, &officer), 1);
    assert_int_equal(hook_waiting(scene, &disabled), 0);
}

/* --- owners with keys --- */

static struct access_key_made make_key(struct scene *scene, const char *owner,
                                       enum role role, const char *project)
{
    struct access_key_made made;
    struct key_request request = {.principal = {.role = role}, .days = 1};
    snprintf(request.principal.name, PRINCIPAL_NAME_SIZE, "%s", owner);
    snprintf(request.principal.project, PRINCIPAL_NAME_SIZE, "%s", project);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, access_keys_add(scene->context.keys, tx, &request, &made, NULL));
    return made;
}

static void end_key(struct scene *scene, const struct access_key_made *key)
{
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, access_keys_revoke(scene->context.keys, tx, key->id, NULL));
}

/* Creates a webhook of ana's, of project default, for imports. */
static struct webhook make_anas(struct scene *scene, bool everywhere)
{
    struct webhook webhook = {.owner = principal_local,
                              .everywhere = everywhere,
                              .request = {.url = "https://example.com/",
                                          .events = 1u << EVENT_DATASET_IMPORTED}};
    snprintf(webhook.owner.name, sizeof webhook.owner.name, "ana");
    webhook_id_make(&webhook.id);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, webhooks_put(scene->context.webhooks, tx, &webhook, NULL));
    return webhook;
}

static void expect_told(struct scene *scene, const struct dataset *dataset,
                        const struct webhook *webhook, bool told)
{
    uint64_t before = hook_waiting(scene, webhook);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, webhook_events_imported(&scene->context, tx, dataset, 7, NULL));
    assert_int_equal(hook_waiting(scene, webhook) - before, told);
    assert_int_equal(webhooks_owner_has_key(scene->context.webhooks, webhook), told);
}

static void an_owner_without_a_good_key_is_told_nothing(void **state)
{
    struct scene *scene = *state;
    struct delivery_row row;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    const struct webhook webhook = make_anas(scene, false);
    expect_told(scene, dataset, &webhook, false); /* as by single sign-on */
    make_key(scene, "ana", ROLE_ANALYST, "default");
    make_key(scene, "ana", ROLE_DATA_OWNER, "fraud");
    make_key(scene, "bob", ROLE_DATA_OWNER, "default");
    expect_told(scene, dataset, &webhook, false);
    struct access_key_made first = make_key(scene, "ana", ROLE_DATA_OWNER, "default");
    expect_told(scene, dataset, &webhook, true);
    struct access_key_made next = make_key(scene, "ana", ROLE_DATA_OWNER, "default");
    end_key(scene, &first);
    expect_told(scene, dataset, &webhook, true);
    end_key(scene, &next);
    expect_told(scene, dataset, &webhook, false);
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(webhooks_test(scene->context.webhooks, tx, &webhook, &row, NULL),
                     ST_KEY_ENDED);
    store_rollback(tx);
}

static void what_hears_of_all_projects_takes_a_key_that_sees_them(void **state)
{
    struct scene *scene = *state;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    const struct webhook webhook = make_anas(scene, true);
    make_key(scene, "ana", ROLE_DATA_OWNER, "default");
    expect_told(scene, dataset, &webhook, false);
    make_key(scene, "ana", ROLE_PRIVACY_OFFICER, "default");
    expect_told(scene, dataset, &webhook, true);
}

static void the_local_principals_are_told_until_there_is_a_key(void **state)
{
    struct scene *scene = *state;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    const struct webhook webhook = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    expect_told(scene, dataset, &webhook, true);
    make_key(scene, "ana", ROLE_OPERATOR, "default");
    expect_told(scene, dataset, &webhook, false);
}

static void an_outbox_has_a_bound(void **state)
{
    struct scene *scene = *state;
    struct dataset *dataset = scene_declare(scene, "points", "\"public\"");
    const struct webhook webhook = hook_make(scene, 1u << EVENT_DATASET_IMPORTED);
    struct delivery_row row;
    struct store_tx *tx = scene_begin(scene);
    for (int i = 0; i < LIMIT_DELIVERIES_WAITING - 1; i++) {
        row = (struct delivery_row){.webhook = webhook.id,
                                    .type = webhook_event_name(EVENT_DATASET_IMPORTED),
                                    .body = "{}",
                                    .traceparent = "",
                                    .state = "WAITING",
                                    .result = ""};
        delivery_id_make(&row.id);
        assert_int_equal(delivery_row_insert(tx, &row, NULL), ST_OK);
    }
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    for (int i = 0; i < 3; i++) {
        tx = scene_begin(scene);
        scene_commit(tx,
                     webhook_events_imported(&scene->context, tx, dataset, 7, NULL));
        assert_int_equal(hook_waiting(scene, &webhook), LIMIT_DELIVERIES_WAITING);
    }
    tx = scene_begin(scene);
    assert_int_equal(webhooks_test(scene->context.webhooks, tx, &webhook, &row, NULL),
                     ST_QUEUE_FULL);
    store_rollback(tx);
}

static void what_is_undone_is_not_remembered(void **state)
{
    struct scene *scene = *state;
    struct webhooks *webhooks = scene->context.webhooks;
    struct webhook webhook = hook_make(scene, 1u << EVENT_JOB_FAILED), read;
    webhook.disabled = true;
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(webhooks_put(webhooks, tx, &webhook, NULL), ST_OK);
    store_rollback(tx);
    assert_true(webhooks_find(webhooks, webhook.id.text, &read));
    assert_false(read.disabled);
    tx = scene_begin(scene);
    assert_int_equal(webhooks_delete(webhooks, tx, &webhook.id, NULL), ST_OK);
    store_rollback(tx);
    assert_true(webhooks_find(webhooks, webhook.id.text, &read));
}

static void a_row_reads_back_as_it_was(void **state)
{
    struct scene *scene = *state;
    struct webhooks *again = NULL;
    struct webhook webhook = hook_make(scene, (1u << EVENT_TEST) - 1), read;
    webhook.old_until_ms = webhook.failing_ms = 77000;
    memset(webhook.old_secret, 7, sizeof webhook.old_secret);
    webhook.disabled = true;
    snprintf(webhook.reason, sizeof webhook.reason, "gone");
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, webhooks_put(scene->context.webhooks, tx, &webhook, NULL));
    tx = scene_begin(scene);
    assert_int_equal(webhooks_open(&again, tx, scene->context.keys, NULL), ST_OK);
    store_rollback(tx);
    assert_true(webhooks_find(again, webhook.id.text, &read));
    assert_string_equal(read.owner.name, webhook.owner.name);
    assert_string_equal(read.owner.project, webhook.owner.project);
    assert_string_equal(read.request.url, webhook.request.url);
    assert_int_equal(read.request.events, webhook.request.events);
    assert_string_equal(read.reason, "gone");
    assert_memory_equal(read.secret, webhook.secret, sizeof read.secret);
    assert_memory_equal(read.old_secret, webhook.old_secret, sizeof read.secret);
    assert_true(read.disabled && read.old_until_ms == 77000 &&
                read.failing_ms == 77000 && read.create_ms == webhook.create_ms);
    webhooks_close(again);
}

static void a_row_that_does_not_read_back_is_damage(void **state)
{
    struct scene *scene = *state;
    struct webhooks *again = NULL;
    struct error error = {0};
    const uint8_t secret[SHA256_SIZE] = {1};
    const struct webhook_row row = {.id = {"whk_01JJZ0000000000000000000AB"},
                                    .project = "default",
                                    .owner = "local",
                                    .url = "https://example.com/",
                                    .events = "job.done",
                                    .dataset = "",
                                    .state = "ACTIVE",
                                    .reason = "",
                                    .secret = secret};
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(webhook_row_put(tx, &row, NULL), ST_OK);
    assert_int_equal(webhooks_open(&again, tx, scene->context.keys, &error),
                     ST_CORRUPT);
    store_rollback(tx);
    assert_non_null(strstr(error.text, row.id.text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(an_end_is_told_where_it_is_durable),
        TEST(a_message_says_what_is_public_and_no_more),
        TEST(whoever_does_not_ask_is_not_told),
        TEST(an_owner_without_a_good_key_is_told_nothing),
        TEST(what_hears_of_all_projects_takes_a_key_that_sees_them),
        TEST(the_local_principals_are_told_until_there_is_a_key),
        TEST(an_outbox_has_a_bound),
        TEST(what_is_undone_is_not_remembered),
        TEST(a_row_reads_back_as_it_was),
        TEST(a_row_that_does_not_read_back_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
