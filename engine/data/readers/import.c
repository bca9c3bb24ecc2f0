#include "engine/data/readers/import.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file_checksum.h"
#include "base/random.h"
#include "engine/data/readers/foreign.h"
#include "engine/data/readers/id_file.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/persons.h"
#include "engine/data/readers/reading.h"

/* State that is needed after all files are read. */
struct run_result {
    const struct import *import;
    struct matrix_bounds bounds;
};

/* Groups the rows by person. This writes the file a second time, while the first still
 * exists. */
static enum status group(struct reading *reading, const struct run_result *ending,
                         struct matrix_digest *digest, uint64_t *units)
{
    struct matrix_bounds bounds = ending->bounds;
    if (bounds.disk_room > 0 && bounds.disk_room <= digest->size) {
        unlink(ending->import->path);
        return error_set(reading->error, ST_DISK_FULL,
                         "the disk has no room for the matrix");
    }
    if (bounds.disk_room > 0)
        bounds.disk_room -= digest->size;
    return persons_group(reading->persons, ending->import->path, bounds,
                         ending->import->cancel, digest, units, reading->error);
}

static enum status finish(struct reading *reading, const struct run_result *ending,
                          struct import_result *result)
{
    struct matrix_digest digest;
    enum status status = matrix_writer_finish(reading->writer, &digest, reading->error);
    if (status != ST_OK)
        return status;
    uint64_t units = digest.records;
    if (reading->persons != NULL)
        status = group(reading, ending, &digest, &units);
    if (status != ST_OK)
        return status;
    result->records = units;
    result->size = digest.size;
    memcpy(result->sha256, digest.sha256, SHA256_SIZE);
    memcpy(result->rows_sha256, digest.rows_sha256, SHA256_SIZE);
    return ST_OK;
}

/* Sets the digest of the uploaded files: of the digests of each. */
static enum status digest_sources(const struct import *import,
                                  uint8_t digest[SHA256_SIZE], struct error *error)
{
    struct sha256 *hash = sha256_create();
    enum status status = ST_OK;
    for (size_t i = 0; i < schema_file_count(import->schema) && status == ST_OK; i++) {
        struct file_checksum file;
        status = file_checksum_of(&file, import->files.paths[i], error);
        if (status == ST_OK)
            sha256_update(hash, file.sha256, sizeof file.sha256);
    }
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    return status;
}

/* Returns the format that the faulty file should have; NULL: it is the text file of
 * ids. */
static const struct reader *format_of(const struct reading *reading)
{
    const struct reader *reader = reading->schema->reader;
    return reading->place.file < reader_file_count(reader) ? reader : NULL;
}

/* If a refused file is of a known other kind, replaces the reason by the name of that
 * kind. */
static void name_foreign(const struct reading *reading, struct import_failure *failure)
{
    char bytes[FOREIGN_SIZE], name[sizeof failure->text];
    size_t size = 0;
    struct source *source = NULL;
    const char *path = reading->paths[reading->place.file];
    if (path == NULL || source_open(&source, path, reading->bounds, NULL) != ST_OK)
        return;
    if (source_read(source, bytes, sizeof bytes, &size, NULL) == ST_OK &&
        foreign_name(name, sizeof name, format_of(reading), bytes, size)) {
        memcpy(failure->text, name, sizeof name);
        failure->line = failure->column = 0;
        if (reading->report != NULL)
            import_report_clear(reading->report);
    }
    source_close(source);
}

enum status import_failure_set(struct import_failure *failure, enum status status,
                               const char *text)
{
    *failure = (struct import_failure){.status = status};
    snprintf(failure->text, sizeof failure->text, "%s", text);
    return status;
}

static struct import_failure failure_of(const struct reading *reading,
                                        enum status status)
{
    struct import_failure failure = {.status = status};
    memcpy(failure.text, reading->error->text, sizeof failure.text);
    if (status != ST_IMPORT_FAILED)
        return failure;
    snprintf(failure.file, sizeof failure.file, "%s",
             schema_file_name(reading->schema, reading->place.file));
    failure.line = reading->place.line;
    failure.column = reading->place.column;
    name_foreign(reading, &failure);
    return failure;
}

/* Makes the writer put the records into a secret random order. */
static void shuffle_records(struct matrix_writer *writer)
{
    uint8_t key[STREAM_KEY_SIZE];
    random_bytes(key, sizeof key);
    matrix_writer_shuffle(writer, key);
    hash_zero(key, sizeof key);
}

enum status import_run(const struct import *import, struct import_result *result,
                       struct import_failure *failure)
{
    uint64_t size_max = import->limits.unpacked_size_max;
    struct matrix_bounds bounds = {MATRIX_RECORDS_MAX, size_max,
                                   import->limits.disk_room};
    struct error error = {0};
    struct reading reading = {
        .schema = import->schema,
        .paths = import->files.paths,
        .tokenizer = import->tokenizer,
        .bounds = {size_max, import->cancel},
        .error = &error,
        .takes_any = import->takes_any,
        .report = import->report,
    };
    const struct run_result ending = {import, bounds};
    CHECK(!import->takes_any || schema_unit(import->schema) == PRIVACY_UNIT_RECORD);
    if (schema_unit(import->schema) == PRIVACY_UNIT_PERSON)
        reading.persons =
            persons_create(import->path, schema_rows_kept(import->schema));
    enum status status = matrix_writer_open(&reading.writer, import->path, bounds,
                                            import->cancel, &error);
    if (status == ST_OK && import->is_private && reading.persons == NULL)
        shuffle_records(reading.writer);
    if (status == ST_OK)
        status = import->schema->reader->read(&reading);
    if (status == ST_OK && import->schema->has_id_file)
        status = id_file_read(&reading, matrix_writer_records(reading.writer));
    if (status == ST_OK)
        status = digest_sources(import, result->sources_sha256, &error);
    if (status == ST_OK)
        status = finish(&reading, &ending, result);
    if (reading.writer != NULL)
        matrix_writer_close(reading.writer);
    persons_destroy(reading.persons);
    if (status != ST_OK)
        *failure = failure_of(&reading, status);
    return status;
}
