/*
 * bench_import - speed of the import of each format next to its floor, in one run:
 * reading the same file and hashing its bytes, once. Medians of three; files are in
 * $TMPDIR (/tmp) and come from the page cache. The digits are those of a fixed key.
 *
 *   file MB    of the source
 *   MB/s       of the source, in wall time
 *   reads      MB/s for a second of processor of the thread that reads: the bound of an
 *              import if another processor is free for the digests
 *   all        MB/s for a second of processor of all threads
 *   floor      MB/s of only reading and SHA-256, in wall time
 *   matrix     MB that the import writes and hashes
 *   private    MB/s in wall time if the records get a secret order
 *              (engine/data/shuffle), then for a second of processor of all threads
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/data/readers/import.h"
#include "engine/data/readers/reader_registry.h"

enum { FEATURES = 64, RUNS = 3, PATH_SIZE = 512, COLUMNS = FEATURES + 1 };
#define FILE_SIZE 200e6

struct digits { /* random bytes, a block at a time */
    struct stream *stream;
    uint64_t block;
    size_t used;
    uint64_t words[4096];
};

static uint64_t next_word(struct digits *digits)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {4, 7};
    size_t count = sizeof digits->words / sizeof *digits->words;
    if (digits->used == 0) {
        uint64_t block = digits->block++ * (sizeof digits->words / STREAM_BLOCK_SIZE);
        stream_read(digits->stream, digits->words, sizeof digits->words,
                    &(struct stream_position){key, 1, block});
    }
    uint64_t word = digits->words[digits->used];
    digits->used = (digits->used + 1) % count;
    return word;
}

struct workload {
    const char *name;
    const struct schema *schema;
    void (*write_record)(FILE *file, struct digits *digits);
    const char *npy_type; /* used only for npy */
};

static void write_idx_record(FILE *file, struct digits *digits)
{
    for (int i = 0; i < 784 / 8; i++) {
        uint64_t word = next_word(digits);
        fwrite(&word, sizeof word, 1, file);
    }
}

static void write_cifar_record(FILE *file, struct digits *digits)
{
    fputc((int)(next_word(digits) % 10), file);
    for (int i = 0; i < 3072 / 8; i++) {
        uint64_t word = next_word(digits);
        fwrite(&word, sizeof word, 1, file);
    }
}

static void write_f4_record(FILE *file, struct digits *digits)
{
    for (int i = 0; i < FEATURES; i++) {
        float value = (float)(next_word(digits) >> 40) * 0x1p-24F;
        fwrite(&value, sizeof value, 1, file);
    }
}

static void write_f8_record(FILE *file, struct digits *digits)
{
    for (int i = 0; i < FEATURES; i++) {
        double value = (double)(next_word(digits) >> 11) * 0x1p-53;
        fwrite(&value, sizeof value, 1, file);
    }
}

static void write_short_row(FILE *file, struct digits *digits)
{
    for (int i = 0; i < FEATURES; i++)
        fprintf(file, "%d.%02d,", (int)(next_word(digits) % 1000),
                (int)(next_word(digits) % 100));
    fprintf(file, "%d\n", (int)(next_word(digits) & 1));
}

static void write_long_row(FILE *file, struct digits *digits)
{
    for (int i = 0; i < FEATURES; i++)
        fprintf(file, "%.17g,", (double)(next_word(digits) >> 11) * 0x1p-53 * 1000);
    fprintf(file, "%d\n", (int)(next_word(digits) & 1));
}

/* One member for each column. */
static void write_object(FILE *file, struct digits *digits)
{
    for (int i = 0; i < FEATURES; i++)
        fprintf(file, "%c\"c%d\":%d.%02d", i > 0 ? ',' : '{', i,
                (int)(next_word(digits) % 1000), (int)(next_word(digits) % 100));
    fprintf(file, ",\"c%d\":%d}\n", FEATURES, (int)(next_word(digits) & 1));
}

static void write_dense_line(FILE *file, struct digits *digits)
{
    fprintf(file, "%d", (int)(next_word(digits) & 1));
    for (int i = 0; i < FEATURES; i++)
        fprintf(file, " %d:%.6g", i + 1, (double)(next_word(digits) >> 11) * 0x1p-53);
    fputc('\n', file);
}

/* A quarter of the features, all 1: the shape of a9a. */
static void write_sparse_line(FILE *file, struct digits *digits)
{
    fprintf(file, "%d", (int)(next_word(digits) & 1));
    for (int i = 0; i < FEATURES / 4; i++)
        fprintf(file, " %d:1", 4 * i + 1 + (int)(next_word(digits) % 4));
    fputc('\n', file);
}

/* Writes records until the file has FILE_SIZE bytes; returns their number. */
static uint32_t write_records(const char *path, const struct workload *workload,
                              const unsigned char *head, size_t head_size)
{
    struct digits *digits = calloc(1, sizeof *digits);
    CHECK(digits != NULL);
    digits->stream = stream_create();
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    fwrite(head, 1, head_size, file);
    uint32_t records = 0;
    for (; (double)ftello(file) < FILE_SIZE; records++)
        workload->write_record(file, digits);
    CHECK(fclose(file) == 0);
    stream_destroy(digits->stream);
    free(digits);
    return records;
}

static void patch(const char *path, size_t at, uint32_t value)
{
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
    int file = open(path, O_WRONLY);
    CHECK(file >= 0 && pwrite(file, bytes, 4, (off_t)at) == 4 && close(file) == 0);
}

enum { IDX_HEAD_SIZE = 16, NPY_HEAD_SIZE = 128 };

/* Writes a header of version 1.0, with its text padded to the same size for every
 * shape. */
static void npy_head(unsigned char head[NPY_HEAD_SIZE], const char *type,
                     const char *shape)
{
    char text[NPY_HEAD_SIZE - 10 + 1];
    int used =
        snprintf(text, sizeof text,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s}", type, shape);
    CHECK(used > 0 && (size_t)used < sizeof text - 1);
    memset(text + used, ' ', sizeof text - (size_t)used);
    text[sizeof text - 2] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(head + 10, text, NPY_HEAD_SIZE - 10);
}

/* The number of records is known only after they are written. */
static void patch_npy(const char *path, const struct workload *workload,
                      uint32_t records)
{
    unsigned char head[NPY_HEAD_SIZE];
    char shape[32];
    snprintf(shape, sizeof shape, "(%u, %d)", (unsigned)records, FEATURES);
    npy_head(head, workload->npy_type, shape);
    int file = open(path, O_WRONLY);
    CHECK(file >= 0 && pwrite(file, head, sizeof head, 0) == (ssize_t)sizeof head &&
          close(file) == 0);
}

static void write_labels(const char *path, const struct workload *workload,
                         uint32_t records)
{
    unsigned char head[NPY_HEAD_SIZE] = {0, 0, 8, 1};
    char shape[32];
    size_t size = workload->npy_type != NULL ? NPY_HEAD_SIZE : 8;
    snprintf(shape, sizeof shape, "(%u,)", (unsigned)records);
    if (workload->npy_type != NULL)
        npy_head(head, "|u1", shape);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    fwrite(head, 1, size, file);
    for (uint32_t i = 0; i < records; i++)
        fputc((int)(i % 10), file);
    CHECK(fclose(file) == 0);
    if (workload->npy_type == NULL)
        patch(path, 4, records);
}

static double floor_seconds(const char *path)
{
    static char buffer[256 << 10];
    uint8_t digest[SHA256_SIZE];
    int64_t start = clock_monotonic_ns();
    int file = open(path, O_RDONLY);
    struct sha256 *hash = sha256_create();
    for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
        sha256_update(hash, buffer, (size_t)got);
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    close(file);
    return (double)(clock_monotonic_ns() - start) * 1e-9;
}

enum { WALL, READER, ALL, CLOCKS };

static void read_clocks(double seconds[CLOCKS])
{
    static const clockid_t clocks[CLOCKS] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID,
                                             CLOCK_PROCESS_CPUTIME_ID};
    for (int k = 0; k < CLOCKS; k++) {
        struct timespec t;
        clock_gettime(clocks[k], &t);
        seconds[k] = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    }
}

/* Stores in took the time by each clock. */
static void import_once(double took[CLOCKS], const struct workload *workload,
                        const struct import_files *files, const char *out,
                        uint64_t *matrix_size, bool is_private)
{
    const struct import import = {.schema = workload->schema,
                                  .files = *files,
                                  .is_private = is_private,
                                  .limits = {UINT64_C(1) << 36},
                                  .path = out};
    struct import_result result;
    struct import_failure failure = {0};
    double before[CLOCKS];
    read_clocks(before);
    enum status status = import_run(&import, &result, &failure);
    read_clocks(took);
    for (int k = 0; k < CLOCKS; k++)
        took[k] -= before[k];
    if (status != ST_OK)
        fprintf(stderr, "%s: %s\n", workload->name, failure.text);
    CHECK(status == ST_OK);
    *matrix_size = result.size;
    unlink(out);
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double seconds[RUNS])
{
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    return seconds[RUNS / 2];
}

static void measure(const struct workload *workload, const char *folder)
{
    static const unsigned char heads[NPY_HEAD_SIZE] = {0, 0, 8, 3,  0, 0, 0, 0,
                                                       0, 0, 0, 28, 0, 0, 0, 28};
    char data[PATH_SIZE], labels[PATH_SIZE], out[PATH_SIZE];
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(labels, sizeof labels, "%s/labels", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    bool two_files = reader_file_count(workload->schema->reader) == 2;
    size_t head_size = workload->npy_type != NULL ? NPY_HEAD_SIZE : IDX_HEAD_SIZE;
    uint32_t records = write_records(data, workload, heads, two_files ? head_size : 0);
    struct import_files files = {{data}};
    if (two_files) {
        if (workload->npy_type != NULL)
            patch_npy(data, workload, records);
        else
            patch(data, 4, records);
        write_labels(labels, workload, records);
        files = (struct import_files){{data, labels}};
    }
    double floors[RUNS], imports[CLOCKS][RUNS], secret[CLOCKS][RUNS], took[CLOCKS];
    uint64_t matrix_size = 0;
    for (int i = 0; i < RUNS; i++) {
        floors[i] = floor_seconds(data);
        import_once(took, workload, &files, out, &matrix_size, true);
        for (int k = 0; k < CLOCKS; k++)
            secret[k][i] = took[k];
        import_once(took, workload, &files, out, &matrix_size, false);
        for (int k = 0; k < CLOCKS; k++)
            imports[k][i] = took[k];
    }
    double import = median(imports[WALL]), least = median(floors),
           size = FILE_SIZE / 1e6;
    printf("%-22s %8.0f %8.0f %8.0f %8.0f %8.0f %8.2f %8.0f %8.0f %8.0f\n",
           workload->name, size, size / import, size / median(imports[READER]),
           size / median(imports[ALL]), size / least, import / least,
           (double)matrix_size / 1e6, size / median(secret[WALL]),
           size / median(secret[ALL]));
    unlink(data);
    unlink(labels);
}

int main(void)
{
    static char names[COLUMNS][8], zero[] = "0", one[] = "1";
    static char *classes[] = {zero, one};
    static struct column columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        snprintf(names[i], sizeof names[i], "c%d", i);
    for (int i = 0; i < FEATURES; i++)
        columns[i] =
            (struct column){.name = names[i], .kind = COLUMN_NUMERIC, .high = 1000};
    columns[FEATURES] = (struct column){.name = names[FEATURES],
                                        .kind = COLUMN_LABEL,
                                        .value_count = 2,
                                        .values = classes};
    const struct schema idx = {.reader = &idx_reader,
                               .classes = 10,
                               .shape_count = 2,
                               .shape = {28, 28},
                               .scale = 255};
    const struct schema csv = {.reader = &csv_reader,
                               .classes = 2,
                               .column_count = COLUMNS,
                               .columns = columns};
    struct schema jsonl = csv;
    jsonl.reader = &jsonl_reader;
    const struct schema libsvm = {
        .reader = &libsvm_reader, .classes = 2, .feature_count = FEATURES};
    const struct schema npy = {.reader = &npy_reader,
                               .classes = 10,
                               .shape_count = 1,
                               .shape = {FEATURES},
                               .scale = 2};
    const struct schema cifar = {.reader = &cifar10_reader,
                                 .classes = 10,
                                 .shape_count = 3,
                                 .shape = {3, 32, 32},
                                 .scale = 255};
    const struct workload workloads[] = {
        {"idx u8 28x28", &idx, write_idx_record, NULL},
        {"cifar10", &cifar, write_cifar_record, NULL},
        {"npy f4", &npy, write_f4_record, "<f4"},
        {"npy f8", &npy, write_f8_record, "<f8"},
        {"csv, 5 digits", &csv, write_short_row, NULL},
        {"csv, 17 digits", &csv, write_long_row, NULL},
        {"jsonl, 5 digits", &jsonl, write_object, NULL},
        {"libsvm, dense 6 digits", &libsvm, write_dense_line, NULL},
        {"libsvm, a quarter ones", &libsvm, write_sparse_line, NULL},
    };
    const char *root = getenv("TMPDIR");
    char folder[PATH_SIZE - 16];
    snprintf(folder, sizeof folder, "%s/bench-import-XXXXXX",
             root != NULL ? root : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    printf("%-22s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "import", "file MB", "MB/s",
           "reads", "all", "floor", "ratio", "matrix", "private", "all");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        measure(&workloads[i], folder);
    rmdir(folder);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak resident memory: %.1f MB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
