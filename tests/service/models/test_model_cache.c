/* Goal: a model that was used is not read again, one that is in use is lent to no other
 * request, and the number of idle ones is bounded. Method: small models whose files are
 * removed after reading, so that opening one again fails. */
#include "base/id.h"
#include "service/models/model_cache.h"

#include <string.h>
#include <unistd.h>

#include "engine/model_file/model_file.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "tests/expect.h"

enum { FEATURES = 3, MODELS = MODEL_CACHE_MAX + 2 };

struct scene {
    char path[64];
    struct model_spec model;
    struct file_checksum seal;
    struct model_id ids[MODELS];
};

static void write_model(struct scene *scene)
{
    struct network *network = NULL;
    float theta[FEATURES + 1] = {0.5F, -1, 2, 0.25F};
    assert_int_equal(network_create(&network, &scene->model,
                                    (struct network_shape){FEATURES, 1}, NULL),
                     ST_OK);
    const struct model_content content = {network, theta, {NULL, 0}};
    assert_int_equal(model_file_write(scene->path, &content, &scene->seal, NULL),
                     ST_OK);
    network_destroy(network);
}

static int begin(void **state)
{
    static struct scene scene;
    scene.model = (struct model_spec){.preset = PRESET_LINEAR, .loss = LOSS_SQUARED};
    snprintf(scene.path, sizeof scene.path, "/tmp/test_loaded.%ld", (long)getpid());
    preset_expand(&scene.model, 1);
    for (int i = 0; i < MODELS; i++)
        snprintf(scene.ids[i].text, sizeof scene.ids[i].text, "mdl_%d", i);
    write_model(&scene);
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    model_spec_fini(&scene->model);
    unlink(scene->path);
    return 0;
}

static enum status take(struct scene *scene, struct model_cache *loaded, size_t model,
                        struct predictor **predictor)
{
    const struct predictor_source source = {
        .files = {.path = scene->path, .seal = &scene->seal},
        .model = &scene->model,
        .data = {FEATURES, 0}};
    return model_cache_take(loaded, &scene->ids[model], &source, predictor, NULL);
}

static struct predictor *taken(struct scene *scene, struct model_cache *loaded,
                               size_t model)
{
    struct predictor *predictor = NULL;
    assert_int_equal(take(scene, loaded, model, &predictor), ST_OK);
    return predictor;
}

/* Uses a model, which is idle afterwards. */
static void use(struct scene *scene, struct model_cache *loaded, size_t model)
{
    model_cache_give(loaded, &scene->ids[model], taken(scene, loaded, model));
}

static bool is_idle(struct scene *scene, struct model_cache *loaded, size_t model)
{
    struct predictor *predictor = NULL;
    assert_int_equal(unlink(scene->path), 0);
    bool idle = take(scene, loaded, model, &predictor) == ST_OK;
    if (idle)
        model_cache_give(loaded, &scene->ids[model], predictor);
    write_model(scene);
    return idle;
}

static void a_model_is_read_once_and_answers_alike(void **state)
{
    struct scene *scene = *state;
    struct model_cache *loaded = model_cache_create(1 << 20);
    double first, second;
    size_t stride;
    for (int i = 0; i < 2; i++) {
        struct predictor *predictor = taken(scene, loaded, 0);
        float *input = predictor_input(predictor, &stride);
        input[0] = 2, input[1] = 0.5F, input[2] = 1;
        predictor_run(predictor, i == 0 ? &first : &second, 1);
        model_cache_give(loaded, &scene->ids[0], predictor);
        assert_true(is_idle(scene, loaded, 0));
    }
    assert_true(first == 2.75);
    assert_true(second == first);
    assert_false(is_idle(scene, loaded, 1));
    model_cache_destroy(loaded);
}

static void what_is_in_use_is_nobody_elses(void **state)
{
    struct scene *scene = *state;
    struct model_cache *loaded = model_cache_create(1 << 20);
    use(scene, loaded, 0);
    struct predictor *one = taken(scene, loaded, 0);
    assert_false(is_idle(scene, loaded, 0));
    struct predictor *other = taken(scene, loaded, 0);
    assert_ptr_not_equal(one, other);
    model_cache_give(loaded, &scene->ids[0], one);
    model_cache_give(loaded, &scene->ids[0], other);
    assert_true(is_idle(scene, loaded, 0));
    model_cache_destroy(loaded);
}

static void the_one_used_longest_ago_goes_first(void **state)
{
    struct scene *scene = *state;
    struct predictor *predictor = NULL;
    const struct predictor_source source = {
        .files = {.path = scene->path, .seal = &scene->seal},
        .model = &scene->model,
        .data = {FEATURES, 0}};
    assert_int_equal(predictor_open(&predictor, &source, NULL), ST_OK);
    struct model_cache *loaded = model_cache_create(3 * predictor_size(predictor) + 1);
    for (size_t i = 0; i < 3; i++)
        use(scene, loaded, i);
    use(scene, loaded, 0);
    use(scene, loaded, 3);
    assert_false(is_idle(scene, loaded, 1));
    assert_true(is_idle(scene, loaded, 0));
    assert_true(is_idle(scene, loaded, 2));
    assert_true(is_idle(scene, loaded, 3));
    model_cache_destroy(loaded);
    loaded = model_cache_create(predictor_size(predictor) - 1);
    use(scene, loaded, 0);
    assert_false(is_idle(scene, loaded, 0));
    model_cache_destroy(loaded);
    predictor_close(predictor);
}

/* --- models on one body --- */

static struct model_spec head_spec(void)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {11},
                               .activation = &layer_tanh,
                               .bias = true,
                               .loss = LOSS_SQUARED,
                               .start.trainable = TRAINABLE_HEAD};
    preset_expand(&model, 1);
    return model;
}

/* Writes a model with its body and without it. */
static void write_parts(const struct model_spec *model, const char *head,
                        const char *body, struct weights_source *file)
{
    struct network *network = NULL;
    struct file_checksum seal;
    float values[256] = {0.5F, -1, 2};
    assert_int_equal(
        network_create(&network, model, (struct network_shape){FEATURES, 1}, NULL),
        ST_OK);
    const struct model_content content = {.network = network, .parameters = values};
    file->path = body;
    assert_int_equal(model_file_write(body, &content, &file->seal, NULL), ST_OK);
    assert_int_equal(model_file_write_without_body(head, &content, &seal, NULL), ST_OK);
    network_destroy(network);
}

/* Returns how many of three models that were used remain idle in a cache of the size of
 * their own floats and workspaces, and of one body less `missing`. */
static size_t idle_of_three(const struct predictor_source *source,
                            const struct scene *scene, size_t missing)
{
    struct predictor *predictor = NULL;
    size_t idle = 0;
    assert_int_equal(predictor_open(&predictor, source, NULL), ST_OK);
    struct model_cache *loaded =
        model_cache_create(3 * predictor_size(predictor) +
                           shared_body_size(predictor_body(predictor)) - missing);
    predictor_close(predictor);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            model_cache_take(loaded, &scene->ids[i], source, &predictor, NULL), ST_OK);
        model_cache_give(loaded, &scene->ids[i], predictor);
    }
    struct predictor_source gone = *source;
    gone.files.path = "/nonexistent/head";
    for (size_t i = 0; i < 3; i++)
        if (model_cache_take(loaded, &scene->ids[i], &gone, &predictor, NULL) ==
            ST_OK) {
            model_cache_give(loaded, &scene->ids[i], predictor);
            idle++;
        }
    model_cache_destroy(loaded);
    return idle;
}

static void a_body_that_models_share_counts_once(void **state)
{
    struct scene *scene = *state;
    struct model_spec model = head_spec();
    struct weights_source body;
    char paths[2][64];
    for (int k = 0; k < 2; k++)
        snprintf(paths[k], sizeof paths[k], "/tmp/test_part%d.%ld", k, (long)getpid());
    write_parts(&model, paths[0], paths[1], &body);
    const struct predictor_source source = {
        .files = {.path = paths[0],
                  .body = &body,
                  .bodies = shared_bodies_create(1 << 20)},
        .model = &model,
        .data = {FEATURES, 0}};
    assert_int_equal(idle_of_three(&source, scene, 0), 3);
    assert_int_equal(idle_of_three(&source, scene, 1), 2);
    shared_bodies_destroy(source.files.bodies);
    for (int k = 0; k < 2; k++)
        unlink(paths[k]);
    model_spec_fini(&model);
}

static void the_number_of_idle_ones_is_bounded(void **state)
{
    struct scene *scene = *state;
    struct model_cache *loaded = model_cache_create(1 << 30);
    for (size_t i = 0; i < MODELS; i++)
        use(scene, loaded, i);
    for (size_t i = 0; i < MODELS; i++)
        assert_int_equal(is_idle(scene, loaded, i), i >= MODELS - MODEL_CACHE_MAX);
    model_cache_destroy(loaded);
}

static void a_file_that_cannot_be_read_leaves_nothing(void **state)
{
    struct scene *scene = *state;
    struct predictor *predictor = NULL;
    struct model_cache *loaded = model_cache_create(1 << 20);
    scene->seal.sha256[3] ^= 1;
    assert_int_equal(take(scene, loaded, 0, &predictor), ST_CORRUPT);
    assert_null(predictor);
    scene->seal.sha256[3] ^= 1;
    use(scene, loaded, 0);
    model_cache_destroy(loaded);
    model_cache_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_is_read_once_and_answers_alike, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_is_in_use_is_nobody_elses, begin, end),
        cmocka_unit_test_setup_teardown(the_one_used_longest_ago_goes_first, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_body_that_models_share_counts_once, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_number_of_idle_ones_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_leaves_nothing,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
