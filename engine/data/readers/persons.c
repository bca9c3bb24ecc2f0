/* Ids are found by a hash table with a key of its own: a polynomial over the id's bytes at a
 * random point modulo 2^61 - 1, so that no file can be made whose ids collide. Their bytes
 * lie in chunks that never move, so that nothing of them stays behind where memory grows.
 *
 * Grouping is a counting sort. The persons of the rows, and then the rows in the order of
 * their persons, lie in mapped files without a name, which the kernel may write to disk;
 * the matrix as it was read is mapped too, taken off its path, and copied row by row: of
 * each person the rows that are kept, and zeros in the place of those that they lack. */
#include "engine/data/readers/persons.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/data/matrix.h"
#include "engine/data/readers/id_text.h"

enum {
    PATH_SIZE = 4096,
    CHUNK_SIZE = 1 << 20,  /* bytes of ids */
    PENDING_MAX = 1 << 14, /* rows whose persons wait in memory */
    TABLE_FIRST = 1 << 10,
    BLOCK_WORDS = STREAM_BLOCK_SIZE / sizeof(uint32_t)
};

static const uint64_t prime = (UINT64_C(1) << 61) - 1;

struct person {
    const char *id; /* in a chunk */
    uint64_t hash;
    uint16_t size;
};

struct chunk {
    struct chunk *next;
    size_t used;
    char bytes[CHUNK_SIZE];
};

struct persons {
    char path[PATH_SIZE];
    uint32_t kept;  /* rows of a person that stay */
    uint64_t point; /* of the hash */
    struct person *all;
    size_t count, room;
    uint32_t *table; /* (slots) the place of a person, counted from 1; 0: none */
    size_t slots;    /* a power of two */
    struct chunk *chunks;
    int file; /* the person of each row; -1 before the first is written */
    uint32_t pending[PENDING_MAX];
    size_t pending_count;
    uint64_t rows;
};

static enum status no_memory(struct error *error)
{
    return error_set(error, ST_NO_MEMORY, "no memory for so many persons");
}

static enum status io_failed(struct error *error)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return error_set(error, full ? ST_DISK_FULL : ST_IO,
                     "persons cannot be written: %s", strerror(errno));
}

struct persons *persons_create(const char *path, uint32_t slots)
{
    struct persons *persons = calloc(1, sizeof *persons);
    CHECK(persons != NULL);
    CHECK((size_t)snprintf(persons->path, PATH_SIZE, "%s", path) < PATH_SIZE);
    CHECK(slots > 0 && slots <= MATRIX_SLOTS_MAX);
    persons->kept = slots;
    random_bytes(&persons->point, sizeof persons->point);
    persons->point %= prime;
    persons->file = -1;
    return persons;
}

static void forget_ids(struct persons *persons)
{
    while (persons->chunks != NULL) {
        struct chunk *chunk = persons->chunks;
        persons->chunks = chunk->next;
        hash_zero(chunk->bytes, chunk->used);
        free(chunk);
    }
    if (persons->all != NULL)
        hash_zero(persons->all, persons->room * sizeof *persons->all);
    free(persons->all);
    free(persons->table);
    persons->all = NULL;
    persons->table = NULL;
    persons->room = persons->slots = 0;
    persons->point = 0;
}

void persons_destroy(struct persons *persons)
{
    if (persons == NULL)
        return;
    forget_ids(persons);
    if (persons->file >= 0)
        close(persons->file);
    hash_zero(persons->pending, sizeof persons->pending);
    free(persons);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

enum status persons_read_id(struct cell *id, struct cell cell, struct error *error)
{
    while (cell.size > 0 && is_blank(cell.text[0])) {
        cell.text++;
        cell.size--;
    }
    while (cell.size > 0 && is_blank(cell.text[cell.size - 1]))
        cell.size--;
    if (cell.size == 0)
        return error_set(error, ST_INVALID,
                         "the id is empty: each row must say whose it is");
    if (cell.size > PERSON_ID_SIZE_MAX)
        return error_set(error, ST_INVALID, "the id is longer than %d bytes",
                         PERSON_ID_SIZE_MAX);
    const char *fault = id_text_fault(cell.text, cell.size);
    if (fault != NULL)
        return error_set(error, ST_INVALID,
                         "the id holds %s: save the ids as UTF-8, without characters "
                         "that nobody sees",
                         fault);
    *id = cell;
    return ST_OK;
}

/* The polynomial whose coefficients are the bytes, each more than 0, and the size. */
static uint64_t hash_of(const struct persons *persons, struct cell id)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t hash = id.size;
    for (size_t i = 0; i < id.size; i++)
        hash =
            (uint64_t)(((wide)hash * persons->point + (unsigned char)id.text[i] + 1) %
                       prime);
    return hash;
}

/* Where the person stands in the table, or the empty slot where they belong. */
static size_t slot_of(const struct persons *persons, struct cell id, uint64_t hash)
{
    size_t slot = (size_t)hash & (persons->slots - 1);
    for (; persons->table[slot] != 0; slot = (slot + 1) & (persons->slots - 1)) {
        const struct person *person = &persons->all[persons->table[slot] - 1];
        if (person->hash == hash && person->size == id.size &&
            memcmp(person->id, id.text, id.size) == 0)
            break;
    }
    return slot;
}

/* Makes room for one more person, with the table at most half full. */
static enum status grow(struct persons *persons, struct error *error)
{
    if (persons->count < persons->room && 2 * (persons->count + 1) <= persons->slots)
        return ST_OK;
    size_t slots = persons->slots > 0 ? 2 * persons->slots : TABLE_FIRST;
    struct person *all = calloc(slots / 2, sizeof *all);
    uint32_t *table = calloc(slots, sizeof *table);
    if (all == NULL || table == NULL) {
        free(all);
        free(table);
        return no_memory(error);
    }
    if (persons->count > 0)
        memcpy(all, persons->all, persons->count * sizeof *all);
    for (size_t k = 0; k < persons->count; k++) {
        size_t slot = (size_t)all[k].hash & (slots - 1);
        while (table[slot] != 0)
            slot = (slot + 1) & (slots - 1);
        table[slot] = (uint32_t)(k + 1);
    }
    free(persons->all);
    free(persons->table);
    persons->all = all;
    persons->table = table;
    persons->room = slots / 2;
    persons->slots = slots;
    return ST_OK;
}

/* Keeps the bytes of an id, or answers NULL without memory. */
static const char *keep(struct persons *persons, struct cell id)
{
    struct chunk *chunk = persons->chunks;
    if (chunk == NULL || chunk->used + id.size > sizeof chunk->bytes) {
        chunk = malloc(sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        chunk->next = persons->chunks;
        chunk->used = 0;
        persons->chunks = chunk;
    }
    char *bytes = chunk->bytes + chunk->used;
    memcpy(bytes, id.text, id.size);
    chunk->used += id.size;
    return bytes;
}

static enum status find_or_add(struct persons *persons, struct cell id, uint32_t *index,
                               struct error *error)
{
    enum status status = grow(persons, error);
    if (status != ST_OK)
        return status;
    uint64_t hash = hash_of(persons, id);
    size_t slot = slot_of(persons, id, hash);
    if (persons->table[slot] == 0) {
        if (persons->count == PERSONS_MAX)
            return error_set(error, ST_IMPORT_FAILED, "more than %d persons",
                             PERSONS_MAX);
        const char *kept = keep(persons, id);
        if (kept == NULL)
            return no_memory(error);
        persons->all[persons->count++] = (struct person){kept, hash, (uint16_t)id.size};
        persons->table[slot] = (uint32_t)persons->count;
    }
    *index = persons->table[slot] - 1;
    return ST_OK;
}

/* A file without a name, beside the matrix; -1 where there is none. */
static int open_unnamed(const struct persons *persons)
{
    char path[PATH_SIZE + sizeof ".persons"];
    snprintf(path, sizeof path, "%s.persons", persons->path);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0 && unlink(path) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

static enum status flush(struct persons *persons, struct error *error)
{
    const char *at = (const char *)persons->pending;
    size_t left = persons->pending_count * sizeof *persons->pending;
    if (persons->file < 0)
        persons->file = open_unnamed(persons);
    if (persons->file < 0)
        return io_failed(error);
    while (left > 0) {
        ssize_t done = write(persons->file, at, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return io_failed(error);
        at += done;
        left -= (size_t)done;
    }
    persons->pending_count = 0;
    return ST_OK;
}

enum status persons_add(struct persons *persons, struct cell id, struct error *error)
{
    uint32_t index = 0;
    enum status status = find_or_add(persons, id, &index, error);
    if (status != ST_OK)
        return status;
    persons->pending[persons->pending_count++] = index;
    persons->rows++;
    return persons->pending_count == PENDING_MAX ? flush(persons, error) : ST_OK;
}

struct grouping {        /* at work */
    struct matrix read;  /* as the file has it */
    const uint32_t *who; /* (rows) the person of each row; mapped */
    uint32_t *order;     /* (rows) the rows of person 0, of person 1, ...; mapped */
    uint32_t *starts;    /* (units + 1) of the rows read, then of those that are kept */
    size_t rows, units;
    uint32_t kept;                /* rows of a person, at most */
    uint8_t key[STREAM_KEY_SIZE]; /* of which rows are kept */
    struct stream *stream;
};

/* Maps a file of rows numbers; NULL where it cannot be. */
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

static enum status map_grouping(struct grouping *grouping, struct persons *persons,
                                struct error *error)
{
    int file = open_unnamed(persons);
    grouping->who = map_rows(persons->file, grouping->rows, PROT_READ);
    grouping->order = map_rows(file, grouping->rows, PROT_READ | PROT_WRITE);
    enum status status = ST_OK;
    if (grouping->who == NULL || grouping->order == NULL)
        status = io_failed(error);
    if (file >= 0)
        close(file);
    return status;
}

static void unmap_grouping(struct grouping *grouping)
{
    size_t size = grouping->rows * sizeof(uint32_t);
    if (grouping->who != NULL)
        munmap((void *)(uintptr_t)grouping->who, size);
    if (grouping->order != NULL)
        munmap(grouping->order, size);
    free(grouping->starts);
    matrix_close(&grouping->read);
    stream_destroy(grouping->stream);
    hash_zero(grouping->key, sizeof grouping->key);
}

static enum status sort(struct grouping *grouping, struct error *error)
{
    uint32_t *next = calloc(grouping->units + 1, sizeof *next);
    grouping->starts = calloc(grouping->units + 1, sizeof *grouping->starts);
    if (next == NULL || grouping->starts == NULL) {
        free(next);
        return no_memory(error);
    }
    for (size_t r = 0; r < grouping->rows; r++)
        grouping->starts[grouping->who[r] + 1]++;
    for (size_t u = 0; u < grouping->units; u++)
        grouping->starts[u + 1] += grouping->starts[u];
    memcpy(next, grouping->starts, (grouping->units + 1) * sizeof *next);
    for (size_t r = 0; r < grouping->rows; r++)
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

/* places = those of the person's rows that are kept, ascending; how many. Of more than are
 * kept each subset is as likely as any other, but for the 2^-32 by which a word has no whole
 * number of shares: a row is kept with the chance wanted / left. */
static size_t choose_rows(const struct grouping *grouping, uint32_t *places,
                          uint32_t person, uint32_t rows)
{
    uint32_t words[BLOCK_WORDS] = {0};
    size_t kept = 0;
    for (uint32_t row = 0; row < rows && kept < grouping->kept; row++) {
        uint64_t wanted = grouping->kept - kept, left = rows - row;
        const struct stream_position from = {grouping->key, person, row / BLOCK_WORDS};
        if (rows > grouping->kept && row % BLOCK_WORDS == 0)
            stream_read(grouping->stream, words, sizeof words, &from);
        if (words[row % BLOCK_WORDS] * left >> 32 < wanted)
            places[kept++] = row;
    }
    hash_zero(words, sizeof words);
    return kept;
}

/* Writes what is kept of a person, who has rows of them, the first of which is first. */
static enum status write_person(struct grouping *grouping, struct matrix_writer *writer,
                                uint32_t person, struct matrix_unit rows,
                                struct error *error)
{
    uint32_t places[MATRIX_SLOTS_MAX];
    const uint32_t *own = grouping->order + rows.first;
    size_t kept = choose_rows(grouping, places, person, rows.count);
    enum status status = ST_OK;
    for (size_t k = 0; k < grouping->kept && status == ST_OK; k++)
        status = k < kept ? copy_row(writer, &grouping->read, own[places[k]], error)
                          : write_empty_row(writer, &grouping->read, error);
    grouping->starts[person + 1] = grouping->starts[person] + (uint32_t)kept;
    return status;
}

static enum status write_grouped(struct grouping *grouping,
                                 struct matrix_writer *writer,
                                 struct matrix_digest *digest, struct error *error)
{
    const struct matrix *from = &grouping->read;
    const struct matrix_shape shape = {.features = from->features,
                                       .classes = from->classes,
                                       .element = from->element,
                                       .scale = from->scale};
    enum status status = matrix_writer_begin(writer, &shape, error);
    matrix_writer_group(writer, &(struct matrix_groups){
                                    grouping->starts, grouping->units, grouping->kept});
    random_bytes(grouping->key, sizeof grouping->key);
    grouping->stream = stream_create();
    uint32_t next = 0; /* of the rows read */
    for (size_t u = 0; u < grouping->units && status == ST_OK; u++) {
        const struct matrix_unit rows = {.first = next,
                                         .count = grouping->starts[u + 1] - next};
        next = grouping->starts[u + 1];
        status = write_person(grouping, writer, (uint32_t)u, rows, error);
    }
    return status == ST_OK ? matrix_writer_finish(writer, digest, error) : status;
}

/* Takes the matrix off its path; it stays mapped. */
static enum status take_matrix(struct matrix *matrix, const char *path,
                               struct error *error)
{
    enum status status = matrix_open(matrix, path, error);
    if (unlink(path) != 0 && status == ST_OK)
        status = io_failed(error);
    return status;
}

enum status persons_group(struct persons *persons, const char *path,
                          struct matrix_bounds bounds, const atomic_bool *cancel,
                          struct matrix_digest *digest, uint64_t *count,
                          struct error *error)
{
    struct matrix_digest grouped;
    struct matrix_writer *writer = NULL;
    struct grouping grouping = {
        .rows = (size_t)persons->rows, .units = persons->count, .kept = persons->kept};
    CHECK(persons->rows > 0);
    forget_ids(persons);
    enum status status = flush(persons, error);
    if (status == ST_OK)
        status = map_grouping(&grouping, persons, error);
    if (status == ST_OK)
        status = sort(&grouping, error);
    enum status taken = take_matrix(&grouping.read, path, error);
    if (status == ST_OK)
        status = taken;
    if (status == ST_OK)
        status = matrix_writer_open(&writer, path, bounds, cancel, error);
    if (status == ST_OK)
        status = write_grouped(&grouping, writer, &grouped, error);
    matrix_writer_close(writer);
    unmap_grouping(&grouping);
    if (status != ST_OK)
        return status;
    memcpy(grouped.rows_sha256, digest->rows_sha256, sizeof grouped.rows_sha256);
    *digest = grouped;
    *count = grouping.units;
    return ST_OK;
}
