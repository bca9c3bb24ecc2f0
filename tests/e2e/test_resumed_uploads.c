/* Goal: an upload in pieces continues where it stopped, however it was stopped, and
 * gives the file that a single request would have given; a piece that does not fit is
 * refused with the offset at which to continue, and unwanted uploads leave nothing on
 * the disk. */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    return stage_begin_with(
        state, (const char *const[]){"--upload-size-max", "1048576", NULL});
}

static const char *path_of(const char *id)
{
    static char path[128];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    return path;
}

struct piece {
    const char *id, *offset, *length; /* values of the headers; NULL: none */
    const char *bytes;
    size_t size;
    bool chunked;
};

static const struct reply *send_piece(struct client *client, const struct piece *piece)
{
    char offset[64], length[64];
    struct request request = {.method = "PUT",
                              .path = path_of(piece->id),
                              .body = piece->bytes,
                              .size = piece->size,
                              .chunked = piece->chunked};
    size_t count = 0;
    bool empty = piece->offset != NULL && piece->offset[0] == '\0';
    snprintf(offset, sizeof offset, empty ? "Upload-Offset;%s" : "Upload-Offset: %s",
             piece->offset); /* libcurl sends an empty field for ; */
    snprintf(length, sizeof length, "Upload-Length: %s", piece->length);
    if (piece->offset != NULL)
        request.headers[count++] = offset;
    if (piece->length != NULL)
        request.headers[count++] = length;
    return client_send(client, &request);
}

static const struct reply *send_at(struct client *client, const char *id, size_t offset,
                                   size_t size, const char *text)
{
    char from[24], length[24];
    snprintf(from, sizeof from, "%zu", offset);
    snprintf(length, sizeof length, "%zu", strlen(text));
    return send_piece(client, &(struct piece){.id = id,
                                              .offset = from,
                                              .length = length,
                                              .bytes = text + offset,
                                              .size = size});
}

static size_t offset_in(const struct reply *reply)
{
    char value[256];
    assert_true(reply_header(reply, "upload-offset", value));
    return strtoul(value, NULL, 10);
}

/* Returns the offset that HEAD reports; SIZE_MAX if the file is complete. */
static size_t there(struct client *client, const char *id)
{
    char value[256];
    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = path_of(id)});
    assert_status(head, 200);
    assert_int_equal(head->size, 0);
    assert_true(reply_header(head, "cache-control", value));
    assert_string_equal(value, "no-store");
    assert_true(reply_header(head, "upload-complete", value));
    if (strcmp(value, "?0") == 0)
        return offset_in(head);
    assert_string_equal(value, "?1");
    assert_false(reply_header(head, "upload-offset", value));
    return SIZE_MAX;
}

static size_t drafts(const struct daemon *daemon)
{
    char path[128];
    size_t count = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/scratch", daemon->data_dir);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void pieces_come_to_the_file_that_one_request_brings(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = sample_points(400, 1);
    size_t size = strlen(text);
    ready_points(client, "whole", 400, 1, SAMPLE_PUBLIC);
    assert_status(declare_points(client, "pieces", SAMPLE_PUBLIC), 201);
    assert_int_equal(there(client, "pieces"), 0);
    size_t step = size / 7 + 1;
    for (size_t at = 0; at < size; at += step) {
        size_t piece = at + step < size ? step : size - at;
        const struct reply *reply = send_at(client, "pieces", at, piece, text);
        bool last = at + piece == size;
        assert_status(reply, last ? 204 : 202);
        assert_int_equal(reply->size, 0);
        if (!last)
            assert_int_equal(offset_in(reply), at + piece);
        const struct reply *seen = client_get(client, "%s", path_of("pieces"));
        assert_status(seen, 200);
        assert_true(json_is_boolean(reply_at(seen, "complete")));
        assert_true(json_is_true(reply_at(seen, "complete")) == last);
        assert_true(json_is_null(reply_at(seen, "offset")) == last);
        if (!last)
            assert_true(reply_number(seen, "length") == (double)size);
        assert_int_equal(there(client, "pieces"), last ? SIZE_MAX : at + piece);
    }
    assert_int_equal(drafts(&stage->daemon), 0);
    assert_status(client_act(client, "/v1/datasets/pieces:import"), 200);
    assert_string_equal(reply_text(client_get(client, "/v1/datasets/pieces"), "sha256"),
                        reply_text(client_get(client, "/v1/datasets/whole"), "sha256"));
    assert_problem(client_get(client, "%s", path_of("pieces")), 409,
                   "dataset_immutable");
    assert_problem(send_at(client, "pieces", 0, 3, text), 409, "dataset_immutable");
    free(text);
}

/* Sends the head of a piece and the first `sent` bytes of its body. Returns the
 * socket. */
static int send_broken(const struct daemon *daemon, const char *id, size_t offset,
                       size_t sent, const char *text)
{
    char head[512];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    size_t size = strlen(text);
    int length =
        snprintf(head, sizeof head,
                 "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n"
                 "Upload-Offset: %zu\r\nUpload-Length: %zu\r\n\r\n",
                 path_of(id), size - offset, offset, size);
    assert_int_equal(send(fd, head, (size_t)length, MSG_NOSIGNAL), length);
    assert_int_equal(send(fd, text + offset, sent, MSG_NOSIGNAL), sent);
    return fd;
}

static void a_broken_connection_leaves_what_had_come(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = sample_points(400, 2);
    size_t size = strlen(text), at = 0;
    assert_status(declare_points(client, "broken", SAMPLE_PUBLIC), 201);
    for (int i = 0; i < 3; i++) {
        int fd = send_broken(&stage->daemon, "broken", at, 1000, text);
        while (there(client, "broken") != at + 1000)
            continue;
        at += 1000;
        assert_problem(send_at(client, "broken", at, size - at, text), 409,
                       "upload_busy");
        close(fd);
        const struct reply *busy;
        do /* until the daemon has noticed the disconnection */
            busy = send_at(client, "broken", at + 1, 1, text);
        while (strcmp(reply_text(busy, "code"), "upload_busy") == 0);
        assert_problem(busy, 409, "upload_offset");
        assert_int_equal(offset_in(busy), at);
    }
    assert_status(send_at(client, "broken", at, size - at, text), 204);
    const struct reply *imported = client_act(client, "/v1/datasets/broken:import");
    assert_status(imported, 200);
    assert_true(reply_number(imported, "records") == 400);
    free(text);
}

static void what_does_not_fit_is_refused_with_the_right_place(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(declare_points(client, "fit", SAMPLE_PUBLIC), 201);
    static const struct {
        struct piece piece;
        long status;
        const char *code;
        size_t there;
    } cases[] = {
        {{"fit", "3", "9", "abc", 3, false}, 409, "upload_offset", 0},
        {{"fit", "0", "9", "abcde", 5, false}, 202, NULL, 5},
        {{"fit", "4", "9", "e", 1, false}, 409, "upload_offset", 5},
        {{"fit", "6", "9", "g", 1, true}, 409, "upload_offset", 5},
        {{"fit", "9", "9", "", 0, false}, 409, "upload_offset", 5},
        {{"fit", "5", "8", "fgh", 3, false}, 409, "upload_length", 5},
        {{"fit", "5", "9", "fghij", 5, false}, 400, "invalid_argument", 5},
        {{"fit", "5", "9", "fghij", 5, true}, 400, "invalid_argument", 5},
        {{"fit", "10", "9", "", 0, false}, 400, "invalid_argument", 5},
        {{"fit", "5", NULL, "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", NULL, "9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", NULL, "4", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", NULL, "four", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "", "9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "-5", "9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "5.0", "9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "0x5", "9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "5", "9 9", "fghi", 4, false}, 400, "invalid_argument", 5},
        {{"fit", "5", "9007199254740992", "f", 1, false}, 400, "invalid_argument", 5},
        {{"fit", "5", "18446744073709551625", "f", 1, false},
         400,
         "invalid_argument",
         5},
        {{"fit", "5", "1048577", "f", 1, false}, 413, "body_too_large", 5},
        {{"fit", "5", "1048576", "f", 1, false}, 409, "upload_length", 5},
        {{"fit", "5", "9", "", 0, false}, 202, NULL, 5},
        {{"fit", "5", "9", "fgh", 3, true}, 202, NULL, 8},
        {{"fit", "0", "2", "x", 1, false}, 202, NULL, 1},
        {{"fit", "1", "2", "y", 1, true}, 204, NULL, SIZE_MAX},
        {{"fit", "2", "2", "", 0, false}, 409, "upload_offset", SIZE_MAX},
        {{"fit", "0", "0", "", 0, false}, 204, NULL, SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply = send_piece(client, &cases[i].piece);
        if (cases[i].code != NULL)
            assert_problem(reply, cases[i].status, cases[i].code);
        else
            assert_status(reply, cases[i].status);
        bool says = cases[i].status == 202 ||
                    (cases[i].status == 409 && cases[i].there != SIZE_MAX);
        if (says)
            assert_int_equal(offset_in(reply), cases[i].there);
        if (there(client, "fit") != cases[i].there)
            fail_msg("case %zu: %zu are there", i, there(client, "fit"));
    }
    assert_problem(client_get(client, "%s", path_of("nowhere")), 404, "not_found");
    assert_problem(client_get(client, "/v1/datasets/fit/files/features"), 404,
                   "not_found");
    assert_problem(
        send_piece(client, &(struct piece){"nowhere", "0", "9", "a", 1, false}), 404,
        "not_found");
}

static void
a_file_that_came_whole_but_for_its_answer_is_finished_by_nothing(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = sample_points(300, 3);
    size_t size = strlen(text);
    assert_status(declare_points(client, "last", SAMPLE_PUBLIC), 201);
    /* A chunked body without its end: all bytes have arrived, but the request is
     * incomplete. */
    assert_status(send_at(client, "last", 0, size - 1, text), 202);
    char head[512];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)stage->daemon.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int length = snprintf(head, sizeof head,
                          "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                          "Transfer-Encoding: chunked\r\nUpload-Offset: %zu\r\n"
                          "Upload-Length: %zu\r\n\r\n1\r\n%c\r\n",
                          path_of("last"), size - 1, size, text[size - 1]);
    assert_int_equal(send(fd, head, (size_t)length, MSG_NOSIGNAL), length);
    while (there(client, "last") != size)
        continue;
    close(fd);
    const struct reply *reply;
    do
        reply = send_at(client, "last", size, 0, text);
    while (reply->status == 409 &&
           strcmp(reply_text(reply, "code"), "upload_busy") == 0);
    assert_status(reply, 204);
    const struct reply *imported = client_act(client, "/v1/datasets/last:import");
    assert_true(reply_number(imported, "records") == 300);
    free(text);
}

static void a_piece_is_no_file_until_it_is_whole(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char *text = sample_points(300, 4);
    assert_status(declare_points(client, "part", SAMPLE_PUBLIC), 201);
    assert_status(send_at(client, "part", 0, 1000, text), 202);
    const struct reply *refused = client_act(client, "/v1/datasets/part:import");
    assert_problem(refused, 422, "import_failed");
    assert_string_equal(reply_text(refused, "reason"), "not uploaded");
    /* Part of another file does not affect the file that is there. */
    assert_status(client_put(client, path_of("part"), text, strlen(text)), 204);
    assert_status(send_at(client, "part", 0, 1000, text), 202);
    assert_status(client_act(client, "/v1/datasets/part:import"), 200);
    free(text);
}

static void what_is_not_wanted_any_more_leaves_the_disk(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = sample_points(300, 5);
    size_t before = drafts(&stage->daemon);
    assert_status(declare_points(client, "replaced", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "imported", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "deleted", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "reshaped", SAMPLE_PUBLIC), 201);
    assert_status(client_put(client, path_of("imported"), text, strlen(text)), 204);
    static const char *const ids[] = {"replaced", "imported", "deleted", "reshaped"};
    for (size_t i = 0; i < 4; i++)
        assert_status(send_at(client, ids[i], 0, 1000, text), 202);
    assert_int_equal(drafts(&stage->daemon), before + 4);

    assert_status(client_put(client, path_of("replaced"), "x", 1), 204);
    assert_int_equal(drafts(&stage->daemon), before + 3);
    assert_status(client_act(client, "/v1/datasets/imported:import"), 200);
    assert_status(client_delete(client, "/v1/datasets/deleted"), 204);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'reshaped','format':'idx','task':'classification',"
                      "'classes':2,'features':{'shape':[2],'scale':1},"
                      "'privacy':'public'}"),
        201);
    while (drafts(&stage->daemon) != before)
        continue;

    /* An upload in progress is removed when its connection ends. */
    assert_status(declare_points(client, "open", SAMPLE_PUBLIC), 201);
    int fd = send_broken(&stage->daemon, "open", 0, 1000, text);
    while (there(client, "open") != 1000)
        continue;
    assert_int_equal(drafts(&stage->daemon), before + 1);
    assert_status(client_delete(client, "/v1/datasets/open"), 204);
    close(fd);
    while (drafts(&stage->daemon) != before)
        continue;
    free(text);
}

static void a_restart_begins_anew(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text = sample_points(300, 6);
    assert_status(declare_points(client, "again", SAMPLE_PUBLIC), 201);
    for (int i = 0; i < 2; i++) {
        int signal = i == 0 ? SIGKILL : SIGTERM;
        assert_status(send_at(client, "again", 0, 1000, text), 202);
        assert_int_equal(daemon_stop(&stage->daemon, signal),
                         signal == SIGKILL ? 128 + SIGKILL : 0);
        if (signal == SIGTERM)
            assert_int_equal(drafts(&stage->daemon), 0);
        daemon_start(&stage->daemon, NULL);
        assert_int_equal(drafts(&stage->daemon), 0);
        assert_int_equal(there(client, "again"), 0);
        const struct reply *reply = send_at(client, "again", 1000, 10, text);
        assert_problem(reply, 409, "upload_offset");
        assert_int_equal(offset_in(reply), 0);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_to_the_file_that_one_request_brings),
        cmocka_unit_test(a_broken_connection_leaves_what_had_come),
        cmocka_unit_test(what_does_not_fit_is_refused_with_the_right_place),
        cmocka_unit_test(
            a_file_that_came_whole_but_for_its_answer_is_finished_by_nothing),
        cmocka_unit_test(a_piece_is_no_file_until_it_is_whole),
        cmocka_unit_test(what_is_not_wanted_any_more_leaves_the_disk),
        cmocka_unit_test(a_restart_begins_anew),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
