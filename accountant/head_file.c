#include "accountant/head_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"

enum {
    LINE_SIZE = 4096,
    PATH_SIZE = 4096,
};

static void render(char line[LINE_SIZE], const struct head *head)
{
    char hex[SHA256_HEX_SIZE];
    sha256_render(hex, head->entry.hash);
    int used = snprintf(
        line, LINE_SIZE, "{\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"authorised\":%" PRIu64,
        head->entry.seq, hex, head->authorised);
    const struct receipts *receipts = &head->receipts;
    if (receipts->count > 0)
        used += snprintf(line + used, (size_t)(LINE_SIZE - used),
                         ",\"store\":\"%s\",\"daemons\":{", receipts->store);
    for (size_t i = 0; i < receipts->count; i++)
        used += snprintf(line + used, (size_t)(LINE_SIZE - used),
                         "%s\"%" PRIu64 "\":%" PRIu64 "%s", i > 0 ? "," : "",
                         receipts->all[i].daemon, receipts->all[i].count,
                         i + 1 == receipts->count ? "}" : "");
    snprintf(line + used, (size_t)(LINE_SIZE - used), "}\n");
}

/* Reads as many receipts as follow; whether they were well formed is seen when they are
 * written again. */
static void parse_receipts(struct receipts *receipts, const char *at)
{
    int used = 0;
    if (sscanf(at, ",\"store\":\"%63[0-9a-f-]\",\"daemons\":{%n", receipts->store,
               &used) != 1 ||
        used == 0)
        return;
    at += used;
    while (receipts->count < RECEIPTS_MAX) {
        struct receipt *receipt = &receipts->all[receipts->count];
        if (sscanf(at, "\"%" SCNu64 "\":%" SCNu64 "%n", &receipt->daemon,
                   &receipt->count, &used) != 2)
            return;
        receipts->count++;
        at += used;
        if (*at++ != ',')
            return;
    }
}

/* Reads what render writes and nothing else. */
static bool parse(struct head *head, const char *line)
{
    struct head read = {.authorised = 0};
    int used = 0;
    char hex[SHA256_HEX_SIZE], again[LINE_SIZE];
    if (sscanf(line,
               "{\"seq\":%" SCNu64 ",\"hash\":\"%64[0-9a-f]\",\"authorised\":%" SCNu64
               "%n",
               &read.entry.seq, hex, &read.authorised, &used) != 3 ||
        strlen(hex) != SHA256_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        if (sscanf(hex + 2 * i, "%2" SCNx8, &read.entry.hash[i]) != 1)
            return false;
    }
    parse_receipts(&read.receipts, line + used);
    render(again, &read);
    if (strcmp(again, line) != 0)
        return false;
    *head = read;
    return true;
}

static enum status failed(const char *path, struct error *error)
{
    return error_set(error, ST_IO, "head file %s: %s", path, strerror(errno));
}

enum status head_file_read(const char *path, struct head *head, bool *found,
                           struct error *error)
{
    char line[LINE_SIZE] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
        *found = false;
        return ST_OK;
    }
    if (file < 0)
        return failed(path, error);
    ssize_t size = read(file, line, sizeof line - 1);
    enum status status = size < 0 ? failed(path, error) : ST_OK;
    close(file);
    if (status == ST_OK && !parse(head, line))
        status = error_set(error, ST_CORRUPT, "%s: not a head file", path);
    if (status == ST_OK)
        *found = true;
    return status;
}

static bool write_synced(const char *path, const char *line)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    ssize_t size = (ssize_t)strlen(line);
    bool good = write(file, line, (size_t)size) == size && fsync(file) == 0;
    return close(file) == 0 && good;
}

static bool sync_folder_of(const char *path)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
             slash == NULL ? "." : path);
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool good = fsync(file) == 0;
    close(file);
    return good;
}

enum status head_file_write(const char *path, const struct head *head,
                            struct error *error)
{
    char line[LINE_SIZE], beside[PATH_SIZE];
    int length = snprintf(beside, sizeof beside, "%s.new", path);
    if (length < 0 || length >= PATH_SIZE)
        return error_set(error, ST_IO, "the head file's path is too long");
    render(line, head);
    if (!write_synced(beside, line) || rename(beside, path) != 0 ||
        !sync_folder_of(path))
        return failed(path, error);
    return ST_OK;
}

/* Writes what is newer of what is kept and head; the lock is held. */
static enum status raise_alone(const char *path, const struct head *head,
                               const struct receipts *ended, struct error *error)
{
    struct head kept = {0}, newest = *head;
    bool found = false;
    size_t dropped = 0;
    enum status status = head_file_read(path, &kept, &found, error);
    if (status != ST_OK)
        return status;
    struct receipts before = kept.receipts;
    if (ended != NULL)
        receipts_forget(&kept.receipts, ended);
    if (found && kept.entry.seq >= newest.entry.seq)
        newest.entry = kept.entry;
    if (found && kept.authorised > newest.authorised)
        newest.authorised = kept.authorised;
    if (found)
        dropped = receipts_merge(&newest.receipts, &kept.receipts);
    if (dropped > 0)
        log_event(LOG_WARNING, "receipt_dropped", "path", path, (char *)NULL);
    bool is_newer =
        newest.entry.seq > kept.entry.seq || newest.authorised > kept.authorised ||
        memcmp(&newest.receipts, &before, sizeof before) != 0;
    return found && !is_newer ? ST_OK : head_file_write(path, &newest, error);
}

enum status head_file_raise(const char *path, const struct head *head,
                            const struct receipts *ended, struct error *error)
{
    char beside[PATH_SIZE];
    int length = snprintf(beside, sizeof beside, "%s.lock", path);
    if (length < 0 || length >= PATH_SIZE)
        return error_set(error, ST_IO, "the head file's path is too long");
    int lock = open(beside, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        failed(beside, error);
        if (lock >= 0)
            close(lock);
        return ST_IO;
    }
    enum status status = raise_alone(path, head, ended, error);
    close(lock);
    return status;
}
