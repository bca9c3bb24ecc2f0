/* place_fixture.h - a fresh folder for a database, removed at the end. Include after
 * expect.h. */
#ifndef TESTS_STORE_PLACE_FIXTURE_H
#define TESTS_STORE_PLACE_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct place {
    char folder[32];
    char path[64]; /* of the database in the folder */
};

static inline struct place place_make(void)
{
    struct place place = {"/tmp/epsilond-test-XXXXXX", ""};
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof place.path, "%s/epsilond.db", place.folder);
    return place;
}

/* Removes all files in folder, an open directory, and closes it. */
static inline void place_empty(int folder)
{
    DIR *entries = fdopendir(folder);
    struct dirent *entry;
    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (unlinkat(folder, name, 0) != 0) {
            place_empty(openat(folder, name, O_RDONLY | O_DIRECTORY));
            assert_int_equal(unlinkat(folder, name, AT_REMOVEDIR), 0);
        }
    }
    closedir(entries);
}

static inline void place_remove(struct place *place)
{
    place_empty(open(place->folder, O_RDONLY | O_DIRECTORY));
    assert_int_equal(rmdir(place->folder), 0);
}

/* Copies a file over another. */
static inline void place_copy(const char *from, const char *to)
{
    char buffer[65536];
    size_t size;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    while ((size = fread(buffer, 1, sizeof buffer, in)) > 0)
        assert_int_equal(fwrite(buffer, 1, size, out), size);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

#endif
