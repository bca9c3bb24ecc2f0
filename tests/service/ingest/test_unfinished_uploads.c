/* Goal: an upload continues where it stopped, with one writer at a time, for the
 * principal that began it; and an upload that is no longer wanted leaves nothing
 * behind. Method: claims against a real data directory, whose scratch/ is counted. */
#include "tests/expect.h"

#include <unistd.h>

#include "api/limits.h"
#include "service/ingest/unfinished_uploads.h"
#include "tests/store/place_fixture.h"

static const uint64_t untouched = 77;
static const struct principal ann = {.name = "ann"}, bob = {.name = "bob"};

struct scene {
    struct place place;
    struct blobs *blobs;
    struct unfinished_uploads *uploads;
};

static int begin(void **state)
{
    static struct scene scene;
    struct error error = {0};
    scene.place = place_make();
    if (blobs_open(&scene.blobs, scene.place.folder, &error) != ST_OK)
        fail_msg("%s", error.text);
    scene.uploads = unfinished_uploads_create(scene.blobs);
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    unfinished_uploads_destroy(scene->uploads);
    blobs_close(scene->blobs);
    place_remove(&scene->place);
    return 0;
}

static size_t drafts(const struct scene *scene)
{
    char path[64];
    size_t count = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/scratch", scene->place.folder);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static struct upload_claim claim_of(const char *id, uint64_t offset, uint64_t length)
{
    struct dataset_id dataset;
    assert_true(dataset_id_parse(&dataset, id));
    return (struct upload_claim){blob_of_dataset(&dataset, BLOB_DATA), ann, offset,
                                 length};
}

static struct unfinished_upload *taken(struct scene *scene,
                                       const struct upload_claim *claim)
{
    struct unfinished_upload *upload = NULL;
    struct error error = {0};
    uint64_t there = untouched;
    if (unfinished_uploads_take(scene->uploads, claim, &upload, &there, &error) !=
        ST_OK)
        fail_msg("%s", error.text);
    assert_int_equal(there, untouched);
    return upload;
}

/* Leaves size bytes of an upload of length bytes. */
static void leave(struct scene *scene, const char *id, size_t size, uint64_t length)
{
    const struct upload_claim claim = claim_of(id, 0, length);
    struct unfinished_upload *upload = taken(scene, &claim);
    char bytes[64] = {0};
    assert_int_equal(write(unfinished_upload_file(upload), bytes, size), size);
    unfinished_upload_grew(upload, size);
    unfinished_uploads_rest(scene->uploads, upload);
}

/* Expects a refusal with the status and with *there == expected. */
static void assert_refused(struct scene *scene, const struct upload_claim *claim,
                           enum status status, uint64_t expected)
{
    struct unfinished_upload *upload = NULL;
    struct error error = {0};
    uint64_t there = untouched;
    assert_int_equal(
        unfinished_uploads_take(scene->uploads, claim, &upload, &there, &error),
        status);
    assert_int_equal(there, expected);
    assert_null(upload);
    assert_true(error.text[0] != '\0');
}

static bool found(struct scene *scene, const char *id, const struct principal *who,
                  uint64_t size, uint64_t length)
{
    uint64_t is_size = 0, is_length = 0;
    const struct upload_claim claim = claim_of(id, 0, 1);
    return unfinished_uploads_find(scene->uploads, &claim.name, who, &is_size,
                                   &is_length) &&
           is_size == size && is_length == length;
}

static void an_upload_goes_on_where_it_stopped(void **state)
{
    struct scene *scene = *state;
    leave(scene, "a", 5, 9);
    assert_true(found(scene, "a", &ann, 5, 9));
    struct upload_claim claim = claim_of("a", 5, 9);
    struct unfinished_upload *upload = taken(scene, &claim);
    assert_int_equal(write(unfinished_upload_file(upload), "wxyz", 4), 4);
    unfinished_upload_grew(upload, 9);
    assert_true(found(scene, "a", &ann, 9, 9));
    assert_int_equal(blob_publish(scene->blobs, unfinished_upload_draft(upload), NULL),
                     ST_OK);
    unfinished_uploads_drop(scene->uploads, upload);
    assert_int_equal(blob_find(scene->blobs, &claim.name, NULL), ST_OK);
    assert_false(found(scene, "a", &ann, 9, 9));
    assert_int_equal(drafts(scene), 0);

    struct blob_loan loan;
    char bytes[16];
    assert_int_equal(blob_fetch(scene->blobs, &loan, &claim.name, NULL), ST_OK);
    FILE *file = fopen(loan.path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 9);
    assert_memory_equal(bytes, "\0\0\0\0\0wxyz", 9);
    fclose(file);
}

static void another_place_or_length_is_refused_with_the_right_place(void **state)
{
    struct scene *scene = *state;
    struct upload_claim claim = claim_of("a", 3, 9);
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);
    leave(scene, "a", 5, 9);
    for (uint64_t offset = 1; offset <= 9; offset++) {
        claim.offset = offset;
        if (offset != 5)
            assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 5);
    }
    claim = claim_of("a", 5, 10);
    assert_refused(scene, &claim, ST_UPLOAD_LENGTH, 5);
    claim.name.kind = BLOB_LABELS;
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);
    assert_true(found(scene, "a", &ann, 5, 9));
}

static void one_request_writes_at_a_time(void **state)
{
    struct scene *scene = *state;
    leave(scene, "a", 5, 9);
    struct upload_claim claim = claim_of("a", 5, 9);
    struct unfinished_upload *upload = taken(scene, &claim);
    assert_refused(scene, &claim, ST_UPLOAD_BUSY, untouched);
    claim.offset = 0;
    assert_refused(scene, &claim, ST_UPLOAD_BUSY, untouched);
    unfinished_uploads_rest(scene->uploads, upload);
    claim.offset = 5;
    unfinished_uploads_rest(scene->uploads, taken(scene, &claim));
}

static void at_zero_it_begins_anew(void **state)
{
    struct scene *scene = *state;
    leave(scene, "a", 5, 9);
    leave(scene, "a", 2, 30);
    assert_true(found(scene, "a", &ann, 2, 30));
    assert_int_equal(drafts(scene), 1);
}

static void nobody_else_is_told_how_much_there_is(void **state)
{
    struct scene *scene = *state;
    leave(scene, "a", 5, 9);
    assert_false(found(scene, "a", &bob, 5, 9));
    struct upload_claim claim = claim_of("a", 3, 9);
    claim.principal = bob;
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);
    claim.offset = 5;
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);
    /* Her other key would become the sender of cells that it did not send. */
    claim.principal = (struct principal){.name = "ann", .key = "second"};
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);
}

static void what_is_not_wanted_any_more_leaves_nothing(void **state)
{
    struct scene *scene = *state;
    struct upload_claim claim = claim_of("a", 5, 9);
    unfinished_uploads_discard(scene->uploads, &claim.name); /* there is none */
    leave(scene, "a", 5, 9);
    unfinished_uploads_discard(scene->uploads, &claim.name);
    assert_int_equal(drafts(scene), 0);
    assert_refused(scene, &claim, ST_UPLOAD_OFFSET, 0);

    leave(scene, "a", 5, 9);
    struct unfinished_upload *upload = taken(scene, &claim);
    unfinished_uploads_discard(scene->uploads, &claim.name);
    assert_int_equal(drafts(scene), 1); /* still being written */
    assert_false(found(scene, "a", &ann, 5, 9));
    unfinished_uploads_rest(scene->uploads, upload);
    assert_int_equal(drafts(scene), 0);

    leave(scene, "a", 5, 9);
    unfinished_uploads_drop(scene->uploads, taken(scene, &claim));
    assert_int_equal(drafts(scene), 0);

    leave(scene, "a", 5, 9);
    leave(scene, "b", 5, 9);
    unfinished_uploads_destroy(scene->uploads);
    assert_int_equal(drafts(scene), 0);
    scene->uploads = unfinished_uploads_create(scene->blobs);
}

static void the_one_that_rested_longest_makes_room(void **state)
{
    struct scene *scene = *state;
    char id[16];
    for (int i = 0; i < LIMIT_UPLOADS_UNFINISHED; i++) {
        snprintf(id, sizeof id, "u%d", i);
        leave(scene, id, 5, 9);
    }
    struct upload_claim claim = claim_of("u0", 5, 9);
    unfinished_uploads_rest(scene->uploads, taken(scene, &claim));
    leave(scene, "next", 3, 9);
    assert_int_equal(drafts(scene), LIMIT_UPLOADS_UNFINISHED);
    assert_true(found(scene, "u0", &ann, 5, 9));
    assert_false(found(scene, "u1", &ann, 5, 9));
    assert_true(found(scene, "u2", &ann, 5, 9));
}

static void those_that_are_being_written_make_none(void **state)
{
    struct scene *scene = *state;
    struct unfinished_upload *uploads[LIMIT_UPLOADS_UNFINISHED];
    char id[16];
    for (int i = 0; i < LIMIT_UPLOADS_UNFINISHED; i++) {
        snprintf(id, sizeof id, "u%d", i);
        struct upload_claim claim = claim_of(id, 0, 9);
        uploads[i] = taken(scene, &claim);
    }
    struct upload_claim claim = claim_of("next", 0, 9);
    assert_refused(scene, &claim, ST_QUEUE_FULL, untouched);
    for (int i = 0; i < LIMIT_UPLOADS_UNFINISHED; i++)
        unfinished_uploads_drop(scene->uploads, uploads[i]);
    assert_int_equal(drafts(scene), 0);
}

static void where_no_draft_can_be_made_it_says_so(void **state)
{
    struct scene *scene = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/scratch", scene->place.folder);
    assert_int_equal(rmdir(path), 0);
    struct upload_claim claim = claim_of("a", 0, 9);
    assert_refused(scene, &claim, ST_INTERNAL, untouched);
    assert_int_equal(mkdir(path, 0700), 0);
    leave(scene, "a", 5, 9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_upload_goes_on_where_it_stopped),
        TEST(another_place_or_length_is_refused_with_the_right_place),
        TEST(one_request_writes_at_a_time),
        TEST(at_zero_it_begins_anew),
        TEST(nobody_else_is_told_how_much_there_is),
        TEST(what_is_not_wanted_any_more_leaves_nothing),
        TEST(the_one_that_rested_longest_makes_room),
        TEST(those_that_are_being_written_make_none),
        TEST(where_no_draft_can_be_made_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
