/* Goal: models on one body have it in memory once, and its file is read once; a body that
 * nothing uses stays up to a limit. Method: heads of different widths on small bodies,
 * whose files are removed, so that reading one again fails. */
#include "tests/expect.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/model_file/model_values.h"
#include "engine/nn/initial_values.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"

enum { FEATURES = 13, HIDDEN = 11, BODY_FLOATS = (FEATURES + 1) * HIDDEN };
enum { BODIES = 4, HEADS = 2, THREADS = 8, FLOATS_MAX = 1024 };
static const size_t body_size = BODY_FLOATS * sizeof(float);

struct head {
    struct network *network;
    char path[64];
    struct file_checksum seal;
};

struct scene {
    struct head heads[HEADS];
    char paths[BODIES][64];
    struct weights_source files[BODIES];
    struct shared_bodies *bodies;
};

static struct network *network_of(uint32_t outputs, enum trainable_kind trainable)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {HIDDEN},
                               .activation = &layer_tanh,
                               .bias = true,
                               .start.trainable = trainable};
    struct network *network = NULL;
    preset_expand(&model, outputs);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){FEATURES, outputs}, NULL),
                     ST_OK);
    model_spec_fini(&model);
    return network;
}

static void write_head(struct head *head, uint32_t outputs)
{
    float values[FLOATS_MAX];
    head->network = network_of(outputs, TRAINABLE_HEAD);
    network_init(head->network, values, outputs);
    snprintf(head->path, sizeof head->path, "/tmp/test_head%u.%ld", outputs,
             (long)getpid());
    const struct model_content content = {.network = head->network,
                                          .parameters = values};
    assert_int_equal(
        model_file_write_without_body(head->path, &content, &head->seal, NULL), ST_OK);
}

/* A whole model, whose first layer is the body. */
static void write_body(struct scene *scene, size_t k)
{
    float values[FLOATS_MAX];
    struct network *network = network_of(3, TRAINABLE_ALL);
    network_init(network, values, 100 + k);
    snprintf(scene->paths[k], sizeof scene->paths[k], "/tmp/test_shared%zu.%ld", k,
             (long)getpid());
    const struct model_content content = {.network = network, .parameters = values};
    scene->files[k].path = scene->paths[k];
    assert_int_equal(
        model_file_write(scene->paths[k], &content, &scene->files[k].seal, NULL),
        ST_OK);
    network_destroy(network);
}

static int begin(void **state)
{
    static struct scene scene;
    for (size_t k = 0; k < HEADS; k++)
        write_head(&scene.heads[k], 2 + (uint32_t)k);
    for (size_t k = 0; k < BODIES; k++)
        write_body(&scene, k);
    scene.bodies = NULL;
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    shared_bodies_destroy(scene->bodies);
    for (size_t k = 0; k < HEADS; k++) {
        network_destroy(scene->heads[k].network);
        unlink(scene->heads[k].path);
    }
    for (size_t k = 0; k < BODIES; k++)
        unlink(scene->paths[k]);
    return 0;
}

static enum status open_values(struct scene *scene, size_t head, size_t body,
                               struct model_values *values)
{
    const struct model_source source = {.path = scene->heads[head].path,
                                        .seal = &scene->heads[head].seal,
                                        .body = &scene->files[body],
                                        .bodies = scene->bodies};
    struct error error = {0};
    *values = (struct model_values){0};
    return model_values_open(values, &source, scene->heads[head].network, &error);
}

static void use(struct scene *scene, size_t body)
{
    struct model_values values;
    assert_int_equal(open_values(scene, 0, body, &values), ST_OK);
    model_values_close(&values);
}

/* Returns whether the body is in memory. Its file is aside meanwhile. */
static bool is_kept(struct scene *scene, size_t body)
{
    struct model_values values;
    char aside[80];
    snprintf(aside, sizeof aside, "%s.aside", scene->paths[body]);
    assert_int_equal(rename(scene->paths[body], aside), 0);
    enum status status = open_values(scene, 0, body, &values);
    model_values_close(&values);
    assert_int_equal(rename(aside, scene->paths[body]), 0);
    assert_true(status == ST_OK || status == ST_IO);
    return status == ST_OK;
}

static void two_heads_have_one_body_and_read_it_once(void **state)
{
    struct scene *scene = *state;
    struct model_values values[HEADS];
    float known[FLOATS_MAX];
    scene->bodies = shared_bodies_create(0);
    for (size_t k = 0; k < HEADS; k++) {
        const struct head *head = &scene->heads[k];
        assert_int_equal(open_values(scene, k, 0, &values[k]), ST_OK);
        write_body(scene, 0);
        assert_int_equal(model_file_read_on(head->path, &head->seal, &scene->files[0],
                                            head->network, known, NULL),
                         ST_OK);
        assert_memory_equal(values[k].floats, known,
                            network_floats(head->network) * sizeof *known);
        unlink(scene->paths[0]);
    }
    assert_ptr_equal(values[0].body, values[1].body);
    assert_int_equal(shared_body_size(values[0].body), body_size);
    /* What one model writes behind its parameters, as a layer that its job gave, does not
     * change the other. */
    float *first = values[0].floats + network_parameters(scene->heads[0].network),
          *second = values[1].floats + network_parameters(scene->heads[1].network);
    float before = second[1];
    first[1] = before + 2.385F;
    assert_true(second[1] == before);
    /* The body lives as long as a model uses it. */
    model_values_close(&values[0]);
    assert_int_equal(open_values(scene, 0, 0, &values[0]), ST_OK);
    for (size_t k = 0; k < HEADS; k++)
        model_values_close(&values[k]);
    assert_int_equal(open_values(scene, 0, 0, &values[0]), ST_IO);
    model_values_close(&values[0]);
}

static void the_body_used_longest_ago_is_removed_first(void **state)
{
    struct scene *scene = *state;
    struct model_values values;
    scene->bodies = shared_bodies_create(3 * body_size - 1);
    use(scene, 0);
    use(scene, 1);
    assert_true(is_kept(scene, 1));
    assert_true(is_kept(scene, 0));
    use(scene, 2);
    assert_false(is_kept(scene, 1));
    assert_true(is_kept(scene, 0));
    assert_true(is_kept(scene, 2));
    /* A body in use takes no room of those that are not. */
    assert_int_equal(open_values(scene, 0, 3, &values), ST_OK);
    assert_true(is_kept(scene, 0));
    assert_true(is_kept(scene, 2));
    model_values_close(&values);
    assert_true(is_kept(scene, 3));
    assert_false(is_kept(scene, 0));
}

static void networks_of_other_layouts_share_nothing(void **state)
{
    struct scene *scene = *state;
    uint8_t digests[3][SHA256_SIZE];
    struct network *wider = network_of(5, TRAINABLE_HEAD);
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {HIDDEN + 1},
                               .activation = &layer_tanh,
                               .bias = true,
                               .start.trainable = TRAINABLE_HEAD};
    struct network *other = NULL;
    preset_expand(&model, 2);
    assert_int_equal(
        network_create(&other, &model, (struct network_shape){FEATURES, 2}, NULL),
        ST_OK);
    shared_body_layout(digests[0], scene->heads[0].network);
    shared_body_layout(digests[1], wider);
    shared_body_layout(digests[2], other);
    assert_memory_equal(digests[0], digests[1], SHA256_SIZE);
    assert_memory_not_equal(digests[0], digests[2], SHA256_SIZE);
    model_spec_fini(&model);
    network_destroy(other);
    network_destroy(wider);
}

static void a_body_that_cannot_be_read_leaves_nothing(void **state)
{
    struct scene *scene = *state;
    struct model_values values;
    scene->bodies = shared_bodies_create(body_size);
    scene->files[0].seal.sha256[5] ^= 1;
    assert_int_equal(open_values(scene, 0, 0, &values), ST_CORRUPT);
    model_values_close(&values);
    scene->files[0].seal.sha256[5] ^= 1;
    assert_int_equal(open_values(scene, 0, 0, &values), ST_OK);
    model_values_close(&values);
    /* A head of another file is refused, and gives the body back. */
    scene->heads[0].seal.sha256[5] ^= 1;
    assert_int_equal(open_values(scene, 0, 0, &values), ST_CORRUPT);
    model_values_close(&values);
    scene->heads[0].seal.sha256[5] ^= 1;
    assert_true(is_kept(scene, 0));
    shared_bodies_destroy(NULL);
    shared_body_destroy(NULL);
}

/* Without a free file descriptor there is no memory that can be shared. */
static void without_memory_a_body_is_refused(void **state)
{
    struct scene *scene = *state;
    struct shared_body *body = NULL;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum status status =
        shared_body_read(&body, &scene->files[0], scene->heads[0].network, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, ST_NO_MEMORY);
    assert_null(body);
}

/* --- threads --- */

struct meeting {
    struct scene *scene;
    pthread_barrier_t all;
};

static void *take_body(void *argument)
{
    struct meeting *meeting = argument;
    struct scene *scene = meeting->scene;
    const struct shared_body *body = NULL;
    pthread_barrier_wait(&meeting->all);
    enum status status = shared_bodies_take(scene->bodies, &scene->files[0],
                                            scene->heads[1].network, &body, NULL);
    pthread_barrier_wait(&meeting->all); /* all have it, or an error */
    if (status == ST_OK)
        shared_bodies_give(scene->bodies, body);
    return (void *)(uintptr_t)body;
}

static void threads_that_need_one_body_read_it_once(void **state)
{
    struct scene *scene = *state;
    for (int round = 0; round < 20; round++) {
        struct meeting meeting = {.scene = scene};
        pthread_t threads[THREADS];
        void *bodies[THREADS];
        scene->bodies = shared_bodies_create(0);
        pthread_barrier_init(&meeting.all, NULL, THREADS);
        for (size_t k = 0; k < THREADS; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, take_body, &meeting), 0);
        for (size_t k = 0; k < THREADS; k++)
            assert_int_equal(pthread_join(threads[k], &bodies[k]), 0);
        assert_non_null(bodies[0]);
        for (size_t k = 1; k < THREADS; k++)
            assert_ptr_equal(bodies[k], bodies[0]);
        assert_false(is_kept(scene, 0));
        pthread_barrier_destroy(&meeting.all);
        shared_bodies_destroy(scene->bodies);
        scene->bodies = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_heads_have_one_body_and_read_it_once, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_body_used_longest_ago_is_removed_first,
                                        begin, end),
        cmocka_unit_test_setup_teardown(networks_of_other_layouts_share_nothing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_body_that_cannot_be_read_leaves_nothing,
                                        begin, end),
        cmocka_unit_test_setup_teardown(without_memory_a_body_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(threads_that_need_one_body_read_it_once, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
