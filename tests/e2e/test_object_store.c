/* Goal: a daemon whose files are in a bucket does what a daemon with local folders
 * does, although the bucket fails, gives false answers and belongs to a third party;
 * and what the daemon leaves there reveals nothing. Method: a small S3 server on the
 * same machine, which checks every signature. */
#define _GNU_SOURCE /* pipe2 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/s3_fixture.h"
#include "tests/store/postgres_fixture.h"

static const char key[] =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static struct postgres_server server;

struct scene {
    struct s3_process s3;
    struct daemon daemon;
    struct client client;
};

static void start(struct scene *scene, const char *cache_size)
{
    const char *const options[] = {
        "--workers",    "1",        "--blobs", "s3://" S3_BUCKET "/eps",
        "--cache-size", cache_size, NULL};
    daemon_start(&scene->daemon, options);
}

static void begin_nothing(struct scene *scene)
{
    s3_start(&scene->s3);
    setenv("AWS_ENDPOINT_URL_S3", scene->s3.endpoint, 1);
    setenv("AWS_ACCESS_KEY_ID", S3_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET, 1);
    setenv("AWS_REGION", "eu-central-1", 1);
    setenv("EPSILOND_BLOBS_KEY", key, 1);
    daemon_init(&scene->daemon);
}

static void begin(struct scene *scene)
{
    begin_nothing(scene);
    start(scene, "100000000");
    client_init(&scene->client, &scene->daemon);
}

static void end(struct scene *scene)
{
    client_fini(&scene->client);
    daemon_fini(&scene->daemon);
    s3_stop(&scene->s3);
}

static int verify(struct scene *scene, const char *objects)
{
    return daemon_run(&scene->daemon,
                      (const char *const[]){
                          "verify", "--data-dir", scene->daemon.data_dir, "--blobs",
                          "s3://" S3_BUCKET "/eps", "--check-objects", objects, NULL});
}

static size_t objects(struct scene *scene)
{
    size_t count = 0;
    for (const char *at = s3_ask(&scene->s3, "/~objects"); *at != '\0'; count++) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return count;
}

/* Objects are deleted on a separate thread. */
static void await_objects(struct scene *scene, size_t count)
{
    while (objects(scene) != count)
        usleep(1000);
}

/* Every object in the bucket is named by 32 digits under the prefix, except for one. */
static void assert_names_tell_nothing(struct scene *scene)
{
    const char *at = s3_ask(&scene->s3, "/~objects");
    while (*at != '\0') {
        assert_memory_equal(at, "eps/", 4);
        at += 4;
        if (strncmp(at, "epsilond ", 9) != 0)
            assert_int_equal(strspn(at, "0123456789abcdef"), 32);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
}

static bool is_empty(const struct scene *scene, const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", scene->daemon.data_dir, folder);
    return rmdir(path) == 0 && mkdir(path, 0700) == 0;
}

static void the_main_job_runs_on_a_bucket_that_fails_and_lies(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct client *client = &scene.client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
    s3_ask(&scene.s3, "/~faults?kind=error&method=PUT&count=2");
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    await_objects(&scene, 3); /* two matrices, and the owner's mark */
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    start(&scene, "100000000");                      /* the training data is fetched, */
    s3_ask(&scene.s3, "/~faults?kind=flip&count=2"); /* but not at the first try */
    const struct reply *job =
        train(client, "{'dataset':'digits','evaluation':'digits-test',"
                      "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
                      "'batch_size':64,'epochs':5,'privacy':{'epsilon':2}}");
    char path[256];
    snprintf(path, sizeof path, "/v1/models/%s/content",
             reply_text(model_of(client, job), "id"));
    const struct reply *content = client_get(client, "%s", path);
    assert_status(content, 200);
    assert_int_equal(daemon_stop(&scene.daemon, SIGKILL), 128 + SIGKILL);
    assert_int_equal(verify(&scene, "off"), 0);
    assert_int_equal(verify(&scene, "on"), 0);
    start(&scene, "100000000");
    s3_ask(&scene.s3, "/~faults?kind=babble&count=1"); /* refused by the server */
    const struct reply *refused = client_get(client, "%s", path);
    assert_status(refused, 500);
    assert_null(strstr(refused->body, S3_BUCKET));
    assert_null(strstr(refused->body, "403"));
    const struct reply *again = client_get(client, "%s", path);
    assert_int_equal(again->size, content->size);
    assert_memory_equal(again->body, content->body, content->size);
    const char *const backup[] = {"backup", scene.daemon.directory, "--data-dir",
                                  scene.daemon.data_dir, NULL};
    assert_int_equal(daemon_run(&scene.daemon, backup), 0);
    assert_true(daemon_logged(&scene.daemon, "the files are in a bucket"));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_true(is_empty(&scene, "models") && is_empty(&scene, "datasets") &&
                is_empty(&scene, "uploads") && is_empty(&scene, "cache"));
    assert_int_equal(objects(&scene), 4); /* plus a model */
    assert_names_tell_nothing(&scene);
    s3_ask(&scene.s3, "/~faults?kind=flip&count=100");
    assert_int_equal(verify(&scene, "off"), 0);
    assert_int_equal(verify(&scene, "on"), 78); /* the owner's mark is unreadable */
    end(&scene);
}

static void a_full_cache_ends_a_job_before_it_is_charged(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct client *client = &scene.client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    start(&scene, "1000");
    const struct reply *job =
        await_end(client, submit(client, SAMPLE_JOB, "points", 20, 3.0));
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "cache_full");
    assert_true(reply_number(client_get(client, "/v1/datasets/points/budget"),
                             "epsilon_spent") == 0);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0); /* flushes its log */
    assert_true(daemon_logged(&scene.daemon, "the cache of files has no room"));
    end(&scene);
}

/* The same with the database on a server, if PostgreSQL is installed. */
static void rows_on_a_server_name_files_in_a_bucket(void **state)
{
    (void)state;
    struct scene scene;
    if (server.folder[0] == '\0')
        skip_because("there is no server of PostgreSQL");
    begin_nothing(&scene);
    const struct postgres_database database = postgres_database(&server);
    const char *const options[] = {
        "--workers", "1",          "--blobs",         "s3://" S3_BUCKET "/eps",
        "--store",   database.url, "--single-server", "on",
        NULL};
    daemon_start(&scene.daemon, options);
    client_init(&scene.client, &scene.daemon);
    struct client *client = &scene.client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    await_objects(&scene, 2);
    const struct reply *job = train(client, SAMPLE_JOB, "points", 20, 3.0);
    daemon_stop(&scene.daemon, SIGKILL);
    daemon_start(&scene.daemon, options);
    assert_status(client_get(client, "/v1/models/%s/content",
                             reply_text(model_of(client, job), "id")),
                  200);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    const char *const verify_both[] = {"verify",
                                       "--data-dir",
                                       scene.daemon.data_dir,
                                       "--blobs",
                                       "s3://" S3_BUCKET "/eps",
                                       "--store",
                                       database.url,
                                       "--check-objects",
                                       "on",
                                       NULL};
    assert_int_equal(daemon_run(&scene.daemon, verify_both), 0);
    assert_true(daemon_logged(&scene.daemon, "each was read"));
    assert_int_equal(objects(&scene), 3);
    end(&scene);
}

static void a_publication_that_is_cut_short_leaves_garbage_that_goes(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct client *client = &scene.client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    await_objects(&scene, 2);
    /* The answer to the upload of the model is delayed, and the daemon is killed while
     * it waits. */
    s3_ask(&scene.s3, "/~faults?kind=delay&method=PUT&count=100");
    const char *job = submit(client, SAMPLE_JOB, "points", 20, 3.0);
    await_objects(&scene, 3);
    daemon_stop(&scene.daemon, SIGKILL);
    assert_int_equal(verify(&scene, "on"), 0);
    start(&scene, "100000000");
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", job), "state"),
                        "FAILED");
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(objects(&scene), 3); /* too young to be deleted */
    s3_ask(&scene.s3, "/~age?seconds=180000");
    start(&scene, "100000000");
    await_objects(&scene, 2);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(verify(&scene, "on"), 0);
    end(&scene);
}

struct starter { /* a client whose job begins with weights */
    struct client client;
    pthread_t thread;
    const char *model;
    atomic_long status; /* of the answer; 0: none yet */
};

#define FROM_MODEL                                                                     \
    "{'dataset':'points','model':{'preset':'linear','weights':'%s'},"                  \
    "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':20,"                         \
    "'privacy':{'noise_multiplier':3}}"

static void *start_from_model(void *argument)
{
    struct starter *starter = argument;
    const struct reply *reply =
        client_create(&starter->client, "/v1/jobs", FROM_MODEL, starter->model);
    atomic_store(&starter->status, reply->status);
    return NULL;
}

/* Returns the number of GET requests for objects. */
static size_t gets(struct scene *scene)
{
    size_t count = 0;
    const char *at = s3_ask(&scene->s3, "/~log");
    while (*at != '\0') {
        size_t length = strcspn(at, "\n");
        count += strncmp(at, "GET ", 4) == 0 && memchr(at, '?', length) == NULL;
        at += length + (at[length] == '\n');
    }
    return count;
}

/* The client submits its job while the server delays what the job needs. */
static void begin_starter(struct scene *scene, struct starter *starter)
{
    struct client *client = &scene->client;
    *starter = (struct starter){.status = 0};
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    const struct reply *job = train(client, SAMPLE_JOB, "points", 20, 3.0);
    starter->model = reply_text(model_of(client, job), "id");
    client_init(&starter->client, &scene->daemon);
    assert_int_equal(daemon_stop(&scene->daemon, SIGTERM), 0);
    start(scene, "100000000"); /* its cache is empty */
    size_t before = gets(scene);
    s3_ask(&scene->s3, "/~faults?kind=hold&count=1000");
    assert_int_equal(pthread_create(&starter->thread, NULL, start_from_model, starter),
                     0);
    while (gets(scene) == before)
        usleep(1000);
}

static void while_the_store_is_slow_others_write_and_cancel(void **state)
{
    (void)state;
    struct scene scene;
    struct starter starter;
    begin(&scene);
    begin_starter(&scene, &starter);
    struct client *client = &scene.client;
    /* The server also holds back the training data of the other job, which nevertheless
     * ends. */
    const char *other = submit(client, SAMPLE_JOB, "points", 20, 3.0);
    cancel(client, other);
    assert_string_equal(reply_text(await_end(client, other), "state"), "CANCELLED");
    assert_status(declare_points(client, "other", SAMPLE_PUBLIC), 201);
    assert_int_equal(atomic_load(&starter.status), 0);
    s3_ask(&scene.s3, "/~faults?kind=error&count=0");
    assert_int_equal(pthread_join(starter.thread, NULL), 0);
    assert_int_equal(atomic_load(&starter.status), 201);
    client_fini(&starter.client);
    end(&scene);
}

static void a_stop_does_not_wait_for_the_store(void **state)
{
    (void)state;
    struct scene scene;
    struct starter starter;
    begin(&scene);
    begin_starter(&scene, &starter);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(pthread_join(starter.thread, NULL), 0);
    assert_int_equal(atomic_load(&starter.status), 503);
    client_fini(&starter.client);
    end(&scene);
}

static void estimates_of_weights_that_are_not_here_are_answered(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct client *client = &scene.client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    const struct reply *job = train(client, SAMPLE_JOB, "points", 20, 3.0);
    const char *model = reply_text(model_of(client, job), "id");
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    start(&scene, "100000000");
    assert_status(client_post(client, "/v1/jobs:estimate", NULL, FROM_MODEL, model),
                  200);
    for (int create = 0; create < 2; create++) {
        assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
        start(&scene, "100000000");
        assert_status(
            client_create(client, create ? "/v1/sweeps" : "/v1/sweeps:estimate",
                          "{'job':" FROM_MODEL ",'grid':{'/steps':[10,20]}}", model),
            create ? 201 : 200);
    }
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    start(&scene, "1000"); /* a cache that is too small */
    assert_problem(client_create(client, "/v1/jobs", FROM_MODEL, model), 503,
                   "disk_full");
    end(&scene);
}

/* A start with these options is refused with this reason. */
static void assert_refused(struct scene *scene, const char *const *more,
                           const char *why)
{
    const char *arguments[16] = {"--data-dir", scene->daemon.data_dir, "--listen",
                                 "127.0.0.1:0"};
    for (size_t i = 0; more[i] != NULL; i++)
        arguments[4 + i] = more[i];
    assert_int_equal(daemon_run(&scene->daemon, arguments), 78);
    if (!daemon_logged(&scene->daemon, why))
        fail_msg("not said: %s", why);
}

/* The same with secrets in files, as a service manager provides them. */
static void use_files_of_secrets(struct scene *scene, const char *key_file)
{
    char file[128];
    const char *const options[] = {"--blobs", "s3://" S3_BUCKET "/eps",
                                   "--blobs-key-file", key_file, NULL};
    FILE *out = fopen(key_file, "w");
    assert_non_null(out);
    fprintf(out, "%s\n", key);
    assert_int_equal(fclose(out), 0);
    snprintf(file, sizeof file, "%s/credentials", scene->daemon.directory);
    out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out,
            "[default]\naws_access_key_id = none\naws_secret_access_key = none\n"
            "# ours\n[eps]\naws_access_key_id=%s\naws_secret_access_key = %s\n"
            "[later]\naws_access_key_id = none\n",
            S3_KEY, S3_SECRET);
    assert_int_equal(fclose(out), 0);
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    setenv("AWS_SHARED_CREDENTIALS_FILE", file, 1);
    assert_refused(scene, options, "403 InvalidAccessKeyId");
    setenv("AWS_PROFILE", "eps", 1);
    daemon_start(&scene->daemon, options);
    assert_int_equal(daemon_stop(&scene->daemon, SIGTERM), 0);
}

static void what_is_not_ours_or_not_safe_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    char file[128], other[96];
    static const char *const ours[] = {"--blobs", "s3://" S3_BUCKET "/eps", NULL};
    static const char *const nowhere[] = {"--blobs", "s3://eps-none", NULL};
    static const char *const folders[] = {NULL};
    begin(&scene);
    ready_points(&scene.client, "points", 50, 1, SAMPLE_BUDGET(4));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_refused(&scene, folders, "files are in a bucket: give --blobs");
    setenv("AWS_SECRET_ACCESS_KEY", "wrong", 1);
    assert_refused(&scene, ours, "403 SignatureDoesNotMatch");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    assert_refused(&scene, ours, "needs AWS_ACCESS_KEY_ID");
    setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET, 1);
    setenv("AWS_ENDPOINT_URL_S3", "http://192.0.2.1", 1);
    assert_refused(&scene, ours, "without TLS beyond loopback");
    setenv("AWS_ENDPOINT_URL_S3", scene.s3.endpoint, 1);
    assert_refused(&scene, nowhere, "not the one of this database");
    unsetenv("EPSILOND_BLOBS_KEY");
    assert_refused(&scene, ours, "needs the key that files are encrypted with");
    snprintf(file, sizeof file, "%s/key", scene.daemon.directory);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "%.63s1\n", key);
    fclose(out);
    const char *const by_file[] = {"--blobs", "s3://" S3_BUCKET "/eps",
                                   "--blobs-key-file", file, NULL};
    assert_int_equal(chmod(file, 0640), 0);
    assert_refused(&scene, by_file, "lets others read it");
    assert_int_equal(chmod(file, 0600), 0);
    assert_refused(&scene, by_file, "the key of the blobs is not the one");
    use_files_of_secrets(&scene, file);
    setenv("EPSILOND_BLOBS_KEY", key, 1);
    snprintf(other, sizeof other, "%s/other", scene.daemon.directory);
    snprintf(scene.daemon.data_dir, sizeof scene.daemon.data_dir, "%.79s", other);
    assert_refused(&scene, ours, "the bucket belongs to another database");
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_main_job_runs_on_a_bucket_that_fails_and_lies),
        cmocka_unit_test(rows_on_a_server_name_files_in_a_bucket),
        cmocka_unit_test(a_full_cache_ends_a_job_before_it_is_charged),
        cmocka_unit_test(a_publication_that_is_cut_short_leaves_garbage_that_goes),
        cmocka_unit_test(while_the_store_is_slow_others_write_and_cancel),
        cmocka_unit_test(a_stop_does_not_wait_for_the_store),
        cmocka_unit_test(estimates_of_weights_that_are_not_here_are_answered),
        cmocka_unit_test(what_is_not_ours_or_not_safe_is_refused),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    bool has_server = postgres_make(&server, true);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (has_server)
        postgres_remove(&server);
    return failed;
}
