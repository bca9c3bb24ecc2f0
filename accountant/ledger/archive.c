#include "accountant/ledger/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chain_hash.h"
#include "base/check.h"

enum {
    DRAFT_SIZE = ARCHIVE_PATH_SIZE + 8,
    ROW_SIZE_MAX = 1 << 24,
    PART_OF_FILE = 1 << 14,
};

static const char magic[] = "epsilond ledger 1\n";

struct archive_writer {
    struct archive_part part;
    char path[ARCHIVE_PATH_SIZE], draft[DRAFT_SIZE];
    int folder;
    FILE *file;
    struct sha256 *hash;
    uint8_t *bytes; /* (size) of the entry that is put */
    size_t size, capacity;
};

void archive_path(char path[ARCHIVE_PATH_SIZE], const struct archive_part *part)
{
    snprintf(path, ARCHIVE_PATH_SIZE,
             "%.*s/ledger-%012" PRIu64 "-%012" PRIu64 ".archive",
             ARCHIVE_PATH_SIZE - 64, part->folder, part->first, part->last);
}

static enum status failed(const char *path, struct error *error)
{
    return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
}

/* --- writing --- */

static void add(struct archive_writer *writer, const void *data, size_t size)
{
    if (writer->size + size > writer->capacity) {
        writer->capacity = 2 * (writer->size + size);
        writer->bytes = realloc(writer->bytes, writer->capacity);
        CHECK(writer->bytes != NULL);
    }
    if (size > 0)
        memcpy(writer->bytes + writer->size, data, size);
    writer->size += size;
}

static void add_number(struct archive_writer *writer, uint64_t number)
{
    uint8_t bytes[8];
    chain_number_encode(bytes, number);
    add(writer, bytes, sizeof bytes);
}

static void add_bytes(struct archive_writer *writer, const void *data, size_t size)
{
    add_number(writer, size);
    add(writer, data, size);
}

static void add_text(struct archive_writer *writer, const char *text)
{
    add_bytes(writer, text, strlen(text) + 1);
}

/* Writes the bytes that were added. */
static enum status flush(struct archive_writer *writer, struct error *error)
{
    sha256_update(writer->hash, writer->bytes, writer->size);
    size_t written = fwrite(writer->bytes, 1, writer->size, writer->file);
    bool good = written == writer->size;
    writer->size = 0;
    return good ? ST_OK : failed(writer->draft, error);
}

static void destroy(struct archive_writer *writer)
{
    if (writer->file != NULL)
        fclose(writer->file);
    if (writer->folder >= 0)
        close(writer->folder);
    sha256_destroy(writer->hash);
    free(writer->bytes);
    free(writer);
}

void archive_discard(struct archive_writer *writer)
{
    unlink(writer->draft);
    destroy(writer);
}

static enum status open_draft(struct archive_writer *writer, struct error *error)
{
    const char *folder = writer->part.folder;
    if (strlen(folder) >= ARCHIVE_PATH_SIZE - 64)
        return error_set(error, ST_INVALID, "the archive's path is too long");
    writer->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (writer->folder < 0)
        return error_set(error, ST_INVALID, "%s: %s", folder, strerror(errno));
    int file = open(writer->draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(writer->draft, error);
    writer->file = fdopen(file, "w");
    CHECK(writer->file != NULL);
    return ST_OK;
}

enum status archive_create(struct archive_writer **out, const struct archive_part *part,
                           struct error *error)
{
    struct archive_writer *writer = calloc(1, sizeof *writer);
    CHECK(writer != NULL);
    *writer =
        (struct archive_writer){.part = *part, .folder = -1, .hash = sha256_create()};
    archive_path(writer->path, part);
    snprintf(writer->draft, sizeof writer->draft, "%s.draft", writer->path);
    enum status status = open_draft(writer, error);
    if (status == ST_OK) {
        add(writer, magic, strlen(magic));
        add_number(writer, part->first);
        add_number(writer, part->last);
        status = flush(writer, error);
    }
    if (status == ST_OK)
        *out = writer;
    else if (writer->file != NULL)
        archive_discard(writer);
    else
        destroy(writer);
    return status;
}

enum status archive_put(struct archive_writer *writer, const struct ledger_row *row,
                        struct error *error)
{
    add_number(writer, 0);
    add_number(writer, row->seq);
    add_number(writer, row->epoch);
    add_number(writer, (uint64_t)row->time_ms);
    add(writer, row->prev, SHA256_SIZE);
    add(writer, row->hash, SHA256_SIZE);
    add_text(writer, row->dataset);
    add_text(writer, row->job);
    add_text(writer, row->kind);
    add_text(writer, row->meta);
    add_text(writer, row->actor);
    add_bytes(writer, row->curve, row->curve_size);
    add_bytes(writer, row->released, row->released != NULL ? row->curve_size : 0);
    chain_number_encode(writer->bytes, writer->size - 8);
    return flush(writer, error);
}

/* --- publishing --- */

static enum status digest_file(uint8_t digest[SHA256_SIZE], const char *path,
                               struct error *error)
{
    uint8_t bytes[PART_OF_FILE];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return failed(path, error);
    struct sha256 *hash = sha256_create();
    size_t size;
    while ((size = fread(bytes, 1, sizeof bytes, file)) > 0)
        sha256_update(hash, bytes, size);
    enum status status = ferror(file) ? failed(path, error) : ST_OK;
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    fclose(file);
    return status;
}

static enum status sync_draft(struct archive_writer *writer, struct error *error)
{
    if (fflush(writer->file) != 0 || fsync(fileno(writer->file)) != 0)
        return failed(writer->draft, error);
    return ST_OK;
}

/* A file of the part exists already: it must be the same. */
static enum status check_same(struct archive_writer *writer,
                              const uint8_t digest[SHA256_SIZE], struct error *error)
{
    uint8_t found[SHA256_SIZE];
    enum status status = digest_file(found, writer->path, error);
    if (status == ST_OK && memcmp(found, digest, SHA256_SIZE) != 0)
        status = error_set(error, ST_ALREADY_EXISTS, "%s: holds something else",
                           writer->path);
    return status;
}

/* A part that was found may have been written before its file or the folder was synced,
 * so it is replaced. */
static enum status name_draft(struct archive_writer *writer,
                              const uint8_t digest[SHA256_SIZE], struct error *error)
{
    bool is_there = access(writer->path, F_OK) == 0;
    enum status status = is_there ? check_same(writer, digest, error) : ST_OK;
    if (status == ST_OK && rename(writer->draft, writer->path) != 0)
        status = failed(writer->path, error);
    if (status == ST_OK && fsync(writer->folder) != 0)
        status = failed(writer->part.folder, error);
    return status;
}

enum status archive_publish(struct archive_writer *writer, uint8_t digest[SHA256_SIZE],
                            struct error *error)
{
    sha256_finish(writer->hash, digest);
    enum status status = sync_draft(writer, error);
    if (status == ST_OK)
        status = name_draft(writer, digest, error);
    archive_discard(writer); /* a draft that got its name no longer exists */
    return status;
}

/* --- reading --- */

struct reader {
    FILE *file;
    struct sha256 *hash;
    uint8_t *bytes; /* (capacity) of one entry */
    size_t capacity;
    const uint8_t *at, *end; /* of its unread bytes */
    bool good;
};

static bool read_bytes(struct reader *reader, void *bytes, size_t size)
{
    if (fread(bytes, 1, size, reader->file) != size)
        return false;
    sha256_update(reader->hash, bytes, size);
    return true;
}

static uint64_t number_of(const uint8_t bytes[8])
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static bool read_number(struct reader *reader, uint64_t *number)
{
    uint8_t bytes[8];
    if (!read_bytes(reader, bytes, sizeof bytes))
        return false;
    *number = number_of(bytes);
    return true;
}

static const uint8_t *take(struct reader *reader, size_t size)
{
    static const uint8_t nothing[SHA256_SIZE];
    const uint8_t *at = reader->at;
    reader->good = reader->good && size <= (size_t)(reader->end - reader->at);
    if (!reader->good)
        return nothing;
    reader->at += size;
    return at;
}

static uint64_t take_number(struct reader *reader)
{
    return number_of(take(reader, 8));
}

static const uint8_t *take_sized(struct reader *reader, size_t *size)
{
    uint64_t said = take_number(reader);
    reader->good = reader->good && said <= (uint64_t)(reader->end - reader->at);
    *size = reader->good ? (size_t)said : 0;
    return take(reader, *size);
}

static const char *take_text(struct reader *reader)
{
    size_t size;
    const char *text = (const char *)take_sized(reader, &size);
    reader->good =
        reader->good && size > 0 && memchr(text, '\0', size) == text + size - 1;
    return reader->good ? text : "";
}

static bool take_row(struct reader *reader, struct ledger_row *row)
{
    size_t released_size;
    *row = (struct ledger_row){.seq = take_number(reader)};
    row->epoch = take_number(reader);
    row->time_ms = (int64_t)take_number(reader);
    memcpy(row->prev, take(reader, SHA256_SIZE), SHA256_SIZE);
    memcpy(row->hash, take(reader, SHA256_SIZE), SHA256_SIZE);
    row->dataset = take_text(reader);
    row->job = take_text(reader);
    row->kind = take_text(reader);
    row->meta = take_text(reader);
    row->actor = take_text(reader);
    row->curve = take_sized(reader, &row->curve_size);
    row->released = take_sized(reader, &released_size);
    if (released_size == 0)
        row->released = NULL;
    return reader->good && reader->at == reader->end && row->curve_size > 0 &&
           (released_size == 0 || released_size == row->curve_size);
}

static bool read_row(struct reader *reader, struct ledger_row *row)
{
    uint64_t size;
    if (!read_number(reader, &size) || size > ROW_SIZE_MAX)
        return false;
    if (size > reader->capacity) {
        reader->capacity = (size_t)size;
        reader->bytes = realloc(reader->bytes, reader->capacity);
        CHECK(reader->bytes != NULL);
    }
    if (!read_bytes(reader, reader->bytes, (size_t)size))
        return false;
    reader->at = reader->bytes;
    reader->end = reader->bytes + size;
    reader->good = true;
    return take_row(reader, row);
}

static bool read_head(struct reader *reader, const struct archive_part *part)
{
    char found[sizeof magic] = "";
    uint64_t first, last;
    return read_bytes(reader, found, strlen(magic)) && strcmp(found, magic) == 0 &&
           read_number(reader, &first) && first == part->first &&
           read_number(reader, &last) && last == part->last;
}

/* Returns whether the file is of its form to its end. */
static bool walk(struct reader *reader, const struct archive_part *part,
                 bool (*visit)(void *context, const struct ledger_row *row),
                 void *context)
{
    struct ledger_row row;
    bool wanted = true, good = read_head(reader, part);
    for (uint64_t seq = part->first; good && seq <= part->last; seq++) {
        good = read_row(reader, &row) && row.seq == seq;
        wanted = wanted && good && visit(context, &row);
    }
    return good && fgetc(reader->file) == EOF;
}

enum status archive_walk(const struct archive_part *part, uint8_t digest[SHA256_SIZE],
                         bool (*visit)(void *context, const struct ledger_row *row),
                         void *context, struct error *error)
{
    char path[ARCHIVE_PATH_SIZE];
    archive_path(path, part);
    struct reader reader = {.file = fopen(path, "re")};
    if (reader.file == NULL)
        return errno == ENOENT
                   ? error_set(error, ST_NOT_FOUND, "%s: is not there", path)
                   : failed(path, error);
    reader.hash = sha256_create();
    bool good = walk(&reader, part, visit, context);
    enum status status = ferror(reader.file) ? failed(path, error) : ST_OK;
    if (status == ST_OK && !good)
        status = error_set(error, ST_CORRUPT, "%s: is no archive of its part", path);
    sha256_finish(reader.hash, digest);
    sha256_destroy(reader.hash);
    fclose(reader.file);
    free(reader.bytes);
    return status;
}
