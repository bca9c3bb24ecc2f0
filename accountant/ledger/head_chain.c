#include "accountant/ledger/head_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

enum { RECORD_SIZE = 8 + SHA256_SIZE, PATH_SIZE = 4096 };

static const uint64_t seal_bit = UINT64_C(1) << 63;

void chain_links_add(struct chain_links *links, const struct chain_link *link)
{
    if (links->count == links->capacity) {
        links->capacity = links->capacity == 0 ? 16 : 2 * links->capacity;
        links->items =
            reallocarray(links->items, links->capacity, sizeof *links->items);
        CHECK(links->items != NULL);
    }
    links->items[links->count++] = *link;
}

void chain_links_merge(struct chain_links *links, const struct chain_links *more)
{
    uint64_t last = links->count > 0 ? links->items[links->count - 1].entry.seq : 0;
    for (size_t i = 0; i < more->count; i++)
        if (more->items[i].entry.seq > last)
            chain_links_add(links, &more->items[i]);
}

void chain_links_end(struct chain_links *links, uint64_t seq)
{
    while (links->count > 0 && links->items[links->count - 1].entry.seq > seq)
        links->count--;
}

bool chain_links_have(const struct chain_links *links,
                      const struct ledger_entry_name *entry)
{
    size_t low = 0, high = links->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (links->items[middle].entry.seq < entry->seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < links->count && links->items[low].entry.seq == entry->seq &&
           memcmp(links->items[low].entry.hash, entry->hash, SHA256_SIZE) == 0;
}

bool chain_links_same(const struct chain_links *a, const struct chain_links *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->items[i].is_seal == b->items[i].is_seal &&
               a->items[i].entry.seq == b->items[i].entry.seq &&
               memcmp(a->items[i].entry.hash, b->items[i].entry.hash, SHA256_SIZE) == 0;
    return same;
}

void chain_links_fini(struct chain_links *links)
{
    free(links->items);
    *links = (struct chain_links){0};
}

/* --- records --- */

static void encode(uint8_t record[RECORD_SIZE], const struct chain_link *link)
{
    uint64_t number = link->entry.seq | (link->is_seal ? seal_bit : 0);
    for (size_t i = 0; i < 8; i++)
        record[i] = (uint8_t)(number >> (8 * i));
    memcpy(record + 8, link->entry.hash, SHA256_SIZE);
}

static struct chain_link decode(const uint8_t record[RECORD_SIZE])
{
    struct chain_link link = {0};
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number |= (uint64_t)record[i] << (8 * i);
    link.entry.seq = number & ~seal_bit;
    link.is_seal = (number & seal_bit) != 0;
    memcpy(link.entry.hash, record + 8, SHA256_SIZE);
    return link;
}

static enum status failed(const char *path, struct error *error)
{
    return error_set(error, ST_IO, "head file %s: %s", path, strerror(errno));
}

/* Returns the records as bytes, which the caller frees. */
static uint8_t *render(const struct chain_link *links, size_t count)
{
    uint8_t *bytes = malloc(count * RECORD_SIZE + 1);
    CHECK(bytes != NULL);
    for (size_t i = 0; i < count; i++)
        encode(bytes + i * RECORD_SIZE, &links[i]);
    return bytes;
}

static bool write_at(int file, const uint8_t *bytes, size_t size, size_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(file, bytes, size, (off_t)offset);
        if (written <= 0)
            return false;
        bytes += written;
        offset += (size_t)written;
        size -= (size_t)written;
    }
    return true;
}

/* --- reading --- */

static void take_records(struct chain_links *links, const uint8_t *bytes, size_t size)
{
    uint64_t last = 0;
    size_t at = 0;
    for (; at + RECORD_SIZE <= size; at += RECORD_SIZE) {
        struct chain_link link = decode(bytes + at);
        if (link.entry.seq <= last)
            break;
        last = link.entry.seq;
        chain_links_add(links, &link);
    }
    links->cut = at < size;
}

enum status head_chain_read(const char *path, struct chain_links *links,
                            struct error *error)
{
    struct stat stat;
    *links = (struct chain_links){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? ST_OK : failed(path, error);
    if (fstat(file, &stat) != 0) {
        enum status status = failed(path, error);
        close(file);
        return status;
    }
    size_t size = (size_t)stat.st_size, got = 0;
    uint8_t *bytes = malloc(size + 1);
    CHECK(bytes != NULL);
    ssize_t some = 1;
    while (got < size && (some = pread(file, bytes + got, size - got, (off_t)got)) > 0)
        got += (size_t)some;
    enum status status = some < 0 ? failed(path, error) : ST_OK;
    close(file);
    if (status == ST_OK)
        take_records(links, bytes, got);
    free(bytes);
    return status;
}

/* --- writing --- */

/* *last = the seq of the last whole record, *end = where it ends. */
static bool find_end(int file, uint64_t *last, size_t *end)
{
    struct stat stat;
    uint8_t record[RECORD_SIZE];
    *last = *end = 0;
    if (fstat(file, &stat) != 0)
        return false;
    *end = (size_t)stat.st_size / RECORD_SIZE * RECORD_SIZE;
    if (*end == 0)
        return true;
    if (pread(file, record, RECORD_SIZE, (off_t)(*end - RECORD_SIZE)) != RECORD_SIZE)
        return false;
    *last = decode(record).entry.seq;
    return true;
}

static bool append(int file, const struct chain_links *links)
{
    uint64_t last;
    size_t end, from = 0;
    if (!find_end(file, &last, &end))
        return false;
    while (from < links->count && links->items[from].entry.seq <= last)
        from++;
    if (from == links->count)
        return true;
    uint8_t *bytes = render(links->items + from, links->count - from);
    bool good = write_at(file, bytes, (links->count - from) * RECORD_SIZE, end) &&
                fsync(file) == 0;
    free(bytes);
    return good;
}

enum status head_chain_append(const char *path, const struct chain_links *links,
                              struct error *error)
{
    if (links->count == 0)
        return ST_OK;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(path, error);
    enum status status = append(file, links) ? ST_OK : failed(path, error);
    if (close(file) != 0 && status == ST_OK)
        status = failed(path, error);
    return status;
}

enum status head_chain_write(const char *path, const struct chain_links *links,
                             struct error *error)
{
    char beside[PATH_SIZE];
    int length = snprintf(beside, sizeof beside, "%s.new", path);
    if (length < 0 || length >= PATH_SIZE)
        return error_set(error, ST_IO, "the head file's path is too long");
    int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(beside, error);
    uint8_t *bytes = render(links->items, links->count);
    bool good =
        write_at(file, bytes, links->count * RECORD_SIZE, 0) && fsync(file) == 0;
    free(bytes);
    good = close(file) == 0 && good && rename(beside, path) == 0;
    return good ? ST_OK : failed(path, error);
}
