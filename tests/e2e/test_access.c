/* Goal: what each role is answered on every route, of its own project's things and of
 * another's, is what the table of roles says; who shows no good key is answered nothing.
 * Method: the daemon's own tables of routes and roles, expanded here as text, against a
 * daemon with two projects; keys are made by the command on the host. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { KEY_SIZE = 64, ID_SIZE = 64 };

/* What there is of a project: a data owner's datasets, an analyst's job and model, and a
 * key of nobody that is used. */
struct project {
    const char *name, *dataset, *spare;
    char owner[KEY_SIZE], analyst[KEY_SIZE], spare_key[KEY_SIZE];
    char job[ID_SIZE], model[ID_SIZE], webhook[ID_SIZE], statistics[ID_SIZE],
        charge[ID_SIZE];
    char sweep[ID_SIZE]; /* whose only run is the job */
};

static struct scene {
    struct stage *stage;
    struct project own, foreign;
    char keys[ROLE_COUNT][KEY_SIZE]; /* of project own, by role */
} scene;

static struct client *client_of(void)
{
    return &scene.stage->client;
}

static void show(const char *key)
{
    snprintf(client_of()->key, sizeof client_of()->key, "%s", key);
}

/* Runs `epsilond key WORDS`; out is the first line that it prints. */
static int run_key(const char *words, char *out, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "%s key %s --data-dir %s 2>&1",
             getenv("EPSILOND"), words, scene.stage->daemon.data_dir);
    FILE *printed = popen(command, "r");
    assert_non_null(printed);
    if (fgets(out, (int)size, printed) == NULL)
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    char rest[256];
    while (fgets(rest, sizeof rest, printed) != NULL)
        continue;
    return WEXITSTATUS(pclose(printed));
}

static void make_key(char key[KEY_SIZE], const char *owner, const char *role,
                     const char *project)
{
    char words[200];
    snprintf(words, sizeof words, "create --owner %s --role %s --project %s", owner,
             role, project);
    if (run_key(words, key, KEY_SIZE) != 0 || strlen(key) != 56)
        fail_msg("%s", key);
}

static const char *id_of(const char *key)
{
    static char id[9];
    snprintf(id, sizeof id, "%.8s", key + 4);
    return id;
}

/* Fills the project, by its own principals, as any client would. */
static void fill(struct project *project, unsigned salt)
{
    struct client *client = client_of();
    char owner[32], analyst[32];
    snprintf(owner, sizeof owner, "owner-of-%s", project->name);
    snprintf(analyst, sizeof analyst, "analyst-of-%s", project->name);
    make_key(project->owner, owner, "data_owner", project->name);
    make_key(project->analyst, analyst, "analyst", project->name);
    make_key(project->spare_key, "nobody", "analyst", project->name);
    show(project->owner);
    ready_points(client, project->dataset, 300, salt, SAMPLE_BUDGET(8));
    assert_status(declare_points(client, project->spare, SAMPLE_PUBLIC), 201);
    show(project->analyst);
    const struct reply *sweep = client_create(
        client, "/v1/sweeps",
        "{'job':{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':"
        "'dpsgd'},'batch_size':50,'privacy':{'noise_multiplier':9}},"
        "'runs':[{'/steps':3}]}",
        project->dataset);
    assert_status(sweep, 201);
    snprintf(project->sweep, sizeof project->sweep, "%s", reply_text(sweep, "id"));
    const struct reply *job = await_success(client, reply_text(sweep, "runs.0.job"));
    snprintf(project->job, sizeof project->job, "%s", reply_text(job, "id"));
    snprintf(project->model, sizeof project->model, "%s", reply_text(job, "model"));
    const struct reply *asked = client_create(
        client, "/v1/statistics",
        "{'dataset':'%s','statistics':[{'kind':'histogram','column':'above'}],"
        "'privacy':{'noise_multiplier':90}}",
        project->dataset);
    assert_status(asked, 201);
    snprintf(project->statistics, sizeof project->statistics, "%s",
             reply_text(asked, "id"));
    const struct reply *charge =
        client_post(client, "/v1/charges", project->name,
                    "{'dataset':'%s','engine':'opacus','unit':'record','mechanism':{'"
                    "kind':'gaussian',"
                    "'noise_multiplier':40,'steps':2,'neighbour':'add_remove'}}",
                    project->dataset);
    assert_status(charge, 201);
    snprintf(project->charge, sizeof project->charge, "%s", reply_text(charge, "id"));
}

/* Has somebody, who has each role in the own project, told of what happens there. */
static void add_webhook(struct project *project, const char *key)
{
    show(key);
    const struct reply *made =
        client_post(client_of(), "/v1/webhooks", NULL,
                    "{'url':'https://hooks.invalid/','events':['job.failed']}");
    assert_status(made, 201);
    snprintf(project->webhook, sizeof project->webhook, "%s", reply_text(made, "id"));
}

static const char *const role_names[ROLE_COUNT] = {
    [ROLE_ANALYST] = "analyst",
    [ROLE_DATA_OWNER] = "data_owner",
    [ROLE_PRIVACY_OFFICER] = "privacy_officer",
    [ROLE_OPERATOR] = "operator",
    [ROLE_AUDITOR] = "auditor",
};

static int begin(void **state)
{
    stage_begin_with(state, (const char *const[]){"--workers", "1", "--threads", "1",
                                                  "--approvals", "off", NULL});
    scene.stage = *state;
    scene.own =
        (struct project){.name = "fraud", .dataset = "calls", .spare = "calls-2"};
    scene.foreign =
        (struct project){.name = "ads", .dataset = "views", .spare = "views-2"};
    fill(&scene.own, 1);
    fill(&scene.foreign, 2);
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        make_key(scene.keys[role], "somebody", role_names[role], "fraud");
    snprintf(scene.keys[ROLE_ANALYST], KEY_SIZE, "%s", scene.own.analyst);
    char elsewhere[KEY_SIZE];
    make_key(elsewhere, "somebody", "data_owner", "ads");
    add_webhook(&scene.own, scene.keys[ROLE_DATA_OWNER]);
    add_webhook(&scene.foreign, elsewhere);
    return 0;
}

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

/* As the roles' table has it: columns are the roles of a key. */
static const enum reach reaches[SCOPE_COUNT][ROLE_COUNT - ROLE_ANALYST] = {
#define X(symbol, name, a, b, c, d, e)                                                 \
    [SCOPE_##symbol] = {REACH_##a, REACH_##b, REACH_##c, REACH_##d, REACH_##e},
    SCOPE_LIST(X)
#undef X
};

/* The id that a route takes of a project; NULL where this test knows no thing of that
 * kind. What a request would undo is a thing that no other request looks for. */
static const char *thing_of(const struct route *route, const struct project *project)
{
    bool deletes = strcmp(route->method, "DELETE") == 0;
    if (strncmp(route->path, "/v1/datasets/", 13) == 0)
        return deletes || strstr(route->path, ":import") ? project->spare
                                                         : project->dataset;
    if (deletes)
        return NULL;
    if (strcmp(route->path, "/v1/charges/{id}") == 0)
        return project->charge; /* the rest is for who made it alone: test_charges.c */
    if (strncmp(route->path, "/v1/jobs/", 9) == 0)
        return project->job;
    if (strncmp(route->path, "/v1/sweeps/", 11) == 0)
        return project->sweep;
    if (strncmp(route->path, "/v1/models/", 11) == 0)
        return project->model;
    if (strncmp(route->path, "/v1/statistics/", 15) == 0)
        return project->statistics;
    if (strncmp(route->path, "/v1/webhooks/", 13) == 0)
        return project->webhook;
    if (strncmp(route->path, "/v1/keys/", 9) == 0)
        return id_of(project->spare_key);
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

/* A request that is well-formed up to its body, which says nothing. */
static const struct reply *ask(const struct route *route, const char *id)
{
    char path[200], key[40];
    static unsigned count;
    bool is_patch = strcmp(route->method, "PATCH") == 0;
    fill_path(path, route, id);
    snprintf(key, sizeof key, "Idempotency-Key: table-%u", count++);
    bool has_body = route->body != BODY_NONE;
    return client_send(
        client_of(),
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
        return; /* it is not the dataset that is not there */
    if (reply->status == 401 || reply->status == 403 || reply->status == 404)
        fail_msg("%s: %ld %s", route->name, reply->status, reply->body);
}

/* What is not seen is answered as what is not there, but for its name. */
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

static void try_route(const struct row *row, enum role role)
{
    const struct route *route = &row->route;
    enum reach reach = route->scope == SCOPE_EVERYBODY
                           ? REACH_EVERYWHERE
                           : reaches[route->scope][role - ROLE_ANALYST];
    bool has_id = strstr(route->path, "{id}") != NULL;
    const char *own = has_id ? thing_of(route, &scene.own) : "";
    show(scene.keys[role]);
    if (reach == REACH_NONE) {
        assert_problem(ask(route, own != NULL ? own : "x"), 403, "forbidden");
        if (has_id)
            assert_problem(ask(route, "nowhere"), 403, "forbidden");
        return;
    }
    if (own == NULL || route->scope == SCOPE_EVERYBODY)
        return;
    bool has_end = strstr(route->types, "event-stream") == NULL;
    if (has_end)
        expect_allowed(ask(route, own), route);
    if (!has_id)
        return;
    const char *foreign = thing_of(route, &scene.foreign);
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
    show("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct route *route = &rows[i].route;
        const struct reply *reply = ask(route, scene.own.dataset);
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

/* --- what is seen besides --- */

static void lists_and_counts_show_the_own_project_alone(void **state)
{
    (void)state;
    struct client *client = client_of();
    show(scene.own.analyst);
    const struct reply *jobs = client_get(client, "/v1/jobs");
    const struct reply *datasets = client_get(client, "/v1/datasets?order_by=id");
    const struct reply *models = client_get(client, "/v1/models");
    const struct reply *sweeps = client_get(client, "/v1/sweeps");
    assert_null(strstr(sweeps->body, scene.foreign.sweep));
    assert_non_null(strstr(sweeps->body, scene.own.sweep));
    assert_null(strstr(jobs->body, "views"));
    assert_null(strstr(jobs->body, scene.foreign.job));
    assert_non_null(strstr(jobs->body, scene.own.job));
    assert_null(strstr(datasets->body, "views"));
    assert_non_null(strstr(datasets->body, "calls"));
    assert_null(strstr(models->body, scene.foreign.model));
    assert_non_null(strstr(models->body, scene.own.model));
    const struct reply *statistics = client_get(client, "/v1/statistics");
    assert_non_null(strstr(statistics->body, scene.own.statistics));
    assert_null(strstr(statistics->body, scene.foreign.statistics));
    assert_int_equal(reply_number(client_get(client, "/v1/status"), "jobs.SUCCEEDED"),
                     1);
    assert_string_equal(client_get(client, "/v1/jobs?dataset=views")->body,
                        client_get(client, "/v1/jobs?dataset=nowhere")->body);
    /* By id a token is s and a place, in hexadecimal: the first is calls, the third views. */
    assert_status(client_get(client, "/v1/datasets?order_by=id&page_token=s0"), 200);
    assert_problem(client_get(client, "/v1/datasets?order_by=id&page_token=s2"), 400,
                   "invalid_argument");
    assert_string_equal(reply_text(jobs, "jobs.0.project"), "fraud");
    assert_string_equal(reply_text(jobs, "jobs.0.created_by"), "analyst-of-fraud");
    assert_string_equal(reply_text(datasets, "datasets.0.created_by"),
                        "owner-of-fraud");
    assert_non_null(
        strstr(client_get(client, "/v1/jobs?created_by=analyst-of-fraud")->body,
               scene.own.job));
    assert_null(strstr(client_get(client, "/v1/jobs?created_by=owner-of-fraud")->body,
                       scene.own.job));
    show(scene.keys[ROLE_AUDITOR]);
    assert_status(client_get(client, "/v1/datasets?order_by=id&page_token=s2"), 200);
    jobs = client_get(client, "/v1/jobs");
    assert_non_null(strstr(jobs->body, scene.own.job));
    assert_non_null(strstr(jobs->body, scene.foreign.job));
    assert_int_equal(reply_number(client_get(client, "/v1/status"), "jobs.SUCCEEDED"),
                     2);
}

static void a_body_names_only_what_its_sender_sees(void **state)
{
    (void)state;
    static const char job[] =
        "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':50,'steps':3,'privacy':{'noise_multiplier':9}%s}";
    struct client *client = client_of();
    show(scene.own.analyst);
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
    show(scene.own.owner);
    const struct reply *taken = declare_points(client, "views", SAMPLE_PUBLIC);
    assert_problem(taken, 409, "already_exists");
    assert_string_equal(reply_text(taken, "detail"),
                        "\"views\" was used before; ids are never free again");
}

static void
an_analyst_cancels_its_own_jobs_and_a_data_owner_all_of_the_project(void **state)
{
    (void)state;
    struct client *client = client_of();
    char other[KEY_SIZE];
    make_key(other, "another", "analyst", "fraud");
    show(scene.own.analyst);
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    show(other);
    assert_status(client_get(client, "/v1/jobs/%s", job), 200);
    assert_problem(client_act(client, "/v1/jobs/%s:cancel", job), 403, "forbidden");
    show(scene.foreign.owner);
    assert_problem(client_act(client, "/v1/jobs/%s:cancel", job), 404, "not_found");
    show(scene.own.owner);
    assert_status(client_act(client, "/v1/jobs/%s:cancel", job), 200);
    show(scene.own.analyst);
    assert_string_equal(reply_text(await_end(client, job), "state"), "CANCELLED");
}

static void a_remembered_answer_is_for_whoever_was_answered(void **state)
{
    (void)state;
    static const char job[] =
        "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
        "'batch_size':50,'steps':3,'privacy':{'noise_multiplier':90}}";
    struct client *client = client_of();
    char again[256];
    show(scene.own.analyst);
    const struct reply *first = client_post(client, "/v1/jobs", "same", job, "calls");
    assert_status(first, 201);
    assert_true(reply_header(client_post(client, "/v1/jobs", "same", job, "calls"),
                             "idempotency-replayed", again));
    show(scene.foreign.analyst);
    assert_problem(client_post(client, "/v1/jobs", "same", job, "calls"), 404,
                   "not_found");
    const struct reply *other = client_post(client, "/v1/jobs", "same", job, "views");
    assert_status(other, 201);
    assert_string_not_equal(reply_text(first, "id"), reply_text(other, "id"));
    show(scene.own.owner);
    other = client_post(client, "/v1/jobs", "same", job, "calls");
    assert_status(other, 201);
    assert_string_not_equal(reply_text(first, "id"), reply_text(other, "id"));
}

/* --- keys --- */

static void a_key_that_is_cut_or_unknown_or_in_a_query_lets_nobody_in(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE], path[128];
    snprintf(key, sizeof key, "%s", scene.own.analyst);
    key[55] = key[55] == 'a' ? 'b' : 'a';
    show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_unknown");
    assert_problem(client_get(client, "/v1/algorithms"), 401, "key_unknown");
    key[55] = '\0';
    show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_malformed");
    snprintf(key, sizeof key, "%s", scene.own.analyst);
    memset(key + 4, '0', 8);
    show(key);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_unknown");
    show("");
    assert_problem(client_get_with(client, "/v1/jobs", "Authorization: Basic YTpi"),
                   401, "key_malformed");
    snprintf(path, sizeof path, "/v1/jobs?access_token=%s", scene.own.analyst);
    assert_problem(client_get(client, "%s", path), 400, "key_in_query");
    show(scene.own.analyst);
    snprintf(path, sizeof path, "/v1/jobs?dataset=%s", scene.own.analyst);
    assert_problem(client_get(client, "%s", path), 400, "key_in_query");
    snprintf(path, sizeof path, "/v1/jobs/%s:cancel", scene.own.analyst);
    assert_status(client_act(client, "%s", path), 404);
    assert_false(daemon_logged(&scene.stage->daemon, scene.own.analyst + 13));
}

struct waiter { /* who asks for a job until it changes */
    struct client client;
    const char *job;
    long status;
    char code[32];
};

static void *wait_for_job(void *argument)
{
    struct waiter *waiter = argument;
    const struct reply *reply =
        client_get(&waiter->client, "/v1/jobs/%s?wait=60", waiter->job);
    waiter->status = reply->status;
    snprintf(waiter->code, sizeof waiter->code, "%s", reply_text(reply, "code"));
    return NULL;
}

/* A key that has been used has been let in: what was asked with it waits, or is about to. */
static void who_waits_while_its_key_is_revoked_is_answered_nothing(void **state)
{
    (void)state;
    struct client *client = client_of();
    struct waiter waiter = {0};
    char key[KEY_SIZE], words[64], out[128];
    pthread_t thread;
    make_key(key, "waiter", "analyst", "fraud");
    show(scene.own.analyst);
    waiter.job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    client_init(&waiter.client, &scene.stage->daemon);
    snprintf(waiter.client.key, sizeof waiter.client.key, "%s", key);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_job, &waiter), 0);
    show(scene.own.owner);
    while (json_is_null(
        reply_at(client_get(client, "/v1/keys/%s", id_of(key)), "last_used")))
        continue;
    snprintf(words, sizeof words, "revoke %s", id_of(key));
    assert_int_equal(run_key(words, out, sizeof out), 0);
    cancel(client, waiter.job);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiter.status, 401);
    assert_string_equal(waiter.code, "key_revoked");
    client_fini(&waiter.client);
}

static void what_is_revoked_on_the_host_holds_at_once(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE], words[64], out[128];
    make_key(key, "leaver", "analyst", "fraud");
    show(key);
    assert_status(client_get(client, "/v1/jobs"), 200);
    snprintf(words, sizeof words, "revoke %s", id_of(key));
    assert_int_equal(run_key(words, out, sizeof out), 0);
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_revoked");
    assert_int_equal(run_key("revoke 00000000", out, sizeof out), 64);
    assert_int_equal(run_key("create --owner local --role analyst", out, sizeof out),
                     64);
    assert_int_equal(run_key("create --owner x --role king", out, sizeof out), 64);
    assert_int_equal(run_key("nonsense", out, sizeof out), 64);
}

static void a_rotated_key_and_its_successor_are_both_good(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE];
    make_key(key, "turner", "analyst", "fraud");
    show(scene.keys[ROLE_OPERATOR]);
    const struct reply *made = client_act(client, "/v1/keys/%s:rotate", id_of(key));
    assert_status(made, 201);
    const struct reply *old = client_get(client, "/v1/keys/%s", id_of(key));
    assert_string_not_equal(reply_text(old, "expire_time"),
                            reply_text(made, "expire_time"));
    assert_null(strstr(old->body, "dpk_"));
    show(key);
    assert_status(client_get(client, "/v1/jobs"), 200);
    show(reply_text(made, "key"));
    assert_status(client_get(client, "/v1/jobs"), 200);
    show(scene.keys[ROLE_OPERATOR]);
    assert_status(client_act(client, "/v1/keys/%s:revoke", id_of(key)), 200);
    assert_problem(client_act(client, "/v1/keys/%s:rotate", id_of(key)), 409,
                   "key_ended");
}

static void keys_are_listed_in_either_order(void **state)
{
    (void)state;
    struct client *client = client_of();
    char first[KEY_SIZE], last[KEY_SIZE], newest[64];
    make_key(first, "early", "analyst", "fraud");
    make_key(last, "late", "analyst", "fraud");
    show(scene.keys[ROLE_OPERATOR]);
    snprintf(newest, sizeof newest, "%s",
             reply_text(client_get(client, "/v1/keys?page_size=1"), "keys.0.id"));
    assert_string_equal(newest, id_of(last));
    assert_string_equal(
        reply_text(client_get(client, "/v1/keys?order=desc"), "keys.0.id"), newest);
    assert_string_not_equal(
        reply_text(client_get(client, "/v1/keys?order=asc"), "keys.0.id"), newest);
    assert_problem(client_get(client, "/v1/keys?order=sideways"), 400,
                   "invalid_argument");
}

static void who_makes_keys_makes_none_that_approves_or_reaches_further(void **state)
{
    (void)state;
    static const struct {
        bool operator;              /* else a data owner */
        const char *body, *pointer; /* NULL: it is made */
    } cases[] = {
        {true, "{'owner':'x','project':'ads','role':'analyst'}", NULL},
        {true, "{'owner':'x','project':'ads','role':'operator'}", NULL},
        {true, "{'owner':'x','project':'ads','role':'data_owner'}", "/role"},
        {true, "{'owner':'x','project':'ads','role':'privacy_officer'}", "/role"},
        {true,
         "{'owner':'x','project':'ads','role':'auditor','scopes':['grants:approve']}",
         "/scopes"},
        {false,
         "{'owner':'x','project':'fraud','role':'analyst','scopes':['budgets:audit']}",
         NULL},
        {false, "{'owner':'x','project':'ads','role':'analyst'}", "/project"},
        {false, "{'owner':'x','project':'fraud','role':'auditor'}", "/role"},
        {false, "{'owner':'x','project':'fraud','role':'operator'}", "/role"},
        {false,
         "{'owner':'x','project':'fraud','role':'analyst','scopes':['ops:read']}",
         "/scopes"},
    };
    struct client *client = client_of();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        show(cases[i].operator? scene.keys[ROLE_OPERATOR] : scene.own.owner);
        const struct reply *reply =
            client_post(client, "/v1/keys", NULL, "%s", cases[i].body);
        if (cases[i].pointer == NULL) {
            assert_status(reply, 201);
            continue;
        }
        assert_problem(reply, 403, "forbidden");
        assert_string_equal(reply_text(reply, "errors.0.pointer"), cases[i].pointer);
    }
    show(scene.keys[ROLE_OPERATOR]);
    assert_problem(client_act(client, "/v1/keys/%s:rotate",
                              id_of(scene.keys[ROLE_PRIVACY_OFFICER])),
                   403, "forbidden");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'x','project':'ads','role':'king'}"),
                      "/role");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'local','project':'ads','role':'analyst'}"),
                      "/owner");
    assert_invalid_at(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'x','project':'Ads','role':'analyst'}"),
                      "/project");
    assert_invalid_at(
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'x','project':'ads','role':'analyst','days':0}"),
        "/days");
    assert_invalid_at(
        client_post(client, "/v1/keys", NULL,
                    "{'owner':'x','project':'ads','role':'analyst','scopes':"
                    "['keys:admin'],'policy':{'max_epsilon_per_job':1}}"),
        "/policy");
    show(scene.own.owner);
    assert_problem(
        client_act(client, "/v1/keys/%s:revoke", id_of(scene.keys[ROLE_OPERATOR])), 403,
        "forbidden");
}

static void make_key_with(char key[KEY_SIZE], const char *owner, const char *policy)
{
    struct client *client = client_of();
    show(scene.keys[ROLE_OPERATOR]);
    const struct reply *made = client_post(
        client, "/v1/keys", NULL,
        "{'owner':'%s','project':'fraud','role':'analyst','policy':%s}", owner, policy);
    assert_status(made, 201);
    snprintf(key, KEY_SIZE, "%s", reply_text(made, "key"));
    show(key);
}

static const char limited[] =
    "{'dataset':'calls','model':{'preset':'linear'},'algorithm':{'name':'%s'},"
    "'batch_size':50,'steps':%d,'privacy':{%s}}";

/* An estimate and a submission are refused alike, at pointer, by this member. */
static void expect_breach(const char *algorithm, const char *privacy,
                          const char *member, const char *pointer)
{
    struct client *client = client_of();
    for (int submits = 0; submits < 2; submits++) {
        const struct reply *reply =
            submits ? client_create(client, "/v1/jobs", limited, algorithm, 3, privacy)
                    : client_post(client, "/v1/jobs:estimate", NULL, limited, algorithm,
                                  3, privacy);
        assert_problem(reply, 403, "policy_violation");
        assert_string_equal(reply_text(reply, "policy"), member);
        if (pointer[0] != '\0')
            assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
    }
}

static void a_policy_holds_of_estimates_and_jobs_alike(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE];
    make_key_with(key, "careful",
                  "{'max_epsilon_per_job':2,'min_noise_multiplier':2,"
                  "'algorithms':['dpsgd','dpgd'],'max_open_jobs':1}");
    expect_breach("dpsgd", "'epsilon':2.1", "max_epsilon_per_job", "/privacy/epsilon");
    expect_breach("dpsgd", "'noise_multiplier':1.9", "min_noise_multiplier",
                  "/privacy/noise_multiplier");
    expect_breach("dcsgd_p", "'epsilon':0.4", "algorithms", "/algorithm/name");
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'epsilon':0.5"),
                  200);
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    expect_breach("dpsgd", "'epsilon':0.4", "max_open_jobs", "");
    cancel(client, job);
    await_end(client, job);
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'epsilon':0.4"),
                  200);
}

/* Each run may be submitted by itself; all of them count. */
static void a_policy_counts_the_runs_of_a_sweep_together(void **state)
{
    (void)state;
    static const char sweep[] =
        "{'job':{'dataset':'calls','model':{'preset':'linear'},'algorithm':{'name':"
        "'dpsgd'},'batch_size':50,'steps':3,'privacy':{%s}},'runs':[%s]}";
    static const char two[] = "{'/batch_size':40},{'/batch_size':50}";
    struct client *client = client_of();
    char key[KEY_SIZE];
    make_key_with(key, "sweeper", "{'max_open_jobs':1}");
    assert_problem(client_create(client, "/v1/sweeps", sweep, "'epsilon':0.1", two),
                   403, "policy_violation");
    make_key_with(key, "sharer", "{'max_share':{'share':0.1,'period':'P30D'}}");
    assert_problem(
        client_create(client, "/v1/sweeps", sweep, "'budget_fraction':0.08", two), 403,
        "policy_violation");
    assert_status(client_post(client, "/v1/sweeps:estimate", NULL, sweep,
                              "'budget_fraction':0.08", "{'/batch_size':40}"),
                  200);
}

/* Whichever of its runs it is that the key may not have. */
static void a_policy_holds_of_every_run_of_a_sweep(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *privacy, *good, *bad;
    } cases[] = {
        {"{'max_epsilon_per_job':1}", "'epsilon':0.1", "{'/privacy/epsilon':0.2}",
         "{'/privacy/epsilon':1.5}"},
        {"{'min_noise_multiplier':2}", "'noise_multiplier':9",
         "{'/privacy/noise_multiplier':8}", "{'/privacy/noise_multiplier':1.9}"},
        {"{'algorithms':['dpsgd']}", "'epsilon':0.1", "{'/algorithm/name':'dpsgd'}",
         "{'/algorithm/name':'dcsgd_e'}"},
        {"{'max_share':{'share':0.1,'period':'P30D'}}", "'budget_fraction':0.01",
         "{'/privacy/budget_fraction':0.02}", "{'/privacy/budget_fraction':0.15}"},
    };
    static const char *const paths[] = {"/v1/sweeps:estimate", "/v1/sweeps"};
    struct client *client = client_of();
    char key[KEY_SIZE], runs[192];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_key_with(key, "sweeping", cases[i].policy);
        for (unsigned k = 0; k < 8; k++) { /* every place, by every path */
            unsigned place = k / 2;
            char *end = runs;
            for (unsigned run = 0; run < 3; run++)
                end += sprintf(end, "%s%s", run > 0 ? "," : "",
                               run == place ? cases[i].bad : cases[i].good);
            const struct reply *reply = client_create(
                client, place < 3 ? paths[k % 2] : paths[0],
                "{'job':{'dataset':'calls','model':{'preset':'linear'},'algorithm':"
                "{'name':'dpsgd'},'batch_size':50,'steps':3,'privacy':{%s}},"
                "'runs':[%s]}",
                cases[i].privacy, runs);
            if (place < 3)
                assert_problem(reply, 403, "policy_violation");
            else
                assert_status(reply, 200);
        }
    }
}

/* Half of the share fits, and what it has spent counts against the next, by another key of
 * the same owner too, and not against another owner. */
static void a_share_is_of_all_that_its_owner_takes_of_a_dataset(void **state)
{
    (void)state;
    static const char tenth[] = "{'max_share':{'share':0.1,'period':'P30D'}}";
    struct client *client = client_of();
    char key[KEY_SIZE], again[KEY_SIZE], other[KEY_SIZE];
    make_key_with(key, "spender", tenth);
    expect_breach("dpsgd", "'budget_fraction':0.15", "max_share",
                  "/privacy/budget_fraction");
    train(client, limited, "dpsgd", 3, "'budget_fraction':0.07");
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    make_key_with(again, "spender", tenth);
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    make_key_with(other, "saver", tenth);
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, limited, "dpsgd", 3,
                              "'budget_fraction':0.07"),
                  200);
}

static const struct reply *ask_statistics(const char *path, const char *privacy)
{
    return client_create(client_of(), path,
                         "{'dataset':'calls','statistics':[{'kind':'histogram',"
                         "'column':'above'}],'privacy':{%s}}",
                         privacy);
}

static void expect_statistics_refused(const char *privacy, const char *member)
{
    static const char *const paths[] = {"/v1/statistics:estimate", "/v1/statistics"};
    for (size_t i = 0; i < 2; i++) {
        const struct reply *reply = ask_statistics(paths[i], privacy);
        assert_problem(reply, 403, "policy_violation");
        assert_string_equal(reply_text(reply, "policy"), member);
    }
}

/* Whoever may run some algorithms is not thereby let ask for statistics; and what these
 * have spent counts against the next job. */
static void a_policy_holds_of_statistics_too(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE], path[96];
    make_key_with(key, "curious",
                  "{'max_epsilon_per_job':20,'min_noise_multiplier':2,"
                  "'max_open_jobs':1}");
    expect_statistics_refused("'epsilon':21", "max_epsilon_per_job");
    expect_statistics_refused("'noise_multiplier':1.9", "min_noise_multiplier");
    const char *job = submit(client, SAMPLE_JOB, "calls", SAMPLE_ENDLESS, 1e4);
    expect_statistics_refused("'epsilon':0.4", "max_open_jobs");
    cancel(client, job);
    await_end(client, job);
    make_key_with(key, "trainer", "{'algorithms':['dpsgd']}");
    expect_statistics_refused("'epsilon':0.4", "algorithms");
    make_key_with(key, "counter", "{'max_share':{'share':0.1,'period':'P30D'}}");
    const struct reply *asked =
        ask_statistics("/v1/statistics", "'noise_multiplier':3");
    assert_status(asked, 201);
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
    snprintf(path, sizeof path, "/v1/statistics/%s", reply_text(asked, "id"));
    while (strcmp(reply_text(client_get(client, "%s", path), "state"), "RUNNING") == 0)
        continue;
    expect_breach("dpsgd", "'budget_fraction':0.07", "max_share",
                  "/privacy/budget_fraction");
}

/* Comes last but one: the address is watched for a minute. */
static void
a_thousand_wrong_keys_are_told_to_wait_and_a_right_one_is_let_in(void **state)
{
    (void)state;
    struct client *client = client_of();
    char key[KEY_SIZE], after[256];
    unsigned unknown = 0, waits = 0;
    snprintf(key, sizeof key, "%s", scene.own.analyst);
    for (int i = 0; i < 1000; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%04d", i);
        memcpy(key + 52, digits, 4);
        show(key);
        const struct reply *reply = client_get(client, "/v1/jobs");
        unknown += reply->status == 401;
        waits += reply->status == 429;
        if (reply->status == 429)
            assert_true(reply_header(reply, "retry-after", after));
    }
    assert_int_equal(unknown + waits, 1000);
    assert_true(unknown <= 20); /* ten a minute, and the thousand take less than two */
    show(scene.own.analyst);
    assert_status(client_get(client, "/v1/jobs"), 200);
}

static void keys_outlast_a_restart_and_elsewhere_needs_them(void **state)
{
    (void)state;
    struct daemon *daemon = &scene.stage->daemon;
    struct client *client = client_of();
    char out[128];
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(run_key("list", out, sizeof out), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir,
                                                 "--listen", "0.0.0.0:0", NULL}),
        64);
    daemon_start(daemon, NULL);
    show("");
    assert_problem(client_get(client, "/v1/jobs"), 401, "key_missing");
    show(scene.own.analyst);
    assert_status(client_get(client, "/v1/jobs/%s", scene.own.job), 200);
    assert_problem(client_get(client, "/v1/jobs/%s", scene.foreign.job), 404,
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_counts_show_the_own_project_alone),
        cmocka_unit_test(a_body_names_only_what_its_sender_sees),
        cmocka_unit_test(without_a_key_nothing_but_what_is_everybodys_is_answered),
        cmocka_unit_test(
            an_analyst_cancels_its_own_jobs_and_a_data_owner_all_of_the_project),
        cmocka_unit_test(a_remembered_answer_is_for_whoever_was_answered),
        cmocka_unit_test(a_key_that_is_cut_or_unknown_or_in_a_query_lets_nobody_in),
        cmocka_unit_test(what_is_revoked_on_the_host_holds_at_once),
        cmocka_unit_test(who_waits_while_its_key_is_revoked_is_answered_nothing),
        cmocka_unit_test(a_rotated_key_and_its_successor_are_both_good),
        cmocka_unit_test(keys_are_listed_in_either_order),
        cmocka_unit_test(who_makes_keys_makes_none_that_approves_or_reaches_further),
        cmocka_unit_test(a_policy_holds_of_estimates_and_jobs_alike),
        cmocka_unit_test(a_policy_counts_the_runs_of_a_sweep_together),
        cmocka_unit_test(a_policy_holds_of_every_run_of_a_sweep),
        cmocka_unit_test(a_share_is_of_all_that_its_owner_takes_of_a_dataset),
        cmocka_unit_test(a_policy_holds_of_statistics_too),
        cmocka_unit_test(every_route_answers_every_role_as_was_planned),
        cmocka_unit_test(
            a_thousand_wrong_keys_are_told_to_wait_and_a_right_one_is_let_in),
        cmocka_unit_test(keys_outlast_a_restart_and_elsewhere_needs_them),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
