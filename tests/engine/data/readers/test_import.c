/* Goal: real files are imported completely. Method: counts and sums of MNIST, a9a,
 * Adult and California housing are compared with those of Python's gzip, csv and
 * collections. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/reader_registry.h"

struct texts { /* a NULL-ended list of declared values */
    const char *at[44];
};

static char *copy(const char *text)
{
    char *made = strdup(text);
    assert_non_null(made);
    return made;
}

static void declare(struct schema *schema, const char *name, enum column_kind kind,
                    const double *range, const struct texts *values)
{
    struct column column = {.name = copy(name), .kind = kind};
    if (range != NULL) {
        column.low = range[0];
        column.high = range[1];
    }
    while (values != NULL && values->at[column.value_count] != NULL)
        column.value_count++;
    if (column.value_count > 0)
        column.values = calloc(column.value_count, sizeof *column.values);
    for (size_t i = 0; i < column.value_count; i++)
        column.values[i] = copy(values->at[i]);
    schema->columns =
        realloc(schema->columns, (schema->column_count + 1) * sizeof *schema->columns);
    assert_non_null(schema->columns);
    schema->columns[schema->column_count++] = column;
}

#define RANGE(low, high)                                                               \
    (const double[])                                                                   \
    {                                                                                  \
        low, high                                                                      \
    }
#define NUMERIC(name, low, high)                                                       \
    declare(&schema, name, COLUMN_NUMERIC, RANGE(low, high), NULL)
#define CATEGORY(name, ...)                                                            \
    declare(&schema, name, COLUMN_CATEGORICAL, NULL, &(struct texts){{__VA_ARGS__}})

static void count_classes(const struct matrix *matrix, uint64_t *counts)
{
    for (uint32_t i = 0; i < matrix->classes; i++)
        counts[i] = 0;
    for (uint64_t i = 0; i < matrix->records; i++)
        counts[matrix->targets[i]]++;
}

static double column_sum(const struct matrix *matrix, size_t feature)
{
    double sum = 0;
    for (uint64_t i = 0; i < matrix->records; i++)
        sum += (double)((const float *)matrix->rows)[i * matrix->features + feature];
    return sum;
}

static const struct schema mnist = {.reader = &idx_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 10,
                                    .shape_count = 3,
                                    .shape = {1, 28, 28},
                                    .scale = 255};

static void ingest_mnist(struct ingest *ingest, const char *part, uint64_t *counts)
{
    char features[1024], labels[1024], name[128];
    snprintf(name, sizeof name, "data/mnist/%s-images-idx3-ubyte.gz", part);
    shared_path(features, name);
    snprintf(name, sizeof name, "data/mnist/%s-labels-idx1-ubyte.gz", part);
    shared_path(labels, name);
    ingest_init(ingest);
    ingest->files = (struct import_files){{features, labels}};
    ingest_run(ingest, &mnist);
    assert_int_equal(ingest->status, ST_OK);
    assert_int_equal(ingest->matrix.features, 784);
    assert_int_equal(ingest->matrix.element, ELEMENT_U8);
    count_classes(&ingest->matrix, counts);
}

/* The hash of the original file, including its header, is the one in the README next to
 * the data. */
static void mnist_training_images_are_the_original_bytes(void **state)
{
    (void)state;
    static const unsigned char head[16] = {0, 0, 8, 3,  0, 0, 0xea, 0x60,
                                           0, 0, 0, 28, 0, 0, 0,    28};
    static const uint64_t expected[10] = {5923, 6742, 5958, 6131, 5842,
                                          5421, 5918, 6265, 5851, 5949};
    struct ingest ingest;
    uint64_t counts[10];
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_HEX_SIZE];
    ingest_mnist(&ingest, "train", counts);
    assert_int_equal(ingest.matrix.records, 60000);
    assert_memory_equal(counts, expected, sizeof counts);
    struct sha256 *hash = sha256_create();
    sha256_update(hash, head, sizeof head);
    sha256_update(hash, ingest.matrix.rows, 60000 * 784);
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    sha256_render(text, digest);
    assert_string_equal(
        text, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db");
    ingest_fini(&ingest);
}

static void mnist_test_images_arrive_whole(void **state)
{
    (void)state;
    static const uint64_t expected[10] = {980, 1135, 1032, 1010, 982,
                                          892, 958,  1028, 974,  1009};
    struct ingest ingest;
    uint64_t counts[10], sum = 0;
    ingest_mnist(&ingest, "t10k", counts);
    assert_int_equal(ingest.matrix.records, 10000);
    assert_memory_equal(counts, expected, sizeof counts);
    for (size_t i = 0; i < 10000 * 784; i++)
        sum += ((const uint8_t *)ingest.matrix.rows)[i];
    assert_int_equal(sum, 264923200);
    ingest_fini(&ingest);
}

static void check_a9a(const char *name, uint64_t records, uint64_t positives,
                      uint64_t ones, uint64_t index_sum)
{
    const struct schema schema = {.reader = &libsvm_reader,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = 2,
                                  .feature_count = 123};
    char path[1024];
    struct ingest ingest;
    uint64_t counts[2], found = 0, indices = 0;
    shared_path(path, name);
    ingest_init(&ingest);
    ingest.files.paths[0] = path;
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, records);
    count_classes(&ingest.matrix, counts);
    assert_int_equal(counts[1], positives);
    for (uint64_t i = 0; i < records * 123; i++) {
        float value = ((const float *)ingest.matrix.rows)[i];
        assert_true(value == 0 || value == 1);
        found += value == 1;
        indices += value == 1 ? i % 123 + 1 : 0;
    }
    assert_int_equal(found, ones);
    assert_int_equal(indices, index_sum);
    ingest_fini(&ingest);
}

static void a9a_arrives_whole(void **state)
{
    (void)state;
    check_a9a("data/a9a/a9a.gz", 32560, 7841, 451578, 22512624);
    check_a9a("data/a9a/a9a.t.gz", 16281, 3846, 225731, 11254800);
}

static struct schema adult(void)
{
    struct schema schema = {
        .reader = &csv_reader, .task = TASK_CLASSIFICATION, .classes = 2};
    NUMERIC("age", 17, 90);
    CATEGORY("workclass", "?", "Private", "Self-emp-not-inc", "Local-gov", "State-gov",
             "Self-emp-inc", "Federal-gov", "Without-pay", "Never-worked");
    NUMERIC("fnlwgt", 0, 1484705);
    declare(&schema, "education", COLUMN_IGNORED, NULL, NULL);
    NUMERIC("education-num", 0, 16);
    CATEGORY("marital-status", "Married-civ-spouse", "Never-married", "Divorced",
             "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse");
    CATEGORY("occupation", "Prof-specialty", "Craft-repair", "Exec-managerial",
             "Adm-clerical", "Sales", "Other-service", "Machine-op-inspct", "?",
             "Transport-moving", "Handlers-cleaners", "Farming-fishing", "Tech-support",
             "Protective-serv", "Priv-house-serv", "Armed-Forces");
    CATEGORY("relationship", "Husband", "Not-in-family", "Own-child", "Unmarried",
             "Wife", "Other-relative");
    CATEGORY("race", "White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo",
             "Other");
    CATEGORY("sex", "Male", "Female");
    NUMERIC("capital-gain", 0, 99999);
    NUMERIC("capital-loss", 0, 4356);
    NUMERIC("hours-per-week", 0, 99);
    declare(&schema, "native-country", COLUMN_IGNORED, NULL, NULL);
    declare(&schema, "income", COLUMN_LABEL, NULL, &(struct texts){{"<=50K", ">50K"}});
    return schema;
}

static void adult_arrives_whole_with_its_question_marks(void **state)
{
    (void)state;
    char path[1024];
    struct ingest ingest;
    uint64_t counts[2];
    shared_path(path, "data/adult/adult.data.gz");
    struct schema schema = adult();
    ingest_init(&ingest);
    ingest.files.paths[0] = path;
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_OK);
    const struct matrix *matrix = &ingest.matrix;
    assert_int_equal(matrix->records, 32561);
    assert_int_equal(matrix->features, 6 + 9 + 7 + 15 + 6 + 5 + 2);
    count_classes(matrix, counts);
    assert_int_equal(counts[1], 7841);
    /* Each mapped value is 2 (x - low) / (high - low) - 1, rounded to 2^-24 at
     * worst. */
    double n = 32561, ages = (column_sum(matrix, 0) + n) / 2 * 73 + 17 * n;
    assert_true(fabs(ages - 1256257) < n * 73 / 2 * 0x1p-24);
    double hours = (column_sum(matrix, 49 - 6 + 6) + n) / 2 * 99;
    assert_true(fabs(hours - 1316684) < n * 99 / 2 * 0x1p-24);
    assert_true(column_sum(matrix, 1) == 1836);          /* workclass ? */
    assert_true(column_sum(matrix, 9) == 7);             /* Never-worked */
    assert_true(column_sum(matrix, 12 + 7 + 7) == 1843); /* occupation ? */
    assert_true(column_sum(matrix, 46) == 10771);        /* Female */
    schema_fini(&schema);
    ingest_fini(&ingest);
}

static struct schema housing(void)
{
    struct schema schema = {
        .reader = &csv_reader, .task = TASK_REGRESSION, .header = true};
    NUMERIC("longitude", -125, -114);
    NUMERIC("latitude", 32, 42);
    NUMERIC("housing_median_age", 0, 52);
    NUMERIC("total_rooms", 0, 40000);
    NUMERIC("total_bedrooms", 0, 8000);
    NUMERIC("population", 0, 40000);
    NUMERIC("households", 0, 8000);
    NUMERIC("median_income", 0, 15);
    declare(&schema, "median_house_value", COLUMN_LABEL, RANGE(0, 500000), NULL);
    CATEGORY("ocean_proximity", "<1H OCEAN", "INLAND", "NEAR OCEAN", "NEAR BAY",
             "ISLAND");
    return schema;
}

static void california_housing_arrives_whole_given_a_default(void **state)
{
    (void)state;
    static const double oceans[5] = {9136, 6551, 2658, 2290, 5};
    char path[1024];
    struct ingest ingest;
    shared_path(path, "data/california-housing/housing.csv.gz");
    struct schema schema = housing();
    ingest_init(&ingest);
    ingest.files.paths[0] = path;
    ingest_run(&ingest, &schema);
    assert_refused(&ingest, "data", 292, 5, "empty");

    schema.columns[4].fallback = copy("500");
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_OK);
    const struct matrix *matrix = &ingest.matrix;
    assert_int_equal(matrix->records, 20640);
    assert_int_equal(matrix->features, 13);
    for (size_t i = 0; i < 5; i++)
        assert_true(column_sum(matrix, 8 + i) == oceans[i]);
    double n = 20640, bedrooms = (column_sum(matrix, 4) + n) / 2 * 8000;
    assert_true(fabs(bedrooms - (10990309 + 207 * 500)) < n * 4000 * 0x1p-24);
    double longitude = (column_sum(matrix, 0) + n) / 2 * 11 - 125 * n;
    assert_true(fabs(longitude + 2467918.7) < n * 5.5 * 0x1p-24 + 1e-6);
    /* The first record is NEAR BAY: 452600 of 500000. */
    assert_close((double)matrix->values[0], 2 * 452600.0 / 500000 - 1, 1e-7);
    assert_true(feature_at(matrix, 0, 11) == 1);
    schema_fini(&schema);
    ingest_fini(&ingest);
}

static void a_cancelled_import_leaves_nothing(void **state)
{
    (void)state;
    struct ingest ingest;
    atomic_bool cancel = true;
    const struct schema schema = {.reader = &libsvm_reader,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = 2,
                                  .feature_count = 3};
    ingest_init(&ingest);
    write_file(ingest.data, "0 1:1\n", 6);
    ingest.files.paths[0] = ingest.data;
    struct import import = ingest_import(&ingest, &schema);
    import.cancel = &cancel;
    assert_int_equal(import_run(&import, &ingest.result, &ingest.failure),
                     ST_CANCELLED);
    assert_int_equal(ingest.failure.status, ST_CANCELLED);
    assert_string_equal(ingest.failure.file, "");
    assert_int_equal(access(ingest.out, F_OK), -1);
    ingest_fini(&ingest);
}

static void what_cannot_be_read_or_written_is_an_io_error(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct schema schema = {.reader = &libsvm_reader,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = 2,
                                  .feature_count = 3};
    ingest_init(&ingest);
    ingest.files.paths[0] = ingest.data; /* absent */
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_IO);
    write_file(ingest.data, "0 1:1\n", 6);
    strcpy(ingest.out, "/nonexistent/matrix");
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_IO);
    ingest_fini(&ingest);
}

/* The header holds the features and the scale, so the hash distinguishes schemas
 * too. */
static void the_same_content_has_the_same_hash(void **state)
{
    (void)state;
    struct ingest ingest;
    struct schema schema = {.reader = &libsvm_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 2,
                            .feature_count = 3};
    ingest_init(&ingest);
    ingest_text(&ingest, &schema, "0 1:1\n1 2:0.5\n");
    struct import_result first = ingest.result;
    ingest_text(&ingest, &schema, "# again\n0 1:1.0 3:0\n1 2:5e-1\n");
    assert_memory_equal(first.sha256, ingest.result.sha256, SHA256_SIZE);
    ingest_text(&ingest, &schema, "0 1:1\n1 2:0.25\n");
    assert_memory_not_equal(first.sha256, ingest.result.sha256, SHA256_SIZE);
    ingest_fini(&ingest);
}

/* Scale, classes and labels affect the file but not its rows. */
static void the_same_records_declared_otherwise_have_the_same_rows(void **state)
{
    (void)state;
    static const unsigned char values[] = {0, 0, 8, 2, 0, 0, 0, 2,
                                           0, 0, 0, 2, 1, 2, 3, 4};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};
    static const unsigned char others[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 1};
    struct ingest ingest;
    struct schema schema = {.reader = &idx_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 2,
                            .shape_count = 1,
                            .shape = {2},
                            .scale = 255};
    ingest_init(&ingest);
    ingest.files = (struct import_files){{ingest.features, ingest.labels}};
    write_file(ingest.features, values, sizeof values);
    write_file(ingest.labels, labels, sizeof labels);
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_OK);
    struct import_result first = ingest.result;
    for (int i = 0; i < 3; i++) {
        schema.scale = i == 0 ? 1 : 255;
        schema.classes = i == 1 ? 3 : 2;
        write_file(ingest.labels, i == 2 ? others : labels, sizeof labels);
        ingest_run(&ingest, &schema);
        assert_int_equal(ingest.status, ST_OK);
        assert_memory_not_equal(first.sha256, ingest.result.sha256, SHA256_SIZE);
        assert_memory_equal(first.rows_sha256, ingest.result.rows_sha256, SHA256_SIZE);
    }
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mnist_training_images_are_the_original_bytes),
        cmocka_unit_test(mnist_test_images_arrive_whole),
        cmocka_unit_test(a9a_arrives_whole),
        cmocka_unit_test(adult_arrives_whole_with_its_question_marks),
        cmocka_unit_test(california_housing_arrives_whole_given_a_default),
        cmocka_unit_test(a_cancelled_import_leaves_nothing),
        cmocka_unit_test(what_cannot_be_read_or_written_is_an_io_error),
        cmocka_unit_test(the_same_content_has_the_same_hash),
        cmocka_unit_test(the_same_records_declared_otherwise_have_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
