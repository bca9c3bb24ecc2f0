/* Goal: two datasets of one owner with the same records clash unless both are public,
 * and only their owner learns of it. Method: every pair of kinds, digests that must not
 * be read, and the guesses of an attacker who registers datasets. */
#include "tests/expect.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "service/datasets/duplicate_datasets.h"

static const uint8_t content[SHA256_SIZE] = {7}, other_content[SHA256_SIZE] = {8};
static const char rows[SHA256_HEX_SIZE] =
    "0707070707070707070707070707070707070707070707070707070707070707";
static const char other_rows[SHA256_HEX_SIZE] =
    "0707070707070707070707070707070707070707070707070707070707070708";

static const struct principal ward = {.name = "ward"}, mallory = {.name = "mallory"};

static struct duplicate_dataset twin(const char *id, bool is_public)
{
    return (struct duplicate_dataset){.id = id,
                                      .owner = &ward,
                                      .is_public = is_public,
                                      .matrix_sha256 = content,
                                      .rows_sha256 = rows};
}

static void the_same_records_clash_unless_both_are_public(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct duplicate_dataset a = twin("a", i % 2 == 1), b = twin("b", i / 2 == 1);
        bool both_public = a.is_public && b.is_public;
        assert_int_equal(duplicate_datasets_clash(&a, &b), !both_public);
        b.matrix_sha256 = other_content;
        b.rows_sha256 = other_rows;
        assert_false(duplicate_datasets_clash(&a, &b));
    }
}

static void rows_are_compared_where_both_are_known_else_files(void **state)
{
    (void)state;
    struct duplicate_dataset a = twin("a", false), b = twin("b", false);
    b.matrix_sha256 = other_content; /* another scale */
    assert_true(duplicate_datasets_clash(&a, &b));
    b.rows_sha256 = "";
    assert_false(duplicate_datasets_clash(&a, &b));
    b.matrix_sha256 = content;
    assert_true(duplicate_datasets_clash(&a, &b) && duplicate_datasets_clash(&b, &a));
    b.matrix_sha256 = NULL; /* never imported */
    assert_false(duplicate_datasets_clash(&a, &b) || duplicate_datasets_clash(&b, &a));
}

static void what_was_deleted_unused_is_forgotten(void **state)
{
    (void)state;
    struct duplicate_dataset a = twin("a", false), b = twin("b", false);
    b.is_void = true;
    assert_false(duplicate_datasets_clash(&a, &b) || duplicate_datasets_clash(&b, &a));
}

/* Reading one byte of the page would crash the program. */
static void digests_of_another_owner_are_never_read(void **state)
{
    (void)state;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    struct duplicate_dataset mine = twin("mine", false), theirs = twin("theirs", false);
    theirs.owner = &mallory;
    theirs.matrix_sha256 = page;
    theirs.rows_sha256 = page;
    for (int i = 0; i < 4; i++) {
        mine.is_public = i % 2 == 1;
        theirs.is_public = i / 2 == 1;
        assert_false(duplicate_datasets_clash(&mine, &theirs) ||
                     duplicate_datasets_clash(&theirs, &mine));
    }
    munmap(page, size);
}

/* Mallory knows all records except one, and imports every value that it may have. */
static void guesses_of_another_principal_are_all_answered_alike(void **state)
{
    (void)state;
    enum { RECORDS = 50, VALUES = 256 };
    uint8_t records[RECORDS], digest[SHA256_SIZE], guessed[SHA256_SIZE];
    char text[SHA256_HEX_SIZE], guess[SHA256_HEX_SIZE];
    for (int i = 0; i < RECORDS; i++)
        records[i] = (uint8_t)(37 * i);
    sha256_of(digest, records, sizeof records);
    sha256_render(text, digest);
    struct duplicate_dataset patients = twin("patients", false);
    patients.matrix_sha256 = digest;
    patients.rows_sha256 = text;
    unsigned told_ward = 0, told_mallory = 0;
    for (int value = 0; value < VALUES; value++) {
        records[RECORDS - 1] = (uint8_t)value;
        sha256_of(guessed, records, sizeof records);
        sha256_render(guess, guessed);
        struct duplicate_dataset imported = twin("guess", false);
        imported.matrix_sha256 = guessed;
        imported.rows_sha256 = guess;
        told_ward += duplicate_datasets_clash(&imported, &patients);
        imported.owner = &mallory;
        told_mallory += duplicate_datasets_clash(&imported, &patients);
    }
    assert_int_equal(told_ward, 1); /* the one bit that the owner of both knows */
    assert_int_equal(told_mallory, 0);
}

static void the_owner_of_both_is_told_which_and_why(void **state)
{
    (void)state;
    static const struct {
        bool self, other; /* public */
        const char *why;
    } cases[] = {{false, false, "a new id is not a new budget"},
                 {true, false, "private"},
                 {false, true, "public"}};
    for (size_t i = 0; i < 3; i++) {
        struct error error = {0};
        struct duplicate_dataset self = twin("self", cases[i].self);
        struct duplicate_dataset other = twin("patients", cases[i].other);
        assert_int_equal(
            duplicate_datasets_refuse(&self, &other, &ward, "/dataset", &error),
            ST_DUPLICATE_CONTENT);
        assert_string_equal(error.pointer, "/dataset");
        assert_non_null(strstr(error.text, "\"patients\""));
        assert_non_null(strstr(error.text, cases[i].why));
    }
}

static void anybody_else_reads_that_it_cannot_be_used(void **state)
{
    (void)state;
    char first[256] = "";
    for (int i = 0; i < 3; i++) {
        struct error error = {0};
        struct duplicate_dataset self = twin("self", i == 1),
                                 other = twin("patients", i == 2);
        assert_int_equal(
            duplicate_datasets_refuse(&self, &other, &mallory, "/dataset", &error),
            ST_DATASET_UNAVAILABLE);
        assert_null(strstr(error.text, "patients"));
        if (i == 0)
            strcpy(first, error.text);
        assert_string_equal(error.text, first);
    }
}

static void who_registered_one_of_them_is_anybody_else(void **state)
{
    (void)state;
    static const struct principal *const owners[2][2] = {{&mallory, &ward},
                                                         {&ward, &mallory}};
    for (size_t i = 0; i < 2; i++) {
        struct error error = {0};
        struct duplicate_dataset self = twin("self", false),
                                 other = twin("patients", false);
        self.owner = owners[i][0];
        other.owner = owners[i][1];
        assert_int_equal(
            duplicate_datasets_refuse(&self, &other, &mallory, "/dataset", &error),
            ST_DATASET_UNAVAILABLE);
        assert_null(strstr(error.text, "patients"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_records_clash_unless_both_are_public),
        cmocka_unit_test(rows_are_compared_where_both_are_known_else_files),
        cmocka_unit_test(what_was_deleted_unused_is_forgotten),
        cmocka_unit_test(digests_of_another_owner_are_never_read),
        cmocka_unit_test(guesses_of_another_principal_are_all_answered_alike),
        cmocka_unit_test(the_owner_of_both_is_told_which_and_why),
        cmocka_unit_test(anybody_else_reads_that_it_cannot_be_used),
        cmocka_unit_test(who_registered_one_of_them_is_anybody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
