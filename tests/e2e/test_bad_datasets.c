/* Goal: a dataset that cannot be registered, filled or deleted as requested is refused
 * with a code of its own. Method: declarations case by case, then files of each format
 * with one error each. */
#include <dirent.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define CSV                   "'format':'csv','task':'classification','classes':2,'header':false,"
#define LABEL                 "{'name':'l','kind':'label','values':['a','b']}"
#define X                     "{'name':'x','kind':'numeric','range':[0,1]}"
#define PRIVACY               "'privacy':{'epsilon':1,'delta':1e-5}"
#define WITH_ID(id)           "{'id':'" id "'," CSV "'columns':[" X "," LABEL "]," PRIVACY "}"
#define WITH_COLUMNS(columns) "{'id':'x'," CSV "'columns':[" columns "]," PRIVACY "}"
#define WITH_PRIVACY(privacy)                                                          \
    "{'id':'x'," CSV "'columns':[" X "," LABEL "],'privacy':" privacy "}"

struct bad_dataset {
    const char *what, *body, *pointer; /* pointer NULL: not compared */
};

static const struct bad_dataset bad_datasets[] = {
    {"nothing", "", NULL},
    {"not JSON", "id=x", NULL},
    {"duplicate member",
     "{'id':'x','id':'x'," CSV "'columns':[" X "," LABEL "]," PRIVACY "}", NULL},
    {"unknown member",
     "{'id':'x','name':'y'," CSV "'columns':[" X "," LABEL "]," PRIVACY "}", "/name"},
    {"unknown member of privacy", WITH_PRIVACY("{'epsilon':1,'delta':1e-5,'rho':1}"),
     "/privacy/rho"},
    {"unknown member of a column",
     WITH_COLUMNS("{'name':'x','kind':'numeric','range':[0,1],'mean':0}," LABEL),
     "/columns/0/mean"},

    {"empty id", WITH_ID(""), "/id"},
    {"capital id", WITH_ID("Points"), "/id"},
    {"id that begins with a dash", WITH_ID("-points"), "/id"},
    {"id that climbs", WITH_ID("../points"), "/id"},
    {"id with a colon", WITH_ID("points:import"), "/id"},
    {"id of 64 characters",
     WITH_ID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
     "/id"},
    {"id that is a number", "{'id':7," CSV "'columns':[" X "," LABEL "]," PRIVACY "}",
     "/id"},

    {"unknown format",
     "{'id':'x','format':'parquet','task':'classification','classes':2," PRIVACY "}",
     "/format"},
    {"unknown task",
     "{'id':'x','format':'csv','task':'ranking','columns':[" X "," LABEL "]," PRIVACY
     "}",
     "/task"},
    {"no task", "{'id':'x','format':'csv','columns':[" X "," LABEL "]," PRIVACY "}",
     "/task"},
    {"no privacy", "{'id':'x'," CSV "'columns':[" X "," LABEL "]}", "/privacy"},
    {"too many classes",
     "{'id':'x','format':'libsvm','task':'classification','classes':65537,"
     "'features':{'count':3}," PRIVACY "}",
     "/classes"},
    {"one class",
     "{'id':'x','format':'libsvm','task':'classification','classes':1,"
     "'features':{'count':3}," PRIVACY "}",
     "/classes"},
    {"no features",
     "{'id':'x','format':'libsvm','task':'classification','classes':2," PRIVACY "}",
     "/features"},
    {"too many features",
     "{'id':'x','format':'libsvm','task':'classification','classes':2,"
     "'features':{'count':1048577}," PRIVACY "}",
     "/features/count"},
    {"features without end",
     "{'id':'x','format':'idx','task':'classification','classes':2,"
     "'features':{'shape':[65536,65536],'scale':255}," PRIVACY "}",
     NULL},
    {"a scale of zero",
     "{'id':'x','format':'idx','task':'classification','classes':2,"
     "'features':{'shape':[2,2],'scale':0}," PRIVACY "}",
     "/features/scale"},
    {"columns of another format",
     "{'id':'x','format':'idx','task':'classification','classes':2,"
     "'features':{'shape':[2,2],'scale':255},'columns':[]," PRIVACY "}",
     "/columns"},

    {"no columns", WITH_COLUMNS(""), "/columns"},
    {"no label", WITH_COLUMNS(X), "/columns"},
    {"two labels", WITH_COLUMNS(LABEL "," LABEL), NULL},
    {"unknown kind", WITH_COLUMNS("{'name':'x','kind':'picture'}," LABEL),
     "/columns/0/kind"},
    {"no range", WITH_COLUMNS("{'name':'x','kind':'numeric'}," LABEL),
     "/columns/0/range"},
    {"range upside down",
     WITH_COLUMNS("{'name':'x','kind':'numeric','range':[1,0]}," LABEL),
     "/columns/0/range"},
    {"range of one number",
     WITH_COLUMNS("{'name':'x','kind':'numeric','range':[1,1]}," LABEL),
     "/columns/0/range"},
    {"a delimiter that is none",
     "{'id':'x','format':'csv','task':'classification','delimiter':'#','columns':[" X
     "," LABEL "]," PRIVACY "}",
     "/delimiter"},
    {"a decimal comma between commas",
     "{'id':'x','format':'csv','task':'classification','decimal':',','columns':[" X
     "," LABEL "]," PRIVACY "}",
     "/decimal"},
    {"no values", WITH_COLUMNS("{'name':'x','kind':'categorical'}," LABEL),
     "/columns/0/values"},
    {"one value twice",
     WITH_COLUMNS("{'name':'x','kind':'categorical','values':['a','a']}," LABEL), NULL},
    {"labels that are not the classes",
     WITH_COLUMNS(X ",{'name':'l','kind':'label','values':['a','b','c']}"), NULL},

    {"privacy of another word", WITH_PRIVACY("'secret'"), "/privacy"},
    {"no delta", WITH_PRIVACY("{'epsilon':1}"), "/privacy/delta"},
    {"no epsilon", WITH_PRIVACY("{'delta':1e-5}"), "/privacy/epsilon"},
    {"zero epsilon", WITH_PRIVACY("{'epsilon':0,'delta':1e-5}"), "/privacy/epsilon"},
    {"negative epsilon", WITH_PRIVACY("{'epsilon':-1,'delta':1e-5}"),
     "/privacy/epsilon"},
    {"epsilon above its limit", WITH_PRIVACY("{'epsilon':30.5,'delta':1e-5}"),
     "/privacy/epsilon"},
    {"1e999", WITH_PRIVACY("{'epsilon':1e999,'delta':1e-5}"), NULL},
    {"NaN", WITH_PRIVACY("{'epsilon':NaN,'delta':1e-5}"), NULL},
    {"zero delta", WITH_PRIVACY("{'epsilon':1,'delta':0}"), "/privacy/delta"},
    {"delta of one", WITH_PRIVACY("{'epsilon':1,'delta':1}"), "/privacy/delta"},
    {"delta above one", WITH_PRIVACY("{'epsilon':1,'delta':1.5}"), "/privacy/delta"},
    {"delta as text", WITH_PRIVACY("{'epsilon':1,'delta':'1e-5'}"), "/privacy/delta"},
    {"unknown relation",
     WITH_PRIVACY("{'epsilon':1,'delta':1e-5,'relation':'cousins'}"),
     "/privacy/relation"},
    {"an order off the grid", WITH_PRIVACY("{'epsilon':1,'delta':1e-5,'order':3.1}"),
     "/privacy/order"},
};

static void a_bad_declaration_is_refused_and_registers_nothing(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof bad_datasets / sizeof bad_datasets[0]; i++) {
        const struct bad_dataset *bad = &bad_datasets[i];
        const struct reply *reply =
            client_create(client, "/v1/datasets", "%s", bad->body);
        const char *code = json_string_value(json_object_get(reply->json, "code"));
        const char *pointer = json_string_value(json_object_get(
            json_array_get(json_object_get(reply->json, "errors"), 0), "pointer"));
        if (reply->status == 400 && code != NULL &&
            strcmp(code, "invalid_argument") == 0 &&
            (bad->pointer == NULL ||
             (pointer != NULL && !strcmp(pointer, bad->pointer))))
            continue;
        print_error("%s: expected 400 at %s, got %ld: %s\n", bad->what,
                    bad->pointer != NULL ? bad->pointer : "", reply->status,
                    reply->body);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_problem(client_get(client, "/v1/datasets/x"), 404, "not_found");
    const struct reply *head = client_get(client, "/v1/ledger/head");
    assert_true(reply_number(head, "seq") == 0);
}

#define POINTS                                                                         \
    CSV "'columns':[" X ",{'name':'c','kind':'categorical','values':['u','v']}," LABEL \
        "]"
#define VECTORS                                                                        \
    "'format':'libsvm','task':'classification','classes':2,'features':{'count':3}"
#define IMAGES                                                                         \
    "'format':'idx','task':'classification','classes':2,"                              \
    "'features':{'shape':[2,2],'scale':255}"

struct bad_file {
    const char *what, *schema, *text;
    double line; /* of the first error in the file */
};

static const struct bad_file bad_files[] = {
    {"a ragged row", POINTS, "0.5,u,a\n0.5,u\n", 2},
    {"a row too long", POINTS, "0.5,u,a,9\n", 1},
    {"a word for a number", POINTS, "0.5,u,a\n0.5,v,b\nhalf,u,a\n", 3},
    {"NaN", POINTS, "nan,u,a\n", 1},
    {"an infinity", POINTS, "0.5,u,a\n1e999,u,a\n", 2},
    {"a label out of range", POINTS, "0.5,u,a\n0.5,u,c\n", 2},
    {"a category out of range", POINTS, "0.5,w,a\n", 1},
    {"an empty cell", POINTS, "0.5,u,a\n,u,b\n", 2},
    {"an open quote", POINTS, "0.5,\"u,a\n", -1},
    {"no rows", POINTS, "", -1},
    {"a label out of range", VECTORS, "0 1:1\n2 1:1\n", 2},
    {"an index above the count", VECTORS, "0 1:1\n1 4:1\n", 2},
    {"an index of zero", VECTORS, "0 0:1\n", 1},
    {"indices that fall", VECTORS, "0 2:1 1:1\n", 1},
    {"no value", VECTORS, "0 1:\n", 1},
    {"a word for a value", VECTORS, "0 1:1\n1 2:x\n", 2},
};

static unsigned files_in(const struct daemon *daemon, const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", daemon->data_dir, folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void a_bad_file_fails_the_import_at_its_place_and_leaves_nothing(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    unsigned wrong = 0, matrices = files_in(&stage->daemon, "datasets");
    char path[64];
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        const struct bad_file *bad = &bad_files[i];
        assert_status(client_create(client, "/v1/datasets",
                                    "{'id':'bad-file-%zu',%s,'privacy':'public'}", i,
                                    bad->schema),
                      201);
        snprintf(path, sizeof path, "/v1/datasets/bad-file-%zu/files/data", i);
        assert_status(client_put(client, path, bad->text, strlen(bad->text)), 204);
        const struct reply *reply =
            client_act(client, "/v1/datasets/bad-file-%zu:import", i);
        const char *code = json_string_value(json_object_get(reply->json, "code"));
        double line = json_number_value(json_object_get(reply->json, "line"));
        const char *file = json_string_value(json_object_get(reply->json, "file"));
        if (reply->status != 422 || code == NULL ||
            strcmp(code, "import_failed") != 0 || file == NULL ||
            strcmp(file, "data") != 0 || (bad->line > 0 && line != bad->line)) {
            print_error("%s: got %ld: %s\n", bad->what, reply->status, reply->body);
            wrong++;
        }
        const struct reply *after = client_get(client, "/v1/datasets/bad-file-%zu", i);
        assert_string_equal(reply_text(after, "state"), "FAILED");
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(files_in(&stage->daemon, "datasets"), matrices);
    assert_int_equal(files_in(&stage->daemon, "scratch"), 0);
}

static void a_failed_import_can_be_mended(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(
        client_create(client, "/v1/datasets", "{'id':'mended'," POINTS "," PRIVACY "}"),
        201);
    assert_problem(client_act(client, "/v1/datasets/mended:import"), 422,
                   "import_failed"); /* nothing uploaded */
    const char *path = "/v1/datasets/mended/files/data";
    assert_status(client_put(client, path, "0.5,u,z\n", 8), 204);
    const struct reply *failed = client_act(client, "/v1/datasets/mended:import");
    assert_problem(failed, 422, "import_failed");
    assert_true(reply_number(failed, "line") == 1 &&
                reply_number(failed, "column") == 3);
    assert_true(strlen(reply_text(failed, "reason")) > 0);
    assert_status(client_put(client, path, "0.5,u,b\n", 8), 204);
    const struct reply *imported = client_act(client, "/v1/datasets/mended:import");
    assert_status(imported, 200);
    assert_true(reply_number(imported, "records") == 1);
    assert_status(client_act(client, "/v1/datasets/mended:import"), 200);
    assert_problem(client_put(client, path, "0.5,u,b\n", 8), 409, "dataset_immutable");
}

/* GET of the dataset, by itself and in the list, needs only budgets:read, and shows of
 * a failed import only that it failed. Where and why are shown on routes whose scope is
 * the owner's. */
static void why_an_import_failed_is_told_to_the_owner_alone(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *path = "/v1/datasets/told/files/data";
    assert_status(
        client_create(client, "/v1/datasets", "{'id':'told'," POINTS "," PRIVACY "}"),
        201);
    const struct reply *import = client_get(client, "/v1/datasets/told/import");
    assert_status(import, 200);
    assert_string_equal(reply_text(import, "state"), "CREATED");
    assert_true(json_is_null(reply_at(import, "failure")));
    assert_status(client_put(client, path, "0.5,u,a\n0.5,u,z\n", 16), 204);
    const struct reply *refused = client_act(client, "/v1/datasets/told:import");
    assert_problem(refused, 422, "import_failed");
    const char *why = reply_text(refused, "detail");

    const struct reply *read = client_get(client, "/v1/datasets/told");
    assert_string_equal(reply_text(read, "state"), "FAILED");
    assert_string_equal(reply_text(read, "state_reason"), "import_failed");
    assert_null(strstr(read->body, why));
    const struct reply *list = client_get(client, "/v1/datasets?page_size=1");
    assert_string_equal(reply_text(list, "datasets.0.id"), "told");
    assert_null(strstr(list->body, why));

    import = client_get(client, "/v1/datasets/told/import");
    assert_string_equal(reply_text(import, "state"), "FAILED");
    assert_string_equal(reply_text(import, "failure.code"), "import_failed");
    assert_string_equal(reply_text(import, "failure.detail"), why);
    assert_string_equal(reply_text(import, "failure.file"), "data");
    assert_true(reply_number(import, "failure.line") == 2 &&
                reply_number(import, "failure.column") == 3);
    assert_problem(client_get(client, "/v1/datasets/nowhere/import"), 404, "not_found");
    assert_status(client_delete(client, "/v1/datasets/told"), 204);
    import = client_get(client, "/v1/datasets/told/import");
    assert_true(json_is_null(reply_at(import, "failure")));
}

/* The owner's error message for files of another kind than declared. */
static void a_file_of_another_kind_is_called_what_it_is(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *kind;
    } files[] = {
        {"PK\x03\x04\x14\0\0\0 points.csv", 19, "zip archive"},
        {"\xff\xfex\0,\0y\0\n\0", 10, "UTF-16"},
        {"0.5;0.5;yes\n", 12, "semicolons"},
        {"PAR1\x15\x04\x15\x10", 8, "Parquet"},
    };
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_status(declare_points(client, "kinds", SAMPLE_BUDGET(2)), 201);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_status(client_put(client, "/v1/datasets/kinds/files/data",
                                 files[i].bytes, files[i].size),
                      204);
        const struct reply *refused = client_act(client, "/v1/datasets/kinds:import");
        assert_problem(refused, 422, "import_failed");
        assert_non_null(strstr(reply_text(refused, "detail"), files[i].kind));
        assert_string_equal(reply_text(refused, "file"), "data");
        assert_false(daemon_logged(&stage->daemon, files[i].kind));
    }
}

static void a_header_may_come_in_any_order(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *path = "/v1/datasets/ordered/files/data";
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'ordered','format':'csv','header':true,"
                                "'task':'classification','columns':["
                                "{'name':'x','kind':'numeric','range':[0,1]},"
                                "{'name':'note','kind':'ignored'},"
                                "{'name':'y','kind':'label','values':['no','yes']}],"
                                "'privacy':'public'}"),
                  201);
    static const char wrong[] = "y,z,x\nno,?,0.5\n", right[] = "y,x,note\nno,0.5,?\n";
    assert_status(client_put(client, path, wrong, sizeof wrong - 1), 204);
    const struct reply *refused = client_act(client, "/v1/datasets/ordered:import");
    assert_problem(refused, 422, "import_failed");
    assert_string_equal(reply_text(refused, "detail"),
                        "the header names \"z\", which is not declared, and lacks the "
                        "declared column \"note\"");
    assert_true(reply_number(refused, "column") == 2);
    assert_status(client_put(client, path, right, sizeof right - 1), 204);
    assert_status(client_act(client, "/v1/datasets/ordered:import"), 200);
}

static void put_images(struct client *client, const char *id, const char *name,
                       const uint32_t *dimensions, unsigned spoil)
{
    const uint8_t bytes[64] = {0, 1, 1, 0};
    size_t size;
    uint8_t *file = sample_idx(dimensions, bytes, &size);
    if (spoil > 0)
        file[spoil - 1] ^= 0x55;
    char path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/%s", id, name);
    assert_status(client_put(client, path, file, size), 204);
    free(file);
}

static void images_must_be_idx_and_as_many_as_their_labels(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'images'," IMAGES ",'privacy':'public'}"),
                  201);
    put_images(client, "images", "features", (const uint32_t[]){4, 2, 2, 0}, 0);
    put_images(client, "images", "labels", (const uint32_t[]){3, 0}, 0);
    assert_problem(client_act(client, "/v1/datasets/images:import"), 422,
                   "import_failed");
    put_images(client, "images", "labels", (const uint32_t[]){4, 0}, 3); /* magic */
    assert_problem(client_act(client, "/v1/datasets/images:import"), 422,
                   "import_failed");
    put_images(client, "images", "labels", (const uint32_t[]){4, 0},
               9); /* class 0x55 */
    assert_problem(client_act(client, "/v1/datasets/images:import"), 422,
                   "import_failed");
    put_images(client, "images", "labels", (const uint32_t[]){4, 0}, 0);
    put_images(client, "images", "features", (const uint32_t[]){4, 2, 3, 0}, 0);
    assert_problem(client_act(client, "/v1/datasets/images:import"), 422,
                   "import_failed");
    put_images(client, "images", "features", (const uint32_t[]){4, 2, 2, 0}, 0);
    const struct reply *imported = client_act(client, "/v1/datasets/images:import");
    assert_status(imported, 200);
    assert_true(reply_number(imported, "records") == 4);
}

static void an_unknown_file_or_dataset_is_not_found(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(declare_points(client, "files", SAMPLE_PUBLIC), 201);
    assert_problem(client_put(client, "/v1/datasets/files/files/features", "x", 1), 404,
                   "not_found");
    assert_problem(client_put(client, "/v1/datasets/nowhere/files/data", "x", 1), 404,
                   "not_found");
    assert_problem(client_act(client, "/v1/datasets/nowhere:import"), 404, "not_found");
    assert_problem(client_get(client, "/v1/datasets/nowhere/budget"), 404, "not_found");
    assert_problem(client_delete(client, "/v1/datasets/nowhere"), 404, "not_found");
}

static void an_id_is_never_free_again(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "once", 300, 9, SAMPLE_BUDGET(1));
    assert_problem(declare_points(client, "once", SAMPLE_BUDGET(2)), 409,
                   "already_exists");
    assert_status(client_delete(client, "/v1/datasets/once"), 204);
    assert_string_equal(reply_text(client_get(client, "/v1/datasets/once"), "state"),
                        "DELETED");
    assert_problem(declare_points(client, "once", SAMPLE_BUDGET(1)), 409,
                   "already_exists");
    assert_status(client_get(client, "/v1/datasets/once/budget"), 200);
    assert_status(client_get(client, "/v1/datasets/once/ledger"), 200);
}

static void public_data_has_no_budget_and_no_ledger(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(declare_points(client, "open", SAMPLE_PUBLIC), 201);
    assert_problem(client_get(client, "/v1/datasets/open/budget"), 409,
                   "dataset_public");
    assert_problem(client_get(client, "/v1/datasets/open/ledger"), 409,
                   "dataset_public");
}

static void data_in_use_is_not_deleted(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "used", 300, 8, SAMPLE_BUDGET(1));
    const char *job = submit(client, SAMPLE_JOB, "used", SAMPLE_ENDLESS, 100000.0);
    assert_problem(client_delete(client, "/v1/datasets/used"), 409, "dataset_in_use");
    cancel(client, job);
    await_end(client, job);
    assert_status(client_delete(client, "/v1/datasets/used"), 204);
    assert_status(client_get(client, "/v1/datasets/used/ledger"), 200);
    assert_status(client_get(client, "/v1/jobs/%s", job), 200);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "used", 2, 50.0), 404,
                   "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_declaration_is_refused_and_registers_nothing),
        cmocka_unit_test(a_bad_file_fails_the_import_at_its_place_and_leaves_nothing),
        cmocka_unit_test(a_failed_import_can_be_mended),
        cmocka_unit_test(why_an_import_failed_is_told_to_the_owner_alone),
        cmocka_unit_test(a_file_of_another_kind_is_called_what_it_is),
        cmocka_unit_test(a_header_may_come_in_any_order),
        cmocka_unit_test(images_must_be_idx_and_as_many_as_their_labels),
        cmocka_unit_test(an_unknown_file_or_dataset_is_not_found),
        cmocka_unit_test(an_id_is_never_free_again),
        cmocka_unit_test(public_data_has_no_budget_and_no_ledger),
        cmocka_unit_test(data_in_use_is_not_deleted),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
