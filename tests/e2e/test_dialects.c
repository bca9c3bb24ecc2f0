/* Goal: a table in another dialect becomes the data that it is with commas and points,
 * and an import in the wrong dialect names the right one; a table of people with
 * missing cells and unknown words becomes a model that takes such cells too. */
#include <signal.h>
#include <string.h>
#include <zlib.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    return stage_begin(state);
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

/* Declares a public table of two numbers and a label. */
static void declare(struct client *client, const char *id, const char *dialect)
{
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'csv','task':'classification',"
                                "'header':true,%s'columns':["
                                "{'name':'age','kind':'numeric','range':[0,100]},"
                                "{'name':'dose','kind':'numeric','range':[0,10],"
                                "'default':2.5},"
                                "{'name':'ill','kind':'label','values':['no','yes']}],"
                                "'privacy':'public'}",
                                id, dialect),
                  201);
}

static const struct reply *import(struct client *client, const char *id,
                                  const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    return client_act(client, "/v1/datasets/%s:import", id);
}

static void a_table_in_any_dialect_is_the_same_data(void **state)
{
    struct client *client = client_of(state);
    static const char *const tables[][3] = {
        {"points", "", "age,dose,ill\n20.5,1.25,no\n70,,yes\n"},
        {"semicolons", "'delimiter':';','decimal':',',",
         "ill;age;dose\r\nno;20,5;1,25\r\nyes;70;\r\n"},
        {"old-mac", "'delimiter':'\\t',",
         "age\tdose\till\r20.5\t1.25\tno\r70\t\tyes\r"},
        {"bars", "'delimiter':'|','decimal':',',",
         "age|dose|ill\n\"20,5\"|125e-2|no\n70| |yes"},
    };
    char sha256[80] = "";
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        declare(client, tables[i][0], tables[i][1]);
        assert_status(import(client, tables[i][0], tables[i][2]), 200);
        const struct reply *ready = client_get(client, "/v1/datasets/%s", tables[i][0]);
        if (i == 0)
            snprintf(sha256, sizeof sha256, "%s", reply_text(ready, "sha256"));
        assert_string_equal(reply_text(ready, "sha256"), sha256);
    }
}

static void an_import_in_the_wrong_dialect_names_the_right_one(void **state)
{
    struct client *client = client_of(state);
    declare(client, "wrong", "");
    const struct reply *refused =
        import(client, "wrong", "age;dose;ill\n20,5;1,25;no\n");
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "line"), 1);
    assert_non_null(strstr(reply_text(refused, "detail"), "semicolons"));
    assert_non_null(strstr(reply_text(refused, "detail"), "\"delimiter\""));
}

/* ---- Adult with a header, semicolons, and question marks ---- */

enum { ADULT_ROWS = 6000, ADULT_SIZE = 1 << 20 };

/* Reads rows of Adult from `first` on, with semicolons for commas. NULL without SHARED. */
static char *read_adult(size_t first)
{
    char path[1024], line[512];
    shared_path(path, "data/adult/adult.data.gz");
    gzFile file = gzopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = calloc(1, ADULT_SIZE);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "age;workclass;fnlwgt;education;years;marital;"
                                        "occupation;relation;race;sex;gain;loss;hours;"
                                        "country;income\r\n");
    for (size_t row = 0; row < first + ADULT_ROWS; row++) {
        assert_non_null(gzgets(file, line, sizeof line));
        for (const char *at = line; row >= first && *at != '\0'; at++)
            if (*at != ' ')
                text[size++] = (char)(*at == ',' ? ';' : *at);
    }
    gzclose(file);
    return text;
}

/* Typed from what the columns mean, with few words: the rest is other, or hashed. */
#define ADULT                                                                          \
    "{'id':'%s','format':'csv','task':'classification','header':true,"                 \
    "'delimiter':';','missing':['?'],'privacy':%s,'columns':["                         \
    "{'name':'age','kind':'numeric','range':[17,90],'if_missing':'indicator'},"        \
    "{'name':'workclass','kind':'categorical','values':['Private','State-gov'],"       \
    "'other':true,'if_missing':'category'},"                                           \
    "{'name':'fnlwgt','kind':'ignored'},{'name':'education','kind':'ignored'},"        \
    "{'name':'years','kind':'numeric','range':[1,16]},"                                \
    "{'name':'marital','kind':'categorical','values':['Married-civ-spouse',"           \
    "'Never-married'],'other':true,'default':'Never-married'},"                        \
    "{'name':'occupation','kind':'hashed','buckets':16,'if_missing':'category'%s},"    \
    "{'name':'relation','kind':'ignored'},{'name':'race','kind':'ignored'},"           \
    "{'name':'sex','kind':'categorical','values':['Female','Male']},"                  \
    "{'name':'gain','kind':'numeric','range':[0,10000]},"                              \
    "{'name':'loss','kind':'numeric','range':[0,3000]},"                               \
    "{'name':'hours','kind':'numeric','range':[0,100]},"                               \
    "{'name':'country','kind':'ignored'},"                                             \
    "{'name':'income','kind':'label','values':['<=50K','>50K']}]}"

/* A row of predict for a person of that work, which may be null. */
static const struct reply *predict(struct client *client, const char *model,
                                   const char *work)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    return client_post(client, path, NULL,
                       "{'inputs':[[39,%s,13,'Divorced',%s,'Male',0,0,40],"
                       "{'age':null,'workclass':'?','years':9,'marital':null,"
                       "'occupation':'Sales','sex':'Female','gain':0,'loss':0,"
                       "'hours':20}]}",
                       work, work);
}

static void adult_with_gaps_becomes_a_model_of_known_quality(void **state)
{
    struct client *client = client_of(state);
    char *train_text = read_adult(0), *test_text = read_adult(ADULT_ROWS), seed[64];
    if (train_text == NULL || test_text == NULL) {
        print_message("not run: no adult.data.gz in $SHARED\n");
        free(train_text);
        free(test_text);
        return;
    }
    const struct reply *made =
        client_create(client, "/v1/datasets", ADULT, "adult", SAMPLE_BUDGET(4), "");
    assert_status(made, 201);
    snprintf(seed, sizeof seed, ",'seed':%.0f", reply_number(made, "columns.6.seed"));
    assert_status(
        client_create(client, "/v1/datasets", ADULT, "adult-test", SAMPLE_PUBLIC, seed),
        201);
    assert_status(import(client, "adult", train_text), 200);
    assert_status(import(client, "adult-test", test_text), 200);
    const struct reply *ended = train(
        client, "{'dataset':'adult','evaluation':'adult-test','model':{'preset':"
                "'linear'},'algorithm':{'name':'dpsgd'},'batch_size':300,'epochs':10,"
                "'privacy':{'epsilon':2}}");
    assert_true(reply_number(ended, "metrics.evaluation.accuracy") > 0.78);
    static const char *const works[] = {"'Private'", "'Without-pay'", "null", "'?'"};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        assert_status(predict(client, reply_text(ended, "model"), works[i]), 200);
    assert_problem(predict(client, reply_text(ended, "model"), "7"), 400,
                   "invalid_argument");
    free(train_text);
    free(test_text);
}

/* ---- seeds of hashed columns ---- */

static const struct reply *declare_codes(struct client *client, const char *id,
                                         const char *more)
{
    return client_create(client, "/v1/datasets",
                         "{'id':'%s','format':'csv','task':'classification',"
                         "'privacy':'public','columns':["
                         "{'name':'code','kind':'hashed','buckets':1000%s},"
                         "{'name':'y','kind':'label','values':['a','b']}]}",
                         id, more);
}

static void a_seed_is_drawn_once_before_any_file_is_read(void **state)
{
    struct client *client = client_of(state);
    char stated[64], sha256[80];
    const struct reply *made = declare_codes(client, "codes", "");
    assert_status(made, 201);
    const double seed = reply_number(made, "columns.0.seed");
    /* An import that fails has seen the file; the declaration keeps its seed. */
    assert_problem(import(client, "codes", "E1,a\nE2,c\n"), 422, "import_failed");
    made = declare_codes(client, "codes", "");
    assert_status(made, 201);
    assert_true(reply_number(made, "columns.0.seed") == seed);
    assert_status(import(client, "codes", "E1,a\nE2,b\nE3,b\n"), 200);
    const struct reply *ready = client_get(client, "/v1/datasets/codes");
    assert_true(reply_number(ready, "columns.0.seed") == seed);
    snprintf(sha256, sizeof sha256, "%s", reply_text(ready, "sha256"));

    /* Another dataset has a seed of its own, or repeats one that was drawn. */
    made = declare_codes(client, "codes-own", "");
    assert_status(made, 201);
    assert_true(reply_number(made, "columns.0.seed") != seed);
    snprintf(stated, sizeof stated, ",'seed':%.0f", seed);
    assert_status(declare_codes(client, "codes-same", stated), 201);
    assert_status(import(client, "codes-same", "E1,a\nE2,b\nE3,b\n"), 200);
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/codes-same"), "sha256"), sha256);
    const struct reply *refused = declare_codes(client, "codes-chosen", ",'seed':7");
    assert_invalid_at(refused, "/columns/0/seed");
}

/* Declares a dataset again, with these columns before the label. Returns the answer. */
static const struct reply *correct(struct client *client, const char *id,
                                   const char *columns)
{
    char body[512], path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s", id);
    int size = snprintf(body, sizeof body,
                        "{'id':'%s','format':'csv','task':'classification',"
                        "'privacy':'public','columns':[%s,"
                        "{'name':'y','kind':'label','values':['a','b']}]}",
                        id, columns);
    for (char *at = body; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return client_send(client,
                       &(struct request){.method = "PUT",
                                         .path = path,
                                         .headers = {"Content-Type: application/json"},
                                         .body = body,
                                         .size = (size_t)size});
}

static void a_corrected_declaration_chooses_no_seed(void **state)
{
#define HASHED(NAME) "{'name':'" NAME "','kind':'hashed','buckets':1000}"
#define STATED       "{'name':'code','kind':'hashed','buckets':1000,'seed':%.0f}"
    static const char *const corrections[] = {
        HASHED("renamed"),
        HASHED("first") "," HASHED("second"),
        "{'name':'code','kind':'ignored'},{'name':'x','kind':'numeric','range':[0,1]}",
        HASHED("code"),
    };
    struct client *client = client_of(state);
    char stated[256];
    const struct reply *made = declare_codes(client, "corrected", "");
    const double seed = reply_number(made, "columns.0.seed");
    made = declare_codes(client, "corrected-other", "");
    const double other = reply_number(made, "columns.0.seed");
    assert_problem(import(client, "corrected", "E1,a\nE2,c\n"), 422, "import_failed");
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        const struct reply *corrected = correct(client, "corrected", corrections[i]);
        assert_status(corrected, 200);
        size_t columns = json_array_size(reply_at(corrected, "columns")) - 1;
        for (size_t column = 0; column < columns; column++) {
            char path[64];
            snprintf(path, sizeof path, "columns.%zu.kind", column);
            if (strcmp(reply_text(corrected, path), "hashed") != 0)
                continue;
            snprintf(path, sizeof path, "columns.%zu.seed", column);
            assert_true(reply_number(corrected, path) == seed);
        }
    }
    /* Not even one that was drawn for another dataset. */
    snprintf(stated, sizeof stated, STATED, other);
    assert_invalid_at(correct(client, "corrected", stated), "/columns/0/seed");
    snprintf(stated, sizeof stated, STATED, seed);
    assert_status(correct(client, "corrected", stated), 200);
    made = declare_codes(client, "corrected", "");
    assert_problem(made, 409, "already_exists");
}

/* The seed is drawn even if the first declaration has no hashed column; and a restart
 * does not draw another. */
static void a_seed_outlives_declarations_without_hashed_columns(void **state)
{
    struct stage *stage = *state;
    struct client *client = client_of(state);
    static const char none[] = "{'name':'code','kind':'ignored'},"
                               "{'name':'x','kind':'numeric','range':[0,1]}";
    static const char hashed[] = "{'name':'code','kind':'hashed','buckets':1000}";
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'late','format':'csv','task':'classification',"
                                "'privacy':'public','columns':[%s,"
                                "{'name':'y','kind':'label','values':['a','b']}]}",
                                none),
                  201);
    const double seed = reply_number(correct(client, "late", hashed), "columns.0.seed");
    assert_status(correct(client, "late", none), 200);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, (const char *const[]){NULL});
    assert_true(reply_number(correct(client, "late", hashed), "columns.0.seed") ==
                seed);
}

/* ---- dates ---- */

static void dates_in_mixed_formats_are_refused_at_their_place(void **state)
{
    struct client *client = client_of(state);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'dates','format':'csv','task':'classification',"
                      "'privacy':'public','columns':[{'name':'in','kind':'date',"
                      "'format':'%%d/%%m/%%Y','range':['2020-01-01','2021-12-31'],"
                      "'parts':['month']},"
                      "{'name':'y','kind':'label','values':['a','b']}]}"),
        201);
    const struct reply *refused =
        import(client, "dates", "13/05/2020,a\n12/31/2020,b\n");
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "line"), 2);
    assert_int_equal((int)reply_number(refused, "column"), 1);
    assert_non_null(strstr(reply_text(refused, "detail"), "declared format"));
    assert_null(strstr(reply_text(refused, "detail"), "12/31"));
    assert_status(import(client, "dates", "13/05/2020,a\n31/12/2020,b\n"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_in_any_dialect_is_the_same_data),
        cmocka_unit_test(an_import_in_the_wrong_dialect_names_the_right_one),
        cmocka_unit_test(adult_with_gaps_becomes_a_model_of_known_quality),
        cmocka_unit_test(a_seed_is_drawn_once_before_any_file_is_read),
        cmocka_unit_test(a_corrected_declaration_chooses_no_seed),
        cmocka_unit_test(a_seed_outlives_declarations_without_hashed_columns),
        cmocka_unit_test(dates_in_mixed_formats_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
