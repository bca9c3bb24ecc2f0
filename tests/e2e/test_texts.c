/* Goal: a csv file with a column of texts becomes a private classifier that predicts from
 * texts; the import and both forms of predict give a text the same ids; and the files of
 * a tokenizer are checked before anything is stored, and stay as long as they are
 * needed. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const char vocabulary[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\nfilm\nthe\nwas\n"
    "dull\nfine\n##ly\n,\n!\n";
enum { TOKENS = 14 };

#define MODEL                                                                          \
    "{'layers':[{'type':'embedding','vocabulary':14,'out':64},"                        \
    "{'type':'take','position':'mean'},{'type':'layer_norm'},"                         \
    "{'type':'dense','out':1}],'trainable':'head','init_seed':7}"

struct world {
    struct stage *stage;
    struct client *client;
    char file[64]; /* the vocabulary */
};

static const struct reply *upload(struct client *client, const char *query,
                                  const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "/v1/files%s", query);
    return client_send(
        client, &(struct request){.method = "POST",
                                  .path = path,
                                  .headers = {"Content-Type: application/octet-stream"},
                                  .body = text,
                                  .size = strlen(text)});
}

static int begin(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    void *stage;
    assert_non_null(world);
    stage_begin(&stage);
    world->stage = stage;
    world->client = &world->stage->client;
    const struct reply *file =
        upload(world->client, "?kind=tokenizer&note=words%20of%20films", vocabulary);
    assert_status(file, 201);
    assert_string_equal(reply_text(file, "kind"), "tokenizer");
    snprintf(world->file, sizeof world->file, "%s", reply_text(file, "id"));
    *state = world;
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    void *stage = world->stage;
    free(world);
    return stage_end(&stage);
}

/* Declares films: a text and what it thinks. tokenizer is the member's value. */
static const struct reply *declare(struct world *world, const char *id,
                                   const char *tokenizer, const char *more)
{
    return client_create(
        world->client, "/v1/datasets",
        "{'id':'%s','format':'csv','task':'classification','header':true,'columns':["
        "{'name':'review','kind':'text','length':8,'tokenizer':%s},"
        "{'name':'verdict','kind':'label','values':['bad','good']}%s],"
        "'privacy':{'epsilon':4,'delta':1e-5}}",
        id, tokenizer, more);
}

/* Texts whose last word says what they think, in several forms. */
static char *films(size_t rows)
{
    static const char *const forms[][2] = {{"the film was ", ""},
                                           {"\"The film, it was ", "!\""},
                                           {"", " film"},
                                           {"\"film\nof ", "\""}};
    static const char *const words[2][2] = {{"bad", "dull"}, {"good", "FINEly"}};
    char *text = malloc(rows * 64 + 32), *to = text;
    assert_non_null(text);
    to += sprintf(to, "review,verdict\n");
    for (size_t i = 0; i < rows; i++) {
        const size_t good = i / 3 % 2;
        to += sprintf(to, "%s%s%s,%s\n", forms[i % 4][0], words[good][i % 5 % 2],
                      forms[i % 4][1], good ? "good" : "bad");
    }
    return text;
}

static void import_films(struct world *world, const char *id)
{
    char path[128], tokenizer[160];
    snprintf(tokenizer, sizeof tokenizer,
             "{'kind':'wordpiece','vocabulary':'%s','lower':true}", world->file);
    const struct reply *declared = declare(world, id, tokenizer, "");
    assert_status(declared, 201);
    assert_true(reply_number(declared, "columns.0.tokenizer.tokens") == TOKENS);
    assert_int_equal(strlen(reply_text(declared, "columns.0.tokenizer.sha256.0")), 64);
    char *rows = films(800);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(world->client, path, rows, strlen(rows)), 204);
    free(rows);
    assert_status(client_act(world->client, "/v1/datasets/%s:import", id), 200);
}

static void train_films(struct world *world, const char *id, char model[64])
{
    const struct reply *job = train(
        world->client,
        "{'dataset':'%s','model':" MODEL ",'algorithm':{'name':'dpsgd'},"
        "'batch_size':200,'steps':100,'optimizer':{'name':'sgd','learning_rate':1},"
        "'privacy':{'epsilon':3.5}}",
        id);
    snprintf(model, 64, "%s", reply_text(job, "model"));
}

static double good(const struct reply *reply, size_t row)
{
    char path[64];
    snprintf(path, sizeof path, "outputs.%zu.probabilities.1", row);
    return reply_number(reply, path);
}

static void a_text_becomes_a_private_classifier(void **state)
{
    struct world *world = *state;
    struct client *client = world->client;
    char model[64], path[128], file[128];
    import_films(world, "films");
    train_films(world, "films", model);
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    const struct reply *answer =
        client_post(client, path, NULL,
                    "{'inputs':[['the film was good'],{'review':'a dull film'},"
                    "['finely!'],[' The FILM, it was b\\u0061d '],[''],"
                    "['the film was bad and then it went on for far too long']]}");
    assert_status(answer, 200);
    const double first = good(answer, 0), second = good(answer, 1);
    assert_true(first > 0.6);
    assert_true(second < 0.4);
    assert_true(good(answer, 2) > 0.6);
    assert_true(good(answer, 3) < 0.4);
    assert_true(isfinite(good(answer, 4))); /* a text without a word */

    /* A file of rows gives the same predictions. */
    snprintf(file, sizeof file, "/v1/models/%s:predict-file", model);
    static const char rows[] = "review\nthe film was good\n\"a dull\nfilm\"\n";
    const struct reply *csv =
        client_send(client, &(struct request){.method = "POST",
                                              .path = file,
                                              .headers = {"Content-Type: text/csv"},
                                              .body = rows,
                                              .size = strlen(rows)});
    assert_status(csv, 200);
    const char *line = strchr(csv->body, '\n') + 1;
    assert_int_equal(strncmp(line, "good,", 5), 0);
    const char *last = strchr(strchr(line, ',') + 1, ',') + 1;
    assert_true(fabs(strtod(last, NULL) - first) < 1e-6);
    line = strchr(line, '\n') + 1;
    last = strchr(strchr(line, ',') + 1, ',') + 1;
    assert_true(fabs(strtod(last, NULL) - second) < 1e-6);

    /* After a restart too. */
    assert_int_equal(daemon_stop(&world->stage->daemon, SIGTERM), 0);
    daemon_start(&world->stage->daemon, NULL);
    answer = client_post(client, path, NULL, "{'inputs':[['the film was good']]}");
    assert_status(answer, 200);
    assert_true(good(answer, 0) == first);
}

static void a_declaration_names_its_faults(void **state)
{
    struct world *world = *state;
    char no_unknown[64], tokenizer[512], pointer[64];
    snprintf(no_unknown, sizeof no_unknown, "%s",
             reply_text(upload(world->client, "?kind=tokenizer", "good\nbad\n"), "id"));
    const struct {
        const char *tokenizer, *file, *member;
    } cases[] = {
        {"{'kind':'wordpiece','vocabulary':'@'}", no_unknown, ""},
        {"{'kind':'byte_pair','vocabulary':'@','merges':'@'}", world->file, ""},
        {"{'kind':'wordpiece','vocabulary':'@','tokens':13}", world->file, "/tokens"},
        {"{'kind':'wordpiece','vocabulary':'@','sha256':['#']}", world->file,
         "/sha256"},
        {"{'kind':'wordpiece','vocabulary':'@','sha256':['0']}", world->file,
         "/sha256/0"},
        {"{'kind':'wordpiece','vocabulary':'@','merges':'@'}", world->file, "/merges"},
        {"{'kind':'wordpiece','vocabulary':'@','prefix_space':true}", world->file,
         "/prefix_space"},
        {"{'kind':'wordpiece','vocabulary':'@','vocab':1}", world->file, "/vocab"},
        {"{'kind':'wordpiece'}", "", "/vocabulary"},
        {"{'kind':'wordpiece','vocabulary':'words'}", "", "/vocabulary"},
        {"{'kind':'sentencepiece','vocabulary':'@'}", world->file, "/kind"},
        {"{'kind':'bytes','vocabulary':'@'}", world->file, "/vocabulary"},
        {"{'kind':'bytes','sha256':[]}", "", "/sha256"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *to = tokenizer;
        for (const char *from = cases[i].tokenizer; *from != '\0'; from++)
            to += *from == '@'   ? sprintf(to, "%s", cases[i].file)
                  : *from == '#' ? sprintf(to, "%064d", 0)
                                 : sprintf(to, "%c", *from);
        snprintf(pointer, sizeof pointer, "/columns/0/tokenizer%s", cases[i].member);
        assert_invalid_at(declare(world, "faults", tokenizer, ""), pointer);
    }
    assert_problem(declare(world, "faults",
                           "{'kind':'wordpiece','vocabulary':"
                           "'fil_01ARZ3NDEKTSV4RRFFQ69G5FAV'}",
                           ""),
                   404, "not_found");
    snprintf(tokenizer, sizeof tokenizer, "{'kind':'wordpiece','vocabulary':'%s'}",
             world->file);
    assert_invalid_at(declare(world, "faults", tokenizer,
                              ",{'name':'age','kind':'numeric','range':[0,9]}"),
                      "/columns/2");
    assert_invalid_at(declare(world, "faults", tokenizer,
                              ",{'name':'more','kind':'text','length':8,'tokenizer':"
                              "{'kind':'bytes'}}"),
                      "/columns/2");
    static const char *const lengths[] = {"2", "1025", "null"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        assert_invalid_at(
            client_create(world->client, "/v1/datasets",
                          "{'id':'faults','format':'csv','task':'classification',"
                          "'columns':[{'name':'t','kind':'text','length':%s,"
                          "'tokenizer':%s},{'name':'y','kind':'label','values':"
                          "['a','b']}],'privacy':'public'}",
                          lengths[i], tokenizer),
            "/columns/0/length");
}

static void a_file_that_is_no_text_is_refused(void **state)
{
    struct world *world = *state;
    struct client *client = world->client;
    assert_problem(upload(client, "?kind=tokenizer", "caf\xe9\n"), 400,
                   "invalid_argument");
    assert_problem(upload(client, "?kind=tokenizer", ""), 400, "invalid_argument");
    assert_problem(upload(client, "?kind=vocabulary", vocabulary), 400,
                   "invalid_argument");
    assert_problem(upload(client, "", vocabulary), 400, "invalid_argument");
}

static void a_model_of_texts_begins_with_their_table(void **state)
{
    struct world *world = *state;
    import_films(world, "tables");
    static const struct {
        const char *model, *pointer;
    } cases[] = {
        {"{'preset':'linear'}", "/model"},
        {"{'layers':[{'type':'dense','out':1}]}", "/model/layers/0/type"},
        {"{'layers':[{'type':'embedding','vocabulary':15,'out':4},"
         "{'type':'take','position':'first'},{'type':'dense','out':1}],'trainable':'"
         "head'}",
         "/model/layers/0/vocabulary"},
        {"{'preset':'bert','vocabulary':15,'separator':3,'blocks':1,'width':4,'heads':"
         "1}",
         "/model/vocabulary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reply *reply =
            client_post(world->client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'tables','model':%s,'algorithm':{'name':'dpsgd'},"
                        "'batch_size':100,'steps':2,'privacy':{'noise_multiplier':20}}",
                        cases[i].model);
        assert_invalid_at(reply, cases[i].pointer);
    }
}

static void a_text_has_no_statistics(void **state)
{
    struct world *world = *state;
    import_films(world, "counted");
    static const struct {
        const char *asked, *pointer;
    } cases[] = {
        {"{'kind':'histogram','column':'review'}", "/statistics/0/column"},
        {"{'kind':'moments'}", "/statistics/0/kind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(client_post(world->client, "/v1/statistics:estimate", NULL,
                                      "{'dataset':'counted','statistics':[%s],"
                                      "'privacy':{'noise_multiplier':20}}",
                                      cases[i].asked),
                          cases[i].pointer);
}

/* Gives an uploaded file another id, in its row and in its name. The daemon is stopped. */
static void rename_file(const struct stage *stage, const char *id, const char *other)
{
    char command[600], from[300], to[300];
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
             "assert db.execute(sys.argv[2]).rowcount == 1; db.commit()\" "
             "'%s/epsilond.db' \"UPDATE weights SET id = '%s' WHERE id = '%s'\"",
             stage->daemon.data_dir, other, id);
    assert_int_equal(system(command), 0);
    snprintf(from, sizeof from, "%s/weights/%s.safetensors", stage->daemon.data_dir,
             id);
    snprintf(to, sizeof to, "%s/weights/%s.safetensors", stage->daemon.data_dir, other);
    assert_int_equal(rename(from, to), 0);
}

/* The certificate has the digests of the declaration, and verify compares them with the
 * files. */
static void a_certificate_says_how_texts_become_ids(void **state)
{
    struct world *world = *state;
    struct client *client = world->client;
    char model[64], known[65], other[64];
    import_films(world, "sealed");
    train_films(world, "sealed", model);
    snprintf(known, sizeof known, "%s",
             reply_text(client_get(client, "/v1/datasets/sealed"),
                        "columns.0.tokenizer.sha256.0"));
    const struct reply *card = client_get(client, "/v1/models/%s", model);
    assert_string_equal(reply_text(card, "certificate.text.tokenizer.sha256.0"), known);
    assert_string_equal(reply_text(card, "certificate.text.tokenizer.vocabulary"),
                        world->file);
    assert_true(reply_number(card, "certificate.text.tokenizer.tokens") == TOKENS);
    assert_true(reply_number(card, "certificate.text.length") == 8);
    assert_int_equal(daemon_verify(&world->stage->daemon), 0);

    assert_int_equal(daemon_stop(&world->stage->daemon, SIGTERM), 0);
    snprintf(other, sizeof other, "%s", world->file);
    other[strlen(other) - 1] = other[strlen(other) - 1] == '0' ? '1' : '0';
    rename_file(world->stage, world->file, other);
    assert_true(daemon_verify(&world->stage->daemon) != 0);
    rename_file(world->stage, other, world->file);
    assert_int_equal(daemon_verify(&world->stage->daemon), 0);
}

static void a_file_stays_as_long_as_it_is_needed(void **state)
{
    struct world *world = *state;
    struct client *client = world->client;
    char model[64], path[128];
    snprintf(path, sizeof path, "/v1/files/%s", world->file);
    import_films(world, "kept");
    train_films(world, "kept", model);
    assert_problem(client_delete(client, path), 409, "file_in_use");
    assert_status(client_delete(client, "/v1/datasets/kept"), 204);
    assert_problem(client_delete(client, path), 409, "file_in_use");
    char other[128];
    snprintf(other, sizeof other, "/v1/models/%s/predict", model);
    assert_status(client_post(client, other, NULL, "{'inputs':[['good film']]}"), 200);
    snprintf(other, sizeof other, "/v1/models/%s", model);
    assert_status(client_delete(client, other), 204);
    assert_status(client_delete(client, path), 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(claim) cmocka_unit_test_setup_teardown(claim, begin, end)
        T(a_text_becomes_a_private_classifier),
        T(a_declaration_names_its_faults),
        T(a_file_that_is_no_text_is_refused),
        T(a_model_of_texts_begins_with_their_table),
        T(a_text_has_no_statistics),
        T(a_certificate_says_how_texts_become_ids),
        T(a_file_stays_as_long_as_it_is_needed),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
