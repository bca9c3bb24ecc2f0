/* Goal: the names that people give datasets, jobs and models are set at their creation,
 * changed only in the version that was read, found in lists, kept over restarts, and
 * part of nothing else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define CAPTION "'display_name':'%s','tags':{'team':'%s'}"
#define POINTS(words)                                                                  \
    "{'id':'%s','format':'csv','task':'classification','header':false,'columns':["     \
    "{'name':'x','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'y','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'above','kind':'label','values':['no','yes']}],"                          \
    "'privacy':" SAMPLE_BUDGET(4) words "}"
#define JOB(words)                                                                     \
    "{'dataset':'named','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"     \
    "'batch_size':50,'steps':2,'privacy':{'noise_multiplier':50}" words "}"

struct things { /* one of each kind, all with a name */
    struct stage *stage;
    char paths[3][80]; /* dataset, job, model */
} things;

static struct client *client_of(void)
{
    return &things.stage->client;
}

static int begin(void **state)
{
    stage_begin(state);
    things.stage = *state;
    struct client *client = client_of();
    assert_status(client_create(client, "/v1/datasets", POINTS("," CAPTION), "named",
                                "Flu survey", "north"),
                  201);
    char *text = sample_points(300, 1);
    assert_status(
        client_put(client, "/v1/datasets/named/files/data", text, strlen(text)), 204);
    free(text);
    assert_status(client_act(client, "/v1/datasets/named:import"), 200);
    const struct reply *made =
        client_create(client, "/v1/jobs", JOB("," CAPTION), "First try", "south");
    assert_status(made, 201);
    assert_string_equal(reply_text(made, "display_name"), "First try");
    const struct reply *job = await_success(client, reply_text(made, "id"));
    snprintf(things.paths[0], 80, "/v1/datasets/named");
    snprintf(things.paths[1], 80, "/v1/jobs/%s", reply_text(job, "id"));
    snprintf(things.paths[2], 80, "/v1/models/%s", reply_text(job, "model"));
    return 0;
}

static const struct reply *read_thing(int kind, char tag[256])
{
    const struct reply *reply = client_get(client_of(), "%s", things.paths[kind]);
    assert_status(reply, 200);
    assert_true(reply_header(reply, "ETag", tag));
    return reply;
}

static void a_caption_is_given_with_the_thing(void **state)
{
    (void)state;
    char tag[256];
    const struct reply *dataset = read_thing(0, tag), *job = read_thing(1, tag),
                       *model = read_thing(2, tag);
    assert_string_equal(reply_text(dataset, "display_name"), "Flu survey");
    assert_string_equal(reply_text(dataset, "tags.team"), "north");
    assert_string_equal(reply_text(job, "tags.team"), "south");
    assert_true(json_is_null(reply_at(model, "display_name")));
    assert_int_equal(json_object_size(reply_at(model, "tags")), 0);
}

static void a_patch_needs_the_version_that_there_is(void **state)
{
    (void)state;
    struct client *client = client_of();
    for (int kind = 0; kind < 3; kind++) {
        char tag[256], after[256], again[256];
        const char *path = things.paths[kind];
        const struct reply *before = read_thing(kind, tag);
        assert_problem(client_patch(client, path, NULL, "{'display_name':'A'}"), 428,
                       "precondition_required");
        assert_problem(client_patch(client, path, "\"old\"", "{'display_name':'A'}"),
                       412, "precondition_failed");
        assert_string_equal(read_thing(kind, after)->body, before->body);

        const struct reply *changed =
            client_patch(client, path, tag, "{'display_name':'B','tags':{'run':'1'}}");
        assert_status(changed, 200);
        assert_string_equal(reply_text(changed, "display_name"), "B");
        assert_string_equal(reply_text(changed, "tags.run"), "1");
        assert_true(reply_header(changed, "ETag", after));
        assert_string_not_equal(after, tag);
        assert_string_equal(read_thing(kind, again)->body, changed->body);
        assert_string_equal(again, after);
        assert_problem(client_patch(client, path, tag, "{'display_name':'C'}"), 412,
                       "precondition_failed");

        /* A change of nothing makes no new version; * matches any. */
        const struct reply *same = client_patch(client, path, after, "{}");
        assert_status(same, 200);
        assert_true(reply_header(same, "ETag", again));
        assert_string_equal(again, after);
        const struct reply *back = client_patch(
            client, path, "*", "{'display_name':null,'tags':{'run':null}}");
        assert_status(back, 200);
        assert_true(json_is_null(reply_at(back, "display_name")));
        assert_null(json_object_get(reply_at(back, "tags"), "run"));
    }
}

static void a_patch_that_is_none_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct client *client = client_of();
    char tag[256];
    for (int kind = 0; kind < 3; kind++) {
        const char *path = things.paths[kind];
        const struct reply *before = read_thing(kind, tag);
        assert_invalid_at(client_patch(client, path, tag, "{'state':'READY'}"),
                          "/state");
        assert_invalid_at(client_patch(client, path, tag, "{'tags':{'A':'b'}}"),
                          "/tags/A");
        assert_invalid_at(client_patch(client, path, tag, "[]"), "");
        assert_invalid_at(
            client_patch(client, path, tag, "{'display_name':'%0101d'}", 7),
            "/display_name");
        struct request typed = {
            .method = "PATCH",
            .path = path,
            .headers = {"Content-Type: application/json", "If-Match: *"},
            .body = "{}",
            .size = 2};
        assert_problem(client_send(client, &typed), 415, "unsupported_media_type");
        assert_string_equal(read_thing(kind, tag)->body, before->body);
    }
    assert_problem(client_patch(client, "/v1/datasets/nowhere", "*", "{}"), 404,
                   "not_found");
    assert_problem(
        client_patch(client, "/v1/jobs/job_01JJZ0000000000000000000AB", "*", "{}"), 404,
        "not_found");
}

static void a_tag_of_a_megabyte_has_its_code(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    struct client *client = client_of();
    char *body = malloc(SIZE);
    assert_non_null(body);
    for (int beyond = 0; beyond < 2; beyond++) {
        size_t size = beyond ? SIZE : SIZE - 1000;
        int head = snprintf(body, SIZE, "{\"tags\":{\"a\":\"");
        memset(body + head, 'x', size - (size_t)head);
        memcpy(body + size - 3, "\"}}", 3);
        struct request request = {
            .method = "PATCH",
            .path = things.paths[0],
            .headers = {"Content-Type: application/merge-patch+json", "If-Match: *"},
            .body = body,
            .size = size};
        assert_invalid_at(client_send(client, &request), "/tags/a");
    }
    struct request longer = {.method = "PATCH",
                             .path = things.paths[0],
                             .headers = {"Content-Type: application/merge-patch+json",
                                         "If-Match: *", "Content-Length: 1048577"},
                             .body = body,
                             .size = SIZE};
    assert_problem(client_send(client, &longer), 413, "body_too_large");
    free(body);
}

/* Returns the number of things that a list finds. */
static size_t found(const char *list, const char *query)
{
    const struct reply *page = client_get(client_of(), "/v1/%s?%s", list, query);
    assert_status(page, 200);
    return json_array_size(reply_at(page, list));
}

static void lists_find_things_by_what_they_are_called(void **state)
{
    (void)state;
    static const char *const lists[] = {"datasets", "jobs", "models"};
    struct client *client = client_of();
    char tag[256], known[300], next[256];
    for (int kind = 0; kind < 3; kind++) {
        const struct reply *list = client_get(client, "/v1/%s", lists[kind]);
        assert_true(reply_header(list, "ETag", tag));
        snprintf(known, sizeof known, "If-None-Match: %s", tag);
        char path[32];
        snprintf(path, sizeof path, "/v1/%s", lists[kind]);
        assert_status(client_get_with(client, path, known), 304);
        assert_status(client_patch(client, things.paths[kind], "*",
                                   "{'display_name':'Zephyr %d','tags':{'wind':'w'}}",
                                   kind),
                      200);
        const struct reply *changed = client_get_with(client, path, known);
        assert_status(changed, 200);
        assert_true(reply_header(changed, "ETag", next));
        assert_string_not_equal(next, tag);
        assert_int_equal(found(lists[kind], "q=zephyr"), 1);
        assert_int_equal(found(lists[kind], "q=zephyr%20x"), 0);
        assert_int_equal(found(lists[kind], "q=WIND:w"), 1);
        assert_int_equal(found(lists[kind], "tag=wind:w"), 1);
        assert_int_equal(found(lists[kind], "tag=wind:e"), 0);
        assert_int_equal(found(lists[kind], "tag=wind:w&q=zephyrus"), 0);
        assert_int_equal(found(lists[kind], kind == 0   ? "q=nam"
                                            : kind == 1 ? "q=job_"
                                                        : "q=mdl_"),
                         1);
    }
    assert_int_equal(found("jobs", "view=summary&state=SUCCEEDED&tag=wind:w"), 1);
    assert_string_equal(
        reply_text(client_get(client, "/v1/jobs?view=summary"), "jobs.0.display_name"),
        "Zephyr 1");
    assert_string_equal(reply_text(client_get(client, "/v1/datasets?view=summary"),
                                   "datasets.0.tags.wind"),
                        "w");
}

static void whoever_waits_for_a_job_is_told_its_new_name(void **state)
{
    (void)state;
    struct client *client = client_of();
    char tag[256], header[300], path[100];
    const char *job = submit(client, SAMPLE_JOB, "named", SAMPLE_ENDLESS, 1000.0);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_status(client_patch(client, path, "*", "{'display_name':'Long'}"), 200);
    const struct reply *read = client_get(client, "%s", path);
    assert_true(reply_header(read, "ETag", tag));
    assert_string_equal(reply_text(read, "display_name"), "Long");
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    assert_status(client_patch(client, path, "*", "{'display_name':'Longer'}"), 200);
    assert_status(client_get_with(client, path, header), 200);
    cancel(client, job);
    assert_string_equal(reply_text(await_end(client, job), "display_name"), "Longer");
}

static void names_are_no_part_of_what_is_promised_or_spent(void **state)
{
    (void)state;
    struct client *client = client_of();
    const struct reply *head = client_get(client, "/v1/ledger/head");
    const struct reply *budget = client_get(client, "/v1/datasets/named/budget");
    const struct reply *model = client_get(client, "%s", things.paths[2]);
    for (int kind = 0; kind < 3; kind++)
        assert_status(client_patch(client, things.paths[kind], "*",
                                   "{'display_name':'Another','tags':{'x':'y'}}"),
                      200);
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    assert_string_equal(client_get(client, "/v1/datasets/named/budget")->body,
                        budget->body);
    const struct reply *after = client_get(client, "%s", things.paths[2]);
    assert_string_equal(reply_text(after, "sha256"), reply_text(model, "sha256"));
    assert_true(
        json_equal(reply_at(after, "certificate"), reply_at(model, "certificate")));
    assert_null(
        strstr(client_get(client, "%s/content", things.paths[2])->headers, "Another"));
    /* A declaration is compared without its name. */
    assert_problem(client_create(client, "/v1/datasets", POINTS("," CAPTION), "named",
                                 "A new name", "east"),
                   409, "already_exists");
}

static void an_estimate_takes_a_named_job_and_a_key_its_body_as_it_is(void **state)
{
    (void)state;
    struct client *client = client_of();
    assert_status(
        client_post(client, "/v1/jobs:estimate", NULL, JOB("," CAPTION), "E", "n"),
        200);
    const struct reply *first =
        client_post(client, "/v1/jobs", "named-key", JOB("," CAPTION), "K", "n");
    assert_status(first, 201);
    char path[100];
    snprintf(path, sizeof path, "/v1/jobs/%s", reply_text(first, "id"));
    assert_status(client_patch(client, path, "*", "{'display_name':'L'}"), 200);
    /* The repeated request gets the first answer. */
    const struct reply *again =
        client_post(client, "/v1/jobs", "named-key", JOB("," CAPTION), "K", "n");
    assert_string_equal(again->body, first->body);
    assert_problem(
        client_post(client, "/v1/jobs", "named-key", JOB("," CAPTION), "L", "n"), 422,
        "idempotency_key_reused");
    assert_invalid_at(client_create(client, "/v1/jobs", JOB(",'tags':{'a':null}")),
                      "/tags/a");
    await_success(client, reply_text(first, "id"));
}

static void a_declaration_keeps_its_name_unless_it_has_another(void **state)
{
    (void)state;
    struct client *client = client_of();
    assert_status(client_create(client, "/v1/datasets", POINTS("," CAPTION), "anew",
                                "Before", "n"),
                  201);
    const struct reply *checked =
        client_post(client, "/v1/datasets:check", NULL, POINTS("," CAPTION), "other",
                    "Checked", "n");
    assert_string_equal(reply_text(checked, "display_name"), "Checked");
#define WIDER                                                                          \
    "{'id':'anew','format':'csv','task':'classification','header':true,'columns':["    \
    "{'name':'x','kind':'numeric','range':[-1,1]},"                                    \
    "{'name':'above','kind':'label','values':['no','yes']}],"                          \
    "'privacy':" SAMPLE_BUDGET(4)
    const struct reply *kept = client_create(client, "/v1/datasets", WIDER "}");
    assert_status(kept, 201);
    assert_string_equal(reply_text(kept, "display_name"), "Before");
    const struct reply *renamed = client_create(
        client, "/v1/datasets", POINTS("," CAPTION), "anew", "After", "s");
    assert_status(renamed, 201);
    assert_string_equal(reply_text(renamed, "display_name"), "After");
    assert_string_equal(reply_text(renamed, "tags.team"), "s");
}

static void names_are_kept_over_a_restart(void **state)
{
    struct stage *stage = *state;
    struct client *client = client_of();
    const struct reply *before[3];
    char tag[256];
    for (int kind = 0; kind < 3; kind++) {
        assert_status(
            client_patch(client, things.paths[kind], "*",
                         "{'display_name':'Kept %d \xc3\xa9','tags':{'k':'v'}}", kind),
            200);
        before[kind] = read_thing(kind, tag);
    }
    assert_int_equal(daemon_stop(&stage->daemon, SIGKILL), 128 + SIGKILL);
    daemon_start(&stage->daemon, NULL);
    for (int kind = 0; kind < 3; kind++)
        assert_string_equal(read_thing(kind, tag)->body, before[kind]->body);
    assert_status(client_patch(client, things.paths[1], "*",
                               "{'display_name':null,"
                               "'tags':null}"),
                  200);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    assert_true(json_is_null(reply_at(read_thing(1, tag), "display_name")));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caption_is_given_with_the_thing),
        cmocka_unit_test(a_patch_needs_the_version_that_there_is),
        cmocka_unit_test(a_patch_that_is_none_is_refused_and_changes_nothing),
        cmocka_unit_test(a_tag_of_a_megabyte_has_its_code),
        cmocka_unit_test(lists_find_things_by_what_they_are_called),
        cmocka_unit_test(whoever_waits_for_a_job_is_told_its_new_name),
        cmocka_unit_test(names_are_no_part_of_what_is_promised_or_spent),
        cmocka_unit_test(an_estimate_takes_a_named_job_and_a_key_its_body_as_it_is),
        cmocka_unit_test(a_declaration_keeps_its_name_unless_it_has_another),
        cmocka_unit_test(names_are_kept_over_a_restart),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
