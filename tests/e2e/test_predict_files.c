/* Goal: a csv file of any length becomes the predictions that `predict` gives for its
 * rows, in the same order and the dataset's dialect, in bounded memory; or one problem
 * that names the lines that are wrong. A file whose sender leaves makes room for
 * another. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/identity_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { FILES_MAX = 32 }; /* predict_files of x-limits */

/* Rows of a long file. A sanitizer proves nothing of memory, and takes a minute for a
 * million rows. */
static size_t long_rows(void)
{
    return daemon_sanitizer() == SANITIZER_NONE ? 1000000 : 100000;
}

struct scene {
    struct stage *stage;
    struct client *client;
    char path[128], predict[128]; /* of the model of people */
};

/* A table with semicolons, commas in numbers, gaps, words that are not declared, and a
 * label whose text has a semicolon. */
static void train_people(struct client *client, char path[128], char predict[128])
{
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'people','format':'csv','task':'classification',"
                      "'header':true,'delimiter':';','decimal':',','missing':['NA'],"
                      "'columns':[{'name':'age','kind':'numeric','range':[0,100]},"
                      "{'name':'work','kind':'categorical','values':['cook','clerk'],"
                      "'other':true,'default':'cook'},"
                      "{'name':'note','kind':'ignored'},"
                      "{'name':'ill','kind':'label','values':['no; not','yes']}],"
                      "'privacy':'public'}"),
        201);
    static const char rows[] =
        "age;work;note;ill\n1,5;cook;a;yes\n2;clerk;b;\"no; not\"\n"
        "70;baker;c;\"no; not\"\n80,25;NA;d;yes\n";
    assert_status(
        client_put(client, "/v1/datasets/people/files/data", rows, strlen(rows)), 204);
    assert_status(client_act(client, "/v1/datasets/people:import"), 200);
    const struct reply *job =
        train(client, "{'dataset':'people','model':{'preset':'linear'},"
                      "'algorithm':{'name':'sgd'},'batch_size':4,'steps':20}");
    snprintf(path, 128, "/v1/models/%s:predict-file", reply_text(job, "model"));
    snprintf(predict, 128, "/v1/models/%s/predict", reply_text(job, "model"));
}

static int begin_with(void **state, const char *const *options)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    void *stage = NULL;
    assert_int_equal(stage_begin_with(&stage, options), 0);
    scene->stage = stage;
    scene->client = &scene->stage->client;
    train_people(scene->client, scene->path, scene->predict);
    *state = scene;
    return 0;
}

static int begin(void **state)
{
    return begin_with(state, (const char *const[]){NULL});
}

/* Files may have a megabyte. */
static int begin_small(void **state)
{
    return begin_with(state,
                      (const char *const[]){"--upload-size-max", "1000000", NULL});
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    free(scene);
    return stage_end(&stage);
}

static const struct reply *send_as(struct scene *scene, const char *text, size_t size,
                                   const char *type, bool chunked)
{
    const struct request request = {.method = "POST",
                                    .path = scene->path,
                                    .headers = {type},
                                    .body = text,
                                    .size = size,
                                    .chunked = chunked};
    return client_send(scene->client, &request);
}

static const struct reply *send_text(struct scene *scene, const char *text)
{
    return send_as(scene, text, strlen(text), "Content-Type: text/csv", false);
}

/* Reads a number with a decimal comma that ends at `end`. */
static double number_at(const char *text, char end)
{
    char copy[64];
    const char *stop = strchr(text, end);
    assert_non_null(stop);
    assert_true((size_t)(stop - text) < sizeof copy);
    snprintf(copy, sizeof copy, "%.*s", (int)(stop - text), text);
    for (char *at = copy; *at != '\0'; at++) {
        assert_true(*at != '.');
        if (*at == ',')
            *at = '.';
    }
    return strtod(copy, NULL);
}

/* The two probabilities of a row, and its class, are those of `predict`. */
static void assert_same(const char *line, const struct reply *predicted, size_t row)
{
    char path[64];
    snprintf(path, sizeof path, "outputs.%zu.class", row);
    const char *class = reply_text(predicted, path);
    bool yes = strcmp(class, "yes") == 0;
    const char *shown = yes ? "yes;" : "\"no; not\";";
    assert_memory_equal(line, shown, strlen(shown));
    const char *first = line + strlen(shown), *second = strchr(first, ';') + 1;
    snprintf(path, sizeof path, "outputs.%zu.probabilities.0", row);
    assert_true(number_at(first, ';') == reply_number(predicted, path));
    snprintf(path, sizeof path, "outputs.%zu.probabilities.1", row);
    assert_true(number_at(second, '\n') == reply_number(predicted, path));
}

/* Bodies that hold the same four rows. */
static void a_file_has_the_predictions_of_its_rows(void **state)
{
    struct scene *scene = *state;
    static const char *const texts[] = {
        "age;work\n1,5;cook\n70;baker\n3;NA\n80,25;clerk\n",
        "work;age\r\ncook;1,5\r\nbaker;70\r\n;3\r\nclerk;80,25",
        "ill;note;work;age\n;a;cook;1,5\nperhaps;b;\"baker\";70\n\n;c;NA;3\nyes;;clerk;"
        "\"80,25\"\n",
    };
    static const char head[] = "class;\"probability_no; not\";probability_yes\n";
    const struct reply *predicted = client_post(
        scene->client, scene->predict, NULL,
        "{'inputs':[[1.5,'cook'],[70,'baker'],[3,null],{'age':80.25,'work':'clerk'}]}");
    assert_status(predicted, 200);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char type[256];
        const struct reply *reply = send_as(scene, texts[i], strlen(texts[i]),
                                            "Content-Type: text/csv", i == 1);
        assert_status(reply, 200);
        assert_true(reply_header(reply, "content-type", type));
        assert_string_equal(type, "text/csv; charset=utf-8");
        assert_memory_equal(reply->body, head, strlen(head));
        const char *line = reply->body + strlen(head);
        for (size_t row = 0; row < 4; row++, line = strchr(line, '\n') + 1)
            assert_same(line, predicted, row);
        assert_string_equal(line, "");
    }
}

static void what_is_wrong_is_named_by_line_and_column(void **state)
{
    struct scene *scene = *state;
    static const struct {
        const char *text, *type;
        long status;
        const char *code;
        int line, column, last_line, faults;
    } rows[] = {
        {"", "text/csv", 400, "invalid_argument", 0, 0, 0, 1},
        {"age;work\n", "text/csv", 400, "invalid_argument", 0, 0, 0, 1},
        {"age;work\n1;cook\nold;cook\n2;cook\n;cook\n", "text/csv", 400,
         "invalid_argument", 3, 1, 5, 2},
        {"work;age\ncook;1\ncook;NA\n", "text/csv", 400, "invalid_argument", 3, 2, 3,
         1},
        {"work;age\ncook;1.5\ncook\n", "text/csv", 400, "invalid_argument", 2, 2, 3, 2},
        {"work;age\n\"cook;1\ncook;2\n", "text/csv", 400, "invalid_argument", 2, 1, 2,
         1},
        {"work;note\ncook;1\n", "text/csv", 400, "invalid_argument", 1, 0, 1, 1},
        {"work;age;weight\ncook;1;2\n", "text/csv", 400, "invalid_argument", 1, 3, 1,
         1},
        {"1;cook\n2;cook\n", "text/csv", 400, "invalid_argument", 1, 0, 1, 1},
        {"PAR1\x15\x04", "text/csv", 400, "invalid_argument", 0, 0, 0, 1},
        {"age;work\n1;cook\n", "multipart/form-data; boundary=x", 415,
         "unsupported_media_type", 0, 0, 0, 0},
        {"age;work\n1;cook\n", "text/csv; charset=latin1", 415,
         "unsupported_media_type", 0, 0, 0, 0},
        {"age;work\n1;cook\n", "application/octet-stream", 200, NULL, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char type[96], path[32];
        snprintf(type, sizeof type, "Content-Type: %s", rows[i].type);
        const struct reply *reply =
            send_as(scene, rows[i].text, strlen(rows[i].text), type, false);
        if (rows[i].code == NULL) {
            assert_status(reply, rows[i].status);
            continue;
        }
        assert_problem(reply, rows[i].status, rows[i].code);
        assert_int_equal(json_array_size(reply_at(reply, "errors")), rows[i].faults);
        if (rows[i].line == 0)
            continue;
        assert_int_equal((int)reply_number(reply, "errors.0.line"), rows[i].line);
        if (rows[i].column > 0)
            assert_int_equal((int)reply_number(reply, "errors.0.column"),
                             rows[i].column);
        snprintf(path, sizeof path, "errors.%d.line", rows[i].faults - 1);
        assert_int_equal((int)reply_number(reply, path), rows[i].last_line);
    }
}

/* Returns a text of a header and rows of eight bytes; the caller frees it. */
static char *text_of(size_t rows, size_t *size)
{
    static const char head[] = "work;age\n", row[] = "cook;17\n";
    char *text = malloc(sizeof head + rows * (sizeof row - 1));
    assert_non_null(text);
    strcpy(text, head);
    char *at = text + strlen(head);
    for (size_t i = 0; i < rows; i++, at += sizeof row - 1)
        memcpy(at, row, sizeof row - 1);
    *size = (size_t)(at - text);
    return text;
}

static size_t lines_of(const struct reply *reply)
{
    size_t lines = 0;
    for (const char *at = reply->body; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

/* The long file has 8 MB, and its answer 40 MB, without a sanitizer. */
static void memory_does_not_grow_with_the_file(void **state)
{
    enum { SHORT_ROWS = 50000, GROWTH_MAX_KIB = 4 << 10 };
    struct scene *scene = *state;
    size_t size;
    char *text = text_of(SHORT_ROWS, &size);
    const struct reply *reply =
        send_as(scene, text, size, "Content-Type: text/csv", true);
    assert_status(reply, 200);
    assert_int_equal(lines_of(reply), 1 + SHORT_ROWS);
    free(text);
    long before = daemon_resident_peak(&scene->stage->daemon);
    text = text_of(long_rows(), &size);
    for (int chunked = 0; chunked < 2; chunked++) {
        reply = send_as(scene, text, size, "Content-Type: text/csv", chunked == 1);
        assert_status(reply, 200);
        assert_int_equal(lines_of(reply), 1 + long_rows());
    }
    /* A fault in the last line is found, and nothing was answered before. */
    text[size - 2] = 'x';
    reply = send_as(scene, text, size, "Content-Type: text/csv", true);
    assert_problem(reply, 400, "invalid_argument");
    assert_int_equal((size_t)reply_number(reply, "errors.0.line"), 1 + long_rows());
    free(text);
    long grown = daemon_resident_peak(&scene->stage->daemon) - before;
    assert_growth(grown, GROWTH_MAX_KIB);
}

/* A file is refused when it is too long, announced or not, but a fault of its first
 * line is answered however much follows. */
static void a_long_file_ends_at_the_limit_of_files(void **state)
{
    struct scene *scene = *state;
    size_t size;
    char *text = text_of(200000, &size);
    for (int chunked = 0; chunked < 2; chunked++)
        assert_problem(
            send_as(scene, text, size, "Content-Type: text/csv", chunked == 1), 413,
            "body_too_large");
    memcpy(text, "age;work\n", 9);
    const struct reply *reply =
        send_as(scene, text, 900000, "Content-Type: text/csv", true);
    assert_problem(reply, 400, "invalid_argument");
    assert_int_equal(json_array_size(reply_at(reply, "errors")), 32);
    free(text);
}

/* Begins a file on a connection of its own and, if it is admitted, sends a part of it.
 * Returns -1 if it is not. */
static int begin_file(const struct scene *scene)
{
    static const char part[] = "9\r\nwork;age\n\r\n8\r\ncook;17\n\r\n";
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    char head[512], answer[sizeof go_on] = "";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)scene->stage->daemon.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int made = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(made >= 0);
    assert_int_equal(connect(made, (const struct sockaddr *)&to, sizeof to), 0);
    int length = snprintf(head, sizeof head,
                          "POST %s HTTP/1.1\r\nHost: localhost\r\n"
                          "Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n"
                          "Expect: 100-continue\r\n\r\n",
                          scene->path);
    assert_int_equal(write(made, head, (size_t)length), length);
    assert_int_equal(recv(made, answer, sizeof go_on - 1, MSG_WAITALL),
                     sizeof go_on - 1);
    if (strcmp(answer, go_on) != 0) {
        close(made);
        return -1;
    }
    assert_int_equal(write(made, part, sizeof part - 1), sizeof part - 1);
    return made;
}

static void senders_that_leave_make_room_for_others(void **state)
{
    struct scene *scene = *state;
    int files[FILES_MAX];
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < FILES_MAX; i++)
            while ((files[i] = begin_file(scene)) < 0)
                usleep(10000);
        const struct reply *reply = send_text(scene, "work;age\ncook;17\n");
        assert_problem(reply, 503, "queue_full");
        for (size_t i = 0; i < FILES_MAX; i++)
            close(files[i]);
        do {
            usleep(10000);
            reply = send_text(scene, "work;age\ncook;17\n");
        } while (reply->status == 503);
        assert_status(reply, 200);
    }
}

/* Files that end while others are predicted have answers of their own. */
static void a_fault_of_one_file_is_not_of_another(void **state)
{
    struct scene *scene = *state;
    int other = begin_file(scene);
    assert_true(other >= 0);
    assert_problem(send_text(scene, "work;age\ncook;x\n"), 400, "invalid_argument");
    static const char rest[] = "8\r\ncook;18\n\r\n0\r\n\r\n";
    char answer[4096] = "";
    size_t size = 0;
    assert_int_equal(write(other, rest, sizeof rest - 1), sizeof rest - 1);
    while (strstr(answer, "\nyes;") == NULL &&
           strstr(answer, "\n\"no; not\";") == NULL) {
        ssize_t got = read(other, answer + size, sizeof answer - 1 - size);
        assert_true(got > 0);
        size += (size_t)got;
        answer[size] = '\0';
    }
    assert_memory_equal(answer, "HTTP/1.1 200", 12);
    close(other);
}

static void a_model_without_columns_is_sent_to_predict(void **state)
{
    struct scene *scene = *state;
    struct client *client = scene->client;
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'wide','format':'libsvm','task':'classification',"
                      "'classes':2,'features':{'count':3},'privacy':'public'}"),
        201);
    assert_status(
        client_put(client, "/v1/datasets/wide/files/data", "0 1:1\n1 2:1\n", 12), 204);
    assert_status(client_act(client, "/v1/datasets/wide:import"), 200);
    const struct reply *job =
        train(client, "{'dataset':'wide','model':{'preset':'linear'},"
                      "'algorithm':{'name':'sgd'},'batch_size':2,'steps':3}");
    snprintf(scene->path, sizeof scene->path, "/v1/models/%s:predict-file",
             reply_text(job, "model"));
    const struct reply *reply = send_text(scene, "1,0,0\n");
    assert_problem(reply, 400, "invalid_argument");
    assert_non_null(strstr(reply_text(reply, "detail"), "no columns"));
    strcpy(scene->path, "/v1/models/mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV:predict-file");
    assert_problem(send_text(scene, "1,0,0\n"), 404, "not_found");
}

/* Over TLS the pieces of a body do not end where those of the socket do. */
static void it_works_over_tls(void **state)
{
    (void)state;
    struct scene scene;
    struct stage stage;
    struct identity identity;
    size_t size;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_init(&stage.daemon);
    client_init(&stage.client, &stage.daemon);
    scene = (struct scene){.stage = &stage, .client = &stage.client};
    identity_make(&identity, stage.daemon.directory, "only");
    daemon_start(&stage.daemon,
                 (const char *const[]){"--tls-cert", identity.certificate, "--tls-key",
                                       identity.key, NULL});
    train_people(scene.client, scene.path, scene.predict);
    char *text = text_of(long_rows() / 4, &size);
    for (int chunked = 0; chunked < 2; chunked++) {
        const struct reply *reply =
            send_as(&scene, text, size, "Content-Type: text/csv", chunked == 1);
        assert_status(reply, 200);
        assert_int_equal(lines_of(reply), 1 + long_rows() / 4);
    }
    free(text);
    client_fini(&stage.client);
    daemon_fini(&stage.daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_has_the_predictions_of_its_rows, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named_by_line_and_column,
                                        begin, end),
        cmocka_unit_test_setup_teardown(memory_does_not_grow_with_the_file, begin, end),
        cmocka_unit_test_setup_teardown(a_long_file_ends_at_the_limit_of_files,
                                        begin_small, end),
        cmocka_unit_test_setup_teardown(senders_that_leave_make_room_for_others, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_fault_of_one_file_is_not_of_another, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_model_without_columns_is_sent_to_predict,
                                        begin, end),
        cmocka_unit_test(it_works_over_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
