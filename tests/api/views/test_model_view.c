/* Goal: a model carries its certificate (P10) and the encoding of its inputs, and
 * nothing else of where it was made; what an algorithm releases is in it by name.
 * Method: texts read by jansson; inputs read back; an algorithm that only this test
 * knows. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/requests/job_defaults.h"
#include "api/views/model_view.h"
#include "engine/data/text_column.h"
#include "api/views/released_view.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/stepper.h"
#include "tests/engine/trainer_fixture.h"

static const struct model_id id = {"mdl_01J00000000000000000000000"};
static const struct job_id job = {"job_01J00000000000000000000000"};
static const char mechanism[] =
    "{\"kind\":\"sampled_gaussian\",\"relation\":\"zero_out\","
    "\"runs\":[[0.017066666666666667,1.4850000000000001,1172]],\"prefixes_priced\":"
    "true}";

static struct dataset_spec dataset;
static struct job_request request;

static int prepare(void **state)
{
    static const char data[] = "{\"id\":\"mnist\",\"format\":\"idx\",\"task\":"
                               "\"classification\",\"classes\":10,"
                               "\"features\":{\"shape\":[28,28],\"scale\":255},"
                               "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}";
    static const char body[] =
        "{\"dataset\":\"mnist\",\"model\":{\"preset\":\"linear\"},"
        "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":2}}";
    (void)state;
    if (dataset_spec_parse(&dataset, json_text_sized(data, sizeof data - 1), NULL) !=
        ST_OK)
        return 1;
    struct job_dataset known = {&dataset.schema,   60000, 0, {0, 0}, false,
                                RELATION_ZERO_OUT, 1e-5};
    return job_request_parse(&request, json_text_sized(body, sizeof body - 1), NULL) !=
               ST_OK ||
           job_defaults_fill(&request, &known, NULL) != ST_OK;
}

static int clean(void **state)
{
    (void)state;
    job_request_fini(&request);
    dataset_spec_fini(&dataset);
    return 0;
}

#define DIGEST "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ab"

static struct model_view published(const struct ledger_entry_name *reserve)
{
    return (struct model_view){.id = &id,
                               .job = &job,
                               .dataset = &dataset,
                               .request = &request,
                               .mechanism = mechanism,
                               .noise_multiplier = 1.485,
                               .sampling_rate = 1024.0 / 60000,
                               .epsilon = 1.9999999,
                               .order = 7.25,
                               .steps = 1172,
                               .reserve = reserve,
                               .version = "9.8.7"};
}

static void a_certificate_says_what_was_promised_and_why(void **state)
{
    (void)state;
    static const struct ledger_entry_name reserve = {.seq = 17, .hash = {0xab}};
    static const struct noise_certificate noise = {
        .plan = {.clip_norm = 1, .grid = {.cells = 3}},
        .kernel = "SkylakeX",
        .gemm_kernel = "avx512"};
    struct model_view view = published(&reserve);
    char *noise_text = noise_render(&noise);
    struct epoch all[2] = {
        {.number = 1, .grant = {.epsilon = 3, .delta = 1e-5}, .frozen = true},
        {.number = 2, .grant = {.epsilon = 2, .delta = 1e-5}}};
    for (int e = 0; e < 2; e++)
        assert_int_equal(filter_of(&all[e].filter, &all[e].grant, NULL), ST_OK);
    view.noise = noise_text;
    view.epochs = &(struct epochs){.items = all, .count = 2};
    char *text = certificate_render(&view);
    assert_non_null(strstr(text, mechanism));
    json_auto_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *guarantee = json_object_get(root, "guarantee");
    const char *relation, *unit, *accountant, *hash, *version, *kernel, *dense_kernel;
    const char *convolution_kernel;
    double epsilon, delta, order, rate, multiplier;
    int steps, seq;
    assert_int_equal(
        json_unpack(
            guarantee, "{s:s,s:s,s:f,s:f,s:s,s:f,s:o,s:f,s:f,s:i,s:{s:i,s:s!}!}",
            "relation", &relation, "unit", &unit, "epsilon", &epsilon, "delta", &delta,
            "accountant", &accountant, "order", &order, "mechanism", &(json_t *){0},
            "sampling_rate", &rate, "noise_multiplier", &multiplier, "steps", &steps,
            "reserve", "seq", &seq, "hash", &hash),
        0);
    assert_string_equal(relation, "zero_out");
    assert_string_equal(unit, "record");
    assert_string_equal(accountant, "rdp");
    assert_true(epsilon == 1.9999999 && delta == 1e-5 && order == 7.25);
    assert_true(rate == 1024.0 / 60000 && multiplier == 1.485);
    assert_true(steps == 1172 && seq == 17);
    assert_memory_equal(hash, "ab00", 4);
    int classes, safe;
    assert_int_equal(json_unpack(root, "{s:s,s:{s:s,s:s,s:s,s:i,s:b}}", "version",
                                 &version, "noise", "kernel", &kernel, "dense_kernel",
                                 &dense_kernel, "convolution_kernel",
                                 &convolution_kernel, "position_classes", &classes,
                                 "float_safe", &safe),
                     0);
    assert_true(classes == 1 && safe);
    assert_string_equal(version, "9.8.7");
    assert_string_equal(kernel, "SkylakeX");
    assert_string_equal(dense_kernel, "avx512");
    assert_string_equal(convolution_kernel, "avx512");
    double granted;
    int frozen;
    assert_int_equal(json_unpack(root, "{s:{s:{s:f,s:f},s:[{s:f,s:b},{s:f}]}}",
                                 "dataset_guarantee", "guarantee", "epsilon", &epsilon,
                                 "delta", &delta, "epochs", "epsilon", &granted,
                                 "frozen", &frozen, "epsilon", &order),
                     0);
    assert_true(epsilon == 5 && delta == 2e-5); /* other orders: epochs are added */
    assert_true(granted == 3 && frozen && order == 2);
    free(text);
    free(noise_text);
}

static void without_a_reservation_nothing_is_guaranteed(void **state)
{
    (void)state;
    struct model_view view = published(NULL);
    char *text = certificate_render(&view);
    assert_non_null(strstr(text, "\"guarantee\":null"));
    assert_non_null(strstr(text, "\"dataset_guarantee\":null"));
    assert_non_null(strstr(text, "\"noise\":null"));
    free(text);
}

static void the_exact_profile_has_no_order(void **state)
{
    (void)state;
    static const struct ledger_entry_name reserve = {.seq = 1};
    struct model_view view = published(&reserve);
    view.order = 0;
    char *text = certificate_render(&view);
    assert_non_null(strstr(text, "\"accountant\":\"gaussian\",\"order\":null"));
    free(text);
}

/* The note of an ancestor is no member, whatever it says. */
static void the_file_of_the_body_reads_back(void **state)
{
    (void)state;
    struct ancestry ancestry = {.count = 1};
    struct certificate_base base = {.file = "fil_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                                    .sha256 = "ab12",
                                    .names = "bert"},
                            read = {.file = ""};
    struct model_view view = published(NULL);
    struct model_row row = {0};
    snprintf(ancestry.items[0].note, sizeof ancestry.items[0].note,
             "\",\"base\":{\"file\":\"fil_x\",\"sha256\":\"\",\"names\":\"\"}");
    view.ancestry = &ancestry;
    char *without = certificate_render(&view);
    row.card = without;
    assert_false(certificate_base(&read, &row));
    view.base = &base;
    char *with = certificate_render(&view), *text = certificate_base_render(&base);
    row.card = with;
    assert_true(certificate_base(&read, &row));
    assert_memory_equal(&read, &base, sizeof base);
    assert_non_null(strstr(with, text));
    free(with);
    free(without);
    free(text);
}

static void inputs_read_back_and_carry_no_name(void **state)
{
    (void)state;
    struct schema again;
    char *text = inputs_render(&dataset.schema);
    assert_string_equal(text, "{\"format\":\"idx\",\"task\":\"classification\","
                              "\"classes\":10,\"features\":{\"shape\":[28,28],"
                              "\"scale\":255.0}}");
    assert_int_equal(inputs_parse(&again, text, NULL), ST_OK);
    assert_true(schema_agrees(&again, &dataset.schema));
    schema_fini(&again);
    free(text);
    assert_int_equal(inputs_parse(&again, "{\"id\":\"x\"}", NULL), ST_INVALID);
    assert_int_equal(inputs_parse(&again, "", NULL), ST_INVALID);
}

/* An algorithm that no other file knows: it counts norms in addition to the clipped
 * sum. */
struct counting {
    struct flat_clip clip;
    struct histogram histogram;
    struct grid grid;
    struct noise_plan noise;
    double counts[3];
};

static enum status counting_plan(struct mechanism *m,
                                 const struct algorithm_inputs *inputs,
                                 struct error *error)
{
    return clipped_sum_charge(m, MECHANISM_SAMPLED_GAUSSIAN, inputs, error);
}

static enum status counting_start(void *context, const struct algorithm_inputs *inputs,
                                  const struct algorithm_model *model,
                                  struct error *error)
{
    struct counting *counting = context;
    struct grid_spec sum = clipped_sum_spec(inputs, model, 1);
    struct count_grid_spec counts = {5, (double)inputs->batch_size, RECORDS, 3};
    counting->clip = (struct flat_clip){.clip_norm = 1, .spread = 1};
    counting->histogram = (struct histogram){.bins = 3, .range = 2};
    enum status status = clipped_sum_plan(&counting->noise, &sum, error);
    if (status == ST_OK)
        status = grid_plan_counts(&counting->grid, &counts, error);
    noise_plan_set(
        &counting->noise,
        &(struct noise_grid){.name = "lengths", .bins = 3, .grid = counting->grid});
    return status;
}

static enum status counting_step(void *context, struct stepper *stepper,
                                 struct error *error)
{
    struct counting *counting = context;
    struct batch_sum sum = {.grid = &counting->noise.grid,
                            .clip = clip_flat,
                            .clip_context = &counting->clip,
                            .histogram = &counting->histogram};
    stepper_sample(stepper, 0.5);
    assert_int_equal(stepper_descend(stepper, &sum, 300, error), ST_OK);
    stepper_release_counts(stepper, &counting->grid, counting->counts);
    return ST_OK;
}

static size_t counting_released(const void *context,
                                struct released_value values[RELEASED_SERIES_MAX])
{
    const struct counting *counting = context;
    values[0] = (struct released_value){"lengths", counting->counts, 3, true};
    return 1;
}

static const struct algorithm counting = {.name = "counting",
                                          .is_private = true,
                                          .plan = counting_plan,
                                          .state_size = sizeof(struct counting),
                                          .start = counting_start,
                                          .step = counting_step,
                                          .noise_at = offsetof(struct counting, noise),
                                          .released = counting_released};

static void what_a_new_algorithm_releases_is_shown_by_its_name(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct trainer_options options = options_of(world, 1);
    algorithm_spec_init(&world->spec.algorithm, &counting);
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 1);

    struct noise_certificate noise;
    assert_true(trainer_noise_certificate(trainer, &noise));
    char *noise_text = noise_render(&noise);
    struct model_view view = published(NULL);
    view.noise = noise_text;
    char *text = certificate_render(&view);
    json_auto_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    double scale;
    int bins;
    assert_int_equal(json_unpack(root, "{s:{s:{s:i,s:f!}}}", "noise", "lengths", "bins",
                                 &bins, "scale", &scale),
                     0);
    assert_true(bins == 3 && scale == floor(0x1p36 / 5));

    struct released_value values[RELEASED_SERIES_MAX];
    assert_int_equal(trainer_released(trainer, values), 1);
    struct released_history *history = released_create(values, 1);
    released_append(history, 1, values);
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    released_write(&writer, "released", history, 1);
    json_write_object_end(&writer);
    char *shown = json_writer_close(&writer);
    assert_non_null(strstr(shown, "{\"step\":1,\"lengths\":["));
    free(shown);
    free(history);
    free(text);
    free(noise_text);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_model_is_its_row(void **state)
{
    (void)state;
    struct model_row row = {.id = id,
                            .job = job,
                            .sha256 = {0xcd},
                            .size = 4096,
                            .card = "{\"guarantee\":null}",
                            .create_ms = 1767225600000};
    const struct evaluation_point point = {413, 0.31, 0.912};
    const struct holdout_score score = {.score = {true, 0.75, 0.5, 0.875}};
    struct model_course course = {.dataset = "digits", .algorithm = "dpsgd"};
    char *text = model_render(&row, &course);
    assert_non_null(strstr(text, "\"dataset\":\"digits\",\"algorithm\":\"dpsgd\","
                                 "\"metrics\":{\"evaluation\":null,\"holdout\":null}"));
    free(text);
    course.evaluation = &point;
    course.holdout = &score;
    text = model_render(&row, &course);
    assert_non_null(strstr(
        text, "\"metrics\":{\"evaluation\":{\"step\":413,\"accuracy\":0.912,"
              "\"loss\":0.31},\"holdout\":{\"metric\":\"accuracy\",\"value\":0.75,"
              "\"low\":0.5,\"high\":0.875,\"evaluation\":null}}"));
    assert_non_null(strstr(text, "\"certificate\":{\"guarantee\":null},"));
    assert_non_null(strstr(text, "\"sha256\":\"cd00"));
    assert_non_null(strstr(text, "\"size\":4096"));
    free(text);
}

/* The note of an ancestor is no member, whatever it says. */
static void the_tokenizer_of_texts_reads_back(void **state)
{
    static const char declared[] =
        "{\"id\":\"films\",\"format\":\"csv\",\"task\":\"classification\","
        "\"columns\":[{\"name\":\"review\",\"kind\":\"text\",\"length\":32,"
        "\"tokenizer\":{\"kind\":\"wordpiece\","
        "\"vocabulary\":\"fil_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"lower\":true,"
        "\"tokens\":30522,\"sha256\":[\"" DIGEST "\"]}},"
        "{\"name\":\"verdict\",\"kind\":\"label\",\"values\":[\"bad\",\"good\"]}],"
        "\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}";
    struct dataset_spec films;
    struct text_column read;
    struct model_row row = {0};
    struct error error = {0};
    struct ancestry ancestry = {.count = 1};
    (void)state;
    if (dataset_spec_parse(&films, json_text_of(declared), &error) != ST_OK)
        fail_msg("%s %s", error.pointer, error.text);
    struct model_view view = published(NULL);
    snprintf(ancestry.items[0].note, sizeof ancestry.items[0].note,
             "\",\"text\":{\"length\":8}");
    view.ancestry = &ancestry;
    char *without = certificate_render(&view);
    row.card = without;
    assert_false(certificate_text(&read, &row));
    view.dataset = &films;
    char *with = certificate_render(&view);
    row.card = with;
    assert_true(certificate_text(&read, &row));
    assert_true(text_column_agrees(&read, schema_text(&films.schema)->text));
    assert_string_equal(read.files[0].text, "fil_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_string_equal(read.sha256[0], DIGEST);
    free(with);
    free(without);
    dataset_spec_fini(&films);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_says_what_was_promised_and_why),
        cmocka_unit_test(without_a_reservation_nothing_is_guaranteed),
        cmocka_unit_test(the_exact_profile_has_no_order),
        cmocka_unit_test(the_file_of_the_body_reads_back),
        cmocka_unit_test(the_tokenizer_of_texts_reads_back),
        cmocka_unit_test(inputs_read_back_and_carry_no_name),
        cmocka_unit_test(what_a_new_algorithm_releases_is_shown_by_its_name),
        cmocka_unit_test(a_model_is_its_row),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
