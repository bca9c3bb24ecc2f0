/* Goal: if units are persons, a step and a request of statistics read the same amount
 * whatever rows each person has, so that they take equally long (privacy.md P6).
 * Method: imported files with the same number of persons and different numbers of rows;
 * the linker's --wrap counts what is read and drawn. test_persons compares the sizes of
 * the files. */
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "engine/data/readers/reader_registry.h"
#include "engine/statistics/measurement.h"
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "tests/engine/statistics/records_fixture.h"
#include "tests/engine/trainer_fixture.h"

enum { PERSONS = 48, STEPS = 3, UNIT_ROWS = 8 };

static struct work { /* work done since it was last zeroed */
    uint64_t gathered, numbers, values, drawn;
    uint64_t slow; /* gathers outside small_floats_drop */
} work;

void __real_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count);
void __wrap_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count);
void __real_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from);
void __wrap_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from);
float __real_stored_column_number(const struct stored_column *stored,
                                  const struct matrix *matrix, uint64_t record);
float __wrap_stored_column_number(const struct stored_column *stored,
                                  const struct matrix *matrix, uint64_t record);
uint32_t __real_stored_column_value(const struct stored_column *stored,
                                    const struct matrix *matrix, uint64_t record);
uint32_t __wrap_stored_column_value(const struct stored_column *stored,
                                    const struct matrix *matrix, uint64_t record);

void __wrap_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count)
{
    volatile float normal = FLT_MIN, half = 0.5F;
    work.gathered += count;
    /* Subnormal rows take no longer: code that reads a row sees none. */
    work.slow += normal * half != 0.0F;
    __real_matrix_gather(matrix, out, stride, indices, count);
}

void __wrap_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from)
{
    work.drawn += size;
    __real_stream_read(stream, out, size, from);
}

float __wrap_stored_column_number(const struct stored_column *stored,
                                  const struct matrix *matrix, uint64_t record)
{
    work.numbers++;
    return __real_stored_column_number(stored, matrix, record);
}

uint32_t __wrap_stored_column_value(const struct stored_column *stored,
                                    const struct matrix *matrix, uint64_t record)
{
    work.values++;
    return __real_stored_column_value(stored, matrix, record);
}

/* Imports a file in which each person has `each` rows, or one to forty if it is 0. */
static void ingest_people(struct ingest *ingest, size_t each)
{
    static struct schema schema;
    char *text = calloc(PERSONS * 64, 48);
    char *end = stpcpy(text, "age,wage,colour,class,who\n");
    for (size_t u = 0; u < PERSONS; u++)
        for (size_t k = 0; k < (each > 0 ? each : u * u % 40 + 1); k++)
            end += sprintf(end, "%zu,7,%s,%s,p%zu\n", (u + k) % 100,
                           record_colours[(u + 2 * k) % 3], record_classes[k % 2], u);
    schema = record_schema;
    schema.reader = &csv_reader;
    schema.header = true;
    ingest_text(ingest, &schema, text);
    if (ingest->status != ST_OK)
        fail_msg("%s", ingest->failure.text);
    free(text);
}

/* Returns the work of training on the persons of the matrix for a few steps over all of
 * them, with `views` views of each row. */
static struct work work_of_steps(const struct matrix *matrix, size_t views)
{
    struct world *world = world_create("dpgd");
    world->data = *matrix;
    world->spec.unit = PRIVACY_UNIT_PERSON;
    world->spec.unit_rows = UNIT_ROWS / (views > 0 ? views : 1);
    world->spec.views = (struct view_spec){views, true, 1, 1, 1, matrix->features};
    world->spec.records = world->spec.batch_size = PERSONS;
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, 2);
    struct trainer_options options = options_of(world, 1);
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    work = (struct work){0};
    run_steps(trainer, STEPS);
    struct work done = work;
    trainer_destroy(trainer);
    world_destroy(world);
    return done;
}

/* Returns the work of one request of statistics of every kind. */
static struct work work_of_statistics(const struct matrix *matrix)
{
    static const double halves[] = {0.5};
    struct measurement measurement;
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_PERSON, 2, PERSONS, 0, 0};
    const atomic_bool cancel = false;
    struct statistics list = asked(5);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "colour", 0);
    ask(&list.items[1], STATISTIC_TABLE, "class", 0);
    ask(&list.items[1], STATISTIC_TABLE, "age", 10);
    ask(&list.items[2], STATISTIC_MEAN, "age", 1);
    ask(&list.items[3], STATISTIC_VARIANCE, "age", 1);
    ask_quantiles(&list.items[4], "age", 20, halves, 1);
    assert_int_equal(statistics_resolve(&list, &record_schema, NULL), ST_OK);
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_OK);
    double *released = calloc(measurement.slots, sizeof *released);
    work = (struct work){0};
    assert_int_equal(
        measurement_run(&measurement, &list, matrix, NULL, &cancel, released, NULL),
        ST_OK);
    struct work done = work;
    free(released);
    statistics_fini(&list);
    return done;
}

static void assert_same_work(struct work a, struct work b)
{
    assert_int_equal(a.gathered, b.gathered);
    assert_int_equal(a.numbers, b.numbers);
    assert_int_equal(a.values, b.values);
    assert_int_equal(a.drawn, b.drawn);
}

static void as_much_is_read_whatever_rows_there_are(void **state)
{
    (void)state;
    static const size_t each[] = {2, 8, 9, 16, 17, 60, 0};
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_people(&ingest, 1);
    struct work steps = work_of_steps(&ingest.matrix, 0);
    struct work views = work_of_steps(&ingest.matrix, 4);
    struct work statistics = work_of_statistics(&ingest.matrix);
    assert_int_equal(steps.gathered, STEPS * PERSONS * UNIT_ROWS);
    assert_int_equal(steps.slow + views.slow, 0);
    assert_int_equal(statistics.values, 2 * PERSONS * MATRIX_SLOTS_MAX);
    assert_int_equal(statistics.numbers, 4 * PERSONS * MATRIX_SLOTS_MAX);
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        ingest_people(&ingest, each[k]);
        assert_same_work(work_of_steps(&ingest.matrix, 0), steps);
        assert_same_work(work_of_steps(&ingest.matrix, 4), views);
        assert_same_work(work_of_statistics(&ingest.matrix), statistics);
    }
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_much_is_read_whatever_rows_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
