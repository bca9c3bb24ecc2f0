/* Goal: a dataset that never had content may be declared again under its id: with
 * another schema, which the ledger does not record, or with another privacy, which
 * becomes a new entry of the ledger. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/declaration_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define IMAGES(id)                                                                     \
    "{'id':'" id "','format':'idx','task':'classification','classes':2,"               \
    "'features':{'shape':[2,2],'scale':255},'privacy':" SAMPLE_BUDGET(1) "}"

static void put_points(struct client *client, const char *id, unsigned salt)
{
    char path[128], *text = sample_points(300, salt);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    free(text);
}

static void a_wrong_schema_is_declared_anew_and_the_upload_stays(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *first =
        client_create(client, "/v1/datasets", TABLE("mended", WRONG, SAMPLE_BUDGET(1)));
    assert_status(first, 201);
    put_points(client, "mended", 1);
    assert_problem(client_act(client, "/v1/datasets/mended:import"), 422,
                   "import_failed");
    const struct reply *budget = client_get(client, "/v1/datasets/mended/budget");
    const struct reply *head = client_get(client, "/v1/ledger/head");

    const struct reply *anew =
        client_create(client, "/v1/datasets", TABLE("mended", RIGHT, SAMPLE_BUDGET(1)));
    assert_status(anew, 201);
    assert_string_equal(reply_text(anew, "state"), "CREATED");
    assert_true(json_is_null(reply_at(anew, "state_reason")));
    assert_string_equal(reply_text(anew, "columns.2.values.1"), "yes");
    assert_string_equal(reply_text(anew, "create_time"),
                        reply_text(first, "create_time"));
    assert_string_equal(client_get(client, "/v1/datasets/mended")->body, anew->body);
    assert_string_equal(client_get(client, "/v1/datasets/mended/budget")->body,
                        budget->body);
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);

    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    assert_string_equal(client_get(client, "/v1/datasets/mended")->body, anew->body);
    assert_status(client_act(client, "/v1/datasets/mended:import"), 200);
    await_success(client, submit(client, SAMPLE_JOB, "mended", 2, 50.0));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_declaration_before_any_import_is_replaced_in_its_place(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(
        client_create(client, "/v1/datasets", TABLE("early", WRONG, SAMPLE_BUDGET(1))),
        201);
    assert_status(
        client_create(client, "/v1/datasets", TABLE("later", WRONG, SAMPLE_BUDGET(1))),
        201);
    assert_status(
        client_create(client, "/v1/datasets", TABLE("early", RIGHT, SAMPLE_BUDGET(1))),
        201);
    const struct reply *list = client_get(client, "/v1/datasets?page_size=2");
    assert_string_equal(reply_text(list, "datasets.0.id"), "later");
    assert_string_equal(reply_text(list, "datasets.1.id"), "early");
    assert_string_equal(reply_text(list, "datasets.1.columns.2.values.1"), "yes");
    assert_exists_at(
        client_create(client, "/v1/datasets", TABLE("early", RIGHT, SAMPLE_BUDGET(1))),
        "/id");
}

/* Returns the entries of the dataset's budget, oldest first. */
static const struct reply *entries_of(struct client *client, const char *id)
{
    const struct reply *ledger = client_get(client, "/v1/datasets/%s/ledger", id);
    assert_status(ledger, 200);
    return ledger;
}

static double granted(struct client *client, const char *id)
{
    return reply_number(client_get(client, "/v1/datasets/%s/budget", id), "epsilon");
}

static void another_privacy_is_another_grant_in_the_place_of_the_first(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_status(client_create(client, "/v1/datasets",
                                TABLE("granted", WRONG, SAMPLE_BUDGET(1))),
                  201);
    put_points(client, "granted", 21);
    const char *declared =
        TABLE("granted", RIGHT, "{'epsilon':1,'delta':1e-5,'order':10}");
    const struct reply *posted =
        client_post(client, "/v1/datasets", "k", "%s", declared);
    assert_status(posted, 201);
    assert_true(reply_number(posted, "privacy.order") == 10);
    const struct reply *again =
        client_post(client, "/v1/datasets", "k", "%s", declared);
    assert_string_equal(again->body, posted->body);
    const struct reply *anew = client_create(
        client, "/v1/datasets",
        TABLE("granted", RIGHT, "{'epsilon':9,'delta':1e-6,'relation':'replace_one'}"));
    assert_status(anew, 201);
    assert_true(reply_number(anew, "guarantee.epsilon") == 9);
    assert_int_equal(json_array_size(reply_at(anew, "epochs")), 1);
    const struct reply *ledger = entries_of(client, "granted");
    assert_int_equal(json_array_size(reply_at(ledger, "entries")), 3);
    for (unsigned i = 1; i < 3; i++) {
        char before[32], named[48];
        snprintf(before, sizeof before, "entries.%u.seq", i - 1);
        snprintf(named, sizeof named, "entries.%u.meta.replaces", i);
        assert_true(reply_number(ledger, before) == reply_number(ledger, named));
    }
    assert_true(reply_number(ledger, "entries.2.epoch") == 3);
    assert_true(granted(client, "granted") == 9);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, NULL);
    assert_string_equal(client_get(client, "/v1/datasets/granted")->body, anew->body);
    assert_status(client_act(client, "/v1/datasets/granted:import"), 200);
    const struct reply *job =
        await_success(client, submit(client, SAMPLE_JOB, "granted", 2, 50.0));
    const struct reply *model = model_of(client, job);
    assert_string_equal(reply_text(model, "certificate.guarantee.relation"),
                        "replace_one");
    assert_true(
        reply_number(model, "certificate.dataset_guarantee.guarantee.epsilon") == 9);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* An owner who has promised people a budget cannot make their records public by a
 * correction. */
static void what_a_budget_was_granted_to_is_not_made_public(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(
        client_create(client, "/v1/datasets", TABLE("shown", WRONG, SAMPLE_PUBLIC)),
        201);
    assert_problem(client_get(client, "/v1/datasets/shown/budget"), 409,
                   "dataset_public");
    const struct reply *anew =
        client_create(client, "/v1/datasets", TABLE("shown", RIGHT, SAMPLE_BUDGET(1)));
    assert_status(anew, 201);
    assert_true(granted(client, "shown") == 1);
    assert_exists_at(
        client_create(client, "/v1/datasets", TABLE("shown", RIGHT, SAMPLE_PUBLIC)),
        "/privacy");
    const struct reply *ledger = entries_of(client, "shown");
    assert_int_equal(json_array_size(reply_at(ledger, "entries")), 1);
    assert_null(json_object_get(reply_at(ledger, "entries.0.meta"), "replaces"));
}

static void what_ever_had_content_is_not_declared_anew(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "full", 300, 2, SAMPLE_BUDGET(1));
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            await_success(client, submit(client, SAMPLE_JOB, "full", 2, 50.0));
        if (i == 2)
            assert_status(client_delete(client, "/v1/datasets/full"), 204);
        assert_exists_at(client_create(client, "/v1/datasets",
                                       TABLE("full", WRONG, SAMPLE_BUDGET(1))),
                         "/id");
    }
}

static void uploads_of_another_format_go(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(
        client_create(client, "/v1/datasets", TABLE("shaped", RIGHT, SAMPLE_BUDGET(1))),
        201);
    put_points(client, "shaped", 3);
    assert_status(client_create(client, "/v1/datasets", IMAGES("shaped")), 201);
    assert_problem(client_put(client, "/v1/datasets/shaped/files/data", "x", 1), 404,
                   "not_found");
    const struct reply *refused = client_act(client, "/v1/datasets/shaped:import");
    assert_string_equal(reply_text(refused, "file"), "features");
    assert_status(
        client_create(client, "/v1/datasets", TABLE("shaped", RIGHT, SAMPLE_BUDGET(1))),
        201);
    refused = client_act(client, "/v1/datasets/shaped:import");
    assert_problem(refused, 422, "import_failed");
    assert_string_equal(reply_text(refused, "file"), "data");
    assert_string_equal(reply_text(refused, "reason"), "not uploaded");
}

static void each_key_answers_its_own_declaration_again(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *path = "/v1/datasets";
    char value[256];
    const struct reply *first =
        client_post(client, path, "one", TABLE("keyed", WRONG, SAMPLE_BUDGET(1)));
    assert_status(first, 201);
    const struct reply *second =
        client_post(client, path, "two", TABLE("keyed", RIGHT, SAMPLE_BUDGET(1)));
    assert_status(second, 201);
    const struct reply *again =
        client_post(client, path, "one", TABLE("keyed", WRONG, SAMPLE_BUDGET(1)));
    assert_string_equal(again->body, first->body);
    assert_true(reply_header(again, "idempotency-replayed", value));
    assert_string_equal(client_get(client, "/v1/datasets/keyed")->body, second->body);
    assert_problem(
        client_post(client, path, "one", TABLE("keyed", RIGHT, SAMPLE_BUDGET(1))), 422,
        "idempotency_key_reused");
}

static const struct reply *put_declared(struct client *client, const char *path,
                                        const char *text)
{
    char *body = strdup(text);
    assert_non_null(body);
    for (char *quote = body; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    struct request request = {.method = "PUT",
                              .path = path,
                              .headers = {"Content-Type: application/json"},
                              .body = body,
                              .size = strlen(body)};
    const struct reply *reply = client_send(client, &request);
    free(body);
    return reply;
}

static void after_a_failed_import_it_may_be_declared_as_it_was(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    for (int puts = 0; puts < 2; puts++) {
        const char *path = puts ? "/v1/datasets/put-again" : "/v1/datasets/post-again";
        const char *text = puts ? TABLE("put-again", WRONG, SAMPLE_BUDGET(1))
                                : TABLE("post-again", WRONG, SAMPLE_BUDGET(1));
        assert_status(client_create(client, "/v1/datasets", "%s", text), 201);
        put_points(client, path + strlen("/v1/datasets/"), 5);
        assert_problem(client_act(client, "%s:import", path), 422, "import_failed");
        const struct reply *head = client_get(client, "/v1/ledger/head");
        const struct reply *anew =
            puts ? put_declared(client, path, text)
                 : client_create(client, "/v1/datasets", "%s", text);
        assert_status(anew, puts ? 200 : 201);
        assert_string_equal(reply_text(anew, "state"), "CREATED");
        assert_true(json_is_null(reply_at(anew, "state_reason")));
        assert_string_equal(client_get(client, "%s", path)->body, anew->body);
        assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    }
}

static void a_declaration_is_put_in_the_place_of_another(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char path[] = "/v1/datasets/placed";
    const char *wrong = TABLE("placed", WRONG, SAMPLE_BUDGET(1));
    const char *right = TABLE("placed", RIGHT, SAMPLE_BUDGET(1));
    assert_problem(put_declared(client, path, wrong), 404, "not_found");
    assert_status(client_create(client, "/v1/datasets", "%s", wrong), 201);
    put_points(client, "placed", 6);
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *put = put_declared(client, path, right);
    assert_status(put, 200);
    assert_string_equal(reply_text(put, "columns.2.values.1"), "yes");
    assert_string_equal(put_declared(client, path, right)->body, put->body);
    assert_string_equal(client_get(client, path)->body, put->body);
    assert_invalid_at(
        put_declared(client, path, TABLE("other", RIGHT, SAMPLE_BUDGET(1))), "/id");
    assert_problem(put_declared(client, path, "{'id':'placed'}"), 400,
                   "invalid_argument");
    const struct reply *public =
        put_declared(client, path, TABLE("placed", RIGHT, SAMPLE_PUBLIC));
    assert_problem(public, 409, "dataset_immutable");
    assert_string_equal(reply_text(public, "errors.0.pointer"), "/privacy");
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_status(client_act(client, "%s:import", path), 200); /* the upload remained */
    assert_problem(put_declared(client, path, right), 409, "dataset_immutable");
    assert_status(client_delete(client, path), 204);
    assert_problem(put_declared(client, path, right), 409, "dataset_immutable");
}

/* --- replaced declarations take no memory --- */

enum { WIDE_COLUMNS = 1000, CORRECTIONS = 100, CORRECTIONS_GROWTH_MAX = 4096 };

/* A declaration whose column names contain number. */
static char *wide_table(unsigned number)
{
    size_t size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "{'id':'wide','format':'csv','task':'classification','columns':[");
    for (unsigned i = 0; i < WIDE_COLUMNS; i++)
        fprintf(out, "{'name':'x%u-%u','kind':'numeric','range':[-1,1]},", number, i);
    fprintf(out, "{'name':'above','kind':'label','values':['no','yes']}],"
                 "'privacy':" SAMPLE_PUBLIC "}");
    assert_int_equal(fclose(out), 0);
    return text;
}

static void correct(struct client *client, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        char *text = wide_table(i);
        assert_status(put_declared(client, "/v1/datasets/wide", text), 200);
        free(text);
    }
}

struct reading { /* reads while others declare */
    struct client client;
    atomic_bool over;
};

static void *read_on(void *context)
{
    struct reading *reading = context;
    while (!atomic_load(&reading->over)) {
        client_get(&reading->client, "/v1/datasets/wide");
        client_get(&reading->client, "/v1/datasets?page_size=100");
        client_get(&reading->client, "/metrics");
    }
    return NULL;
}

static void corrections_take_no_memory_for_good(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct reading reading = {.over = false};
    pthread_t reader;
    char *text = wide_table(0);
    assert_status(client_create(client, "/v1/datasets", "%s", text), 201);
    free(text);
    client_init(&reading.client, &stage->daemon);
    assert_int_equal(pthread_create(&reader, NULL, read_on, &reading), 0);
    correct(client, 1, 20);
    long before = daemon_resident(&stage->daemon);
    correct(client, 21, CORRECTIONS);
    long after = daemon_resident(&stage->daemon);
    atomic_store(&reading.over, true);
    pthread_join(reader, NULL);
    client_fini(&reading.client);
    const struct reply *now = client_get(client, "/v1/datasets/wide");
    assert_string_equal(reply_text(now, "columns.0.name"), "x120-0");
    assert_growth(after - before, CORRECTIONS_GROWTH_MAX);
}

/* --- another privacy --- */

static const struct reply *put_privacy(struct client *client, const char *id,
                                       const char *privacy)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/v1/datasets/%s", id);
    snprintf(text, sizeof text, TABLE("%s", RIGHT, "%s"), id, privacy);
    return put_declared(client, path, text);
}

/* A client that has lost the answer sends the request again: the ledger gets no second
 * entry for it. */
static void the_same_privacy_put_again_is_one_grant(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_points(client, "put", SAMPLE_BUDGET(1));
    const struct reply *put = put_privacy(client, "put", SAMPLE_BUDGET(3));
    assert_status(put, 200);
    assert_true(reply_number(put, "guarantee.epsilon") == 3);
    const struct reply *head = client_get(client, "/v1/ledger/head");
    assert_string_equal(put_privacy(client, "put", SAMPLE_BUDGET(3))->body, put->body);
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_int_equal(json_array_size(reply_at(entries_of(client, "put"), "entries")),
                     2);
    assert_invalid_at(put_privacy(client, "put", "{'epsilon':31,'delta':1e-5}"),
                      "/privacy/epsilon");
    assert_problem(put_privacy(client, "put", "{'epsilon':1e-9,'delta':1e-10}"), 400,
                   "invalid_argument");
    assert_string_equal(client_get(client, "/v1/datasets/put")->body, put->body);
}

/* Once the dataset has content, no member of the promise can be changed. */
static void no_part_of_a_promise_is_put_anew_once_there_is_content(void **state)
{
    static const char *const privacies[] = {
        SAMPLE_BUDGET(1),
        "{'epsilon':2,'delta':1e-6}",
        SAMPLE_BUDGET(2) ",'holdout':0.2",
        SAMPLE_PUBLIC,
    };
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "kept", 300, 71, SAMPLE_BUDGET(2));
    const struct reply *head = client_get(client, "/v1/ledger/head");
    for (size_t i = 0; i < sizeof privacies / sizeof *privacies; i++)
        assert_problem(put_privacy(client, "kept", privacies[i]), 409,
                       "dataset_immutable");
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_true(granted(client, "kept") == 2);
}

/* Nothing was imported, but other engines may have run on the records. */
static void what_was_drawn_on_elsewhere_is_not_granted_anew(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_points(client, "elsewhere", SAMPLE_BUDGET(8));
    assert_status(put_privacy(client, "elsewhere", SAMPLE_BUDGET(4)), 200);
    assert_status(
        client_create(client, "/v1/charges",
                      "{'dataset':'elsewhere','engine':'jax','unit':'record','records':"
                      "300,'mechanism':{'kind':'sampled_gaussian','sampler':'poisson',"
                      "'sampling_rate':0.01,'noise_multiplier':1,'steps':1000,"
                      "'neighbour':'add_remove'}}"),
        201);
    assert_problem(put_privacy(client, "elsewhere", SAMPLE_BUDGET(8)), 409,
                   "dataset_immutable");
    assert_exists_at(client_create(client, "/v1/datasets",
                                   TABLE("elsewhere", RIGHT, SAMPLE_BUDGET(8))),
                     "/id");
    assert_true(granted(client, "elsewhere") == 4);
}

struct rival { /* imports while another privacy is declared */
    struct client client;
    char id[16];
    bool imported;
};

static void *import_it(void *context)
{
    struct rival *rival = context;
    const struct reply *reply =
        client_act(&rival->client, "/v1/datasets/%s:import", rival->id);
    rival->imported = reply->status == 200;
    return NULL;
}

/* Either the import comes first and the promise stays, or the new promise comes first
 * and the import is under it: the row and the ledger never differ. */
static void an_import_is_under_the_promise_that_the_ledger_has(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    for (unsigned i = 0; i < 4; i++) {
        pthread_t thread;
        struct rival rival = {.imported = false};
        snprintf(rival.id, sizeof rival.id, "race-%u", i);
        client_init(&rival.client, &stage->daemon);
        declare_points(client, rival.id, SAMPLE_BUDGET(1));
        assert_status(put_privacy(client, rival.id, SAMPLE_BUDGET(2)), 200);
        put_points(client, rival.id, 100 + i);
        assert_int_equal(pthread_create(&thread, NULL, import_it, &rival), 0);
        const struct reply *put = put_privacy(client, rival.id, SAMPLE_BUDGET(3));
        pthread_join(thread, NULL);
        assert_true(rival.imported);
        client_fini(&rival.client);
        const double epsilon = put->status == 200 ? 3 : 2;
        if (put->status != 200)
            assert_int_equal(put->status, 409);
        const struct reply *now = client_get(client, "/v1/datasets/%s", rival.id);
        assert_true(reply_number(now, "privacy.epsilon") == epsilon);
        assert_true(granted(client, rival.id) == epsilon);
    }
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* The daemon is killed at some moment around the change. Row and ledger are then both
 * of before or both of after, and sending the request again makes both of after. */
static void a_kill_leaves_the_promise_whole(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    for (unsigned i = 0; i < 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "kill-%u", i);
        declare_points(client, id, SAMPLE_BUDGET(1));
        client->lossy = true;
        pid_t child = fork();
        if (child == 0) {
            usleep(500 * i * i);
            kill(stage->daemon.pid, SIGKILL);
            _exit(0);
        }
        put_privacy(client, id, SAMPLE_BUDGET(2));
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(daemon_wait(&stage->daemon), 128 + SIGKILL);
        client->lossy = false;
        assert_int_equal(daemon_verify(&stage->daemon), 0);
        daemon_start(&stage->daemon, NULL);
        const struct reply *now = client_get(client, "/v1/datasets/%s", id);
        assert_true(reply_number(now, "privacy.epsilon") == granted(client, id));
        assert_status(put_privacy(client, id, SAMPLE_BUDGET(2)), 200);
        assert_true(granted(client, id) == 2);
        assert_int_equal(json_array_size(reply_at(entries_of(client, id), "entries")),
                         2);
    }
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_schema_is_declared_anew_and_the_upload_stays),
        cmocka_unit_test(a_declaration_before_any_import_is_replaced_in_its_place),
        cmocka_unit_test(another_privacy_is_another_grant_in_the_place_of_the_first),
        cmocka_unit_test(what_a_budget_was_granted_to_is_not_made_public),
        cmocka_unit_test(what_ever_had_content_is_not_declared_anew),
        cmocka_unit_test(uploads_of_another_format_go),
        cmocka_unit_test(each_key_answers_its_own_declaration_again),
        cmocka_unit_test(after_a_failed_import_it_may_be_declared_as_it_was),
        cmocka_unit_test(a_declaration_is_put_in_the_place_of_another),
        cmocka_unit_test(corrections_take_no_memory_for_good),
        cmocka_unit_test(the_same_privacy_put_again_is_one_grant),
        cmocka_unit_test(no_part_of_a_promise_is_put_anew_once_there_is_content),
        cmocka_unit_test(what_was_drawn_on_elsewhere_is_not_granted_anew),
        cmocka_unit_test(an_import_is_under_the_promise_that_the_ledger_has),
        cmocka_unit_test(a_kill_leaves_the_promise_whole),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
