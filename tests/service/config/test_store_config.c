/* Goal: a directory is served only with the database that it names, and not at all if
 * another has replaced it. Method: files whose row and whose directory's `store` each
 * have every possible content. */
#include "service/config/config.h"
#include "service/config/store_config.h"

#include "service/commands/backup_copy.h"
#include "store/blobs/blob.h"
#include "tests/expect.h"
#include "tests/store/place_fixture.h"

struct directory {
    struct place place;
    struct config config;
    char name[64];                          /* content of its file `store` */
    char identity[MIGRATION_IDENTITY_SIZE]; /* of its database */
};

static enum status serve(const struct directory *directory, struct migration_row *row,
                         struct error *error)
{
    struct blobs *blobs = NULL;
    struct store *store = NULL;
    assert_int_equal(blobs_open(&blobs, directory->place.folder, NULL), ST_OK);
    enum status status = store_config_open(&store, &directory->config, blobs, error);
    if (status == ST_OK)
        assert_int_equal(store_config_read(store, row, NULL), ST_OK);
    store_close(store);
    blobs_close(blobs);
    return status;
}

/* Creates a directory whose database has a row of this state. */
static struct directory directory_make(enum migration_state state)
{
    struct directory directory = {.place = place_make()};
    struct store *store = NULL;
    struct migration_row row;
    snprintf(directory.config.data_dir, sizeof directory.config.data_dir, "%s",
             directory.place.folder);
    snprintf(directory.name, sizeof directory.name, "%s/store", directory.place.folder);
    assert_int_equal(store_open(&store, directory.place.path, NULL), ST_OK);
    assert_int_equal(store_config_read(store, &row, NULL), ST_OK);
    assert_int_equal(row.state, MIGRATION_HERE);
    assert_int_equal(strlen(row.identity), 32);
    memcpy(directory.identity, row.identity, sizeof directory.identity);
    row = (struct migration_row){.state = state};
    if (state != MIGRATION_HERE) {
        snprintf(row.other, sizeof row.other, "another");
        snprintf(row.place, sizeof row.place, "postgresql://db/eps");
    }
    assert_int_equal(store_config_write(store, &row, NULL), ST_OK);
    store_close(store);
    return directory;
}

static void what_the_directory_names_is_served_and_says_so_from_then_on(void **state)
{
    (void)state;
    static const enum migration_state states[] = {MIGRATION_HERE, MIGRATION_ARRIVING,
                                                  MIGRATION_LEFT};
    for (size_t i = 0; i < 3; i++) {
        struct directory directory = directory_make(states[i]);
        struct migration_row row;
        assert_int_equal(
            store_config_name(&directory.config, directory.identity, "another", NULL),
            ST_OK);
        for (int start = 0; start < 2; start++) {
            assert_int_equal(serve(&directory, &row, NULL), ST_OK);
            assert_int_equal(row.state, MIGRATION_HERE);
            assert_string_equal(row.identity, directory.identity);
            assert_string_equal(row.place, "");
            assert_int_not_equal(access(directory.name, F_OK), 0);
        }
        place_remove(&directory.place);
    }
}

static void what_names_nothing_is_served_where_its_database_is_the_one(void **state)
{
    (void)state;
    static const struct {
        enum migration_state state;
        const char *said; /* NULL: it is served */
    } all[] = {
        {MIGRATION_HERE, NULL},
        {MIGRATION_ARRIVING, "a migration from postgresql://db/eps that did not"},
        {MIGRATION_LEFT, "was migrated to postgresql://db/eps"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct directory directory = directory_make(all[i].state);
        struct migration_row row;
        struct error error = {0};
        struct backup_copy copy;
        char backup[64];
        enum status expected = all[i].said == NULL ? ST_OK : ST_INVALID;
        assert_int_equal(serve(&directory, &row, &error), expected);
        if (all[i].said != NULL && strstr(error.text, all[i].said) == NULL)
            fail_msg("%s", error.text);
        /* A backup of it is refused too. */
        snprintf(backup, sizeof backup, "%s/backup", directory.place.folder);
        assert_int_equal(
            backup_copy_make(&copy, directory.place.folder, backup, true, NULL),
            expected);
        place_remove(&directory.place);
    }
}

/* A copy of the directory made before the migration still names its database so. */
static void what_was_left_is_refused_where_it_is_named_as_before(void **state)
{
    (void)state;
    static const char *const others[] = {"", "yet another"};
    for (size_t i = 0; i < 2; i++) {
        struct directory directory = directory_make(MIGRATION_LEFT);
        struct migration_row row;
        struct error error = {0};
        assert_int_equal(
            store_config_name(&directory.config, directory.identity, others[i], NULL),
            ST_OK);
        assert_int_equal(serve(&directory, &row, &error), ST_INVALID);
        if (strstr(error.text, "was migrated to") == NULL)
            fail_msg("%s", error.text);
        place_remove(&directory.place);
    }
}

static void what_names_another_is_refused_whatever_its_row_says(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct directory directory = directory_make((enum migration_state)i);
        struct migration_row row;
        struct error error = {0};
        assert_int_equal(store_config_name(&directory.config, "another", "", NULL),
                         ST_OK);
        assert_int_equal(serve(&directory, &row, &error), ST_INVALID);
        if (strstr(error.text, "give --store") == NULL)
            fail_msg("%s", error.text);
        /* A missing database is not created either. */
        assert_int_equal(unlink(directory.place.path), 0);
        assert_int_equal(serve(&directory, &row, NULL), ST_INVALID);
        assert_int_not_equal(access(directory.place.path, F_OK), 0);
        place_remove(&directory.place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_directory_names_is_served_and_says_so_from_then_on),
        cmocka_unit_test(what_names_nothing_is_served_where_its_database_is_the_one),
        cmocka_unit_test(what_was_left_is_refused_where_it_is_named_as_before),
        cmocka_unit_test(what_names_another_is_refused_whatever_its_row_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
