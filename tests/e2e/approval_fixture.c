#include "tests/e2e/approval_fixture.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/expect.h"

struct approval_scene approval_scene;

void approval_make_key(char key[KEY_SIZE], const char *words)
{
    char command[512], rest[256];
    snprintf(command, sizeof command, "%s key create %s --data-dir %s 2>&1",
             getenv("EPSILOND"), words, approval_scene.stage->daemon.data_dir);
    FILE *printed = popen(command, "r");
    assert_non_null(printed);
    assert_non_null(fgets(key, KEY_SIZE, printed));
    key[strcspn(key, "\n")] = '\0';
    while (fgets(rest, sizeof rest, printed) != NULL)
        continue;
    assert_int_equal(WEXITSTATUS(pclose(printed)), 0);
}

struct client *approval_as(const char *key)
{
    snprintf(approval_scene.stage->client.key, sizeof approval_scene.stage->client.key,
             "%s", key);
    return &approval_scene.stage->client;
}

int approval_begin(void **state)
{
    stage_begin(state);
    approval_scene.stage = *state;
    approval_make_key(approval_scene.ana,
                      "--owner ana --role data_owner --project fraud");
    approval_make_key(approval_scene.ana_officer,
                      "--owner ana --role privacy_officer --project fraud");
    approval_make_key(approval_scene.bob,
                      "--owner bob --role privacy_officer --project fraud");
    approval_make_key(approval_scene.carl,
                      "--owner carl --role analyst --project fraud");
    approval_make_key(approval_scene.eve,
                      "--owner eve --role data_owner --project ads");
    return 0;
}

const char *approval_propose(const char *id, const char *privacy, unsigned salt)
{
    struct client *client = approval_as(approval_scene.ana);
    char path[96];
    const struct reply *made =
        client_create(client, "/v1/datasets", DECLARATION, id, privacy);
    assert_status(made, 201);
    assert_string_equal(reply_text(made, "grant.state"), "PENDING");
    assert_string_equal(reply_text(made, "grant.proposed_by"), "ana");
    char *points = sample_points(300, salt);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, points, strlen(points)), 204);
    free(points);
    return reply_text(made, "grant.id");
}

const struct reply *approval_decide(const char *key, const char *verb,
                                    const char *grant)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/grants/%s:%s", grant, verb);
    return client_post(approval_as(key), path, NULL,
                       "{'reason':'looked at the code book'}");
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

void approval_freeze(const char *dataset)
{
    struct daemon *daemon = &approval_scene.stage->daemon;
    char head[96];
    snprintf(head, sizeof head, "%s/head", daemon->directory);
    const char *const options[] = {"--head-file", head, NULL};
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    shell("mkdir '%s/backup' && cp '%s'/epsilond.db* '%s/backup'", daemon->directory,
          daemon->data_dir, daemon->directory);
    daemon_start(daemon, options);
    approval_as(approval_scene.carl);
    train(&approval_scene.stage->client, SAMPLE_JOB, dataset, 3, 9.0);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    shell("rm '%s'/epsilond.db* && cp '%s'/backup/* '%s'", daemon->data_dir,
          daemon->directory, daemon->data_dir);
    daemon_start(daemon, options);
    assert_true(daemon_logged(daemon, "\"frozen\""));
}
