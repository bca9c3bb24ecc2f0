/* Reads CIFAR-10 and CIFAR-100 in their binary form. A record is one label byte
 * (CIFAR-100 has two, coarse and fine) and 3072 bytes: the planes R, G, B of 32 x 32,
 * row-major. There is one file, `data`: the batches, concatenated. 20 declared classes
 * of cifar100 are the coarse labels, 100 the fine ones. */
#include <inttypes.h>
#include <string.h>

#include "engine/data/readers/reading.h"

enum {
    CIFAR10_CLASSES = 10,
    COARSE_CLASSES = 20, /* of cifar100; the schema's number of classes chooses the
                            label */
    FINE_CLASSES = 100,
    IMAGE_SIZE = 3 * 32 * 32,
    LABELS_MAX = 2,
    CHUNK_RECORDS = 16, /* records read at a time */
};

struct layout { /* of one record */
    size_t label_count;
    uint32_t classes[LABELS_MAX]; /* number of classes of each label byte */
};

static const struct layout cifar10 = {1, {CIFAR10_CLASSES}};
static const struct layout cifar100 = {2, {COARSE_CLASSES, FINE_CLASSES}};

struct cifar {
    struct reading *reading;
    struct source *source;
    const struct layout *layout;
};

static size_t record_size_of(const struct cifar *cifar)
{
    return cifar->layout->label_count + IMAGE_SIZE;
}

static enum status check_size(struct cifar *cifar)
{
    uint64_t size;
    size_t record_size = record_size_of(cifar);
    if (source_size(cifar->source, &size) && size % record_size != 0)
        return reading_refuse(cifar->reading, 0, 0,
                              "%" PRIu64 " bytes are not whole records of %zu bytes",
                              size, record_size);
    return ST_OK;
}

/* Adds one record, numbered from 1: writes its image to row, and its declared label to
 * the matrix. */
static enum status add_record(struct cifar *cifar, const unsigned char *bytes,
                              unsigned char *row, uint64_t record)
{
    struct reading *reading = cifar->reading;
    const struct layout *layout = cifar->layout;
    uint32_t class_index = 0;
    for (size_t i = 0; i < layout->label_count; i++) {
        const uint32_t last = layout->classes[i] - 1;
        const uint32_t label = reading->takes_any && bytes[i] > last ? last : bytes[i];
        if (label > last)
            return reading_refuse(reading, record, 0,
                                  "label byte %zu is not between 0 and %" PRIu32, i + 1,
                                  last);
        if (layout->classes[i] == reading->schema->classes)
            class_index = label;
    }
    memcpy(row, bytes + layout->label_count, IMAGE_SIZE);
    return matrix_writer_class(reading->writer, class_index, reading->error);
}

/* Reads *count records, 0 at the end of the file, after `done` records. */
static enum status read_chunk(struct cifar *cifar, uint64_t done, size_t *count)
{
    struct reading *reading = cifar->reading;
    unsigned char bytes[CHUNK_RECORDS * (LABELS_MAX + IMAGE_SIZE)];
    size_t got, room, record_size = record_size_of(cifar);
    unsigned char *rows = matrix_writer_rows(reading->writer, &room);
    if (room > CHUNK_RECORDS)
        room = CHUNK_RECORDS;
    enum status status =
        source_read(cifar->source, bytes, room * record_size, &got, reading->error);
    if (status != ST_OK)
        return status;
    *count = got / record_size;
    for (size_t i = 0; i < *count && status == ST_OK; i++)
        status = add_record(cifar, bytes + i * record_size, rows + i * IMAGE_SIZE,
                            done + i + 1);
    if (status == ST_OK && got % record_size != 0)
        status = reading_refuse(reading, done + *count + 1, 0,
                                "the file ends inside this record");
    if (status == ST_OK && *count > 0)
        status = matrix_writer_advance(reading->writer, *count, reading->error);
    return status;
}

static enum status read_records(struct cifar *cifar)
{
    struct reading *reading = cifar->reading;
    uint64_t done = 0;
    size_t count = 1;
    enum status status = check_size(cifar);
    if (status == ST_OK)
        status = reading_check_scale(reading);
    if (status == ST_OK)
        status = reading_begin(reading, ELEMENT_U8);
    while (status == ST_OK && count > 0) {
        status = read_chunk(cifar, done, &count);
        done += count;
    }
    if (status == ST_OK && done == 0)
        status = reading_refuse(reading, 0, 0, "the file holds no records");
    return status;
}

static enum status read_file(struct reading *reading, const struct layout *layout)
{
    struct cifar cifar = {.reading = reading, .layout = layout};
    enum status status = reading_open(reading, &cifar.source, 0);
    if (status == ST_OK)
        status = read_records(&cifar);
    source_close(cifar.source);
    return status;
}

static enum status read_cifar10(struct reading *reading)
{
    return read_file(reading, &cifar10);
}

static enum status read_cifar100(struct reading *reading)
{
    return read_file(reading, &cifar100);
}

const struct reader cifar10_reader = {
    .name = "cifar10",
    .form = FORM_SHAPED,
    .files = {"data"},
    .shape_count = 3,
    .shape = {3, 32, 32},
    .scale = UINT8_MAX,
    .class_counts = {{CIFAR10_CLASSES, NULL}},
    .read = read_cifar10,
};

const struct reader cifar100_reader = {
    .name = "cifar100",
    .form = FORM_SHAPED,
    .files = {"data"},
    .shape_count = 3,
    .shape = {3, 32, 32},
    .scale = UINT8_MAX,
    .class_counts = {{FINE_CLASSES, "the fine labels"},
                     {COARSE_CLASSES, "the coarse ones"}},
    .read = read_cifar100,
};
