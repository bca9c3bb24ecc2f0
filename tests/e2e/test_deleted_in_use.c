/* Goal: deleting, revoking or cancelling a thing while other connections use it harms
 * none of them. Every answer is one that is documented for the request, nothing of a
 * thing is served after the answer that it is gone, and the daemon stops as it should;
 * a sanitizer in the daemon sees no memory used after it was freed.
 * Method: a row for each kind of thing. In every round the test makes one thing of each
 * kind, lets two clients for each kind send all requests of the row, over and over, and
 * ends the things one after another. Rounds are counted, so the program ends by
 * itself. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum {
    ROUNDS = 4,
    USERS = 2, /* clients of each kind */
    USES_MAX = 9,
    ID_SIZE = 128,
    RUNS = 3,     /* of a sweep */
    TRIES = 6000, /* to end a thing that clients still use */
    CREATIONS_MAX =
        3, /* jobs that a client creates by one row while a thing of the round exists */
    UPLOAD_ROWS = 4000,
    PAUSE_MS = 5, /* between the requests of a client */
};

/* The credential that the clients of a kind send. */
enum credential { OWNERS_KEY, ITS_KEY, ITS_COOKIE };

/* A request that uses a thing. put_id fills path and body. */
struct use {
    const char *method, *path, *type, *body;
    /* statuses allowed while the thing is being ended */
    const char *during;
    const char *after; /* statuses allowed for requests sent after the end */
};

struct scene;

struct kind {
    const char *name;
    enum credential credential;
    void (*make)(struct scene *scene, char id[ID_SIZE]);
    void (*end)(struct scene *scene, const char *id);
    struct use uses[USES_MAX];

    /* The thing of this round, protected by the scene's lock. */
    unsigned round; /* 0: none yet */
    bool ended;
    char id[ID_SIZE];
};

struct user {
    pthread_t thread;
    struct scene *scene;
    struct kind *kind;
};

struct scene {
    struct stage *stage;
    struct receiver receiver;
    char owner[KEY_SIZE]; /* a key */
    char *points, *weights;
    size_t weights_size;
    unsigned made; /* number of datasets, for their names */

    pthread_mutex_t lock; /* protects all members below, and the things of the kinds */
    pthread_cond_t change;
    bool stopped;
    unsigned complaints, answers;

    struct user *users;
    size_t user_count;
};

static struct client *client_of(struct scene *scene)
{
    return &scene->stage->client;
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Writes template with each @ replaced by the id and each ~ by the receiver's URL. */
static void put_id(const struct scene *scene, char *text, size_t size,
                   const char *template, const char *id)
{
    size_t used = 0;
    for (; *template != '\0' && used + 1 < size; template ++)
        if (*template == '@' || *template == '~')
            used += (size_t)snprintf(text + used, size - used, "%s",
                                     *template == '@' ? id : scene->receiver.url);
        else
            text[used++] = *template;
    assert(used < size);
    text[used] = '\0';
}

/* --- making and ending --- */

static const char webhook_path[] = "/v1/webhooks/@";
static const char dataset_path[] = "/v1/datasets/@";
static const char job_path[] = "/v1/jobs/@";
static const char sweep_path[] = "/v1/sweeps/@";
static const char model_path[] = "/v1/models/@";
static const char file_path[] = "/v1/files/@";

/* Deletes it, and tries again while clients that use it prevent that. They may have
 * deleted it. */
static void delete_thing(struct scene *scene, const char *template, const char *id)
{
    char path[ID_SIZE + 64];
    const struct reply *reply = NULL;
    put_id(scene, path, sizeof path, template, id);
    for (int i = 0; i < TRIES; i++) {
        reply = client_delete(client_of(scene), path);
        if (reply->status != 409 && reply->status != 503)
            break;
        nap(5);
    }
    if (reply->status != 404)
        assert_status(reply, 204);
}

static void keep_id(const struct reply *made, char id[ID_SIZE])
{
    assert_status(made, 201);
    snprintf(id, ID_SIZE, "%s", reply_text(made, "id"));
}

static void make_webhook(struct scene *scene, char id[ID_SIZE])
{
    keep_id(client_post(client_of(scene), "/v1/webhooks", NULL,
                        "{'url':'%s/never/a','events':['job.cancelled']}",
                        scene->receiver.url),
            id);
}

static void delete_webhook(struct scene *scene, const char *id)
{
    delete_thing(scene, webhook_path, id);
}

static void make_dataset(struct scene *scene, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "public-%u", scene->made++);
    ready_points(client_of(scene), id, 200, scene->made, SAMPLE_PUBLIC);
}

static void make_private(struct scene *scene, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "private-%u", scene->made++);
    ready_points(client_of(scene), id, 200, scene->made, SAMPLE_BUDGET(4));
}

static void make_upload(struct scene *scene, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "upload-%u", scene->made++);
    assert_status(client_create(client_of(scene), "/v1/datasets",
                                "{'id':'%s','format':'csv','task':'classification',"
                                "'columns':["
                                "{'name':'x','kind':'numeric','range':[-1,1]},"
                                "{'name':'y','kind':'numeric','range':[-1,1]},"
                                "{'name':'above','kind':'label','values':['no','yes'],"
                                "'default':'no'}],'privacy':" SAMPLE_PUBLIC "}",
                                id),
                  201);
}

static void delete_dataset(struct scene *scene, const char *id)
{
    delete_thing(scene, dataset_path, id);
}

static void make_job(struct scene *scene, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "%s",
             submit(client_of(scene), SAMPLE_JOB, "people", SAMPLE_ENDLESS, 1e6));
}

/* Waits until the job has ended, or until another client has deleted it, which is possible
 * as soon as it has ended. */
static void await_end_or_deletion(struct client *client, const char *job)
{
    const struct reply *reply;
    do {
        reply = client_get(client, "/v1/jobs/%s?wait=10", job);
        if (reply->status == 404)
            return;
        assert_status(reply, 200);
    } while (json_is_null(reply_at(reply, "end_time")));
}

static void delete_job(struct scene *scene, const char *id)
{
    const struct reply *reply = client_act(client_of(scene), "/v1/jobs/%s:cancel", id);
    if (reply->status != 404)
        assert_status(reply, 200);
    await_end_or_deletion(client_of(scene), id);
    delete_thing(scene, job_path, id);
}

static void make_sweep(struct scene *scene, char id[ID_SIZE])
{
    keep_id(client_create(client_of(scene), "/v1/sweeps",
                          "{'job':{'dataset':'people','model':{'preset':'linear'},"
                          "'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd'},"
                          "'batch_size':50,'steps':%d,"
                          "'privacy':{'noise_multiplier':1e6}},"
                          "'grid':{'/optimizer/learning_rate':[0.1,0.2,0.3]}}",
                          SAMPLE_ENDLESS),
            id);
}

static void delete_sweep(struct scene *scene, const char *id)
{
    char place[32];
    struct client *client = client_of(scene);
    const struct reply *sweep = client_act(client, "/v1/sweeps/%s:cancel", id);
    assert_status(sweep, 200);
    for (int i = 0; i < RUNS; i++) {
        snprintf(place, sizeof place, "runs.%d.job", i);
        await_end_or_deletion(client, reply_text(sweep, place));
    }
    delete_thing(scene, sweep_path, id);
}

static void make_model(struct scene *scene, char id[ID_SIZE])
{
    struct client *client = client_of(scene);
    const struct reply *job =
        train(client, "{'dataset':'open','model':{'preset':'mlp','hidden':[6]},"
                      "'algorithm':{'name':'sgd'},'steps':20}");
    snprintf(id, ID_SIZE, "%s", reply_text(job, "model"));
}

static void delete_model(struct scene *scene, const char *id)
{
    delete_thing(scene, model_path, id);
}

static void make_file(struct scene *scene, char id[ID_SIZE])
{
    keep_id(client_send(
                client_of(scene),
                &(struct request){.method = "POST",
                                  .path = "/v1/files",
                                  .headers = {"Content-Type: application/octet-stream"},
                                  .body = scene->weights,
                                  .size = scene->weights_size}),
            id);
}

static void delete_file(struct scene *scene, const char *id)
{
    delete_thing(scene, file_path, id);
}

#define MECHANISM                                                                      \
    "{'kind':'sampled_gaussian','sampler':'poisson','sampling_rate':0.001,"            \
    "'noise_multiplier':1000,'steps':1000,'neighbour':'add_remove'}"

static void make_charge(struct scene *scene, char id[ID_SIZE])
{
    keep_id(client_create(client_of(scene), "/v1/charges",
                          "{'dataset':'people','engine':'opacus 1.5','unit':'record',"
                          "'mechanism':" MECHANISM "}"),
            id);
}

/* The clients settle the charge too, and one of them may be first. */
static void settle_charge(struct scene *scene, const char *id)
{
    const struct reply *reply =
        client_act(client_of(scene), "/v1/charges/%s:settle", id);
    if (reply->status != 409)
        assert_status(reply, 200);
}

static void make_key(struct scene *scene, char id[ID_SIZE])
{
    const struct reply *made = client_post(
        client_of(scene), "/v1/keys", NULL,
        "{'owner':'eve-%u','project':'default','role':'analyst'}", scene->made++);
    assert_status(made, 201);
    snprintf(id, ID_SIZE, "%s", reply_text(made, "key"));
}

static void revoke_key(struct scene *scene, const char *id)
{
    assert_status(
        client_act(client_of(scene), "/v1/keys/%.8s:revoke", id + strlen("dpk_")), 200);
}

static void log_in(struct scene *scene, char id[ID_SIZE])
{
    char set[256];
    const struct reply *reply = client_post(client_of(scene), "/v1/session", NULL,
                                            "{'key':'%s'}", scene->owner);
    assert_status(reply, 201);
    assert_true(reply_header(reply, "Set-Cookie", set));
    set[strcspn(set, ";")] = '\0';
    snprintf(id, ID_SIZE, "Cookie: %.*s", ID_SIZE - 16, set);
}

static void log_out(struct scene *scene, const char *id)
{
    char origin[80];
    struct client guest; /* sends no key, only the cookie */
    client_init(&guest, &scene->stage->daemon);
    snprintf(origin, sizeof origin, "Origin: %s", scene->stage->daemon.base);
    assert_status(client_send(&guest, &(struct request){.method = "DELETE",
                                                        .path = "/v1/session",
                                                        .headers = {id, origin}}),
                  204);
    client_fini(&guest);
}

/* --- requests that use a thing --- */

#define JSON  "Content-Type: application/json"
#define MERGE "Content-Type: application/merge-patch+json"
#define BYTES "Content-Type: application/octet-stream"
#define TRAIN_ON(dataset, model)                                                       \
    "{'dataset':'" dataset "','model':{'preset':'mlp','hidden':[6]" model "},"         \
    "'algorithm':{'name':'sgd'},'batch_size':20,'steps':5}"
#define POINTS "" /* replaced by the points' file (body_of) */

static struct kind kinds[] = {
    {.name = "webhook",
     .make = make_webhook,
     .end = delete_webhook,
     .uses = {{"POST", "/v1/webhooks/@:test", 0, 0, "202 404 409 503", "404"},
              {"GET", "/v1/webhooks/@", 0, 0, "200 404", "404"},
              {"GET", "/v1/webhooks/@/deliveries", 0, 0, "200 404", "404"},
              {"POST", "/v1/webhooks/@:rotate", 0, 0, "200 404", "404"},
              {"GET", "/v1/webhooks", 0, 0, "200", "200"},
              {"DELETE", "/v1/webhooks/none-@", 0, 0, "404", "404"}}},
    {.name = "dataset",
     .make = make_dataset,
     .end = delete_dataset,
     .uses = {{"GET", "/v1/datasets/@", 0, 0, "200", "200"},
              {"POST", "/v1/jobs:estimate", JSON, TRAIN_ON("@", ""), "200 404 503",
               "404"},
              {"POST", "/v1/jobs", JSON, TRAIN_ON("@", ""), "201 404 503", "404"},
              {"POST", "/v1/jobs", JSON, TRAIN_ON("open", ""), "201 503", "201 503"},
              {"GET", "/v1/job-schema?dataset=@", 0, 0, "200 404", "404"},
              {"GET", "/v1/jobs?dataset=@", 0, 0, "200", "200"},
              {"PATCH", "/v1/datasets/@", MERGE, "{'display_name':'x'}", "200 404 503",
               "200 404"},
              {"GET", "/v1/datasets", 0, 0, "200", "200"}}},
    {.name = "private",
     .make = make_private,
     .end = delete_dataset,
     .uses = {{"GET", "/v1/datasets/@/budget", 0, 0, "200", "200"},
              {"GET", "/v1/datasets/@/ledger", 0, 0, "200", "200"},
              {"GET", "/v1/datasets/@/budget/history", 0, 0, "200", "200"},
              {"POST", "/v1/statistics", JSON,
               "{'dataset':'@','statistics':[{'kind':'mean','column':'x'}],"
               "'privacy':{'noise_multiplier':1000}}",
               "201 404 503", "404"},
              {"POST", "/v1/statistics:estimate", JSON,
               "{'dataset':'@','statistics':[{'kind':'mean','column':'x'}],"
               "'privacy':{'noise_multiplier':1000}}",
               "200 404 503", "404"},
              {"GET", "/v1/statistics?dataset=@", 0, 0, "200", "200"},
              {"POST", "/v1/charges:estimate", JSON,
               "{'dataset':'@','engine':'x','unit':'record','mechanism':" MECHANISM "}",
               "200 404 503", "404"}}},
    {.name = "upload",
     .make = make_upload,
     .end = delete_dataset,
     .uses = {{"PUT", "/v1/datasets/@/files/data", BYTES, POINTS, "204 404 409 503",
               "404"},
              {"HEAD", "/v1/datasets/@/files/data", 0, 0, "200 404 409", "404"},
              {"POST", "/v1/datasets/@/files/data:fetch", JSON,
               "{'url':'~/slow/points'}", "202 404 409 503", "404"},
              {"DELETE", "/v1/datasets/@/files/data/fetch", 0, 0, "204 404 503",
               "204 404"},
              {"GET", "/v1/datasets/@/files/data/fetch", 0, 0, "200 404", "200 404"},
              {"POST", "/v1/datasets/@:import", 0, 0, "200 202 404 409 422 503", "404"},
              {"GET", "/v1/datasets/@/import", 0, 0, "200 404", "200 404"}}},
    {.name = "job",
     .make = make_job,
     .end = delete_job,
     .uses = {{"GET", "/v1/jobs/@", 0, 0, "200 404", "404"},
              {"GET", "/v1/jobs/@/events", 0, 0, "200 204 404", "404"},
              {"GET", "/v1/jobs/@?wait=2", 0, 0, "200 404", "404"},
              {"GET", "/v1/jobs/@/logs", 0, 0, "200 404", "404"},
              {"PATCH", "/v1/jobs/@", MERGE, "{'display_name':'x'}", "200 404 503",
               "404"},
              {"GET", "/v1/jobs", 0, 0, "200", "200"}}},
    {.name = "sweep",
     .make = make_sweep,
     .end = delete_sweep,
     .uses = {{"GET", "/v1/sweeps/@", 0, 0, "200 404", "404"},
              {"GET", "/v1/sweeps", 0, 0, "200", "200"},
              {"DELETE", "/v1/sweeps/@", 0, 0, "409 503 204 404", "404"},
              {"GET", "/v1/jobs?state=RUNNING", 0, 0, "200", "200"}}},
    {.name = "model",
     .make = make_model,
     .end = delete_model,
     .uses = {{"GET", "/v1/models/@", 0, 0, "200 404", "404"},
              {"GET", "/v1/models/@/content", 0, 0, "200 404 503", "404"},
              {"GET", "/v1/models/@/content?format=onnx", 0, 0, "200 404 503", "404"},
              {"POST", "/v1/models/@/predict", JSON, "{'inputs':[[0.5,0.5],[0,1]]}",
               "200 404 503", "404"},
              {"POST", "/v1/jobs", JSON, TRAIN_ON("open", ",'weights':'@'"),
               "201 400 404 409 503", "400 404 409 503"},
              {"PATCH", "/v1/models/@", MERGE, "{'display_name':'x'}", "200 404 503",
               "404"},
              {"GET", "/v1/models", 0, 0, "200", "200"}}},
    {.name = "file",
     .make = make_file,
     .end = delete_file,
     .uses = {{"GET", "/v1/files/@", 0, 0, "200 404", "404"},
              {"POST", "/v1/jobs:estimate", JSON, TRAIN_ON("open", ",'weights':'@'"),
               "200 400 404 409 503", "400 404 409"},
              {"POST", "/v1/jobs", JSON, TRAIN_ON("open", ",'weights':'@'"),
               "201 400 404 409 503", "400 404 409 503"},
              {"GET", "/v1/files", 0, 0, "200", "200"}}},
    {.name = "charge",
     .make = make_charge,
     .end = settle_charge,
     .uses = {{"POST", "/v1/charges/@/blocks", JSON,
               "{'block':1,'process':'0123456789abcdef'}", "201 409 503", "409"},
              {"GET", "/v1/charges/@", 0, 0, "200", "200"},
              {"GET", "/v1/charges", 0, 0, "200", "200"},
              {"POST", "/v1/charges/@/blocks", JSON,
               "{'block':2,'process':'0123456789abcdef'}", "201 409 503", "409"}}},
    {.name = "key",
     .credential = ITS_KEY,
     .make = make_key,
     .end = revoke_key,
     .uses = {{"GET", "/v1/jobs", 0, 0, "200 401", "401"},
              {"GET", "/v1/events", 0, 0, "200 401", "401"},
              {"POST", "/v1/jobs", JSON, TRAIN_ON("open", ""), "201 401 503", "401"},
              {"GET", "/v1/models", 0, 0, "200 401", "401"}}},
    {.name = "session",
     .credential = ITS_COOKIE,
     .make = log_in,
     .end = log_out,
     .uses = {{"GET", "/v1/jobs", 0, 0, "200 401", "401"},
              {"GET", "/v1/events", 0, 0, "200 401", "401"},
              {"GET", "/v1/datasets", 0, 0, "200 401", "401"},
              {"GET", "/v1/status", 0, 0, "200 401 403", "401"}}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- the clients --- */

static bool among(const char *list, long status)
{
    char number[8];
    snprintf(number, sizeof number, "%ld", status);
    return strstr(list, number) != NULL;
}

/* Counts an answer, and shows it unless the row lists its status. */
static void judge(struct scene *scene, const struct kind *kind, const struct use *use,
                  const struct reply *reply, bool ended)
{
    bool fine = among(ended ? use->after : use->during, reply->status);
    pthread_mutex_lock(&scene->lock);
    scene->answers++;
    if (!fine && scene->complaints++ < 20)
        print_error("%s: %s %s %s: %ld %.300s\n", kind->name, use->method, use->path,
                    ended ? "when it had ended" : "meanwhile", reply->status,
                    reply->body);
    pthread_mutex_unlock(&scene->lock);
}

/* Returns the body of a use with its id, to be freed; NULL: none. */
static char *body_of(const struct scene *scene, const struct use *use, const char *id)
{
    char text[1024];
    if (use->body == NULL)
        return NULL;
    if (use->body[0] == '\0')
        return strdup(scene->points);
    put_id(scene, text, sizeof text, use->body, id);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    return strdup(text);
}

/* The state of a thing when a request is sent. */
struct target {
    unsigned round;
    bool ended;
    char id[ID_SIZE];
};

static void use_thing(struct user *user, const struct use *use,
                      const struct target *target, unsigned number)
{
    struct client client;
    char path[ID_SIZE + 64], idempotency_key[64];
    struct request request = {.method = use->method, .path = path};
    size_t headers = 0;
    char *body = body_of(user->scene, use, target->id);
    client_init(&client, &user->scene->stage->daemon);
    client.lossy = true;
    put_id(user->scene, path, sizeof path, use->path, target->id);
    snprintf(idempotency_key, sizeof idempotency_key, "Idempotency-Key: %p-%u-%u",
             (void *)user, target->round, number);
    if (user->kind->credential == ITS_COOKIE)
        request.headers[headers++] = target->id;
    else
        snprintf(client.key, sizeof client.key, "%.63s",
                 user->kind->credential == ITS_KEY ? target->id : user->scene->owner);
    if (use->type != NULL)
        request.headers[headers++] = use->type;
    if (strcmp(use->method, "POST") == 0 && body != NULL)
        request.headers[headers++] = idempotency_key;
    if (strcmp(use->method, "PATCH") == 0)
        request.headers[headers++] = "If-Match: *";
    if (user->kind->credential == ITS_COOKIE && body != NULL)
        request.headers[headers++] = "Sec-Fetch-Site: same-origin";
    request.body = body;
    request.size = body != NULL ? strlen(body) : 0;
    judge(user->scene, user->kind, use, client_send(&client, &request), target->ended);
    free(body);
    client_fini(&client);
}

/* Waits for the thing of a round after `done`. Returns false if there is no further
 * round. */
static bool await_thing(struct user *user, unsigned done, struct target *target)
{
    struct scene *scene = user->scene;
    struct kind *kind = user->kind;
    pthread_mutex_lock(&scene->lock);
    while (!scene->stopped && (kind->round <= done || kind->id[0] == '\0'))
        pthread_cond_wait(&scene->change, &scene->lock);
    *target = (struct target){.round = kind->round, .ended = kind->ended};
    memcpy(target->id, kind->id, sizeof target->id);
    bool goes_on = !scene->stopped;
    pthread_mutex_unlock(&scene->lock);
    return goes_on;
}

static size_t count_uses(const struct kind *kind)
{
    size_t count = 0;
    while (count < USES_MAX && kind->uses[count].method != NULL)
        count++;
    return count;
}

/* Jobs and statistics take long, so each client creates few. */
static bool is_left_out(const struct use *use, unsigned turn)
{
    bool creates = strcmp(use->path, "/v1/jobs") == 0 && use->body != NULL;
    return turn >= CREATIONS_MAX &&
           (creates || strcmp(use->path, "/v1/statistics") == 0);
}

/* Sends the requests of the row over and over, and each of them once more after the
 * thing has ended. */
static void *use_things(void *argument)
{
    struct user *user = argument;
    const struct kind *kind = user->kind;
    struct target target = {0};
    size_t uses = count_uses(kind), first = (size_t)(user - user->scene->users) % uses;
    for (unsigned done = 0; await_thing(user, done, &target); done = target.round) {
        size_t last = 0;
        for (unsigned i = 0; last < uses; i++) {
            const struct use *use = &kind->uses[(first + i) % uses];
            if (!await_thing(user, done, &target))
                return NULL;
            last += target.ended;
            if (target.ended || !is_left_out(use, i / (unsigned)uses))
                use_thing(user, use, &target, i);
            nap(PAUSE_MS);
        }
    }
    return NULL;
}

/* --- the rounds --- */

static void show_thing(struct scene *scene, struct kind *kind, unsigned round,
                       const char id[ID_SIZE])
{
    pthread_mutex_lock(&scene->lock);
    memcpy(kind->id, id, sizeof kind->id);
    kind->round = round;
    kind->ended = false;
    pthread_cond_broadcast(&scene->change);
    pthread_mutex_unlock(&scene->lock);
}

static void end_thing(struct scene *scene, struct kind *kind)
{
    char id[ID_SIZE];
    memcpy(id, kind->id, sizeof id); /* only this thread writes it */
    kind->end(scene, id);
    pthread_mutex_lock(&scene->lock);
    kind->ended = true;
    pthread_mutex_unlock(&scene->lock);
}

/* The things end in a different order each time, some of them at once and some after a
 * while. */
static void run_round(struct scene *scene, unsigned round)
{
    char ids[KINDS][ID_SIZE] = {{0}};
    for (size_t i = 0; i < KINDS; i++)
        kinds[i].make(scene, ids[i]);
    for (size_t i = 0; i < KINDS; i++)
        show_thing(scene, &kinds[i], round, ids[i]);
    for (size_t i = 0; i < KINDS; i++) {
        nap(round % 3 == 0 ? 0 : 40);
        end_thing(scene, &kinds[(i * 5 + round) % KINDS]);
    }
    client_fini(client_of(scene));
    client_of(scene)->replies = NULL;
}

static void stop_users(struct scene *scene)
{
    pthread_mutex_lock(&scene->lock);
    scene->stopped = true;
    pthread_cond_broadcast(&scene->change);
    pthread_mutex_unlock(&scene->lock);
    for (size_t i = 0; i < scene->user_count; i++)
        assert_int_equal(pthread_join(scene->users[i].thread, NULL), 0);
    scene->user_count = 0;
}

static void whatever_is_deleted_in_use_harms_nobody(void **state)
{
    struct scene *scene = *state;
    for (size_t i = 0; i < (size_t)KINDS * USERS; i++) {
        struct user *user = &scene->users[i];
        *user = (struct user){.scene = scene, .kind = &kinds[i % KINDS]};
        assert_int_equal(pthread_create(&user->thread, NULL, use_things, user), 0);
        scene->user_count++;
    }
    for (unsigned round = 1; round <= ROUNDS; round++)
        run_round(scene, round);
    stop_users(scene);
    print_message("%u answers\n", scene->answers);
    assert_int_equal(scene->complaints, 0);
    assert_true(scene->answers > ROUNDS * KINDS * USERS);
    assert_int_equal(daemon_stop(&scene->stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&scene->stage->daemon), 0);
}

/* --- the scene --- */

static void take_weights(struct scene *scene)
{
    char id[ID_SIZE];
    make_model(scene, id);
    const struct reply *file =
        client_get(client_of(scene), "/v1/models/%s/content", id);
    assert_status(file, 200);
    scene->weights_size = file->size;
    scene->weights = malloc(file->size);
    assert_non_null(scene->weights);
    memcpy(scene->weights, file->body, file->size);
}

static int begin(void **state)
{
    static const char *const options[] = {
        "--outbound-allow", "127.0.0.1", "--approvals", "off",
        "--reveal-delay",   "0.1",       "--workers",   "16",
        "--threads",        "1",         NULL};
    struct scene *scene = calloc(1, sizeof *scene);
    void *stage;
    assert_non_null(scene);
    *state = scene;
    scene->stage = stage_prepare(&stage);
    scene->users = calloc((size_t)KINDS * USERS, sizeof *scene->users);
    assert_non_null(scene->users);
    assert_int_equal(pthread_mutex_init(&scene->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&scene->change, NULL), 0);
    receiver_open(&scene->receiver);
    key_make(&scene->stage->daemon, "dana", "data_owner", "default", scene->owner);
    daemon_start(&scene->stage->daemon, options);
    struct client *client = client_of(scene);
    snprintf(client->key, sizeof client->key, "%.63s", scene->owner);
    scene->points = sample_points(UPLOAD_ROWS, 1);
    ready_points(client, "people", 300, 90001, SAMPLE_BUDGET(8));
    ready_points(client, "open", 200, 90002, SAMPLE_PUBLIC);
    take_weights(scene);
    assert_status(client_put(&scene->receiver.client, "/files/points", scene->points,
                             strlen(scene->points)),
                  204);
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    if (scene->user_count >
        0) /* the test failed, and streams do not end by themselves */
        daemon_stop(&scene->stage->daemon, SIGKILL);
    stop_users(scene);
    receiver_close(&scene->receiver);
    int outcome = stage_end(&stage);
    pthread_cond_destroy(&scene->change);
    pthread_mutex_destroy(&scene->lock);
    free(scene->users);
    free(scene->weights);
    free(scene->points);
    free(scene);
    return outcome;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whatever_is_deleted_in_use_harms_nobody, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
