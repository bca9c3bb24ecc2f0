/* Goal: a client that accepts gzip gets every long answer to a GET compressed; it
 * decompresses to the answer that other clients get, has an ETag of its own, and is
 * recognised by that ETag later. All other clients get the same answers as without
 * compression. */
#include <string.h>
#include <zlib.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROOM = 1 << 20, SMALL = 2048 };
static const char take_gzip[] = "Accept-Encoding: br;q=0.9, gzip";

static char job_path[80];

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 300, 1, SAMPLE_PUBLIC);
    assert_status(
        client_create(
            client, "/v1/jobs",
            "{'dataset':'points','evaluation':'points','model':{'preset':"
            "'linear'},'algorithm':{'name':'sgd'},'batch_size':10,'epochs':40}"),
        201);
    const char *id = reply_text(client_get(client, "/v1/jobs"), "jobs.0.id");
    snprintf(job_path, sizeof job_path, "/v1/jobs/%s", id);
    const struct reply *job = client_get(client, "%s?wait=60", job_path);
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    return 0;
}

/* Decompresses into to[0..ROOM) and returns the number of bytes. */
static size_t unpack(char *to, const struct reply *packed)
{
    enum { GZIP_ALONE = 16 + 15 };
    z_stream stream = {.next_in = (Bytef *)packed->body,
                       .avail_in = (uInt)packed->size,
                       .next_out = (Bytef *)to,
                       .avail_out = ROOM};
    assert_int_equal(inflateInit2(&stream, GZIP_ALONE), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    return stream.total_out;
}

static bool is_packed(const struct reply *reply)
{
    char value[256];
    return reply_header(reply, "content-encoding", value);
}

static void every_long_answer_is_packed_for_whoever_takes_it(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *const paths[] = {"/v1/algorithms", "/v1/job-schema?dataset=points",
                                 job_path,         "/v1/jobs",
                                 "/openapi.yaml",  "/ui/"};
    char value[256], *again = malloc(ROOM);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *plain = client_get(client, "%s", paths[i]);
        const struct reply *packed = client_get_with(client, paths[i], take_gzip);
        assert_status(packed, 200);
        if (is_packed(plain) || !is_packed(packed) || packed->size >= plain->size)
            fail_msg("%s: %zu bytes and %zu", paths[i], plain->size, packed->size);
        assert_true(reply_header(plain, "vary", value));
        assert_string_equal(value, "Accept-Encoding");
        assert_true(reply_header(packed, "vary", value));
        assert_int_equal(unpack(again, packed), plain->size);
        assert_memory_equal(again, plain->body, plain->size);
    }
    free(again);
}

static void whoever_does_not_want_it_does_not_get_it(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const refusals[] = {
        "Accept-Encoding: identity", "Accept-Encoding: gzip;q=0",
        "Accept-Encoding: br, deflate", "Accept-Encoding: gzip;q=0.3, identity"};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        assert_false(is_packed(client_get_with(client, "/v1/algorithms", refusals[i])));
        assert_false(is_packed(client_get_with(client, job_path, refusals[i])));
    }
}

static void small_answers_and_answers_to_posts_are_sent_as_they_are(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char value[256];
    static const char *const paths[] = {"/v1/version", "/v1/status", "/livez",
                                        "/v1/datasets/points/import", "/v1/nothing"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *reply = client_get_with(client, paths[i], take_gzip);
        assert_true(reply->size < SMALL);
        assert_false(is_packed(reply));
        assert_false(reply_header(reply, "vary", value));
    }
    static const char body[] =
        "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
        "\"algorithm\":{\"name\":\"sgd\"}}";
    const struct reply *posted = client_send(
        client,
        &(struct request){.method = "POST",
                          .path = "/v1/jobs:estimate",
                          .headers = {"Content-Type: application/json", take_gzip},
                          .body = body,
                          .size = sizeof body - 1});
    assert_status(posted, 200);
    assert_false(is_packed(posted));
}

static void a_packed_answer_has_a_tag_of_its_own_and_is_known_by_it(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *const paths[] = {"/v1/algorithms", "/v1/jobs", job_path};
    char plain_tag[256], packed_tag[256], told[256], known[300];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *packed = client_get_with(client, paths[i], take_gzip);
        assert_true(
            reply_header(client_get(client, "%s", paths[i]), "etag", plain_tag));
        assert_true(reply_header(packed, "etag", packed_tag));
        assert_string_not_equal(plain_tag, packed_tag);
        const char *const tags[] = {plain_tag, packed_tag};
        for (size_t t = 0; t < 2; t++) {
            snprintf(known, sizeof known, "If-None-Match: %s", tags[t]);
            const struct reply *same =
                client_send(client, &(struct request){.method = "GET",
                                                      .path = paths[i],
                                                      .headers = {known, take_gzip}});
            assert_status(same, 304);
            assert_int_equal(same->size, 0);
            assert_true(reply_header(same, "etag", told));
            assert_string_equal(told, tags[t]);
            assert_true(reply_header(same, "vary", told));
        }
    }
}

static void a_head_says_what_the_packed_answer_would(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *const paths[] = {"/v1/algorithms", job_path, "/openapi.yaml"};
    char got[256], said[256];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *packed = client_get_with(client, paths[i], take_gzip);
        const struct reply *head = client_send(
            client, &(struct request){
                        .method = "HEAD", .path = paths[i], .headers = {take_gzip}});
        assert_true(is_packed(head));
        assert_true(reply_header(packed, "content-length", got));
        assert_true(reply_header(head, "content-length", said));
        assert_string_equal(got, said);
    }
}

static void a_request_with_a_name_is_answered_packed_too(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char value[256], *again = malloc(ROOM);
    const struct reply *plain = client_get(client, "%s", job_path);
    const struct reply *packed = client_send(
        client, &(struct request){.method = "GET",
                                  .path = job_path,
                                  .headers = {"X-Request-Id: mine", take_gzip}});
    assert_true(is_packed(packed));
    assert_true(reply_header(packed, "x-request-id", value));
    assert_string_equal(value, "mine");
    assert_int_equal(unpack(again, packed), plain->size);
    assert_memory_equal(again, plain->body, plain->size);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_long_answer_is_packed_for_whoever_takes_it),
        cmocka_unit_test(whoever_does_not_want_it_does_not_get_it),
        cmocka_unit_test(small_answers_and_answers_to_posts_are_sent_as_they_are),
        cmocka_unit_test(a_packed_answer_has_a_tag_of_its_own_and_is_known_by_it),
        cmocka_unit_test(a_head_says_what_the_packed_answer_would),
        cmocka_unit_test(a_request_with_a_name_is_answered_packed_too),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
