/* Goal: a header field that changes what a body means, or that sets a condition, is
 * honoured or refused on every route; nothing is stored, changed or deleted that its
 * sender did not mean. Method: each request that changes something with each field that
 * must stop it, and what is there before and after; each thing that is read under each
 * condition; and then the same fields in their valid form. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define JSON  "Content-Type: application/json"
#define PATCH "Content-Type: application/merge-patch+json"

/* A file of two lines, its lines, and their digests. */
#define FIRST        ".1,.2,no\n"
#define REST         ".3,.4,yes\n"
#define FIRST_DIGEST "sha-256=:cYMhQl9kU40SP9g3nXK+7Kle6bY1iOBcM4Z5InBCSnM=:"
#define REST_DIGEST  "sha-256=:ILoH7gPozbw7cjJfABYWbZVQxopQ8VWjnKDht1krkAw=:"
#define FILE_DIGEST  "sha-256=:NSy8nQ2CVXoYpase73/Ro99KAgxUB4t1cLiQ7Owu8Tc=:"
#define FILE_DIGEST_2                                                                  \
    "sha-512=:+h9axaj4dWXMjfUPJ3me1e3NOc6ESm/gLfZH1GGvnHZjL1f19j7DZOWwylnIlUIXKQ2a"    \
    "TmYMA6pCvl5ujm2U7w==:"
#define EMPTY_DIGEST "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
#define NAME         "{\"display_name\":\"x\"}"
#define NAME_DIGEST  "sha-256=:coViLEaTanxlVeu+PAXMeGHY5bufRiLJeu/Huqz2iMg=:"

static char job[64], model[64]; /* an ended job and its model */

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    assert_status(declare_points(client, "plain", SAMPLE_PUBLIC), 201);
    snprintf(job, sizeof job, "%s", submit(client, SAMPLE_JOB, "points", 2, 100.0));
    snprintf(model, sizeof model, "%s", reply_text(await_end(client, job), "model"));
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

/* %J and %M in a path are replaced by the job and the model. */
static const char *fill(const char *path)
{
    static char filled[256];
    const char *mark = strchr(path, '%');
    if (mark == NULL)
        return path;
    snprintf(filled, sizeof filled, "%.*s%s%s", (int)(mark - path), path,
             mark[1] == 'J' ? job : model, mark + 2);
    return filled;
}

static const struct reply *send_with(struct client *client, const char *method,
                                     const char *path, const char *type,
                                     const char *body, const char *field)
{
    struct request request = {.method = method, .path = fill(path), .body = body};
    size_t count = 0;
    request.size = body != NULL ? strlen(body) : 0;
    if (type != NULL)
        request.headers[count++] = type;
    if (field != NULL)
        request.headers[count++] = field;
    request.headers[count] = "Idempotency-Key: header-fields";
    return client_send(client, &request);
}

struct change {
    const char *method, *path, *type, *body;
};

static const struct change changes[] = {
    {"POST", "/v1/datasets", JSON, "{}"},
    {"POST", "/v1/datasets:check", JSON, "{}"},
    {"PUT", "/v1/datasets/plain", JSON, "{}"},
    {"PATCH", "/v1/datasets/plain", PATCH, NAME},
    {"DELETE", "/v1/datasets/plain", NULL, NULL},
    {"POST", "/v1/datasets/plain:import", NULL, NULL},
    {"POST", "/v1/datasets/points:regrant", JSON, "{}"},
    {"PUT", "/v1/datasets/plain/files/data", NULL, FIRST REST},
    {"POST", "/v1/datasets/plain/files/data:fetch", JSON, "{}"},
    {"POST", "/v1/files", NULL, FIRST},
    {"POST", "/v1/jobs", JSON, "{}"},
    {"POST", "/v1/jobs:estimate", JSON, "{}"},
    {"PATCH", "/v1/jobs/%J", PATCH, NAME},
    {"POST", "/v1/jobs/%J:cancel", NULL, NULL},
    {"PATCH", "/v1/models/%M", PATCH, NAME},
    {"DELETE", "/v1/models/%M", NULL, NULL},
    {"POST", "/v1/models/%M/predict", JSON, "{\"inputs\":[[0,0]]}"},
    {"POST", "/v1/models/%M:evaluate", JSON, "{}"},
    {"POST", "/v1/statistics", JSON, "{}"},
    {"POST", "/v1/sweeps", JSON, "{}"},
    {"POST", "/v1/charges", JSON, "{}"},
    {"POST", "/v1/webhooks", JSON, "{}"},
    {"POST", "/v1/keys", JSON, "{\"owner\":\"eve\",\"role\":\"analyst\"}"},
};

static const struct {
    const char *field;
    long status;
    const char *says;
} stops[] = {
    {"Content-Range: bytes 9-18/19", 400, "Upload-Offset"},
    {"Range: bytes=9-18", 400, "Upload-Offset"},
    {"Upload-Complete: ?0", 400, "Upload-Offset"},
    {"Upload-Incomplete: ?1", 400, "Upload-Offset"},
    {"Content-Encoding: gzip", 415, "Content-Encoding"},
    {"Content-Encoding: br", 415, "Content-Encoding"},
    {"Content-Encoding: identity, gzip", 415, "Content-Encoding"},
    {"Content-Digest: " REST_DIGEST, 400, "Content-Digest"},
    {"Repr-Digest: " REST_DIGEST, 400, "Repr-Digest"},
    {"Content-Digest: " FILE_DIGEST_2 ", " REST_DIGEST, 400, "Content-Digest"},
    {"Content-Digest: sha-256=:AAAA:", 400, "Content-Digest"},
    {"Content-Digest: SHA-256=AAAA", 400, "Content-Digest"},
    {"Content-Digest: sha-256", 400, "Content-Digest"},
    {"Digest: SHA-256=AAAA", 400, "Content-Digest"},
    {"Content-MD5: AAAA", 400, "Content-Digest"},
    {"Expect: a-reply", 417, "100-continue"},
    {"X-HTTP-Method-Override: GET", 400, "method"},
    {"X-Http-Method: GET", 400, "method"},
    {"X-Method-Override: GET", 400, "method"},
    {"If-Match: \"another\"", 412, "precondition_failed"},
    {"If-None-Match: *", 412, "precondition_failed"},
    {"If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT", 412, "precondition_failed"},
    {"If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", 412, "precondition_failed"},
    {"If-Schedule-Tag-Match: \"a\"", 412, "precondition_failed"},
    {"If: <urn:x> ([\"a\"])", 412, "precondition_failed"},
};

/* Reads everything that the changes above could change. */
static void look(struct client *client, char *seen, size_t size)
{
    static const char *const paths[] = {
        "/v1/datasets",   "/v1/datasets/plain", "/v1/datasets/plain/files/data",
        "/v1/jobs",       "/v1/models",         "/v1/files",
        "/v1/statistics", "/v1/sweeps",         "/v1/charges",
        "/v1/webhooks",   "/v1/ledger/head",    "/v1/evaluations"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct reply *reply = client_get(client, "%s", paths[i]);
        assert_status(reply, 200);
        assert_true(used + reply->size < size);
        memcpy(seen + used, reply->body, reply->size + 1);
        used += reply->size;
    }
}

/* If both a header and the body are at fault, the refusal is about the header, unless
 * the header is a condition: a condition applies to a request that would succeed. */
static void what_must_stop_a_request_stops_it_on_every_route(void **state)
{
    enum { SIZE = 1 << 18 };
    struct client *client = client_of(state);
    char *before = malloc(SIZE), *after = malloc(SIZE);
    assert_true(before != NULL && after != NULL);
    look(client, before, SIZE);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (size_t j = 0; j < sizeof stops / sizeof *stops; j++) {
            const struct change *change = &changes[i];
            const struct reply *reply =
                send_with(client, change->method, change->path, change->type,
                          change->body, stops[j].field);
            if (reply->status != stops[j].status ||
                strstr(reply->body, stops[j].says) == NULL)
                fail_msg("%s %s with %s: %ld %s", change->method, change->path,
                         stops[j].field, reply->status, reply->body);
        }
    look(client, after, SIZE);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static void what_is_read_is_read_under_its_conditions(void **state)
{
    struct client *client = client_of(state);
    static const char *const paths[] = {"/v1/datasets",
                                        "/v1/datasets/points",
                                        "/v1/datasets/plain/files/data",
                                        "/v1/datasets/points/budget",
                                        "/v1/datasets/points/import",
                                        "/v1/datasets/points/ledger",
                                        "/v1/ledger/head",
                                        "/v1/jobs",
                                        "/v1/jobs/%J",
                                        "/v1/jobs/%J/logs",
                                        "/v1/jobs/%J/events",
                                        "/v1/models",
                                        "/v1/models/%M",
                                        "/v1/models/%M/content",
                                        "/v1/job-schema?dataset=points",
                                        "/v1/algorithms",
                                        "/v1/status",
                                        "/v1/audit",
                                        "/v1/keys",
                                        "/v1/webhooks",
                                        "/docs",
                                        "/ui/",
                                        "/openapi.yaml",
                                        "/v1/version",
                                        "/livez",
                                        "/metrics"};
    static const struct {
        const char *field;
        long status;
    } cases[] = {
        {"If-Match: *", 200},
        {"If-Match: \"another\"", 412},
        {"If-None-Match: \"another\"", 200},
        {"If-None-Match: *", 304},
        {"If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT", 412},
        {"If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", 200},
        {"If-Range: \"another\"", 200},
        {"X-HTTP-Method-Override: DELETE", 400},
        {"Content-Digest: " EMPTY_DIGEST, 200},
        {"Content-Digest: " REST_DIGEST, 400},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            const struct reply *reply =
                client_get_with(client, fill(paths[i]), cases[j].field);
            if (reply->status != cases[j].status)
                fail_msg("GET %s with %s: %ld %s", paths[i], cases[j].field,
                         reply->status, reply->body);
            if (reply->status == 304)
                assert_int_equal(reply->size, 0);
        }
}

static void tag_of(struct client *client, const char *path, char field[300])
{
    char tag[256];
    assert_true(reply_header(client_get(client, "%s", path), "etag", tag));
    snprintf(field, 300, "If-Match: %s", tag);
}

/* Each kind of thing, with the ETag of its current and of an earlier version. */
static void a_thing_is_changed_in_the_version_that_was_meant(void **state)
{
    struct client *client = client_of(state);
    char old[300], tag[300], weak[320], path[128];
    assert_status(declare_points(client, "versions", SAMPLE_PUBLIC), 201);
    tag_of(client, "/v1/datasets/versions", old);
    assert_status(
        client_patch(client, "/v1/datasets/versions", "*", "{'display_name':'new'}"),
        200);
    tag_of(client, "/v1/datasets/versions", tag);
    snprintf(weak, sizeof weak, "If-Match: W/%s", tag + strlen("If-Match: "));
    assert_problem(
        send_with(client, "DELETE", "/v1/datasets/versions", NULL, NULL, old), 412,
        "precondition_failed");
    assert_problem(
        send_with(client, "DELETE", "/v1/datasets/versions", NULL, NULL, weak), 412,
        "precondition_failed");
    assert_status(send_with(client, "DELETE", "/v1/datasets/versions", NULL, NULL, tag),
                  204);
    const char *other = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    snprintf(path, sizeof path, "/v1/jobs/%s:cancel", other);
    assert_problem(send_with(client, "POST", path, NULL, NULL, "If-Match: \"a\""), 412,
                   "precondition_failed");
    assert_status(send_with(client, "POST", path, NULL, NULL, "If-Match: *"), 200);
    await_end(client, other);
    snprintf(path, sizeof path, "/v1/jobs/%s", other);
    tag_of(client, path, tag);
    assert_status(send_with(client, "DELETE", path, NULL, NULL, tag), 204);
    assert_problem(send_with(client, "DELETE", path, NULL, NULL, tag), 404,
                   "not_found");
    snprintf(path, sizeof path, "/v1/models/%s", model);
    tag_of(client, path, tag);
    assert_problem(send_with(client, "PATCH", path, PATCH, NAME, "If-None-Match: *"),
                   412, "precondition_failed");
    assert_status(send_with(client, "PATCH", path, PATCH, NAME, tag), 200);
    assert_problem(send_with(client, "DELETE", path, NULL, NULL, tag), 412,
                   "precondition_failed");
}

static void what_is_not_there_is_not_found_whatever_its_conditions(void **state)
{
    struct client *client = client_of(state);
    static const char *const fields[] = {"If-Match: *", "If-Match: \"a\"",
                                         "If-None-Match: *"};
    static const struct change absent[] = {
        {"PUT", "/v1/datasets/nowhere", JSON, "{}"},
        {"PATCH", "/v1/datasets/nowhere", PATCH, NAME},
        {"DELETE", "/v1/datasets/nowhere", NULL, NULL},
        {"POST", "/v1/datasets/nowhere:import", NULL, NULL},
        {"DELETE", "/v1/models/mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV", NULL, NULL},
        {"POST", "/v1/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV:cancel", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        for (size_t j = 0; j < sizeof fields / sizeof *fields; j++)
            assert_problem(send_with(client, absent[i].method, absent[i].path,
                                     absent[i].type, absent[i].body, fields[j]),
                           404, "not_found");
}

/* Lines of one field are one list (RFC 9110, 5.3). */
static void a_list_may_stand_in_two_lines(void **state)
{
    struct client *client = client_of(state);
    char match[300], none[320];
    tag_of(client, "/v1/datasets/points", match);
    snprintf(none, sizeof none, "If-None-Match: %s", match + strlen("If-Match: "));
    const struct {
        const char *first, *second;
        long status;
    } cases[] = {
        {"If-Match: \"a\"", match, 200},
        {match, "If-Match: \"a\"", 200},
        {"If-Match: \"a\"", "If-Match: \"b\"", 412},
        {"If-None-Match: \"a\"", none, 304},
        {none, "If-None-Match: \"a\"", 304},
        {"Accept: text/html", "Accept: application/json", 200},
        {"Accept: text/html", "Accept: text/css", 406},
        {"Content-Digest: md5=:AAAA:", "Content-Digest: " EMPTY_DIGEST, 200},
        {"Content-Digest: md5=:AAAA:", "Content-Digest: " REST_DIGEST, 400},
        {"Content-Encoding: identity", "Content-Encoding: gzip", 415},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply = client_send(
            client, &(struct request){.method = "GET",
                                      .path = "/v1/datasets/points",
                                      .headers = {cases[i].first, cases[i].second}});
        if (reply->status != cases[i].status)
            fail_msg("%s and %s: %ld", cases[i].first, cases[i].second, reply->status);
    }
}

static void a_body_with_its_digest_is_taken(void **state)
{
    struct client *client = client_of(state);
    static const char *const right[] = {
        "Content-Digest: " FILE_DIGEST,
        "Content-Digest: " FILE_DIGEST_2,
        "Content-Digest: " FILE_DIGEST_2 " ,\t" FILE_DIGEST,
        "Content-Digest: " FILE_DIGEST ";a=b",
        "Content-Digest: other=\"a,sha-256=:b:\", " FILE_DIGEST,
        "Content-Digest: md5=:AAAA:",
        "Repr-Digest: " FILE_DIGEST,
        "Content-Encoding: Identity",
        "Upload-Complete: ?1",
        "Prefer: return=minimal",
        "Content-Type: application/x-www-form-urlencoded"};
    const char *path = "/v1/datasets/plain/files/data";
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const struct reply *reply =
            send_with(client, "PUT", path, NULL, FIRST REST, right[i]);
        if (reply->status != 204)
            fail_msg("%s: %ld %s", right[i], reply->status, reply->body);
    }
    const struct reply *renamed = client_send(
        client, &(struct request){
                    .method = "PATCH",
                    .path = "/v1/datasets/plain",
                    .headers = {PATCH, "If-Match: *", "Content-Digest: " NAME_DIGEST},
                    .body = NAME,
                    .size = strlen(NAME)});
    assert_status(renamed, 200);
}

static void a_body_in_another_form_is_refused(void **state)
{
    struct client *client = client_of(state);
    static const char *const json[] = {
        "Content-Type: application/json; charset=iso-8859-1",
        "Content-Type: application/json;a=b; Charset=\"utf-16\""};
    static const char *const file[] = {"Content-Type: multipart/form-data; boundary=x",
                                       "Content-Type: Multipart/byteranges; boundary=x",
                                       "Content-Type: message/http"};
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        assert_problem(
            send_with(client, "POST", "/v1/jobs:estimate", json[i], "{}", NULL), 415,
            "unsupported_media_type");
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const struct reply *refused = send_with(
            client, "PUT", "/v1/datasets/plain/files/data", file[i], FIRST, NULL);
        assert_problem(refused, 415, "unsupported_media_type");
        assert_non_null(strstr(reply_text(refused, "detail"), "curl -T FILE"));
    }
    assert_problem(
        send_with(client, "POST", "/v1/jobs:estimate", JSON, "{}", "Upload-Offset: 0"),
        400, "invalid_argument");
}

/* --- pieces --- */

static size_t offset_of(struct client *client, const char *path)
{
    char value[256];
    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = path});
    return reply_header(head, "upload-offset", value) ? strtoul(value, NULL, 10)
                                                      : SIZE_MAX;
}

static const struct reply *send_piece(struct client *client, const char *path,
                                      const char *offset, const char *text,
                                      const char *digest)
{
    return client_send(
        client, &(struct request){.method = "PUT",
                                  .path = path,
                                  .headers = {offset, "Upload-Length: 19", digest},
                                  .body = text,
                                  .size = strlen(text)});
}

/* The client disconnects in the middle of a piece. */
static void break_off(const struct daemon *daemon, const char *path, const char *digest)
{
    char head[512];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int size = snprintf(head, sizeof head,
                        "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpload-Offset: 9\r\n"
                        "Upload-Length: 19\r\n%s\r\nContent-Length: 10\r\n\r\n.3,",
                        path, digest);
    assert_int_equal(send(fd, head, (size_t)size, MSG_NOSIGNAL), size);
    close(fd);
}

static void of_a_piece_with_a_digest_nothing_is_kept_unchecked(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const char *path = "/v1/datasets/checked/files/data", *at = "Upload-Offset: 9";
    assert_status(declare_points(client, "checked", SAMPLE_PUBLIC), 201);
    assert_problem(send_piece(client, path, "Upload-Offset: 0", FIRST,
                              "Content-Digest: " REST_DIGEST),
                   400, "invalid_argument");
    assert_int_equal(offset_of(client, path), 0);
    assert_status(send_piece(client, path, "Upload-Offset: 0", FIRST,
                             "Content-Digest: " FIRST_DIGEST),
                  202);
    assert_int_equal(offset_of(client, path), 9);
    assert_problem(send_piece(client, path, at, REST, "Content-Digest: " FIRST_DIGEST),
                   400, "invalid_argument");
    assert_int_equal(offset_of(client, path), 9);
    assert_problem(send_piece(client, path, at, REST, "Repr-Digest: " FILE_DIGEST), 400,
                   "invalid_argument");
    break_off(&stage->daemon, path, "Content-Digest: " REST_DIGEST);
    const struct reply *reply;
    do
        reply = send_piece(client, path, at, REST, "Content-Digest: " REST_DIGEST);
    while (reply->status == 409 &&
           strcmp(reply_text(reply, "code"), "upload_busy") == 0);
    assert_status(reply, 204);
    /* Without a digest, the bytes received before the cut are kept. */
    assert_status(send_piece(client, path, "Upload-Offset: 0", FIRST, NULL), 202);
    break_off(&stage->daemon, path, "X: y");
    while (offset_of(client, path) != 12)
        continue;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_must_stop_a_request_stops_it_on_every_route),
        cmocka_unit_test(what_is_read_is_read_under_its_conditions),
        cmocka_unit_test(a_list_may_stand_in_two_lines),
        cmocka_unit_test(a_body_with_its_digest_is_taken),
        cmocka_unit_test(a_body_in_another_form_is_refused),
        cmocka_unit_test(of_a_piece_with_a_digest_nothing_is_kept_unchecked),
        cmocka_unit_test(what_is_not_there_is_not_found_whatever_its_conditions),
        cmocka_unit_test(a_thing_is_changed_in_the_version_that_was_meant),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
