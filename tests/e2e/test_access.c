/* Goal: on every route each role gets the answer that the table of roles gives, for
 * things of its own project and of another; a request without a valid key gets an
 * answer only on the routes that are open to all. Method: the daemon's own tables of
 * routes and roles, expanded here as text, against a daemon with two projects;
 * `epsilond key` on the host makes the keys. */
#include <signal.h>
#include <string.h>

#include "api/http/routes.h"
#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/sample_fixture.h"

/* --- every route, role and project --- */

static const struct row {
    struct route route;
    const char *scope;
} rows[] = {
#define X(symbol, where, needed, ...)                                                  \
    {{.name = #symbol, .scope = SCOPE_##needed, __VA_ARGS__}, #needed},
    ROUTE_LIST(X)
#undef X
};

/* The roles' table, with a column for each role of a key. */
static const enum reach reaches[SCOPE_COUNT][ROLE_COUNT - ROLE_ANALYST] = {
#define X(symbol, name, a, b, c, d, e)                                                 \
    [SCOPE_##symbol] = {REACH_##a, REACH_##b, REACH_##c, REACH_##d, REACH_##e},
    SCOPE_LIST(X)
#undef X
};

/* The id of a thing of the project that a route's path takes; NULL if the test has no
 * thing of that kind. Requests that would destroy a thing get one that no other request
 * uses. */
static const char *thing_of(const struct route *route, const struct project *project)
{
    bool deletes = strcmp(route->method, "DELETE") == 0;
    if (strncmp(route->path, "/v1/datasets/", 13) == 0)
        return deletes || strstr(route->path, ":import") ? project->spare
                                                         : project->dataset;
    if (deletes)
        return NULL;
    if (strcmp(route->path, "/v1/charges/{id}") == 0)
        return project->charge; /* the rest only its creator may do: test_charges.c */
    if (strncmp(route->path, "/v1/jobs/", 9) == 0)
        return project->job;
    if (strncmp(route->path, "/v1/sweeps/", 11) == 0)
        return project->sweep;
    if (strncmp(route->path, "/v1/models/", 11) == 0)
        return project->model;
    if (strncmp(route->path, "/v1/statistics/", 15) == 0)
        return project->statistics;
    if (strncmp(route->path, "/v1/evaluations/", 16) == 0)
        return project->evaluation;
    if (strncmp(route->path, "/v1/webhooks/", 13) == 0)
        return project->webhook;
    if (strncmp(route->path, "/v1/keys/", 9) == 0)
        return access_key_id(project->spare_key);
    return NULL;
}

static void fill_path(char path[200], const struct route *route, const char *id)
{
    const char *at = strstr(route->path, "{id}"), *name = strstr(route->path, "{name}");
    if (at == NULL)
        snprintf(path, 200, "%s", route->path);
    else if (name == NULL)
        snprintf(path, 200, "%.*s%s%s", (int)(at - route->path), route->path, id,
                 at + 4);
    else
        snprintf(path, 200, "%.*s%s%.*sdata%s", (int)(at - route->path), route->path,
                 id, (int)(name - at - 4), at + 4, name + 6);
}

/* Sends a request that is well-formed except for its body, an empty object. */
static const struct reply *ask(const struct route *route, const char *id)
{
    char path[200], key[40];
    static unsigned count;
    bool is_patch = strcmp(route->method, "PATCH") == 0;
    fill_path(path, route, id);
    snprintf(key, sizeof key, "Idempotency-Key: table-%u", count++);
    bool has_body = route->body != BODY_NONE;
    return client_send(
        access_client(),
        &(struct request){.method = route->method,
                          .path = path,
                          .headers = {is_patch
                                          ? "Content-Type: application/merge-patch+json"
                                          : "Content-Type: application/json",
                                      key, is_patch ? "If-Match: *" : NULL},
                          .body = has_body ? "{}" : NULL,
                          .size = has_body ? 2 : 0});
}

static void expect_allowed(const struct reply *reply, const struct route *route)
{
    bool fetches = strstr(route->path, "/fetch") != NULL;
    if (fetches && reply->status == 404 &&
        strcmp(reply_text(reply, "detail"), "no fetch of this file") == 0)
        return; /* the 404 is about the fetch, not about the dataset */
    if (reply->status == 401 || reply->status == 403 || reply->status == 404)
        fail_msg("%s: %ld %s", route->name, reply->status, reply->body);
}

/* A thing that the key may not see gets the same answer as one that does not exist,
 * except for the id in it. */
static void expect_absent(const struct reply *reply, const struct route *route,
                          const char *id)
{
    char absent[ID_SIZE], expected[200];
    assert_problem(reply, 404, "not_found");
    snprintf(absent, sizeof absent, "%s", id);
    absent[strlen(absent) - 1] = absent[strlen(absent) - 1] == 'Z' ? 'Y' : 'Z';
    snprintf(expected, sizeof expected, "%s", reply_text(reply, "detail"));
    char *named = strstr(expected, id);
    assert_non_null(named);
    memcpy(named, absent, strlen(absent));
    const struct reply *missing = ask(route, absent);
    assert_problem(missing, 404, "not_found");
    assert_string_equal(reply_text(missing, "detail"), expected);
}

/* Routes that only the owner of a dataset may use before it is imported
 * (docs/access.md). */
static bool is_owners_alone(const struct route *route)
{
    static const char *const names[] = {
        "dataset_put",        "dataset_file_put",  "dataset_file_get",
        "dataset_file_fetch", "dataset_fetch_get", "dataset_fetch_delete",
        "dataset_import",     "dataset_delete",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(route->name, names[i]) == 0)
            return true;
    return false;
}

static void try_route(const struct row *row, enum role role)
{
    const struct route *route = &row->route;
    enum reach reach = route->scope == SCOPE_EVERYBODY
                           ? REACH_EVERYWHERE
                           : reaches[route->scope][role - ROLE_ANALYST];
    bool has_id = strstr(route->path, "{id}") != NULL;
    const char *own = has_id ? thing_of(route, &access_scene.own) : "";
    access_show(access_scene.keys[role]);
    if (reach == REACH_NONE) {
        assert_problem(ask(route, own != NULL ? own : "x"), 403, "forbidden");
        if (has_id)
            assert_problem(ask(route, "nowhere"), 403, "forbidden");
        return;
    }
    if (own == NULL || route->scope == SCOPE_EVERYBODY)
        return;
    bool has_end = strstr(route->types, "event-stream") == NULL;
    if (is_owners_alone(route)) { /* the key is another data owner's of the project */
        assert_problem(ask(route, own), 403, "forbidden");
        access_show(access_scene.own.owner);
    }
    if (has_end)
        expect_allowed(ask(route, own), route);
    if (!has_id)
        return;
    const char *foreign = thing_of(route, &access_scene.foreign);
    if (reach == REACH_EVERYWHERE && has_end)
        expect_allowed(ask(route, foreign), route);
    if (reach != REACH_EVERYWHERE)
        expect_absent(ask(route, foreign), route, foreign);
}

static void every_route_answers_every_role_as_was_planned(void **state)
{
    (void)state;
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strcmp(rows[i].route.name, "dataset_delete") != 0)
                try_route(&rows[i], (enum role)role);
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strcmp(rows[i].route.name, "dataset_delete") == 0)
                try_route(&rows[i], (enum role)role);
}

static void without_a_key_nothing_but_what_is_everybodys_is_answered(void **state)
{
    (void)state;
    access_show("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct route *route = &rows[i].route;
        const struct reply *reply = ask(route, access_scene.own.dataset);
        char challenge[256];
        if (route->scope == SCOPE_EVERYBODY) {
            assert_true(reply->status != 401 && reply->status != 403);
            continue;
        }
        assert_problem(reply, 401, "key_missing");
        assert_true(reply_header(reply, "www-authenticate", challenge));
        assert_string_equal(challenge, "Bearer");
    }
}

/* --- lists, counts, bodies and replayed answers --- */

static void lists_and_counts_show_the_own_project_alone(void **state)
{
    (void)state;
    struct client *client = access_client();
    access_show(access_scene.own.analyst);
    const struct reply *jobs = client_get(client, "/v1/jobs");
    const struct reply *datasets = client_get(client, "/v1/datasets?order_by=id");
    const struct reply *models = client_get(client, "/v1/models");
    const struct reply *sweeps = client_get(client, "/v1/sweeps");
    assert_null(strstr(sweeps->body, access_scene.foreign.sweep));
    assert_non_null(strstr(sweeps->body, access_scene.own.sweep));
    assert_null(strstr(jobs->body, "views"));
    assert_null(strstr(jobs->body, access_scene.foreign.job));
    assert_non_null(strstr(jobs->body, access_scene.own.job));
    assert_null(strstr(datasets->body, "views"));
    assert_non_null(strstr(datasets->body, "calls"));
    assert_null(strstr(models->body, access_scene.foreign.model));
    assert_non_null(strstr(models->body, access_scene.own.model));
    const struct reply *statistics = client_get(client, "/v1/statistics");
    assert_non_null(strstr(statistics->body, access_scene.own.statistics));
    assert_null(strstr(statistics->body, access_scene.foreign.statistics));
    const struct reply *evaluations = client_get(client, "/v1/evaluations");
    assert_non_null(strstr(evaluations->body, access_scene.own.evaluation));
    assert_null(strstr(evaluations->body, access_scene.foreign.evaluation));
    assert_int_equal(reply_number(client_get(client, "/v1/status"), "jobs.SUCCEEDED"),
                     1);
    assert_string_equal(client_get(client, "/v1/jobs?dataset=views")->body,
                        client_get(client, "/v1/jobs?dataset=nowhere")->body);
    /* In the order of ids, a page token is d and a hexadecimal number: d1 is calls, d3
     * is views. */
    assert_status(client_get(client, "/v1/datasets?order_by=id&page_token=d1"), 200);
    assert_problem(client_get(client, "/v1/datasets?order_by=id&page_token=d3"), 400,
                   "invalid_argument");
    assert_string_equal(reply_text(jobs, "jobs.0.project"), "fraud");
    assert_string_equal(reply_text(jobs, "jobs.0.created_by"), "analyst-of-fraud");
    assert_string_equal(reply_text(datasets, "datasets.0.created_by"),
                        "owner-of-fraud");
    assert_non_null(
        strstr(client_get(client, "/v1/jobs?created_by=analyst-of-fraud")->body,
               access_scene.own.job));
    assert_null(strstr(client_get(client, "/v1/jobs?created_by=owner-of-fraud")->body,
                       access_scene.own.job));
    access_show(access_scene.keys[ROLE_AUDITOR]);
    assert_status(client_get(client, "/v1/datasets?order_by=id&page_token=d3"), 200);
    jobs = client_get(client, "/v1/jobs");
    assert_non_null(strstr(jobs->body, access_scene.own.job));
    assert_non_null(strstr(jobs->body, access_scene.foreign.job));
    assert_int_equal(reply_number(client_get(client, "/v1/status"), "jobs.SUCCEEDED"),
                     2);
}

static void a_body_names_only_what_its_sender_sees(void **state)
{
    (void)state;
    static const char job[] =
        "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':50,'steps':3,'privacy':{'noise_multiplier':9}%s}";
    struct client *client = access_client();
    access_show(access_scene.own.analyst);
    const struct reply *foreign = client_create(client, "/v1/jobs", job, "views", "");
    const struct reply *missing = client_create(client, "/v1/jobs", job, "vieww", "");
    assert_problem(foreign, 404, "not_found");
    assert_string_equal(reply_text(foreign, "errors.0.pointer"), "/dataset");
    assert_string_equal(reply_text(foreign, "detail"), "no dataset \"views\"");
    assert_string_equal(reply_text(missing, "detail"), "no dataset \"vieww\"");
    assert_problem(
        client_create(client, "/v1/jobs", job, "calls", ",'evaluation':'views-2'"), 404,
        "not_found");
    assert_problem(client_get(client, "/v1/job-schema?dataset=views"), 404,
                   "not_found");
    access_show(access_scene.own.owner);
    const struct reply *taken = declare_points(client, "views", SAMPLE_PUBLIC);
    assert_problem(taken, 409, "already_exists");
    assert_string_equal(reply_text(taken, "detail"),
                        "\"views\" was used before; ids are never free again");
}

static void
an_analyst_cancels_its_own_jobs_and_a_data_owner_all_of_the_project(void **state)
{
    (void)state;
    struct client *client = access_client();
    char other[KEY_SIZE];
    access_make_key(other, "another", "analyst", "fraud");
    access_show(access_scene.own.analyst);
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    access_show(other);
    assert_status(client_get(client, "/v1/jobs/%s", job), 200);
    assert_problem(client_act(client, "/v1/jobs/%s:cancel", job), 403, "forbidden");
    char same[KEY_SIZE];
    access_make_key(same, "Analyst-Of-Fraud", "analyst", "fraud");
    access_show(same);
    const char *shouted = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    access_show(access_scene.own.analyst);
    assert_status(client_act(client, "/v1/jobs/%s:cancel", shouted), 200);
    access_show(access_scene.foreign.owner);
    assert_problem(client_act(client, "/v1/jobs/%s:cancel", job), 404, "not_found");
    access_show(access_scene.own.owner);
    assert_status(client_act(client, "/v1/jobs/%s:cancel", job), 200);
    access_show(access_scene.own.analyst);
    assert_string_equal(reply_text(await_end(client, job), "state"), "CANCELLED");
}

static void a_remembered_answer_is_for_whoever_was_answered(void **state)
{
    (void)state;
    static const char job[] =
        "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':50,'steps':3,'privacy':{'noise_multiplier':90}}";
    struct client *client = access_client();
    char again[256];
    access_show(access_scene.own.analyst);
    const struct reply *first = client_post(client, "/v1/jobs", "same", job, "calls");
    assert_status(first, 201);
    assert_true(reply_header(client_post(client, "/v1/jobs", "same", job, "calls"),
                             "idempotency-replayed", again));
    access_show(access_scene.foreign.analyst);
    assert_problem(client_post(client, "/v1/jobs", "same", job, "calls"), 404,
                   "not_found");
    const struct reply *other = client_post(client, "/v1/jobs", "same", job, "views");
    assert_status(other, 201);
    assert_string_not_equal(reply_text(first, "id"), reply_text(other, "id"));
    access_show(access_scene.own.owner);
    other = client_post(client, "/v1/jobs", "same", job, "calls");
    assert_status(other, 201);
    assert_string_not_equal(reply_text(first, "id"), reply_text(other, "id"));
}

static void keys_outlast_a_restart_and_elsewhere_needs_them(void **state)
{
    (void)state;
    struct daemon *daemon = &access_scene.stage->daemon;
    struct client *client = access_client();
    char out[128];
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(access_run_key("list", out, sizeof out), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir,
                                                 "--listen", "0.0.0.0:0", NULL}),
        64);
    daemon_start(daemon, NULL);
    access_show("");
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_missing");
    access_show(access_scene.own.analyst);
    assert_status(client_get(client, "/v1/jobs/%s", access_scene.own.job), 200);
    assert_problem(client_get(client, "/v1/jobs/%s", access_scene.foreign.job), 404,
                   "not_found");
    assert_status(client_get_with(client, "/v1/jobs", "Host: epsilond.example"), 200);
    struct daemon fresh;
    daemon_init(&fresh);
    assert_int_equal(
        daemon_run(&fresh,
                   (const char *const[]){"--data-dir", fresh.data_dir, "--listen",
                                         "0.0.0.0:0", "--behind-proxy", "on", NULL}),
        64);
    daemon_fini(&fresh);
}

/* privacy.md P6: which line of the file is invalid reveals something about the
 * records. */
static void a_refused_line_is_named_to_who_declared_the_dataset_alone(void **state)
{
    (void)state;
    struct client *client = access_client();
    char second[KEY_SIZE];
    access_make_key(second, "second", "data_owner", "fraud");
    access_show(access_scene.own.owner);
    assert_status(declare_points(client, "torn", SAMPLE_BUDGET(1)), 201);
    assert_status(client_put(client, "/v1/datasets/torn/files/data", "torn\n", 5), 204);
    const struct reply *refused = client_act(client, "/v1/datasets/torn:import");
    assert_problem(refused, 422, "import_failed");
    const char *why = reply_text(refused, "detail");
    assert_true(reply_number(refused, "line") == 1);
    const struct reply *told = client_get(client, "/v1/datasets/torn/import");
    assert_true(reply_number(told, "failure.line") == 1);
    assert_string_equal(reply_text(told, "failure.detail"), why);

    access_show(second);
    told = client_get(client, "/v1/datasets/torn/import");
    assert_string_equal(reply_text(told, "state"), "CREATED");
    assert_true(json_is_null(reply_at(told, "failure")));
    assert_null(strstr(told->body, why));
    assert_problem(client_act(client, "/v1/datasets/torn:import"), 403, "forbidden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_counts_show_the_own_project_alone),
        cmocka_unit_test(a_body_names_only_what_its_sender_sees),
        cmocka_unit_test(without_a_key_nothing_but_what_is_everybodys_is_answered),
        cmocka_unit_test(
            an_analyst_cancels_its_own_jobs_and_a_data_owner_all_of_the_project),
        cmocka_unit_test(a_refused_line_is_named_to_who_declared_the_dataset_alone),
        cmocka_unit_test(a_remembered_answer_is_for_whoever_was_answered),
        cmocka_unit_test(every_route_answers_every_role_as_was_planned),
        cmocka_unit_test(keys_outlast_a_restart_and_elsewhere_needs_them),
    };
    return cmocka_run_group_tests(tests, access_begin, stage_end);
}
