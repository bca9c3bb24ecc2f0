/* Goal: a blob in a bucket exists exactly if its row does, and is complete, encrypted
 * and bound to this database, however the bucket fails or lies. Method: a bucket in
 * memory that fails and returns wrong bytes. */
#include "store/blobs/blob_objects.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "store/blobs/blob_cache.h"
#include "store/blobs/bucket_claim.h"
#include "store/blobs/object_garbage.h"
#include "store/blobs/encrypted_object.h"
#include "store/rows/blob_rows.h"
#include "tests/expect.h"
#include "tests/store/bucket_fixture.h"
#include "tests/store/place_fixture.h"

struct scene {
    struct place place;
    struct memory_bucket memory;
    struct store *store;
    struct blobs *blobs;
    struct blob_objects_setup setup;
};

static enum status use(struct scene *scene, struct error *error)
{
    assert_int_equal(store_open(&scene->store, scene->place.path, NULL), ST_OK);
    assert_int_equal(blobs_open(&scene->blobs, scene->place.folder, NULL), ST_OK);
    scene->setup.store = scene->store;
    enum status status = blob_objects_use(scene->blobs, &scene->setup, error);
    return status == ST_OK ? blob_objects_collect(scene->blobs, error) : status;
}

static void leave(struct scene *scene)
{
    blob_objects_leave(scene->blobs);
    assert_true(scene->memory.is_closed);
    scene->memory.is_closed = false;
    store_close(scene->store);
    blobs_close(scene->blobs);
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){.place = place_make()};
    memory_bucket_init(&scene->memory);
    scene->setup = (struct blob_objects_setup){.bucket = &scene->memory.bucket,
                                               .operator_key = {4, 2},
                                               .cache_size = 40 << 20};
    assert_int_equal(use(scene, NULL), ST_OK);
}

static void end(struct scene *scene)
{
    leave(scene);
    memory_bucket_fini(&scene->memory);
    place_remove(&scene->place);
}

static struct blob_name upload_named(const char *id)
{
    struct dataset_id dataset;
    assert_true(dataset_id_parse(&dataset, id));
    return blob_of_dataset(&dataset, BLOB_DATA);
}

/* Returns size bytes that start with text and continue with its first character. The
 * caller frees them. */
static char *content_of(const char *text, size_t size)
{
    char *content = malloc(size + strlen(text));
    assert_non_null(content);
    memset(content, text[0], size);
    memcpy(content, text, strlen(text));
    return content;
}

static struct blob_draft draft_of(struct scene *scene, const struct blob_name *name,
                                  const char *text, size_t size)
{
    struct blob_draft draft;
    char path[BLOB_PATH_SIZE], *content = content_of(text, size);
    blob_draft_init(&draft, name);
    blob_draft_path(scene->blobs, path, &draft);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(content);
    return draft;
}

static void publish(struct scene *scene, const struct blob_name *name, const char *text,
                    size_t size)
{
    struct error error = {0};
    const struct blob_draft draft = draft_of(scene, name, text, size);
    if (blob_publish(scene->blobs, &draft, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void assert_holds(struct scene *scene, const struct blob_name *name,
                         const char *text, size_t size)
{
    struct blob_loan loan = {.is_lent = false};
    struct error error = {0};
    if (blob_fetch(scene->blobs, &loan, name, &error) != ST_OK)
        fail_msg("%s", error.text);
    FILE *file = fopen(loan.path, "rb");
    char *expected = content_of(text, size), *found = malloc(size + 1);
    assert_true(file != NULL && found != NULL);
    assert_int_equal(fread(found, 1, size + 1, file), size);
    assert_true(memcmp(found, expected, size) == 0);
    free(expected);
    free(found);
    fclose(file);
    blob_give_back(scene->blobs, &loan);
}

/* Restarts with an empty cache. */
static void start_again(struct scene *scene)
{
    leave(scene);
    assert_int_equal(use(scene, NULL), ST_OK);
}

static void what_is_published_comes_back_after_a_restart(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct blob_name small = upload_named("small"), large = upload_named("large");
    const struct blob_name none = upload_named("none"), empty = upload_named("empty");
    publish(&scene, &small, "a few records", 13);
    publish(&scene, &large, "many", (9 << 20) + 7);
    publish(&scene, &empty, "x", 0);
    size_t gets = scene.memory.gets;
    assert_holds(&scene, &small, "a few records", 13);
    assert_int_equal(scene.memory.gets, gets); /* served from the cache */
    start_again(&scene);
    assert_holds(&scene, &small, "a few records", 13);
    assert_holds(&scene, &large, "many", (9 << 20) + 7);
    assert_holds(&scene, &empty, "x", 0);
    assert_int_equal(blob_find(scene.blobs, &small, NULL), ST_OK);
    assert_int_equal(blob_find(scene.blobs, &none, NULL), ST_NOT_FOUND);
    struct blob_loan loan = {.is_lent = false};
    assert_int_equal(blob_fetch(scene.blobs, &loan, &none, NULL), ST_NOT_FOUND);
    end(&scene);
}

static void a_large_one_is_put_in_pieces(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    leave(&scene);
    scene.setup.cache_size = 100 << 20;
    assert_int_equal(use(&scene, NULL), ST_OK);
    const struct blob_name name = upload_named("large");
    publish(&scene, &name, "piece", 65 << 20);
    assert_int_equal(scene.memory.pieces, 8); /* pieces of 16 MiB, up to 128 MiB */
    start_again(&scene);
    assert_holds(&scene, &name, "piece", 65 << 20);
    const struct blob_draft draft = draft_of(&scene, &name, "more", 65 << 20);
    scene.memory.failures = 1;
    assert_int_equal(blob_publish(scene.blobs, &draft, NULL), ST_IO);
    assert_int_equal(scene.memory.abandoned, 1);
    assert_holds(&scene, &name, "piece", 65 << 20);
    end(&scene);
}

/* Returns whether the name or the bytes of any object contain the text. */
static bool bucket_shows(const struct memory_bucket *memory, const char *text)
{
    size_t length = strlen(text);
    for (const struct kept_object *at = memory->list; at != NULL; at = at->next) {
        if (strstr(at->name, text) != NULL)
            return true;
        for (size_t i = 0; i + length <= at->size; i++)
            if (memcmp(at->bytes + i, text, length) == 0)
                return true;
    }
    return false;
}

static void the_bucket_learns_neither_names_nor_bytes_nor_twins(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct blob_name ana = upload_named("ana-of-ward-7"),
                           bob = upload_named("bob-of-ward-7");
    publish(&scene, &ana, "the same private records", 24);
    publish(&scene, &bob, "the same private records", 24);
    assert_int_equal(memory_count(&scene.memory), 3); /* and the marker of ownership */
    assert_false(bucket_shows(&scene.memory, "private"));
    assert_false(bucket_shows(&scene.memory, "of-ward-7"));
    const struct kept_object *one = scene.memory.list, *two = one->next;
    assert_int_equal(one->size, two->size);
    for (size_t i = 0; i + 16 <= one->size; i += 16)
        assert_memory_not_equal(one->bytes + i, two->bytes + i, 16);
    end(&scene);
}

static void a_lie_is_asked_again_and_a_liar_is_not_believed(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = {0};
    struct blob_loan loan = {.is_lent = false};
    begin(&scene);
    const struct blob_name name = upload_named("a"), other = upload_named("b");
    publish(&scene, &name, "records", 7);
    start_again(&scene);
    scene.memory.lies = 2;
    assert_holds(&scene, &name, "records", 7);
    start_again(&scene);
    scene.memory.lies = 3;
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "is not what was put there"));
    assert_holds(&scene, &name, "records", 7); /* the wrong bytes were not cached */
    publish(&scene, &other, "others!", 7);
    start_again(&scene);
    /* Swap two objects of the same length. */
    struct kept_object *one = scene.memory.list, *two = one->next;
    if (strcmp(one->name, "epsilond") == 0)
        one = two->next;
    if (strcmp(two->name, "epsilond") == 0)
        two = two->next;
    uint8_t *bytes = one->bytes;
    one->bytes = two->bytes;
    two->bytes = bytes;
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, NULL), ST_CORRUPT);
    one->size = 0; /* truncated */
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, NULL), ST_CORRUPT);
    end(&scene);
}

static void a_failed_publication_leaves_what_was_there(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "old", 3);
    const struct blob_draft draft = draft_of(&scene, &name, "new", 3);
    scene.memory.failures = 1;
    assert_int_equal(blob_publish(scene.blobs, &draft, NULL), ST_IO);
    assert_holds(&scene, &name, "old", 3);
    assert_int_equal(blob_publish(scene.blobs, &draft, NULL), ST_OK); /* draft kept */
    assert_holds(&scene, &name, "new", 3);
    start_again(&scene);
    assert_holds(&scene, &name, "new", 3);
    end(&scene);
}

/* A gate that refuses while *context is true. */
static enum status may(void *context, struct error *error)
{
    return *(bool *)context ? error_set(error, ST_DATASET_BUSY, "it is being imported")
                            : ST_OK;
}

static void what_its_gate_refuses_leaves_what_was_there(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    bool refuses = true;
    struct error error = {0};
    const struct blob_gate gate = {scene.store, may, &refuses};
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "old", 3);
    const struct blob_draft draft = draft_of(&scene, &name, "new", 3);
    assert_int_equal(blob_publish_if(scene.blobs, &draft, &gate, &error),
                     ST_DATASET_BUSY);
    assert_string_equal(error.text, "it is being imported");
    assert_holds(&scene, &name, "old", 3);
    refuses = false;
    assert_int_equal(blob_publish_if(scene.blobs, &draft, &gate, NULL), ST_OK);
    assert_holds(&scene, &name, "new", 3);
    start_again(&scene);
    assert_holds(&scene, &name, "new", 3);
    end(&scene);
}

static void a_model_outlasts_a_bucket_that_is_away_for_a_moment(void **state)
{
    (void)state;
    struct scene scene;
    struct model_id id;
    begin(&scene);
    model_id_make(&id);
    const struct blob_name name = blob_of_model(&id);
    scene.memory.failures = 1;
    publish(&scene, &name, "weights", 7);
    assert_int_equal(scene.memory.failures, 0);
    assert_holds(&scene, &name, "weights", 7);
    end(&scene);
}

static void a_full_cache_says_so_before_anything_is_fetched(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = {0};
    struct blob_loan held = {.is_lent = false}, loan = {.is_lent = false};
    begin(&scene);
    const struct blob_name a = upload_named("a"), b = upload_named("b");
    const struct blob_name c = upload_named("c");
    publish(&scene, &a, "a", 30 << 20);
    publish(&scene, &b, "b", 9 << 20);
    publish(&scene, &c, "c", 11 << 20);
    assert_int_equal(blob_fetch(scene.blobs, &held, &a, NULL), ST_OK);
    size_t gets = scene.memory.gets;
    assert_int_equal(blob_fetch(scene.blobs, &loan, &c, &error), ST_DISK_FULL);
    assert_non_null(strstr(error.text, "cache"));
    assert_int_equal(scene.memory.gets, gets);
    assert_holds(&scene, &b, "b", 9 << 20);
    blob_give_back(scene.blobs, &held);
    assert_holds(&scene, &c, "c", 11 << 20);
    end(&scene);
}

struct fetching {
    struct blobs *blobs;
    const struct blob_name *name;
    atomic_bool is_over;
};

static void *fetch_again_and_again(void *context)
{
    struct fetching *fetching = context;
    while (!atomic_load(&fetching->is_over)) {
        struct blob_loan loan = {.is_lent = false};
        if (blob_fetch(fetching->blobs, &loan, fetching->name, NULL) == ST_OK)
            blob_give_back(fetching->blobs, &loan);
    }
    return NULL;
}

/* A thread that finds the row may fetch the object before its publisher has stored the
 * draft in the cache. */
static void what_is_published_may_be_fetched_at_once(void **state)
{
    (void)state;
    enum { PUBLICATIONS = 300 };
    struct scene scene;
    pthread_t thread;
    begin(&scene);
    struct blob_name name = upload_named("people");
    struct fetching fetching = {scene.blobs, &name, false};
    assert_int_equal(pthread_create(&thread, NULL, fetch_again_and_again, &fetching),
                     0);
    for (int i = 0; i < PUBLICATIONS; i++)
        publish(&scene, &name, "hello", 5);
    atomic_store(&fetching.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_holds(&scene, &name, "hello", 5);
    end(&scene);
}

static void what_is_removed_is_gone_with_its_object(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "records", 7);
    publish(&scene, &name, "records anew", 12);
    assert_int_equal(blob_remove(scene.blobs, &name, NULL), ST_OK);
    assert_int_equal(blob_remove(scene.blobs, &name, NULL), ST_OK);
    assert_int_equal(blob_find(scene.blobs, &name, NULL), ST_NOT_FOUND);
    while (memory_count(&scene.memory) > 1) /* another thread deletes both objects */
        sched_yield();
    end(&scene);
}

/* Another daemon deletes a blob whose file is in our cache. */
static void remove_elsewhere(struct scene *scene, const struct blob_name *name)
{
    struct store_tx *tx = NULL;
    char file_name[BLOB_FILE_NAME_SIZE];
    blob_file_name(file_name, name);
    assert_int_equal(store_begin(scene->store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(store_end(tx, blob_row_delete(tx, file_name, NULL), NULL), ST_OK);
}

static size_t cached(struct scene *scene)
{
    char path[BLOB_PATH_SIZE];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/cache", scene->place.folder);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* Otherwise plain-text records would stay on this disk for ever. */
static void what_another_daemon_has_removed_is_on_no_disk(void **state)
{
    (void)state;
    enum { COUNT = 2 * BLOB_OBJECTS_AT_ONCE + 3 };
    struct scene scene;
    struct blob_name names[COUNT];
    struct blob_loan loan = {.is_lent = false};
    begin(&scene);
    for (size_t i = 0; i < COUNT; i++) {
        char id[16];
        snprintf(id, sizeof id, "a%zu", i);
        names[i] = upload_named(id);
        publish(&scene, &names[i], "records", 7);
    }
    assert_int_equal(blobs_forget_gone(scene.blobs, NULL), ST_OK);
    assert_int_equal(cached(&scene), COUNT);
    assert_int_equal(blob_fetch(scene.blobs, &loan, &names[0], NULL), ST_OK);
    remove_elsewhere(&scene, &names[0]);
    remove_elsewhere(&scene, &names[1]);
    remove_elsewhere(&scene, &names[COUNT - 1]);
    assert_int_equal(blobs_forget_gone(scene.blobs, NULL), ST_OK);
    assert_int_equal(cached(&scene), COUNT - 2);
    blob_give_back(scene.blobs, &loan);
    assert_int_equal(cached(&scene), COUNT - 3);
    for (size_t i = 2; i < COUNT - 1; i++)
        assert_holds(&scene, &names[i], "records", 7);
    end(&scene);
}

static bool keep_none(void *context, const struct blob_name *name)
{
    (void)context;
    (void)name;
    return false;
}

static bool make_old(void *context, const struct blob_row *row)
{
    struct store_tx *tx = context;
    struct blob_row old = *row;
    old.create_ms = 1000;
    assert_int_equal(blob_row_set(tx, &old, NULL), ST_OK);
    return false;
}

static void a_sweep_takes_what_nobody_wants_once_it_is_old(void **state)
{
    (void)state;
    struct scene scene;
    struct store_tx *tx = NULL;
    begin(&scene);
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "records", 7);
    assert_int_equal(blobs_sweep(scene.blobs, keep_none, NULL, NULL), ST_OK);
    assert_holds(&scene, &name, "records", 7);
    assert_int_equal(store_begin(scene.store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(blob_row_find(tx, "uploads/a.data", make_old, tx, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(blobs_sweep(scene.blobs, keep_none, NULL, NULL), ST_OK);
    assert_int_equal(blob_find(scene.blobs, &name, NULL), ST_NOT_FOUND);
    start_again(&scene); /* the bucket is still ours */
    end(&scene);
}

/* --- ownership of the bucket --- */

static void assert_refused(struct scene *scene, const char *why)
{
    struct error error = {0};
    assert_int_equal(use(scene, &error), ST_INVALID);
    if (strstr(error.text, why) == NULL)
        fail_msg("%s", error.text);
    leave(scene);
}

static void a_bucket_of_another_database_is_refused(void **state)
{
    (void)state;
    struct scene scene, other = {.place = place_make()};
    begin(&scene);
    other.memory = scene.memory; /* both use the same objects */
    other.setup = scene.setup;
    other.setup.bucket = &other.memory.bucket;
    assert_refused(&other, "another database");
    place_remove(&other.place);
    end(&scene);
}

static void a_bucket_with_objects_of_others_is_refused(void **state)
{
    (void)state;
    struct scene scene = {.place = place_make()};
    memory_bucket_init(&scene.memory);
    scene.setup =
        (struct blob_objects_setup){.bucket = &scene.memory.bucket, .cache_size = 1000};
    memory_put(&scene.memory.bucket, "readme", "x", 1, NULL);
    assert_refused(&scene, "objects of others");
    memory_remove(&scene.memory.bucket, "readme", NULL);
    assert_int_equal(use(&scene, NULL), ST_OK);
    end(&scene);
}

static void another_key_or_bucket_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "records", 7);
    leave(&scene);
    scene.setup.operator_key[31] ^= 1;
    assert_refused(&scene, "the key of the blobs is not the one");
    scene.setup.operator_key[31] ^= 1;
    struct kept_object *list = scene.memory.list;
    scene.memory.list = NULL;
    assert_refused(&scene, "not the one of this database");
    assert_null(scene.memory.list);
    scene.memory.list = list;
    assert_int_equal(use(&scene, NULL), ST_OK);
    end(&scene);
}

static void a_claim_that_was_cut_short_is_made_good(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    leave(&scene);
    memory_remove(&scene.memory.bucket, "epsilond", NULL);
    assert_int_equal(use(&scene, NULL), ST_OK);
    assert_int_equal(memory_count(&scene.memory), 1);
    end(&scene);
}

struct rival { /* a daemon that starts between our read and our row */
    struct scene *scene;
    struct scene other;
};

static enum status claim_first(struct bucket *bucket, const char *name,
                               const struct bucket_range *range, void *data,
                               struct error *error)
{
    struct memory_bucket *memory = memory_of(bucket);
    struct rival *rival = memory->context;
    enum status status = memory_get(bucket, name, range, data, error);
    if (rival != NULL && rival->other.store == NULL) {
        struct blob_objects_setup setup = rival->scene->setup;
        setup.bucket = &rival->other.memory.bucket;
        rival->other.store = rival->scene->store; /* the same database */
        assert_int_equal(
            bucket_claim(setup.bucket, setup.store, setup.operator_key, true, NULL),
            ST_OK);
        memory->list = rival->other.memory.list; /* and the same bucket */
    }
    return status;
}

static void two_daemons_that_claim_at_once_agree(void **state)
{
    (void)state;
    struct scene scene = {.place = place_make()};
    struct rival rival = {.scene = &scene};
    memory_bucket_init(&scene.memory);
    memory_bucket_init(&rival.other.memory);
    struct bucket_driver racing = *scene.memory.bucket.driver;
    racing.get = claim_first;
    scene.memory.bucket.driver = &racing;
    scene.memory.context = &rival;
    scene.setup =
        (struct blob_objects_setup){.bucket = &scene.memory.bucket, .cache_size = 1000};
    assert_int_equal(use(&scene, NULL), ST_OK);
    assert_non_null(rival.other.store);
    assert_int_equal(memory_count(&scene.memory), 1);
    leave(&scene);
    assert_int_equal(use(&scene, NULL), ST_OK); /* the claim that stayed is valid */
    rival.other.memory.list = NULL;
    memory_bucket_fini(&rival.other.memory);
    end(&scene);
}

static void a_directory_that_keeps_files_itself_is_refused(void **state)
{
    (void)state;
    struct scene scene = {.place = place_make()};
    struct blobs *blobs;
    bool elsewhere = true;
    memory_bucket_init(&scene.memory);
    scene.setup = (struct blob_objects_setup){.bucket = &scene.memory.bucket};
    assert_int_equal(blobs_open(&blobs, scene.place.folder, NULL), ST_OK);
    scene.blobs = blobs;
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "records", 7);
    blobs_close(blobs);
    assert_refused(&scene, "keeps its files itself");
    assert_int_equal(memory_count(&scene.memory), 0);
    assert_int_equal(store_open(&scene.store, scene.place.path, NULL), ST_OK);
    assert_int_equal(blob_objects_claimed(scene.store, &elsewhere, NULL), ST_OK);
    assert_false(elsewhere);
    store_close(scene.store);
    memory_bucket_fini(&scene.memory);
    place_remove(&scene.place);
}

static void rows_are_checked_without_a_bucket_and_objects_with_one(void **state)
{
    (void)state;
    struct scene scene;
    struct blobs *reader = NULL;
    struct file_checksum seal = {.size = 7}, longer = {.size = 8};
    begin(&scene);
    const struct blob_name name = upload_named("a"), none = upload_named("none");
    publish(&scene, &name, "records", 7);
    sha256_of(seal.sha256, "records", 7);
    struct blob_objects_setup setup = scene.setup;
    for (int objects = 0; objects < 2; objects++) {
        setup.bucket = objects ? &scene.memory.bucket : NULL;
        assert_int_equal(blobs_open_read(&reader, scene.place.folder, NULL), ST_OK);
        assert_int_equal(blob_objects_use_read(reader, &setup, NULL), ST_OK);
        assert_int_equal(blob_check(reader, &name, &seal, NULL), ST_OK);
        assert_int_equal(blob_check(reader, &name, &longer, NULL), ST_CORRUPT);
        assert_int_equal(blob_check(reader, &none, &seal, NULL), ST_CORRUPT);
        seal.sha256[0] ^= 1;
        assert_int_equal(blob_check(reader, &name, &seal, NULL),
                         objects ? ST_CORRUPT : ST_OK);
        seal.sha256[0] ^= 1;
        blobs_close(reader);
    }
    end(&scene);
}

static void assert_not_told(const struct error *error, const char *why)
{
    if (strstr(error->text, why) != NULL)
        fail_msg("told: %s", error->text);
}

static void why_a_file_is_not_fetched_says_nothing_of_where_it_is(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = {0};
    struct blob_loan loan = {.is_lent = false};
    char object[BUCKET_NAME_SIZE];
    begin(&scene);
    const struct blob_name name = upload_named("a");
    publish(&scene, &name, "records", 7);
    start_again(&scene);
    const struct kept_object *kept = scene.memory.list;
    snprintf(object, sizeof object, "%s",
             strcmp(kept->name, OBJECT_MARKER) == 0 ? kept->next->name : kept->name);
    scene.memory.failures = 1;
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, &error), ST_IO);
    assert_not_told(&error, "the bucket fails");
    scene.memory.lies = 3;
    error = (struct error){0};
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, &error), ST_CORRUPT);
    assert_not_told(&error, object);
    memory_remove(&scene.memory.bucket, object, NULL);
    error = (struct error){0};
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, &error), ST_NOT_FOUND);
    assert_not_told(&error, object);
    end(&scene);
}

static void a_fetch_leaves_room_on_the_disk(void **state)
{
    (void)state;
    struct scene scene;
    struct blob_loan loan = {.is_lent = false};
    begin(&scene);
    const struct blob_name one = upload_named("one"), two = upload_named("two");
    publish(&scene, &one, "one", 9 << 20);
    publish(&scene, &two, "two", 9 << 20);
    start_again(&scene);
    size_t gets = scene.memory.gets;
    assert_int_equal(blobs_trim(scene.blobs, CACHE_DISK_MIN), 0);
    assert_int_equal(blob_fetch(scene.blobs, &loan, &one, NULL), ST_DISK_FULL);
    assert_int_equal(scene.memory.gets, gets);
    assert_int_equal(blobs_trim(scene.blobs, CACHE_DISK_MIN + (9 << 20)), 0);
    assert_holds(&scene, &one, "one", 9 << 20);
    assert_holds(&scene, &two, "two", 9 << 20); /* evicts the other */
    assert_int_equal(blobs_trim(scene.blobs, 0), 9 << 20);
    end(&scene);
}

static size_t largest_object(const struct memory_bucket *memory)
{
    size_t largest = 0;
    for (const struct kept_object *at = memory->list; at != NULL; at = at->next)
        largest = at->size > largest ? at->size : largest;
    return largest;
}

/* One row per person or eight rows per person may have made the size: the object's
 * length must not show the number of rows. */
static void the_length_of_an_upload_is_known_to_a_factor_of_two(void **state)
{
    (void)state;
    static const size_t sizes[] = {(4 << 20) + 1, 5 << 20, 8 << 20};
    const struct blob_name name = upload_named("people");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct scene scene;
        begin(&scene);
        publish(&scene, &name, "rows", sizes[i]);
        assert_int_equal(largest_object(&scene.memory), (8 << 20) + 16);
        start_again(&scene);
        size_t gets = scene.memory.gets;
        assert_holds(&scene, &name, "rows", sizes[i]);
        assert_int_equal(scene.memory.gets, gets + 1);
        end(&scene);
    }
}

/* The object was written by a version without this padding. */
static void an_upload_in_steps_of_256_kib_is_still_read(void **state)
{
    (void)state;
    struct scene scene;
    struct store_tx *tx = NULL;
    char file_name[BLOB_FILE_NAME_SIZE];
    uint8_t digest[SHA256_SIZE];
    struct encrypted_object object;
    begin(&scene);
    const struct blob_name name = upload_named("old");
    encrypted_object_make(&object, 600000, SEALED_STEPS);
    size_t size = encrypted_object_size(&object);
    char *content = content_of("rows", size);
    memset(content + 600000, 0, size - 600000);
    encrypted_object_seal(&object, 0, (uint8_t *)content);
    sha256_of(digest, content, size);
    assert_int_equal(memory_put(&scene.memory.bucket, object.name, content, size, NULL),
                     ST_OK);
    free(content);
    blob_file_name(file_name, &name);
    struct blob_row row = {file_name, object.name, 600000, digest, 1, {0}, 0};
    encrypted_object_wrap(&object, file_name, scene.setup.operator_key, row.wrapped);
    assert_int_equal(store_begin(scene.store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(store_end(tx, blob_row_insert(tx, &row, NULL), NULL), ST_OK);
    assert_holds(&scene, &name, "rows", 600000);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_published_comes_back_after_a_restart),
        cmocka_unit_test(a_large_one_is_put_in_pieces),
        cmocka_unit_test(why_a_file_is_not_fetched_says_nothing_of_where_it_is),
        cmocka_unit_test(a_fetch_leaves_room_on_the_disk),
        cmocka_unit_test(the_length_of_an_upload_is_known_to_a_factor_of_two),
        cmocka_unit_test(an_upload_in_steps_of_256_kib_is_still_read),
        cmocka_unit_test(the_bucket_learns_neither_names_nor_bytes_nor_twins),
        cmocka_unit_test(a_lie_is_asked_again_and_a_liar_is_not_believed),
        cmocka_unit_test(a_failed_publication_leaves_what_was_there),
        cmocka_unit_test(what_its_gate_refuses_leaves_what_was_there),
        cmocka_unit_test(a_model_outlasts_a_bucket_that_is_away_for_a_moment),
        cmocka_unit_test(a_full_cache_says_so_before_anything_is_fetched),
        cmocka_unit_test(what_is_published_may_be_fetched_at_once),
        cmocka_unit_test(what_is_removed_is_gone_with_its_object),
        cmocka_unit_test(what_another_daemon_has_removed_is_on_no_disk),
        cmocka_unit_test(a_sweep_takes_what_nobody_wants_once_it_is_old),
        cmocka_unit_test(a_bucket_of_another_database_is_refused),
        cmocka_unit_test(a_bucket_with_objects_of_others_is_refused),
        cmocka_unit_test(another_key_or_bucket_is_refused),
        cmocka_unit_test(a_claim_that_was_cut_short_is_made_good),
        cmocka_unit_test(two_daemons_that_claim_at_once_agree),
        cmocka_unit_test(a_directory_that_keeps_files_itself_is_refused),
        cmocka_unit_test(rows_are_checked_without_a_bucket_and_objects_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
