/* Goal: members that a job omits follow from its data, and a member that does not fit
 * the data is refused at its place. Method: the defaults of api.md 3 worked out by
 * hand. */
#include "tests/expect.h"

#include "api/requests/job_defaults.h"
#include "engine/nn/layers/registry.h"
#include "api/limits.h"
#include "tests/api/job_fixture.h"

static void refused(const char *body, struct job_dataset dataset, enum status status,
                    const char *pointer)
{
    struct job_request request;
    struct error error = {0};
    must_parse(&request, body);
    assert_int_equal(job_defaults_fill(&request, &dataset, &error), status);
    assert_points_at(&error, body, pointer);
    job_request_fini(&request);
}

/* api.md 3, by hand: n / 60 is 1000, nearest 1024; 12500/60 = 208.3, nearest 256. */
static void the_default_batch_is_the_power_of_two_nearest_a_sixtieth(void **state)
{
    (void)state;
    static const struct {
        uint64_t records, batch_size;
    } cases[] = {{60000, 1024},    {1, 1},
                 {255, 255},       {256, 256},
                 {12500, 256},     {23039, 256},
                 {23040, 256},     {23041, 512},
                 {32560, 512},     {20640, 256},
                 {46079, 512},     {46081, 1024},
                 {1000000, 16384}, {2147483647, 33554432}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request request;
        must_resolve(&request, SHORT, private_data(&images, cases[i].records));
        assert_int_equal(request.train.batch_size, cases[i].batch_size);
        job_request_fini(&request);
    }
}

/* Errors are clipped at a quarter of the target's range by default, and at most at the
 * range. */
static void a_look_at_a_holdout_is_resolved_on_divided_data(void **state)
{
    (void)state;
    struct job_request request;
    struct schema many = images;
    char *look = edit(SHORT, "\"model\"",
                      "\"evaluation\":{\"holdout\":true,\"epsilon\":0.1},\"model\"");
    char *clipped = edit(look, "\"epsilon\":0.1}", "\"epsilon\":0.1,\"error_clip\":5}");
    char *beyond =
        edit(look, "\"epsilon\":0.1}", "\"epsilon\":0.1,\"error_clip\":5.01}");
    struct job_dataset data = private_data(&prices, 900);
    refused(look, data, ST_INVALID, "/evaluation/holdout");
    data.division.holdout = 0.1;
    data.held_out = 100;
    must_resolve(&request, look, data);
    assert_true(request.measurement.is_asked && !request.has_evaluation);
    assert_true(request.measurement.epsilon == 0.1);
    assert_true(request.measurement.error_clip == 1.25);
    job_request_fini(&request);
    must_resolve(&request, clipped, data);
    assert_true(request.measurement.error_clip == 5);
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "\"evaluation\":{\"holdout\":true,\"epsilon\":0.1,"
                                 "\"error_clip\":5.0}"));
    free(text);
    job_request_fini(&request);
    refused(beyond, data, ST_INVALID, "/evaluation/error_clip");
    data.schema = &images;
    refused(clipped, data, ST_INVALID, "/evaluation/error_clip");
    many.classes = LIMIT_QUALITY_CLASSES;
    data.schema = &many;
    must_resolve(&request, look, data);
    job_request_fini(&request);
    many.classes++;
    refused(look, data, ST_INVALID, "/evaluation/holdout");
    free(beyond);
    free(clipped);
    free(look);
}

static void steps_follow_from_epochs_rounded_up(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, JOB, private_data(&images, 60000));
    assert_int_equal(request.train.steps, 1172); /* 20 * 60000 / 1024 = 1171.875 */
    assert_int_equal(request.train.records, 60000);
    job_request_fini(&request);
    must_resolve(&request, SHORT, private_data(&images, 1024));
    assert_int_equal(request.epochs, 20);
    assert_int_equal(request.train.steps, 80); /* 20 * 1024 / 256 */
    job_request_fini(&request);
    char *body = edit(JOB, "\"epochs\":20", "\"steps\":77");
    must_resolve(&request, body, private_data(&images, 60000));
    assert_int_equal(request.train.steps, 77);
    assert_int_equal(request.epochs, 0);
    job_request_fini(&request);
    free(body);
    body = edit(JOB, ":1024,\"epochs\":20", ":1,\"epochs\":10");
    refused(body, private_data(&images, 1000001), ST_INVALID, "/epochs");
    must_resolve(&request, body, private_data(&images, 1000000));
    assert_int_equal(request.train.steps, LIMIT_STEPS);
    job_request_fini(&request);
    free(body);
    body = edit(JOB, ":1024,\"epochs\":20", ":1,\"epochs\":10000000");
    refused(body, private_data(&images, LIMIT_RECORDS), ST_INVALID, "/epochs");
    free(body);
}

static void a_batch_is_at_most_the_data(void **state)
{
    (void)state;
    struct job_request request;
    refused(JOB, private_data(&images, 1023), ST_INVALID, "/batch_size");
    must_resolve(&request, JOB, private_data(&images, 1024));
    job_request_fini(&request);
}

static void losses_and_outputs_follow_the_task(void **state)
{
    (void)state;
    static const struct {
        const struct schema *schema;
        enum loss loss;
        uint32_t outputs;
    } cases[] = {{&images, LOSS_SOFTMAX_CROSS_ENTROPY, 10},
                 {&pairs, LOSS_LOGISTIC, 1},
                 {&prices, LOSS_SQUARED, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request request;
        must_resolve(&request, SHORT, private_data(cases[i].schema, 6000));
        const struct model_spec *model = &request.train.model;
        assert_int_equal(model->loss, cases[i].loss);
        assert_int_equal(model->layer_count, 1);
        assert_int_equal(model->layers[0].out, cases[i].outputs);
        assert_true(model->layers[0].bias);
        job_request_fini(&request);
    }
    static const struct {
        const struct schema *schema;
        const char *loss;
        uint32_t outputs; /* 0: refused */
    } named[] = {{&images, "softmax_cross_entropy", 10},
                 {&images, "logistic", 0},
                 {&images, "squared", 0},
                 {&pairs, "softmax_cross_entropy", 2},
                 {&pairs, "logistic", 1},
                 {&pairs, "squared", 0},
                 {&prices, "squared", 1},
                 {&prices, "logistic", 0},
                 {&prices, "softmax_cross_entropy", 0}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        char member[80];
        struct job_request request;
        sprintf(member, "\"linear\",\"loss\":\"%s\"", named[i].loss);
        char *body = edit(SHORT, "\"linear\"", member);
        struct job_dataset dataset = private_data(named[i].schema, 6000);
        if (named[i].outputs == 0) {
            refused(body, dataset, ST_INVALID, "/model/loss");
        } else {
            must_resolve(&request, body, dataset);
            assert_int_equal(request.train.model.layers[0].out, named[i].outputs);
            job_request_fini(&request);
        }
        free(body);
    }
}

static void presets_expand_and_layers_must_fit(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, JOB, private_data(&images, 60000));
    const struct model_spec *model = &request.train.model;
    assert_int_equal(model->layer_count, 3);
    assert_int_equal(model->layers[0].out, 128);
    assert_ptr_equal(model->layers[1].kind, &layer_relu);
    assert_int_equal(model->layers[2].out, 10);
    assert_true(model->layers[0].bias && model->layers[2].bias);
    job_request_fini(&request);

    must_resolve(&request, LAYERS, private_data(&images, 60000));
    assert_int_equal(request.train.model.layer_count, 3);
    assert_false(request.train.model.layers[2].bias);
    job_request_fini(&request);
    refused(LAYERS, private_data(&pairs, 60000), ST_INVALID, "/model/layers/2");
    char *body = edit(LAYERS, ",{\"type\":\"dense\",\"out\":10,\"bias\":false}", "");
    refused(body, private_data(&images, 60000), ST_INVALID, "/model/layers/1");
    free(body);
}

/* 784 x w + w + w x 10 + 10 parameters: 2^31 - 1 allows w = 2701237 and no more. */
static void parameters_are_limited_without_overflow(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(JOB, "[128]", "[2701237]");
    must_resolve(&request, body, private_data(&images, 60000));
    job_request_fini(&request);
    free(body);
    static const char *const hidden[] = {"[2701238]", "[67108864]",
                                         "[67108864,67108864,67108864]",
                                         "[1,67108864,67108864]"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        body = edit(JOB, "[128]", hidden[i]);
        refused(body, private_data(&images, 60000), ST_INVALID, "/model");
        free(body);
    }
}

static void learning_rates_default_by_what_is_trained(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, SHORT, private_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 2);
    assert_true(request.train.optimizer.learning_rate_final == 2);
    assert_true(request.train.optimizer.momentum == 0);
    job_request_fini(&request);
    must_resolve(&request, SHORT, private_data(&prices, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.3);
    job_request_fini(&request);
    must_resolve(&request, LAYERS, private_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.001);
    assert_true(request.train.optimizer.beta1 == 0.9);
    assert_true(request.train.optimizer.beta2 == 0.999);
    assert_true(request.train.optimizer.epsilon == 1e-8);
    job_request_fini(&request);
    must_resolve(&request, OPEN, public_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.1);
    job_request_fini(&request);
}

static void delta_is_the_datasets_unless_a_smaller_one_is_asked(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, SHORT, private_data(&images, 60000));
    assert_true(request.delta == 1e-5);
    job_request_fini(&request);
    char *body = edit(SHORT, "\"epsilon\":2", "\"epsilon\":2,\"delta\":1e-7");
    must_resolve(&request, body, private_data(&images, 60000));
    assert_true(request.delta == 1e-7);
    job_request_fini(&request);
    free(body);
    body =
        edit(SHORT, "\"epsilon\":2", "\"epsilon\":2,\"delta\":1.0000000000000001e-4");
    refused(body, private_data(&images, 60000), ST_INVALID, "/privacy/delta");
    must_resolve(&request, body, public_data(&images, 60000));
    job_request_fini(&request);
    free(body);
}

static void relation_and_records_are_the_datasets(void **state)
{
    (void)state;
    static const enum relation relations[] = {RELATION_ZERO_OUT, RELATION_REPLACE_ONE};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        struct job_request request;
        struct job_dataset dataset = private_data(&images, 59999);
        dataset.relation = relations[i];
        must_resolve(&request, SHORT, dataset);
        assert_int_equal(request.train.relation, relations[i]);
        assert_int_equal(request.train.records, 59999);
        job_request_fini(&request);
    }
}

static char who[] = "who", x[] = "x", y[] = "y", no[] = "no", yes[] = "yes";
static char *answers[] = {no, yes};
static struct column of_people[] = {
    {.name = who, .kind = COLUMN_PRIVACY_ID},
    {.name = x, .kind = COLUMN_NUMERIC, .high = 1},
    {.name = y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers}};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .column_count = 3,
                                     .columns = of_people};

#define PEOPLE_JOB(algorithm, more)                                                    \
    "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\"},"                            \
    "\"algorithm\":{\"name\":\"" algorithm "\"},\"privacy\":{\"epsilon\":1}" more "}"

static void persons_give_some_of_their_rows(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, PEOPLE_JOB("dpsgd", ""), private_data(&people, 900));
    assert_int_equal(request.train.unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(request.train.unit_rows, 4);
    assert_int_equal(network_unit_rows(request.train.network), 4);
    assert_int_equal(request.train.records, 900);
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "\"rows_per_person\":4,"));
    free(text);
    job_request_fini(&request);
    must_resolve(&request, PEOPLE_JOB("adp", ",\"rows_per_person\":16"),
                 private_data(&people, 900));
    assert_int_equal(request.train.unit_rows, 16);
    job_request_fini(&request);
    must_resolve(&request, SHORT, private_data(&images, 900));
    assert_int_equal(request.train.unit, PRIVACY_UNIT_RECORD);
    text = job_request_render(&request);
    assert_null(strstr(text, "rows_per_person"));
    free(text);
    job_request_fini(&request);
}

/* The text of a job with one rank is the same as before ranks existed. */
static void ranks_are_said_where_there_are_several(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, PEOPLE_JOB("dpsgd", ",\"ranks\":3"),
                 private_data(&people, 900));
    assert_int_equal(train_spec_ranks(&request.train), 3);
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "\"ranks\":3,"));
    free(text);
    job_request_fini(&request);
    must_resolve(&request, PEOPLE_JOB("dpsgd", ",\"ranks\":1"),
                 private_data(&people, 900));
    assert_int_equal(train_spec_ranks(&request.train), 1);
    text = job_request_render(&request);
    assert_null(strstr(text, "ranks"));
    free(text);
    job_request_fini(&request);
}

/* No job reads more rows of a person than are kept. */
static void persons_give_no_more_rows_than_are_kept(void **state)
{
    (void)state;
    struct schema few = people;
    struct job_request request;
    for (few.rows_kept = 1; few.rows_kept <= 16; few.rows_kept *= 2) {
        must_resolve(&request, PEOPLE_JOB("dpsgd", ""), private_data(&few, 900));
        assert_int_equal(request.train.unit_rows,
                         few.rows_kept < 4 ? few.rows_kept : 4);
        job_request_fini(&request);
    }
    few.rows_kept = 2;
    must_resolve(&request, PEOPLE_JOB("dpsgd", ",\"rows_per_person\":2"),
                 private_data(&few, 900));
    job_request_fini(&request);
    refused(PEOPLE_JOB("dpsgd", ",\"rows_per_person\":4"), private_data(&few, 900),
            ST_INVALID, "/rows_per_person");
}

static void where_persons_are_not_or_not_proved_is_said(void **state)
{
    (void)state;
    refused(PEOPLE_JOB("dpsgd", ",\"rows_per_person\":4"), private_data(&images, 900),
            ST_INVALID, "/rows_per_person");
    refused(PEOPLE_JOB("dpsgd", ",\"batch_size\":901"), private_data(&people, 900),
            ST_INVALID, "/batch_size");
    refused(PEOPLE_JOB("value_clip", ""), private_data(&people, 900),
            ST_UNIT_UNSUPPORTED, "/algorithm/name");
    refused(PEOPLE_JOB("diff2_gd", ""), private_data(&people, 900), ST_UNIT_UNSUPPORTED,
            "/algorithm/name");
    refused(PEOPLE_JOB("diff2_bvr_l_sgd", ""), private_data(&people, 900),
            ST_UNIT_UNSUPPORTED, "/algorithm/name");
}

#define VIEWS_JOB(algorithm, more) PEOPLE_JOB(algorithm, ",\"augmentation\":{" more "}")

static void views_are_of_images(void **state)
{
    (void)state;
    struct job_request request;
    struct schema photos = images, faces, rows = images;
    must_resolve(&request, VIEWS_JOB("dpsgd", "\"shift\":2"),
                 private_data(&images, 900));
    assert_int_equal(request.train.views.count, 4);
    assert_int_equal(request.train.unit_rows, 0);
    assert_int_equal(network_unit_rows(request.train.network), 4);
    assert_int_equal(request.train.views.planes * request.train.views.height *
                         request.train.views.width,
                     schema_features(&images));
    job_request_fini(&request);
    photos.shape_count = 3;
    memcpy(photos.shape, (const uint32_t[]){3, 8, 6}, sizeof(uint32_t[3]));
    must_resolve(&request, VIEWS_JOB("adp", "\"views\":1,\"shift\":5"),
                 private_data(&photos, 900));
    assert_int_equal(request.train.views.planes, 3);
    assert_int_equal(request.train.views.height, 8);
    assert_int_equal(request.train.views.width, 6);
    job_request_fini(&request);
    refused(VIEWS_JOB("adp", "\"shift\":6"), private_data(&photos, 900), ST_INVALID,
            "/augmentation/shift");
    refused(VIEWS_JOB("value_clip", "\"flip\":true"), private_data(&images, 900),
            ST_INVALID, "/augmentation");
    refused(VIEWS_JOB("diff2_gd", "\"flip\":true"), private_data(&images, 900),
            ST_INVALID, "/augmentation");
    rows.shape_count = 1;
    refused(VIEWS_JOB("dpsgd", "\"flip\":true"), private_data(&rows, 900), ST_INVALID,
            "/augmentation");
    refused(VIEWS_JOB("dpsgd", "\"flip\":true"), private_data(&people, 900), ST_INVALID,
            "/augmentation");
    faces = photos;
    faces.has_id_file = true;
    must_resolve(&request, VIEWS_JOB("dpsgd", "\"views\":8,\"flip\":true"),
                 private_data(&faces, 900));
    assert_int_equal(request.train.unit, PRIVACY_UNIT_PERSON);
    assert_int_equal(request.train.unit_rows, 2); /* as many as there is room for */
    assert_int_equal(network_unit_rows(request.train.network), 16);
    job_request_fini(&request);
    refused(VIEWS_JOB("dpsgd", "\"views\":8,\"flip\":true},\"rows_per_person\":4,"
                               "\"tags\":{"),
            private_data(&faces, 900), ST_INVALID, "/augmentation/views");
}

static void what_is_not_private_needs_public_data(void **state)
{
    (void)state;
    struct job_request request;
    refused(OPEN, private_data(&images, 60000), ST_DATASET_PRIVATE, "/algorithm/name");
    must_resolve(&request, OPEN, public_data(&images, 60000));
    assert_true(request.delta == 0);
    job_request_fini(&request);
    char *body = edit(SHORT, "\"epsilon\":2", "\"budget_fraction\":1");
    refused(body, public_data(&images, 60000), ST_INVALID, "/privacy/budget_fraction");
    must_resolve(&request, body, private_data(&images, 60000));
    job_request_fini(&request);
    free(body);
}

static void weights_are_one_for_each_class(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(SHORT, "\"privacy\"", "\"class_weights\":[1,3],\"privacy\"");
    must_resolve(&request, body, private_data(&pairs, 6000));
    assert_int_equal(request.train.class_weights.count, 2);
    assert_true(request.train.class_weights.values[1] == 3);
    job_request_fini(&request);
    refused(body, private_data(&images, 6000), ST_INVALID, "/class_weights");
    refused(body, private_data(&prices, 6000), ST_INVALID, "/class_weights");
    free(body);
}

static void a_step_takes_no_parameter_away(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(JOB, "\"momentum\":0.0", "\"weight_decay\":0.2499");
    must_resolve(&request, body, private_data(&images, 60000));
    job_request_fini(&request);
    free(body);
    body = edit(JOB, "\"momentum\":0.0", "\"weight_decay\":0.25");
    refused(body, private_data(&images, 60000), ST_INVALID, "/optimizer/weight_decay");
    free(body);
}

static void a_rate_that_nobody_named_falls_by_the_cosine(void **state)
{
    (void)state;
    struct job_request request;
    char *body =
        edit(SHORT, "\"privacy\"",
             "\"optimizer\":{\"name\":\"sgd\",\"schedule\":\"cosine\"},\"privacy\"");
    must_resolve(&request, body, private_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 2);
    assert_true(request.train.optimizer.learning_rate_final == 0);
    job_request_fini(&request);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_batch_is_the_power_of_two_nearest_a_sixtieth),
        cmocka_unit_test(a_look_at_a_holdout_is_resolved_on_divided_data),
        cmocka_unit_test(steps_follow_from_epochs_rounded_up),
        cmocka_unit_test(a_batch_is_at_most_the_data),
        cmocka_unit_test(losses_and_outputs_follow_the_task),
        cmocka_unit_test(presets_expand_and_layers_must_fit),
        cmocka_unit_test(parameters_are_limited_without_overflow),
        cmocka_unit_test(learning_rates_default_by_what_is_trained),
        cmocka_unit_test(delta_is_the_datasets_unless_a_smaller_one_is_asked),
        cmocka_unit_test(relation_and_records_are_the_datasets),
        cmocka_unit_test(persons_give_some_of_their_rows),
        cmocka_unit_test(ranks_are_said_where_there_are_several),
        cmocka_unit_test(persons_give_no_more_rows_than_are_kept),
        cmocka_unit_test(where_persons_are_not_or_not_proved_is_said),
        cmocka_unit_test(views_are_of_images),
        cmocka_unit_test(what_is_not_private_needs_public_data),
        cmocka_unit_test(weights_are_one_for_each_class),
        cmocka_unit_test(a_step_takes_no_parameter_away),
        cmocka_unit_test(a_rate_that_nobody_named_falls_by_the_cosine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
