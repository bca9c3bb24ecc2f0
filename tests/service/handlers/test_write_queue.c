/* Goal: jobs that are created together are the same as if created one after the other,
 * in one transaction if nothing prevents it. Method: requests without a connection,
 * whose headers the test supplies, in a service of its own. */
#include "api/requests/key_request.h"
#include "service/identity/access_keys.h"
#include "service/process/daemon_state.h"
#include "service/process/counters.h"
#include "service/datasets/dataset_info.h"
#include "service/handlers/write_queue.h"

#include <microhttpd.h>
#include <jansson.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/price_book.h"
#include "service/process/durations.h"
#include "service/handlers/handlers.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { KEY_SIZE = 16, MAX = WRITE_QUEUE_TOGETHER_MAX };

struct asked { /* one request, and its header */
    struct request request;
    char key[KEY_SIZE];
};

static struct scene scene;
static struct principal ana; /* may have one open job */

const char *__wrap_request_header(const struct request *request, const char *name);
const char *__wrap_request_header(const struct request *request, const char *name)
{
    /* request is the first member. */
    const struct asked *asked = (const void *)request;
    return strcmp(name, "Idempotency-Key") == 0 ? asked->key : NULL;
}

/* The effect of another daemon between two lookups by this one. */
static struct meanwhile {
    bool hides;   /* a repeated request's row is not there yet */
    bool follows; /* a change arrives */
    unsigned looks;
} meanwhile;

enum status __real_idempotency_find(struct daemon_state *context,
                                    struct request *request, struct error *error);
enum status __wrap_idempotency_find(struct daemon_state *context,
                                    struct request *request, struct error *error);
enum status __wrap_idempotency_find(struct daemon_state *context,
                                    struct request *request, struct error *error)
{
    const struct meanwhile now = meanwhile;
    meanwhile = (struct meanwhile){.looks = now.looks + 1};
    if (now.follows)
        atomic_fetch_add(&context->followed, 1);
    return now.hides ? ST_OK : __real_idempotency_find(context, request, error);
}

static int begin(void **state)
{
    struct access_key_made made;
    struct access_key key;
    const struct key_request request = {
        .principal = {.name = "ana", .project = "default", .role = ROLE_ANALYST},
        .days = 1,
        .policy = {.max_open_jobs = 1}};
    (void)state;
    scene_open(&scene);
    scene.config.audit_ip = false; /* there is no connection to take it from */
    struct dataset *points =
        scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
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

static const struct route *job_create(void)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(route_at(i)->name, "job_create") == 0)
            return route_at(i);
    fail_msg("there is no such route");
    return NULL;
}

/* Submits a job with this much noise, under an idempotency key of its own. */
static void ask(struct asked *asked, const struct principal *principal,
                double noise_multiplier)
{
    static unsigned number;
    char body[256];
    snprintf(body, sizeof body,
             "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
             "\"algorithm\":{\"name\":\"dpsgd\"},\"batch_size\":50,\"steps\":5,"
             "\"privacy\":{\"noise_multiplier\":%g}}",
             noise_multiplier);
    *asked = (struct asked){.request = {.method = "POST",
                                        .path = "/v1/jobs",
                                        .caller.principal = *principal,
                                        .match = {.route = job_create()}}};
    asked->request.body = strdup(body);
    asked->request.body_size = strlen(body);
    snprintf(asked->key, sizeof asked->key, "key-%u", ++number);
}

/* Returns how many transactions were committed for submissions so far. */
static uint64_t commits(void)
{
    uint64_t count = 0;
    const struct durations *all = &scene.context.counters->commit_time;
    for (size_t i = 0; i < sizeof all->in / sizeof *all->in; i++)
        count += atomic_load(&all->in[i]);
    return count;
}

static uint64_t entries(void)
{
    struct ledger_entry_name head;
    ledger_head(scene.context.ledger, &head);
    return head.seq;
}

/* Handles requests as they return from the pricers. */
static void handle(struct asked *asked, size_t count)
{
    struct request *requests[MAX];
    for (size_t i = 0; i < count; i++) {
        requests[i] = &asked[i].request;
        handler_price(&scene.context, requests[i]);
    }
    write_queue_look(&scene.context, requests, count);
    write_queue_handle(&scene.context, requests, count);
}

static void forget(struct asked *asked, size_t count)
{
    for (size_t i = 0; i < count; i++)
        request_fini(&asked[i].request);
}

static const char *header_of(const struct asked *asked, const char *name)
{
    const struct reply *reply = &asked->request.reply;
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcmp(reply->headers[i].name, name) == 0)
            return reply->headers[i].value;
    return "";
}

static json_t *body_of(const struct asked *asked)
{
    json_t *body = json_loads(asked->request.reply.of.text.bytes, 0, NULL);
    assert_non_null(body);
    return body;
}

static void they_are_created_in_one_transaction_in_their_order(void **state)
{
    (void)state;
    struct asked asked[MAX];
    uint64_t commits_before = commits(), entries_before = entries();
    for (size_t i = 0; i < MAX; i++)
        ask(&asked[i], &principal_local, 500);
    handle(asked, MAX);
    assert_int_equal(commits(), commits_before + 1);
    assert_int_equal(entries(), entries_before + MAX);
    for (size_t i = 0; i < MAX; i++) {
        char location[64];
        json_t *body = body_of(&asked[i]);
        const json_t *progress = json_object_get(body, "progress");
        const char *id = json_string_value(json_object_get(body, "id"));
        assert_int_equal(asked[i].request.reply.status, MHD_HTTP_CREATED);
        assert_int_equal(
            json_integer_value(json_object_get(progress, "queue_position")), i + 1);
        snprintf(location, sizeof location, "/v1/jobs/%s", id);
        assert_string_equal(header_of(&asked[i], "Location"), location);
        const struct job *job = jobs_find(scene.context.jobs, id);
        assert_ptr_equal(job, jobs_at(scene.context.jobs, i));
        json_decref(body);
    }
    forget(asked, MAX);
}

static void one_that_is_refused_stands_in_nobodys_way(void **state)
{
    (void)state;
    struct asked asked[3];
    uint64_t before = entries();
    for (size_t i = 0; i < 3; i++)
        ask(&asked[i], &principal_local, i == 1 ? 0.3 : 500);
    handle(asked, 3);
    assert_int_equal(asked[0].request.reply.status, MHD_HTTP_CREATED);
    assert_int_equal(asked[1].request.refused, ST_BUDGET_EXHAUSTED);
    assert_int_equal(asked[2].request.reply.status, MHD_HTTP_CREATED);
    assert_int_equal(entries(), before + 2);
    for (size_t i = 0; i < 3; i += 2)
        assert_int_equal(asked[i].request.reply.header_count, 1);
    forget(asked, 3);
}

static void twins_make_one_job(void **state)
{
    (void)state;
    struct asked asked[2];
    uint64_t before = entries();
    ask(&asked[0], &principal_local, 500);
    ask(&asked[1], &principal_local, 500);
    strcpy(asked[1].key, asked[0].key);
    handle(asked, 2);
    assert_int_equal(entries(), before + 1);
    assert_string_equal(header_of(&asked[0], "Idempotency-Replayed"), "");
    assert_string_equal(header_of(&asked[1], "Idempotency-Replayed"), "true");
    assert_string_equal(header_of(&asked[0], "Location"),
                        header_of(&asked[1], "Location"));
    forget(asked, 2);
}

static void a_twin_that_came_first_elsewhere_is_answered(void **state)
{
    (void)state;
    struct asked asked[2];
    uint64_t before = entries();
    ask(&asked[0], &principal_local, 500);
    ask(&asked[1], &principal_local, 500);
    strcpy(asked[1].key, asked[0].key);
    handle(&asked[0], 1);
    meanwhile = (struct meanwhile){.hides = true};
    handle(&asked[1], 1);
    assert_int_equal(meanwhile.looks, 2);
    assert_int_equal(entries(), before + 1);
    assert_int_equal(asked[1].request.reply.status, MHD_HTTP_CREATED);
    assert_string_equal(header_of(&asked[1], "Idempotency-Replayed"), "true");
    assert_string_equal(header_of(&asked[0], "Location"),
                        header_of(&asked[1], "Location"));
    forget(asked, 2);
}

/* A policy check made before the transaction is repeated in it. */
static void what_others_changed_meanwhile_is_decided_anew(void **state)
{
    (void)state;
    struct asked asked;
    uint64_t before = entries();
    ask(&asked, &principal_local, 500);
    meanwhile = (struct meanwhile){.follows = true};
    handle(&asked, 1);
    assert_int_equal(meanwhile.looks, 2);
    assert_int_equal(entries(), before + 1);
    assert_int_equal(asked.request.reply.status, MHD_HTTP_CREATED);
    assert_int_equal(asked.request.reply.header_count, 1);
    forget(&asked, 1);
}

static void a_policy_counts_those_before(void **state)
{
    (void)state;
    struct asked asked[2];
    ask(&asked[0], &ana, 500);
    ask(&asked[1], &ana, 500);
    handle(asked, 2);
    assert_int_equal(asked[0].request.reply.status, MHD_HTTP_CREATED);
    assert_int_equal(asked[1].request.refused, ST_POLICY_VIOLATION);
    forget(asked, 2);
}

static void no_more_are_queued_than_there_is_room_for(void **state)
{
    (void)state;
    struct asked asked[3];
    size_t room = scene.config.queue_length_max;
    scene.config.queue_length_max = jobs_tally(scene.context.jobs).queued + 2;
    for (size_t i = 0; i < 3; i++)
        ask(&asked[i], &principal_local, 500);
    handle(asked, 3);
    assert_int_equal(asked[1].request.reply.status, MHD_HTTP_CREATED);
    assert_int_equal(asked[2].request.refused, ST_QUEUE_FULL);
    scene.config.queue_length_max = room;
    forget(asked, 3);
}

static uint64_t computed(void)
{
    return price_book_computed(ledger_prices(scene.context.ledger));
}

/* The write queue looks prices up. It sends away a request whose price is not computed
 * yet, and nothing of the request is done then. */
static void the_write_queue_computes_no_price(void **state)
{
    (void)state;
    struct asked asked;
    struct request *request = &asked.request;
    ask(&asked, &principal_local, 3.25);
    uint64_t before = entries(), none = computed();
    write_queue_look(&scene.context, &request, 1);
    write_queue_handle(&scene.context, &request, 1);
    assert_true(request->prefetch.is_due);
    assert_int_equal(request->prefetch.kind, BLOB_PREFETCH_PRICES);
    const void *parsed = request->json.root;
    assert_non_null(parsed);
    assert_int_equal(request->reply.status, 0);
    assert_int_equal(entries(), before);
    assert_int_equal(computed(), none);
    handler_price(&scene.context, request);
    uint64_t priced = computed();
    assert_true(priced > none);
    write_queue_look(&scene.context, &request, 1);
    write_queue_handle(&scene.context, &request, 1);
    assert_int_equal(request->reply.status, 201);
    assert_ptr_equal(request->json.root, parsed); /* its body was not parsed again */
    assert_int_equal(entries(), before + 1);
    assert_int_equal(computed(), priced);
    forget(&asked, 1);
}

/* A request whose price is out of date every time it returns is not priced for ever. */
static void a_request_is_not_priced_for_ever(void **state)
{
    (void)state;
    struct asked asked;
    struct request *request = &asked.request;
    ask(&asked, &principal_local, 3.5);
    request->prefetch.pricings = BLOB_PREFETCH_PRICINGS_MAX;
    write_queue_look(&scene.context, &request, 1);
    write_queue_handle(&scene.context, &request, 1);
    assert_false(request->prefetch.is_due);
    assert_int_equal(request->reply.status, 503);
    forget(&asked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_created_in_one_transaction_in_their_order),
        cmocka_unit_test(one_that_is_refused_stands_in_nobodys_way),
        cmocka_unit_test(twins_make_one_job),
        cmocka_unit_test(a_twin_that_came_first_elsewhere_is_answered),
        cmocka_unit_test(what_others_changed_meanwhile_is_decided_anew),
        cmocka_unit_test(a_policy_counts_those_before),
        cmocka_unit_test(no_more_are_queued_than_there_is_room_for),
        cmocka_unit_test(the_write_queue_computes_no_price),
        cmocka_unit_test(a_request_is_not_priced_for_ever),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
