/* Ids are found by a hash table with a random key: the hash is a polynomial over the
 * id's bytes at a random point modulo 2^61 - 1, so that no file can be constructed
 * whose ids collide. The bytes of ids are in chunks that never move, so that growing
 * memory leaves no copies of them behind. The person of each row is written to a file
 * without a name, for person_grouping.h. */
#include "engine/data/readers/persons.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/data/matrix.h"
#include "engine/data/readers/id_text.h"
#include "engine/data/readers/person_grouping.h"

enum {
    PATH_SIZE = 4096,
    CHUNK_SIZE = 1 << 20,  /* bytes of ids */
    PENDING_MAX = 1 << 14, /* rows whose persons are buffered in memory */
    TABLE_FIRST = 1 << 10
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
    uint32_t kept;  /* rows kept per person */
    uint64_t point; /* of the hash */
    struct person *all;
    size_t count, room;
    uint32_t *table; /* (slots) the index of a person, counted from 1; 0: none */
    size_t slots;    /* a power of two */
    struct chunk *chunks;
    int file; /* the person of each row; -1 before the first write */
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

/* Returns the slot of the person in the table, or the empty slot where the person
 * belongs. */
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

/* Makes room for one more person, so that the table stays at most half full. */
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

/* Stores the bytes of an id, and returns NULL if there is no memory. */
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

/* Opens a file without a name in the folder of the matrix; -1 if that fails. */
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

enum status persons_group(struct persons *persons, const char *path,
                          struct matrix_bounds bounds, const atomic_bool *cancel,
                          struct matrix_digest *digest, uint64_t *count,
                          struct error *error)
{
    struct matrix_digest grouped;
    CHECK(persons->rows > 0);
    forget_ids(persons);
    enum status status = flush(persons, error);
    const struct person_grouping grouping = {.path = path,
                                             .who_file = persons->file,
                                             .rows = (size_t)persons->rows,
                                             .units = persons->count,
                                             .kept = persons->kept,
                                             .bounds = bounds,
                                             .cancel = cancel};
    if (status == ST_OK)
        status = person_grouping_run(&grouping, &grouped, error);
    else
        unlink(path);
    if (status != ST_OK)
        return status;
    memcpy(grouped.rows_sha256, digest->rows_sha256, sizeof grouped.rows_sha256);
    *digest = grouped;
    *count = persons->count;
    return ST_OK;
}
