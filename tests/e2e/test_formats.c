/* Goal: each array format from declaration to predictions: a file saved by numpy and a
 * batch of CIFAR give the same data as the same bytes in IDX. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { IMAGE = 3 * 32 * 32, IMAGES = 60 };

static int begin(void **state)
{
    return stage_begin(state);
}

static void put(struct client *client, const char *path, const void *bytes, size_t size)
{
    assert_status(client_put(client, path, bytes, size), 204);
}

static void put_file(struct client *client, const char *path, const char *name)
{
    char bytes[1024];
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    put(client, path, bytes, size);
}

static void declare_grid(struct client *client, const char *id, const char *format)
{
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'%s','task':'classification',"
                                "'classes':3,'features':{'shape':[2,3],'scale':232},"
                                "'privacy':'public'}",
                                id, format),
                  201);
}

/* Trains a few steps on the dataset, predicts the class of a record of zeros, and
 * returns the accuracy on the dataset itself. */
static double train_and_predict(struct client *client, const char *id, size_t features)
{
    const struct reply *ended =
        train(client,
              "{'dataset':'%s','evaluation':'%s','model':{'preset':'linear'},"
              "'algorithm':{'name':'sgd'},'batch_size':5,'steps':20}",
              id, id);
    char *zeros = calloc(2, features);
    assert_non_null(zeros);
    for (size_t i = 0; i < features; i++)
        memcpy(zeros + 2 * i, "0,", 2);
    zeros[2 * features - 1] = '\0';
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(ended, "model"));
    const struct reply *answer =
        client_post(client, path, NULL, "{'inputs':[[%s]]}", zeros);
    assert_status(answer, 200);
    assert_true(json_is_integer(reply_at(answer, "outputs.0.class")));
    free(zeros);
    return reply_number(ended, "metrics.evaluation.accuracy");
}

static void arrays_of_numpy_are_the_same_data_as_idx(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    uint8_t values[30], labels[] = {0, 1, 2, 0, 1}, *file;
    size_t size;
    for (int i = 0; i < 30; i++)
        values[i] = (uint8_t)(8 * i);
    declare_grid(client, "as-idx", "idx");
    file = sample_idx((const uint32_t[]){5, 2, 3, 0}, values, &size);
    put(client, "/v1/datasets/as-idx/files/features", file, size);
    free(file);
    file = sample_idx((const uint32_t[]){5, 0}, labels, &size);
    put(client, "/v1/datasets/as-idx/files/labels", file, size);
    free(file);
    assert_status(client_act(client, "/v1/datasets/as-idx:import"), 200);

    declare_grid(client, "as-npy", "npy");
    put_file(client, "/v1/datasets/as-npy/files/features", "tests/vectors/npy/u1.npy");
    put_file(client, "/v1/datasets/as-npy/files/labels",
             "tests/vectors/npy/labels_i8.npy");
    assert_status(client_act(client, "/v1/datasets/as-npy:import"), 200);
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/as-npy"), "sha256"),
        reply_text(client_get(client, "/v1/datasets/as-idx"), "sha256"));
    train_and_predict(client, "as-npy", 6);
}

static void what_is_wrong_with_an_array_is_told_at_its_place(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    declare_grid(client, "bad-npy", "npy");
    assert_problem(client_put(client, "/v1/datasets/bad-npy/files/data", "x", 1), 404,
                   "not_found");
    put_file(client, "/v1/datasets/bad-npy/files/features",
             "tests/vectors/npy/nan.npy");
    assert_problem(client_act(client, "/v1/datasets/bad-npy:import"), 422,
                   "import_failed"); /* labels are missing */
    put_file(client, "/v1/datasets/bad-npy/files/labels",
             "tests/vectors/npy/labels_u1.npy");
    const struct reply *refused = client_act(client, "/v1/datasets/bad-npy:import");
    assert_problem(refused, 422, "import_failed");
    assert_string_equal(reply_text(refused, "file"), "features");
    assert_int_equal((int)reply_number(refused, "line"), 4);
    assert_int_equal((int)reply_number(refused, "column"), 4);
    put_file(client, "/v1/datasets/bad-npy/files/features",
             "tests/vectors/npy/fortran.npy");
    refused = client_act(client, "/v1/datasets/bad-npy:import");
    assert_problem(refused, 422, "import_failed");
    assert_non_null(strstr(reply_text(refused, "detail"), "C order"));
}

/* Records of label_size label bytes, of which the last is i % classes, and one plane
 * that is not black. Its brightness depends on label_size, so that the images of two
 * sizes differ and no dataset is a duplicate of another. */
static uint8_t *batch_of(size_t label_size, size_t classes, size_t *size)
{
    *size = IMAGES * (label_size + IMAGE);
    uint8_t *bytes = calloc(*size, 1), *at = bytes;
    assert_non_null(bytes);
    for (size_t i = 0; i < IMAGES; i++, at += label_size + IMAGE) {
        at[label_size - 1] = (uint8_t)(i % classes);
        memset(at + label_size + i % 3 * 1024, (int)(100 * label_size), 1024);
    }
    return bytes;
}

static void batches_of_cifar_train_a_network_on_images(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    size_t size;
    uint8_t *bytes = batch_of(1, 10, &size);
    const struct reply *created =
        client_create(client, "/v1/datasets",
                      "{'id':'ten','format':'cifar10','task':'classification',"
                      "'classes':10,'privacy':" SAMPLE_BUDGET(2) "}");
    assert_status(created, 201);
    assert_int_equal((int)reply_number(created, "features.shape.2"), 32);
    assert_true(reply_number(created, "features.scale") == 255);
    assert_problem(client_put(client, "/v1/datasets/ten/files/features", bytes, 1), 404,
                   "not_found");
    put(client, "/v1/datasets/ten/files/data", bytes, size);
    assert_status(client_act(client, "/v1/datasets/ten:import"), 200);
    assert_int_equal(
        (int)reply_number(client_get(client, "/v1/datasets/ten"), "records"), IMAGES);
    train(client, "{'dataset':'ten','model':{'layers':["
                  "{'type':'conv2d','out':4,'kernel':4,'stride':4},{'type':'relu'},"
                  "{'type':'flatten'},{'type':'dense','out':10}]},"
                  "'algorithm':{'name':'dpsgd'},'batch_size':20,'steps':5,"
                  "'privacy':{'noise_multiplier':8}}");
    free(bytes);
}

static void the_label_of_cifar100_is_the_declared_one(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const ids[] = {"fine", "coarse"};
    size_t size;
    uint8_t *bytes = batch_of(2, 100, &size);
    for (int i = 0; i < 2; i++) {
        char path[64];
        assert_status(client_create(client, "/v1/datasets",
                                    "{'id':'%s','format':'cifar100','task':"
                                    "'classification','classes':%d,'privacy':'public'}",
                                    ids[i], i == 0 ? 100 : 20),
                      201);
        snprintf(path, sizeof path, "/v1/datasets/%s/files/data", ids[i]);
        put(client, path, bytes, size);
        assert_status(client_act(client, "/v1/datasets/%s:import", ids[i]), 200);
    }
    free(bytes);
    /* All coarse labels are 0. Three images have 60 fine labels, so at most 3 can be
     * right. */
    assert_true(train_and_predict(client, "coarse", IMAGE) == 1);
    assert_true(train_and_predict(client, "fine", IMAGE) <= 3.0 / IMAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_numpy_are_the_same_data_as_idx),
        cmocka_unit_test(what_is_wrong_with_an_array_is_told_at_its_place),
        cmocka_unit_test(batches_of_cifar_train_a_network_on_images),
        cmocka_unit_test(the_label_of_cifar100_is_the_declared_one),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
