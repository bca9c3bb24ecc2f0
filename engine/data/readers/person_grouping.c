/* Grouping is a counting sort. The persons of the rows, and then the rows in the order
 * of their persons, are in mapped files without a name, which the kernel may write to
 * disk. The matrix in the order of the file is mapped too, its name is removed, and its
 * rows are copied one by one: of each person the kept rows, and zeros in the slots
 * without a row. The sort numbers persons by their first appearance; a shuffle of these
 * numbers gives the order of the copy. */
#include "engine/data/readers/person_grouping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/data/matrix.h"
#include "engine/data/shuffle.h"

enum { PATH_SIZE = 4096, BLOCK_WORDS = STREAM_BLOCK_SIZE / sizeof(uint32_t) };

static enum status no_memory(struct error *error)
{
    return error_set(error, ST_NO_MEMORY, "no memory for so many persons");
}

static enum status io_failed(struct error *error)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return error_set(error, full ? ST_DISK_FULL : ST_IO,
                     "persons cannot be grouped: %s", strerror(errno));
}

/* Opens a file without a name in the folder of the matrix; -1 if that fails. */
static int open_unnamed(const char *matrix)
{
    char path[PATH_SIZE];
    CHECK((size_t)snprintf(path, sizeof path, "%s.rows", matrix) < sizeof path);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0 && unlink(path) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

struct grouping { /* the state of a grouping */
    const struct person_grouping *task;
    struct matrix read;  /* the matrix in the order of the file */
    const uint32_t *who; /* (rows) the person of each row; mapped */
    uint32_t *order;     /* (rows) the rows of person 0, of person 1, ...; mapped */
    uint32_t *starts;    /* (units + 1) of the rows read, by first appearance */
    uint32_t *placed;    /* (units + 1) of the rows that are kept, by index */
    uint8_t key[STREAM_KEY_SIZE]; /* of the choice of kept rows */
    struct stream *stream;
    struct shuffle *shuffle; /* of the persons */
};

/* Maps a file of `rows` numbers; NULL if that fails. */
static uint32_t *map_rows(int file, size_t rows, int protection)
{
    size_t size = rows * sizeof(uint32_t);
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return NULL;
    void *map = mmap(NULL, size, protection, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return NULL;
    madvise(map, size, MADV_DONTDUMP);
    return map;
}

static enum status map_grouping(struct grouping *grouping, struct error *error)
{
    int file = open_unnamed(grouping->task->path);
    grouping->who = map_rows(grouping->task->who_file, grouping->task->rows, PROT_READ);
    grouping->order = map_rows(file, grouping->task->rows, PROT_READ | PROT_WRITE);
    enum status status = ST_OK;
    if (grouping->who == NULL || grouping->order == NULL)
        status = io_failed(error);
    if (file >= 0)
        close(file);
    return status;
}

static void unmap_grouping(struct grouping *grouping)
{
    size_t size = grouping->task->rows * sizeof(uint32_t);
    if (grouping->who != NULL)
        munmap((void *)(uintptr_t)grouping->who, size);
    if (grouping->order != NULL)
        munmap(grouping->order, size);
    free(grouping->starts);
    free(grouping->placed);
    shuffle_destroy(grouping->shuffle);
    matrix_close(&grouping->read);
    stream_destroy(grouping->stream);
    hash_zero(grouping->key, sizeof grouping->key);
}

static enum status sort(struct grouping *grouping, struct error *error)
{
    uint32_t *next = calloc(grouping->task->units + 1, sizeof *next);
    grouping->starts = calloc(grouping->task->units + 1, sizeof *grouping->starts);
    grouping->placed = calloc(grouping->task->units + 1, sizeof *grouping->placed);
    if (next == NULL || grouping->starts == NULL || grouping->placed == NULL) {
        free(next);
        return no_memory(error);
    }
    for (size_t r = 0; r < grouping->task->rows; r++)
        grouping->starts[grouping->who[r] + 1]++;
    for (size_t u = 0; u < grouping->task->units; u++)
        grouping->starts[u + 1] += grouping->starts[u];
    memcpy(next, grouping->starts, (grouping->task->units + 1) * sizeof *next);
    for (size_t r = 0; r < grouping->task->rows; r++)
        grouping->order[next[grouping->who[r]]++] = (uint32_t)r;
    free(next);
    return ST_OK;
}

static enum status copy_row(struct matrix_writer *writer, const struct matrix *from,
                            uint32_t row, struct error *error)
{
    size_t room, size = from->features * element_size(from->element);
    void *to = matrix_writer_rows(writer, &room);
    memcpy(to, (const char *)from->rows + row * size, size);
    enum status status = from->targets != NULL
                             ? matrix_writer_class(writer, from->targets[row], error)
                             : matrix_writer_value(writer, from->values[row], error);
    return status == ST_OK ? matrix_writer_advance(writer, 1, error) : status;
}

static enum status write_empty_row(struct matrix_writer *writer,
                                   const struct matrix *like, struct error *error)
{
    size_t room;
    memset(matrix_writer_rows(writer, &room), 0,
           like->features * element_size(like->element));
    enum status status = like->targets != NULL ? matrix_writer_class(writer, 0, error)
                                               : matrix_writer_value(writer, 0, error);
    return status == ST_OK ? matrix_writer_advance(writer, 1, error) : status;
}

/* places = the kept rows of the person, ascending. Returns their number. If the person
 * has more rows than are kept, each subset is equally likely, up to the 2^-32 by which
 * a word cannot be divided into equal shares: each row is kept with probability wanted
 * / left. */
static size_t choose_rows(const struct grouping *grouping, uint32_t *places,
                          uint32_t person, uint32_t rows)
{
    uint32_t words[BLOCK_WORDS] = {0};
    size_t kept = 0;
    for (uint32_t row = 0; row < rows && kept < grouping->task->kept; row++) {
        uint64_t wanted = grouping->task->kept - kept, left = rows - row;
        const struct stream_position from = {grouping->key, person, row / BLOCK_WORDS};
        if (rows > grouping->task->kept && row % BLOCK_WORDS == 0)
            stream_read(grouping->stream, words, sizeof words, &from);
        if (words[row % BLOCK_WORDS] * left >> 32 < wanted)
            places[kept++] = row;
    }
    hash_zero(words, sizeof words);
    return kept;
}

/* Writes the kept rows of the person with number `appeared` by first appearance, as
 * person index. */
static enum status write_person(struct grouping *grouping, struct matrix_writer *writer,
                                uint32_t index, uint32_t appeared, struct error *error)
{
    uint32_t places[MATRIX_SLOTS_MAX];
    uint32_t first = grouping->starts[appeared];
    const uint32_t *own = grouping->order + first;
    size_t kept =
        choose_rows(grouping, places, index, grouping->starts[appeared + 1] - first);
    enum status status = ST_OK;
    for (size_t k = 0; k < grouping->task->kept && status == ST_OK; k++)
        status = k < kept ? copy_row(writer, &grouping->read, own[places[k]], error)
                          : write_empty_row(writer, &grouping->read, error);
    grouping->placed[index + 1] = grouping->placed[index] + (uint32_t)kept;
    return status;
}

/* Draws the order of the persons from a secret of this import (privacy.md P1). */
static enum status shuffle_persons(struct grouping *grouping, struct error *error)
{
    char beside[PATH_SIZE + sizeof ".order"];
    uint8_t key[STREAM_KEY_SIZE];
    snprintf(beside, sizeof beside, "%s.order", grouping->task->path);
    random_bytes(key, sizeof key);
    grouping->shuffle =
        shuffle_create(&(struct shuffle_spec){beside, sizeof(uint32_t), key});
    hash_zero(key, sizeof key);
    enum status status = grouping->shuffle != NULL ? ST_OK : no_memory(error);
    for (uint32_t u = 0; u < grouping->task->units && status == ST_OK; u++)
        status = shuffle_add(grouping->shuffle, &u, 1, error);
    return status;
}

static enum status write_persons(struct grouping *grouping,
                                 struct matrix_writer *writer, struct error *error)
{
    enum status status = ST_OK;
    for (uint32_t index = 0; index < grouping->task->units && status == ST_OK;
         index++) {
        const void *next = NULL;
        uint32_t appeared = 0;
        status = shuffle_next(grouping->shuffle, &next, error);
        if (status != ST_OK)
            break;
        memcpy(&appeared, next, sizeof appeared);
        status = write_person(grouping, writer, index, appeared, error);
    }
    return status;
}

static enum status write_grouped(struct grouping *grouping,
                                 struct matrix_writer *writer,
                                 struct matrix_digest *digest, struct error *error)
{
    const struct matrix *from = &grouping->read;
    const struct matrix_shape shape = {.features = from->features,
                                       .texts = from->texts,
                                       .classes = from->classes,
                                       .element = from->element,
                                       .scale = from->scale};
    enum status status = matrix_writer_begin(writer, &shape, error);
    matrix_writer_group(writer,
                        &(struct matrix_groups){grouping->placed, grouping->task->units,
                                                grouping->task->kept});
    random_bytes(grouping->key, sizeof grouping->key);
    grouping->stream = stream_create();
    if (status == ST_OK)
        status = write_persons(grouping, writer, error);
    return status == ST_OK ? matrix_writer_finish(writer, digest, error) : status;
}

/* Removes the name of the matrix, which stays mapped. */
static enum status take_matrix(struct matrix *matrix, const char *path,
                               struct error *error)
{
    enum status status = matrix_open(matrix, path, error);
    if (unlink(path) != 0 && status == ST_OK)
        status = io_failed(error);
    return status;
}

enum status person_grouping_run(const struct person_grouping *task,
                                struct matrix_digest *digest, struct error *error)
{
    struct matrix_writer *writer = NULL;
    struct grouping grouping = {.task = task};
    enum status status = map_grouping(&grouping, error);
    if (status == ST_OK)
        status = sort(&grouping, error);
    if (status == ST_OK)
        status = shuffle_persons(&grouping, error);
    enum status taken = take_matrix(&grouping.read, task->path, error);
    if (status == ST_OK)
        status = taken;
    if (status == ST_OK)
        status =
            matrix_writer_open(&writer, task->path, task->bounds, task->cancel, error);
    if (status == ST_OK)
        status = write_grouped(&grouping, writer, digest, error);
    matrix_writer_close(writer);
    unmap_grouping(&grouping);
    return status;
}
