/* Goal: an unfinished part of an upload is kept as long as its dataset waits for it,
 * and no longer, whichever comes first; and if a dataset is declared in another format
 * while an upload of it begins, only that upload stops, as it does when an import
 * begins while a file is published. Method: uploads that were taken as a request takes
 * them, abandoned before and after their dataset moves; and a dataset_read that
 * declares the dataset again just after it was read, as the write queue may. */
#include "api/requests/dataset_request.h"
#include "api/views/dataset_view.h"
#include "api/http/routes.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/ingest/unfinished_uploads.h"
#include "tests/expect.h"

#include <unistd.h>

#include "service/ingest/upload.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static const char *overtaken;  /* declared again after the next read; NULL: none */
static struct dataset *begins; /* whose import begins after the next read; NULL: none */

static void declare_arrays(const char *id)
{
    char text[256];
    struct dataset_spec spec;
    struct dataset *dataset = NULL;
    snprintf(text, sizeof text,
             "{\"id\":\"%s\",\"format\":\"idx\",\"task\":\"classification\","
             "\"classes\":2,\"features\":{\"shape\":[1],\"scale\":1},"
             "\"privacy\":\"public\"}",
             id);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    const struct dataset_renewal renewal = {.spec_take = &spec};
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, datasets_declare_anew(scene.context.datasets, tx, &renewal,
                                           &dataset, NULL));
}

static void move(struct dataset *dataset, enum dataset_state state)
{
    struct dataset_info info = {.state = state};
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, dataset_move(scene.context.datasets, tx, dataset, &info, NULL));
}

void __real_dataset_read(struct datasets *datasets, const struct dataset *dataset,
                         struct dataset_info *info);
void __wrap_dataset_read(struct datasets *datasets, const struct dataset *dataset,
                         struct dataset_info *info);
void __wrap_dataset_read(struct datasets *datasets, const struct dataset *dataset,
                         struct dataset_info *info)
{
    const char *id = overtaken;
    struct dataset *importing = begins;
    overtaken = NULL;
    begins = NULL;
    __real_dataset_read(datasets, dataset, info);
    if (id != NULL)
        declare_arrays(id);
    if (importing != NULL)
        move(importing, DATASET_IMPORTING);
}

static bool others_share; /* the store */

bool __real_store_shared(const struct store *store);
bool __wrap_store_shared(const struct store *store);
bool __wrap_store_shared(const struct store *store)
{
    return others_share || __real_store_shared(store);
}

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

static void a_piece_is_kept_while_its_dataset_waits_for_it(void **state)
{
    (void)state;
    struct dataset *dataset = scene_declare(&scene, "waits", "\"public\"");
    struct upload upload = begun(dataset, BLOB_DATA);
    upload_abandon(&scene.context, &upload);
    assert_false(upload.open);
    upload_abandon(&scene.context, &upload); /* no file is open */
    assert_true(is_kept(dataset, BLOB_DATA));
    upload = begun(dataset, BLOB_DATA);
    move(dataset, DATASET_IMPORTING);
    upload_abandon(&scene.context, &upload);
    assert_true(is_kept(dataset, BLOB_DATA));
}

/* The dataset discarded its files just before the piece was begun, and found none. */
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
    upload.file = reading; /* opened for reading only */
    assert_int_equal(upload_write(&scene.context, &upload, "d", 1, NULL), ST_INTERNAL);
    upload.file = draft;
    close(reading);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_DATA));
}

/* Returns the route of the file "data" of a new dataset, which is declared again at the
 * next read. */
static struct route_match overtaken_place(const char *id)
{
    struct route_match place = {.name = "data"};
    snprintf(place.id, sizeof place.id, "%s", id);
    scene_declare(&scene, id, "\"public\"");
    overtaken = id;
    return place;
}

/* Begins an upload whose dataset is declared in another format after it was found. */
static struct upload begun_overtaken(const struct route_match *place,
                                     const char *offset, const char *length)
{
    struct upload upload = {0};
    struct error error = {0};
    const struct upload_start start = {.place = place,
                                       .principal = &principal_local,
                                       .offset = offset,
                                       .length = length};
    if (upload_begin(&scene.context, &upload, &start, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_null(overtaken);
    assert_true(upload.open);
    assert_int_equal(upload_write(&scene.context, &upload, "abc", 3, &error), ST_OK);
    return upload;
}

static void a_file_of_a_format_that_goes_as_it_begins_is_not_published(void **state)
{
    (void)state;
    struct error error = {0};
    const struct route_match place = overtaken_place("whole");
    struct upload upload = begun_overtaken(&place, NULL, NULL);
    const struct blob_name name = upload.draft.name;
    assert_int_equal(upload_publish(&scene.context, &upload, &place, &error),
                     ST_NOT_FOUND);
    assert_string_equal(error.text, "a dataset of format idx has files/features and "
                                    "files/labels");
    upload_abandon(&scene.context, &upload);
    assert_int_equal(blob_find(scene.context.blobs, &name, NULL), ST_NOT_FOUND);
}

/* The import reads the earlier files: another daemon has begun it, or the write queue
 * during a fetch. An upload is only accepted if its file is the one that is
 * imported. */
static void a_file_whose_import_begins_as_it_is_published_is_refused(void **state)
{
    (void)state;
    struct error error = {0};
    char path[BLOB_PATH_SIZE];
    struct dataset *dataset = scene_declare(&scene, "begins", "\"public\"");
    const struct route_match place = {.id = "begins", .name = "data"};
    const struct upload_start start = {.place = &place, .principal = &principal_local};
    for (int i = 0; i < 2; i++) {
        struct upload upload = {0};
        assert_int_equal(upload_begin(&scene.context, &upload, &start, NULL), ST_OK);
        assert_int_equal(upload_write(&scene.context, &upload,
                                      i == 0 ? "before" : "new", i == 0 ? 6 : 3, NULL),
                         ST_OK);
        begins = i == 0 ? NULL : dataset;
        assert_int_equal(upload_publish(&scene.context, &upload, &place, &error),
                         i == 0 ? ST_OK : ST_DATASET_BUSY);
        upload_abandon(&scene.context, &upload);
    }
    assert_string_equal(error.text, "it is being imported");
    const struct blob_name name = name_of(dataset, BLOB_DATA);
    struct blob_loan loan = {.is_lent = false};
    assert_int_equal(blob_fetch(scene.context.blobs, &loan, &name, NULL), ST_OK);
    snprintf(path, sizeof path, "%s", loan.path);
    char bytes[16] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, bytes, sizeof bytes - 1), 6);
    close(file);
    blob_give_back(scene.context.blobs, &loan);
    assert_string_equal(bytes, "before");
}

static void a_piece_of_a_format_that_goes_as_it_begins_is_not_kept(void **state)
{
    (void)state;
    const struct route_match place = overtaken_place("piece");
    struct upload upload = begun_overtaken(&place, "0", "9");
    assert_int_equal(upload_pause(&scene.context, &upload, &place, NULL), ST_NOT_FOUND);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(datasets_find(scene.context.datasets, "piece"), BLOB_DATA));
}

/* The next piece may reach another daemon, which has a part of another file. */
static void where_others_share_the_store_no_part_is_kept(void **state)
{
    (void)state;
    struct error error = {0};
    struct dataset *dataset = scene_declare(&scene, "parts", "\"public\"");
    const struct route_match place = {.id = "parts", .name = "data"};
    struct upload_start start = {
        .place = &place, .principal = &principal_local, .offset = "0", .length = "9"};
    struct upload upload = {.size = 5};
    others_share = true;
    start.content_length = "3"; /* the request shows it at once */
    assert_int_equal(upload_begin(&scene.context, &upload, &start, &error),
                     ST_UPLOAD_OFFSET);
    assert_int_equal(upload.size, 0);
    start.content_length = NULL; /* or it ends early */
    upload = (struct upload){0};
    assert_int_equal(upload_begin(&scene.context, &upload, &start, NULL), ST_OK);
    assert_int_equal(upload_write(&scene.context, &upload, "abc", 3, NULL), ST_OK);
    assert_int_equal(upload_pause(&scene.context, &upload, &place, NULL),
                     ST_UPLOAD_OFFSET);
    assert_int_equal(upload.size, 0);
    assert_false(upload.open);
    assert_false(is_kept(dataset, BLOB_DATA));
    upload = (struct upload){0}; /* or it breaks off */
    assert_int_equal(upload_begin(&scene.context, &upload, &start, NULL), ST_OK);
    assert_int_equal(upload_write(&scene.context, &upload, "abc", 3, NULL), ST_OK);
    upload_abandon(&scene.context, &upload);
    assert_false(is_kept(dataset, BLOB_DATA));
    start.offset = "3"; /* or it continues */
    upload = (struct upload){.size = 5};
    assert_int_equal(upload_begin(&scene.context, &upload, &start, NULL),
                     ST_UPLOAD_OFFSET);
    assert_int_equal(upload.size, 0);
    start.offset = "0"; /* but a whole file is accepted */
    start.content_length = "9";
    upload = (struct upload){0};
    assert_int_equal(upload_begin(&scene.context, &upload, &start, NULL), ST_OK);
    assert_int_equal(upload_write(&scene.context, &upload, "abcdefghi", 9, NULL),
                     ST_OK);
    assert_true(upload_is_whole(&upload));
    assert_int_equal(upload_publish(&scene.context, &upload, &place, NULL), ST_OK);
    others_share = false;
}

static void a_format_that_goes_as_its_file_is_read_shows_nothing(void **state)
{
    (void)state;
    struct upload_view view = {0};
    const struct route_match place = overtaken_place("asked");
    assert_int_equal(upload_read(&scene.context, &place, &principal_local, &view, NULL),
                     ST_OK);
    assert_null(overtaken);
    assert_false(view.is_begun || view.is_whole);
    assert_int_equal(upload_read(&scene.context, &place, &principal_local, &view, NULL),
                     ST_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_is_kept_while_its_dataset_waits_for_it),
        cmocka_unit_test(a_piece_that_nobody_waits_for_goes_when_it_breaks_off),
        cmocka_unit_test(removing_a_file_takes_its_piece_along),
        cmocka_unit_test(a_body_beyond_its_length_leaves_what_fitted),
        cmocka_unit_test(a_write_that_fails_leaves_nothing),
        cmocka_unit_test(a_file_of_a_format_that_goes_as_it_begins_is_not_published),
        cmocka_unit_test(a_file_whose_import_begins_as_it_is_published_is_refused),
        cmocka_unit_test(a_piece_of_a_format_that_goes_as_it_begins_is_not_kept),
        cmocka_unit_test(where_others_share_the_store_no_part_is_kept),
        cmocka_unit_test(a_format_that_goes_as_its_file_is_read_shows_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
