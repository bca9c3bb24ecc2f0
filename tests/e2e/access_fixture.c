#include "tests/e2e/access_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"

struct access_scene access_scene;

struct client *access_client(void)
{
    return &access_scene.stage->client;
}

void access_show(const char *key)
{
    snprintf(access_client()->key, sizeof access_client()->key, "%s", key);
}

/* Runs `epsilond key WORDS`; out is the first line of its output. */
int access_run_key(const char *words, char *out, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "%s key %s --data-dir %s 2>&1",
             getenv("EPSILOND"), words, access_scene.stage->daemon.data_dir);
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

void access_make_key(char key[KEY_SIZE], const char *owner, const char *role,
                     const char *project)
{
    char words[200];
    snprintf(words, sizeof words, "create --owner %s --role %s --project %s", owner,
             role, project);
    if (access_run_key(words, key, KEY_SIZE) != 0 || strlen(key) != 56)
        fail_msg("%s", key);
}

const char *access_key_id(const char *key)
{
    static char id[9];
    snprintf(id, sizeof id, "%.8s", key + 4);
    return id;
}

/* Makes the keys of the project's people, and a dataset that its data owner
 * declares. */
static void settle(struct project *project, unsigned salt)
{
    char owner[32], analyst[32];
    snprintf(owner, sizeof owner, "owner-of-%s", project->name);
    snprintf(analyst, sizeof analyst, "analyst-of-%s", project->name);
    access_make_key(project->owner, owner, "data_owner", project->name);
    access_make_key(project->analyst, analyst, "analyst", project->name);
    access_make_key(project->spare_key, "nobody", "analyst", project->name);
    access_show(project->owner);
    ready_points(access_client(), project->dataset, 300, salt, SAMPLE_BUDGET(8));
}

/* Fills the project through requests of its own people, as any client would. */
static void fill(struct project *project, unsigned salt)
{
    struct client *client = access_client();
    settle(project, salt);
    assert_status(declare_points(client, project->spare, SAMPLE_PUBLIC), 201);
    access_show(project->analyst);
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

/* Evaluates the project's model on a public dataset of its own. */
static void evaluate(struct project *project, unsigned salt)
{
    char path[96];
    access_show(project->owner);
    ready_points(access_client(), project->open, 300, salt, SAMPLE_PUBLIC);
    access_show(project->analyst);
    snprintf(path, sizeof path, "/v1/models/%s:evaluate", project->model);
    const struct reply *asked =
        client_create(access_client(), path, "{'evaluation':'%s'}", project->open);
    assert_status(asked, 201);
    snprintf(project->evaluation, sizeof project->evaluation, "%s",
             reply_text(asked, "id"));
}

/* Makes a webhook of "somebody", who has each role in the own project, for the events
 * of the project. */
static void add_webhook(struct project *project, const char *key)
{
    access_show(key);
    const struct reply *made =
        client_post(access_client(), "/v1/webhooks", NULL,
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

static void begin(void **state)
{
    stage_begin_with(state, (const char *const[]){"--workers", "1", "--threads", "1",
                                                  "--approvals", "off", NULL});
    access_scene.stage = *state;
    access_scene.own = (struct project){
        .name = "fraud", .dataset = "calls", .spare = "calls-2", .open = "calls-test"};
    access_scene.foreign = (struct project){
        .name = "ads", .dataset = "views", .spare = "views-2", .open = "views-test"};
}

/* One owner, "somebody", has a key of each role; the key of the role analyst is that of
 * the project's analyst, who owns what it created. */
static void make_roles(void)
{
    for (unsigned role = ROLE_ANALYST; role < ROLE_COUNT; role++)
        access_make_key(access_scene.keys[role], "somebody", role_names[role], "fraud");
    snprintf(access_scene.keys[ROLE_ANALYST], KEY_SIZE, "%s", access_scene.own.analyst);
}

int access_begin_keys(void **state)
{
    begin(state);
    settle(&access_scene.own, 1);
    make_roles();
    return 0;
}

int access_begin(void **state)
{
    char elsewhere[KEY_SIZE];
    begin(state);
    fill(&access_scene.own, 1);
    fill(&access_scene.foreign, 2);
    evaluate(&access_scene.own, 11);
    evaluate(&access_scene.foreign, 12);
    make_roles();
    access_make_key(elsewhere, "somebody", "data_owner", "ads");
    add_webhook(&access_scene.own, access_scene.keys[ROLE_DATA_OWNER]);
    add_webhook(&access_scene.foreign, elsewhere);
    return 0;
}
