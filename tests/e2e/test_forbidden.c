/* Goal: what docs/access.md and docs/approvals.md forbid, and no test program of
 * another subject tries, is refused: a thing is changed only by its owner, not by
 * others of the role; a key for a used name can only be made on the host; a daemon that
 * ever had a key stays closed; sessions are limited. Method: tables of attempts against
 * real daemons. */
#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "api/limits.h"
#include "tests/expect.h"
#include "tests/e2e/access_fixture.h"
#include "tests/e2e/identity_fixture.h"
#include "tests/e2e/sample_fixture.h"

/* --- a user's own things --- */

static const struct own_thing {
    const char *method, *kind, *id, *after;
} own_things[] = {
    {"PATCH", "jobs", access_scene.own.job, ""},
    {"PATCH", "models", access_scene.own.model, ""},
    {"DELETE", "models", access_scene.own.model, ""},
    {"DELETE", "jobs", access_scene.own.job, ""},
    {"DELETE", "sweeps", access_scene.own.sweep, ""},
    {"GET", "webhooks", access_scene.own.webhook, ""},
    {"GET", "webhooks", access_scene.own.webhook, "/deliveries"},
    {"POST", "webhooks", access_scene.own.webhook, ":test"},
    {"POST", "webhooks", access_scene.own.webhook, ":rotate"},
    {"DELETE", "webhooks", access_scene.own.webhook, ""},
};
enum { OWN_THINGS = sizeof own_things / sizeof *own_things };

static const struct reply *change(const struct own_thing *thing)
{
    char path[160];
    static const char renamed[] = "{\"display_name\":\"renamed\"}";
    bool is_patch = thing->method[1] == 'A';
    snprintf(path, sizeof path, "/v1/%s/%s%s", thing->kind, thing->id, thing->after);
    return client_send(
        access_client(),
        &(struct request){
            .method = thing->method,
            .path = path,
            .headers = {is_patch ? "Content-Type: application/merge-patch+json" : NULL,
                        is_patch ? "If-Match: *" : NULL},
            .body = is_patch ? renamed : NULL,
            .size = is_patch ? strlen(renamed) : 0});
}

/* An analyst cannot change another analyst's things, nor a data owner another's
 * webhook. */
static void nobody_else_of_the_role_changes_what_is_ones_own(void **state)
{
    (void)state;
    char other_analyst[KEY_SIZE], other_owner[KEY_SIZE];
    access_make_key(other_analyst, "other-analyst", "analyst", "fraud");
    access_make_key(other_owner, "other-owner", "data_owner", "fraud");
    for (size_t i = 0; i < 2 * OWN_THINGS;
         i++) { /* all by others, then by their owners */
        const struct own_thing *thing = &own_things[i % OWN_THINGS];
        bool is_webhook = strcmp(thing->kind, "webhooks") == 0,
             is_maker = i >= OWN_THINGS;
        const char *makers =
            is_webhook ? access_scene.keys[ROLE_DATA_OWNER] : access_scene.own.analyst;
        access_show(is_maker ? makers : is_webhook ? other_owner : other_analyst);
        const struct reply *reply = change(thing);
        if ((reply->status == 403) == is_maker)
            fail_msg("%s %s%s: %ld %s", thing->method, thing->kind, thing->after,
                     reply->status, reply->body);
    }
}

/* --- used names --- */

static const char groups[] =
    "{\"groups\":[{\"group\":\"all\",\"role\":\"data_owner\",\"project\":\"risk\"}]}";

/* Sends a request as a person whom a proxy has logged in. */
static const struct reply *send_as(const char *person, const char *path,
                                   const char *type, const void *body, size_t size)
{
    static unsigned count;
    char user[64], content[64], key[48];
    snprintf(user, sizeof user, "X-Forwarded-User: %s", person);
    snprintf(content, sizeof content, "Content-Type: %s", type);
    snprintf(key, sizeof key, "Idempotency-Key: as-%u", count++);
    return client_send(
        access_client(),
        &(struct request){.method = "POST",
                          .path = path,
                          .headers = {user, "X-Forwarded-Groups: all", content, key},
                          .body = body,
                          .size = size});
}

static const struct reply *create_as(const char *person, const char *path,
                                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static const struct reply *create_as(const char *person, const char *path,
                                     const char *format, ...)
{
    char body[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    for (char *quote = body; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    return assert_status(send_as(person, path, "application/json", body, strlen(body)),
                         201);
}

/* People without a key each make one thing, after logging in through a proxy. */
static void make_things_by_a_proxy(const char *model)
{
    const struct reply *file =
        client_get(access_client(), "/v1/models/%s/content", model);
    assert_status(file, 200);
    access_show("");
    create_as("declarer", "/v1/datasets",
              "{'id':'theirs','format':'csv','task':'classification','columns':"
              "[{'name':'x','kind':'numeric','range':[0,1]},"
              "{'name':'y','kind':'label','values':['0','1']}],'privacy':'public'}");
    create_as("submitter", "/v1/jobs", SAMPLE_JOB, "points", 3, 90.0);
    create_as("charger", "/v1/charges",
              "{'dataset':'points','engine':'opacus','unit':'record','mechanism':"
              "{'kind':'gaussian','noise_multiplier':40,'steps':2,"
              "'neighbour':'add_remove'}}");
    assert_status(send_as("uploader", "/v1/files", "application/octet-stream",
                          file->body, file->size),
                  201);
}

static void start_behind_a_proxy(struct stage *stage)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/groups.json", stage->daemon.directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(groups, file);
    assert_int_equal(fclose(file), 0);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--approvals", "off", "--trust-proxy",
                                       "127.0.0.0/31", "--groups", path, NULL});
}

/* Used in a project other than the key's, in different capitals, and by each kind of
 * thing that a person can make. */
static void a_name_that_made_something_in_any_project_takes_the_host(void **state)
{
    static const char *const used[] = {"key-holder", "former",  "declarer",
                                       "submitter",  "charger", "uploader"};
    struct stage *stage = stage_prepare(state);
    struct client *client = &stage->client;
    char maker[KEY_SIZE], rita[KEY_SIZE], key[KEY_SIZE], words[64], out[128], path[96];
    access_scene.stage = stage;
    access_make_key(maker, "maker", "data_owner", "fraud");
    access_make_key(rita, "rita", "data_owner", "risk");
    access_make_key(key, "key-holder", "analyst", "risk");
    access_make_key(key, "former", "analyst", "risk");
    snprintf(words, sizeof words, "revoke %s", access_key_id(key));
    assert_int_equal(access_run_key(words, out, sizeof out), 0);
    start_behind_a_proxy(stage);
    access_show(rita);
    ready_points(client, "points", 300, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 200, 2, SAMPLE_PUBLIC);
    const struct reply *model =
        model_of(client, train(client, "{'dataset':'open','model':{'preset':'linear'},"
                                       "'algorithm':{'name':'sgd'},'steps':5}"));
    make_things_by_a_proxy(reply_text(model, "id"));
    const char *job = reply_text(
        create_as("deleter", "/v1/jobs", SAMPLE_JOB, "points", 3, 90.0), "id");
    access_show(rita);
    model = model_of(client, await_success(client, job));
    snprintf(path, sizeof path, "/v1/models/%s", reply_text(model, "id"));
    assert_status(client_delete(client, path), 204);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_status(client_delete(client, path), 204);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, (const char *const[]){"--approvals", "off", NULL});
    access_show(maker);
    for (size_t i = 0; i < 2 * sizeof used / sizeof *used; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", used[i / 2]);
        if (i % 2 == 1)
            name[0] = (char)toupper((unsigned char)name[0]);
        const struct reply *refused =
            client_post(client, "/v1/keys", NULL,
                        "{'owner':'%s','project':'fraud','role':'analyst'}", name);
        if (refused->status != 403)
            fail_msg("%s: %ld %s", name, refused->status, refused->body);
        assert_string_equal(reply_text(refused, "errors.0.pointer"), "/owner");
    }
    /* The owner of a job that was deleted owns nothing, so the name counts as
     * unused. */
    static const char *const unused[] = {"new", "deleter"};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
        assert_status(client_post(client, "/v1/keys", NULL,
                                  "{'owner':'%s','project':'fraud','role':'analyst'}",
                                  unused[i]),
                      201);
}

/* --- a daemon that ever had a key --- */

static void a_daemon_whose_keys_have_all_ended_stays_closed(void **state)
{
    struct stage *stage = stage_prepare(state);
    struct client *client = &stage->client;
    char key[KEY_SIZE], words[64], out[128];
    access_scene.stage = stage;
    access_make_key(key, "last", "operator", "default");
    snprintf(words, sizeof words, "revoke %s", access_key_id(key));
    assert_int_equal(access_run_key(words, out, sizeof out), 0);
    for (int starts = 0; starts < 2; starts++) {
        daemon_start(&stage->daemon, NULL);
        access_show("");
        assert_problem(client_get(client, "/v1/jobs"), 401, "key_missing");
        assert_problem(declare_points(client, "points", SAMPLE_PUBLIC), 401,
                       "key_missing");
        access_show(key);
        assert_problem(client_get(client, "/v1/jobs"), 401, "key_revoked");
        assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    }
}

static void other_addresses_take_a_key_and_tls_or_a_proxy(void **state)
{
    struct stage *stage = stage_prepare(state);
    struct daemon *daemon = &stage->daemon;
    struct identity identity;
    char key[KEY_SIZE];
    identity_make(&identity, daemon->directory, "daemon");
    const struct {
        bool has_key;
        const char *options[4];
    } cases[] = {
        {false, {NULL}},
        {false, {"--behind-proxy", "on"}},
        {false, {"--tls-cert", identity.certificate, "--tls-key", identity.key}},
        {true, {NULL}},
        {true, {"--behind-proxy", "off"}},
    };
    access_scene.stage = stage;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *more = cases[i].options;
        if (cases[i].has_key && !cases[i - 1].has_key)
            access_make_key(key, "ana", "analyst", "fraud");
        assert_int_equal(
            daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir,
                                                     "--listen", "0.0.0.0:0", more[0],
                                                     more[1], more[2], more[3], NULL}),
            64);
    }
}

/* Any process that can open a socket of the daemon could send requests as the host
 * does. */
static void no_other_user_of_the_host_opens_a_socket_of_the_daemon(void **state)
{
    struct stage *stage = stage_prepare(state);
    char listen[128], path[128];
    struct stat info;
    snprintf(listen, sizeof listen, "unix:%s/socket", stage->daemon.directory);
    daemon_start(&stage->daemon, (const char *const[]){"--listen", listen, NULL});
    assert_int_equal(stat(listen + strlen("unix:"), &info), 0);
    assert_int_equal(info.st_mode & (S_IFMT | 0777), S_IFSOCK | 0660);
    snprintf(path, sizeof path, "%s/door", stage->daemon.data_dir);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISSOCK(info.st_mode));
    assert_int_equal(info.st_mode & 077, 0);
    assert_int_equal(stat(stage->daemon.data_dir, &info), 0);
    assert_int_equal(info.st_mode & 077, 0);
}

/* --- sessions --- */

static void there_are_so_many_sessions_and_no_more(void **state)
{
    enum { KEYS = LIMIT_LOGINS / LIMIT_LOGINS_PER_KEY };
    struct stage *stage = stage_prepare(state);
    struct client *client = &stage->client;
    char maker[KEY_SIZE];
    access_scene.stage = stage;
    access_make_key(maker, "ops", "operator", "default");
    daemon_start(&stage->daemon, NULL);
    access_show(maker);
    for (int i = 0; i <= KEYS; i++) {
        const struct reply *made =
            client_post(client, "/v1/keys", NULL,
                        "{'owner':'ops','project':'default','role':'operator'}");
        assert_status(made, 201);
        for (int k = 0; k < (i < KEYS ? LIMIT_LOGINS_PER_KEY : 1); k++)
            assert_status(client_post(client, "/v1/session", NULL, "{'key':'%s'}",
                                      reply_text(made, "key")),
                          i < KEYS ? 201 : 503);
    }
}

/* --- granted budgets --- */

/* The row of a private dataset is changed on disk into that of a public one. */
static void a_budget_whose_dataset_says_it_is_public_stops_a_start(void **state)
{
    struct stage *stage = stage_prepare(state);
    struct daemon *daemon = &stage->daemon;
    struct client *client = &stage->client;
    char command[640];
    daemon_start(daemon, NULL);
    declare_points(client, "turned", SAMPLE_BUDGET(1));
    declare_points(client, "bare", SAMPLE_PUBLIC);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    snprintf(
        command, sizeof command,
        "cp '%s/epsilond.db' '%s/kept.db' && python3 -c \"import sqlite3, sys; db = "
        "sqlite3.connect(sys.argv[1]); spec = db.execute('SELECT spec FROM dataset "
        "WHERE id=?', ['bare']).fetchone()[0].replace('bare', 'turned'); assert "
        "db.execute('UPDATE dataset SET spec=? WHERE id=?', [spec, "
        "'turned']).rowcount == 1; db.commit()\" '%s/epsilond.db'",
        daemon->data_dir, daemon->directory, daemon->data_dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(daemon_verify(daemon), 65);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir,
                                                 "--listen", "127.0.0.1:0", NULL}),
        65);
    assert_true(daemon_logged(daemon, "it is public and has a budget"));
    snprintf(command, sizeof command, "cp '%s/kept.db' '%s/epsilond.db'",
             daemon->directory, daemon->data_dir);
    assert_int_equal(system(command), 0);
    daemon_start(daemon, NULL);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, NULL, stage_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_else_of_the_role_changes_what_is_ones_own),
    };
    const struct CMUnitTest alone[] = {
        ALONE(a_name_that_made_something_in_any_project_takes_the_host),
        ALONE(a_daemon_whose_keys_have_all_ended_stays_closed),
        ALONE(other_addresses_take_a_key_and_tls_or_a_proxy),
        ALONE(no_other_user_of_the_host_opens_a_socket_of_the_daemon),
        ALONE(there_are_so_many_sessions_and_no_more),
        ALONE(a_budget_whose_dataset_says_it_is_public_stops_a_start),
    };
    return cmocka_run_group_tests(tests, access_begin, stage_end) +
           cmocka_run_group_tests(alone, NULL, NULL);
}
