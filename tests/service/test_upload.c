/* Goal: what breaks off of an upload in pieces is kept as long as its dataset waits for it,
 * and no longer, whichever comes first. Method: uploads that were taken as a request takes
 * them, abandoned before and after their dataset moves. */
#include "tests/expect.h"

#include <unistd.h>

#include "service/upload.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static struct blob_name name_of(const struct dataset *dataset, enum blob_kind kind)
{
    return blob_of_dataset(&dataset_spec(dataset)->id, kind);
}

/* An upload of three bytes of nine, as upload_begin and upload_write leave it. */
static struct upload begun(const struct dataset *dataset, enum blob_kind kind)
{
    uint64_t there = 0;
    struct upload upload = {.open = true, .length = 9};
    const struct upload_claim claim = {name_of(dataset, kind), principal_local, 0, 9};
    assert_int_equal(unfinished_uploads_take(scene.context.unfinished_uploads, &claim,
                                             &upload.unfinished, &there, NULL),
                     ST_OK);
    upload.draft = *unfinished_upload_draft(upload.unfinished);
    upload.file = unfinished_upload_file(upload.unfinished);
    assert_int_equal(upload_write(&scene.context, &upload, "abc", 3, NULL), ST_OK);
    return upload;
}

static bool is_kept(const struct dataset *dataset, enum blob_kind kind)
{
    uint64_t size = 0, length = 0;
    const struct blob_name name = name_of(dataset, kind);
    bool kept = unfinished_uploads_find(scene.context.unfinished_uploads, &name,
                                        &principal_local, &size, &length);
    assert_true(!kept || (size == 3 && length == 9));
    return kept;
}

static void move(struct dataset *dataset, enum dataset_state state)
{
    struct dataset_info info = {.state = state};
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, dataset_move(scene.context.datasets, tx, dataset, &info, NULL));
}

static void a_piece_is_kept_while_its_dataset_waits_for_it(void **state)
{
    (void)state;
    struct dataset *dataset = scene_declare(&scene, "waits", "\"public\"");
    struct upload upload = begun(dataset, BLOB_DATA);
    upload_abandon(&scene.context, &upload);
    assert_false(upload.open);
    upload_abandon(&scene.context, &upload); /* nothing is open */
    assert_true(is_kept(dataset, BLOB_DATA));
    upload = begun(dataset, BLOB_DATA);
    move(dataset, DATASET_IMPORTING);
    upload_abandon(&scene.context, &upload);
    assert_true(is_kept(dataset, BLOB_DATA));
}

/* The dataset's own discarding found nothing, for the piece was begun just after it. */
static void a_piece_that_nobody_waits_for_goes_when_it_breaks_off(void **state)
{
    (void)state;
    struct dataset *dataset = scene_declare(&scene, "gone", "\"public\"");
    struct upload upload = begun(dataset, BLOB_LABELS); /* of another format */
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_LABELS));
    move(dataset, DATASET_DELETED);
    upload = begun(dataset, BLOB_DATA);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_DATA));

    dataset = scene_declare(&scene, "ready", "\"public\"");
    assert_int_equal(scene_import(&scene, dataset, "0.25").state, DATASET_READY);
    upload = begun(dataset, BLOB_DATA);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_DATA));
}

static void removing_a_file_takes_its_piece_along(void **state)
{
    (void)state;
    struct dataset *dataset = scene_declare(&scene, "removed", "\"public\"");
    struct upload upload = begun(dataset, BLOB_DATA);
    const struct blob_name name = name_of(dataset, BLOB_DATA);
    upload_abandon(&scene.context, &upload);
    assert_true(upload_remove(&scene.context, &name));
    assert_false(is_kept(dataset, BLOB_DATA));
}

static void a_body_beyond_its_length_leaves_what_fitted(void **state)
{
    (void)state;
    struct error error = {0};
    struct dataset *dataset = scene_declare(&scene, "long", "\"public\"");
    struct upload upload = begun(dataset, BLOB_DATA);
    assert_int_equal(upload_write(&scene.context, &upload, "defghij", 7, &error),
                     ST_INVALID);
    assert_false(upload_is_whole(&upload));
    upload_abandon(&scene.context, &upload);
    assert_true(is_kept(dataset, BLOB_DATA));
}

static void a_write_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct dataset *dataset = scene_declare(&scene, "fails", "\"public\"");
    struct upload upload = begun(dataset, BLOB_DATA);
    int draft = upload.file, reading = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(reading >= 0);
    upload.file = reading; /* which cannot be written to */
    assert_int_equal(upload_write(&scene.context, &upload, "d", 1, NULL), ST_INTERNAL);
    upload.file = draft;
    close(reading);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_DATA));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_is_kept_while_its_dataset_waits_for_it),
        cmocka_unit_test(a_piece_that_nobody_waits_for_goes_when_it_breaks_off),
        cmocka_unit_test(removing_a_file_takes_its_piece_along),
        cmocka_unit_test(a_body_beyond_its_length_leaves_what_fitted),
        cmocka_unit_test(a_write_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
