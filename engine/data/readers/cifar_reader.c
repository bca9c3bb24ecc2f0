/* Reads CIFAR-10 and CIFAR-100 in their binary form. A record is one label byte
 * (CIFAR-100 has two, coarse and fine) and 3072 bytes: the planes R, G, B of 32 x 32,
 * row-major. There is one file, `data`: the batches one behind the other. 20 declared
 * classes of cifar100 are the coarse labels, 100 the fine ones. */
#include <inttypes.h>
#include <string.h>

#include "engine/data/readers/reading.h"

enum {
    IMAGE_SIZE = 3 * 32 * 32,
    LABELS_MAX = 2,
    CHUNK_RECORDS = 16, /* records read at a time */
};

struct layout {
    size_t label_count;
    uint32_t classes[LABELS_MAX]; /* how many each label byte has */
};

static const struct layout *layout_of(enum data_format format)
{
    static const struct layout cifar10 = {1, {CIFAR10_CLASSES}};
    static const struct layout cifar100 = {
        2, {CIFAR100_COARSE_CLASSES, CIFAR100_FINE_CLASSES}};
    return format == FORMAT_CIFAR10 ? &cifar10 : &cifar100;
}

static enum status check_size(struct reading *reading, const struct source *source,
                              size_t record_size)
{
    uint64_t size;
    if (source_size(source, &size) && size % record_size != 0)
        return reading_refuse(reading, 0, 0,
                              "%" PRIu64 " bytes are not whole records of %zu bytes",
                              size, record_size);
    return ST_OK;
}

/* Takes one record, numbered from 1: its image goes to row, its declared label to the
 * matrix. */
static enum status add_record(struct reading *reading, const unsigned char *bytes,
                              unsigned char *row, uint64_t record)
{
    const struct layout *layout = layout_of(reading->schema->format);
    uint32_t class_index = 0;
    for (size_t i = 0; i < layout->label_count; i++) {
        if (bytes[i] >= layout->classes[i])
            return reading_refuse(reading, record, 0,
                                  "label byte %zu is not between 0 and %" PRIu32, i + 1,
                                  layout->classes[i] - 1);
        if (layout->classes[i] == reading->schema->classes)
            class_index = bytes[i];
    }
    memcpy(row, bytes + layout->label_count, IMAGE_SIZE);
    return matrix_writer_class(reading->writer, class_index, reading->error);
}

/* Reads *count records, 0 at the end of the file; done records were read before. */
static enum status read_chunk(struct reading *reading, struct source *source,
                              size_t record_size, uint64_t done, size_t *count)
{
    unsigned char bytes[CHUNK_RECORDS * (LABELS_MAX + IMAGE_SIZE)];
    size_t got, room;
    unsigned char *rows = matrix_writer_rows(reading->writer, &room);
    if (room > CHUNK_RECORDS)
        room = CHUNK_RECORDS;
    enum status status =
        source_read(source, bytes, room * record_size, &got, reading->error);
    if (status != ST_OK)
        return status;
    *count = got / record_size;
    for (size_t i = 0; i < *count && status == ST_OK; i++)
        status = add_record(reading, bytes + i * record_size, rows + i * IMAGE_SIZE,
                            done + i + 1);
    if (status == ST_OK && got % record_size != 0)
        status = reading_refuse(reading, done + *count + 1, 0,
                                "the file ends inside this record");
    if (status == ST_OK && *count > 0)
        status = matrix_writer_advance(reading->writer, *count, reading->error);
    return status;
}

static enum status read_records(struct reading *reading, struct source *source)
{
    size_t record_size = layout_of(reading->schema->format)->label_count + IMAGE_SIZE;
    uint64_t done = 0;
    size_t count = 1;
    enum status status = check_size(reading, source, record_size);
    if (status == ST_OK)
        status = reading_check_scale(reading);
    if (status == ST_OK)
        status = reading_begin(reading, ELEMENT_U8);
    while (status == ST_OK && count > 0) {
        status = read_chunk(reading, source, record_size, done, &count);
        done += count;
    }
    if (status == ST_OK && done == 0)
        status = reading_refuse(reading, 0, 0, "the file holds no records");
    return status;
}

enum status cifar_read(struct reading *reading)
{
    struct source *source = NULL;
    enum status status = reading_open(reading, &source, "data", reading->files->data);
    if (status == ST_OK)
        status = read_records(reading, source);
    source_close(source);
    return status;
}
