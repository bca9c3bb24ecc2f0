#include "accountant/ledger/head_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"

enum {
    LINE_SIZE = 16384,
    PATH_SIZE = 4096,
};

/* Returns the new length of the line. */
static int render_timelines(char line[LINE_SIZE], int used,
                            const struct head_timelines *timelines)
{
    for (size_t i = 0; i < timelines->count; i++) {
        const struct head_timeline *one = &timelines->all[i];
        char hex[SHA256_HEX_SIZE];
        sha256_render(hex, one->name.hash);
        used += snprintf(line + used, (size_t)(LINE_SIZE - used),
                         "%s{\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"shared\":%" PRIu64
                         ",\"seen\":%s}%s",
                         i == 0 ? ",\"timelines\":[" : ",", one->name.seq, hex,
                         one->shared, one->seen ? "true" : "false",
                         i + 1 == timelines->count ? "]" : "");
    }
    return used;
}

static void render(char line[LINE_SIZE], const struct head *head)
{
    char hex[SHA256_HEX_SIZE];
    sha256_render(hex, head->entry.hash);
    int used = snprintf(line, LINE_SIZE,
                        "{\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"authorised\":%" PRIu64,
                        head->entry.seq, hex, head->authorised);
    used = render_timelines(line, used, &head->timelines);
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

/* Reads as many receipts as follow; malformed ones are caught by rendering them again
 * and comparing. */
static void parse_receipts(struct receipts *receipts, const char *at)
{
    int used = 0;
    if (sscanf(at, ",\"store\":\"%63[0-9a-f-]\",\"daemons\":{%n", receipts->store,
               &used) != 1 ||
        used == 0)
        return;
    at += used;
    while (receipts->count < RECEIPTS_MAX) {
        struct commit_watermark *receipt = &receipts->all[receipts->count];
        if (sscanf(at, "\"%" SCNu64 "\":%" SCNu64 "%n", &receipt->daemon,
                   &receipt->count, &used) != 2)
            return;
        receipts->count++;
        at += used;
        if (*at++ != ',')
            return;
    }
}

static bool parse_hash(uint8_t hash[SHA256_SIZE], const char *hex)
{
    bool good = strlen(hex) == SHA256_HEX_SIZE - 1;
    for (size_t i = 0; i < SHA256_SIZE && good; i++)
        good = sscanf(hex + 2 * i, "%2" SCNx8, &hash[i]) == 1;
    return good;
}

/* Reads as many timelines as follow, and returns the text after them. */
static const char *parse_timelines(struct head_timelines *timelines, const char *at)
{
    static const char begin[] = ",\"timelines\":[";
    if (strncmp(at, begin, sizeof begin - 1) != 0)
        return at;
    at += sizeof begin - 1;
    while (timelines->count < HEAD_TIMELINES_MAX) {
        struct head_timeline *one = &timelines->all[timelines->count];
        char hex[SHA256_HEX_SIZE] = "", seen[6] = "";
        int used = 0;
        if (sscanf(at,
                   "{\"seq\":%" SCNu64 ",\"hash\":\"%64[0-9a-f]\",\"shared\":%" SCNu64
                   ",\"seen\":%5[a-z]}%n",
                   &one->name.seq, hex, &one->shared, seen, &used) != 4 ||
            used == 0 || !parse_hash(one->name.hash, hex))
            return at;
        one->seen = strcmp(seen, "true") == 0;
        timelines->count++;
        at += used;
        if (*at++ != ',')
            return at;
    }
    return at;
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
        !parse_hash(read.entry.hash, hex))
        return false;
    parse_receipts(&read.receipts, parse_timelines(&read.timelines, line + used));
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

/* --- the hashes of the entries --- */

static enum status chain_path(char chain[PATH_SIZE], const char *path,
                              struct error *error)
{
    int length = snprintf(chain, PATH_SIZE, "%s.chain", path);
    return length < 0 || length >= PATH_SIZE
               ? error_set(error, ST_IO, "the head file's path is too long")
               : ST_OK;
}

enum status head_file_links(const char *path, const struct head *head,
                            struct chain_links *links, struct error *error)
{
    char chain[PATH_SIZE];
    *links = (struct chain_links){0};
    enum status status = chain_path(chain, path, error);
    if (status == ST_OK)
        status = head_chain_read(chain, links, error);
    if (status == ST_OK)
        chain_links_end(links,
                        chain_links_have(links, &head->entry) ? head->entry.seq : 0);
    return status;
}

enum status head_file_read_kept(struct head_kept *kept, const char *path,
                                struct error *error)
{
    *kept = (struct head_kept){0};
    enum status status = head_file_read(path, &kept->head, &kept->found, error);
    if (status == ST_OK && kept->found)
        status = head_file_links(path, &kept->head, &kept->links, error);
    return status;
}

void head_kept_fini(struct head_kept *kept)
{
    chain_links_fini(&kept->links);
}

enum status head_file_append(const char *path, const struct head *head,
                             const struct chain_links *links, struct error *error)
{
    char chain[PATH_SIZE];
    enum status status = chain_path(chain, path, error);
    if (status == ST_OK)
        status = head_chain_append(chain, links, error);
    return status == ST_OK ? head_file_write(path, head, error) : status;
}

/* Makes PATH.chain hold exactly links, and its own newer records if keeps_newer is
 * true. Does nothing if it does already. */
static enum status renew_chain(const char *chain, const struct chain_links *links,
                               bool keeps_newer, struct error *error)
{
    struct chain_links found, all = {0};
    enum status status = head_chain_read(chain, &found, error);
    chain_links_merge(&all, links);
    if (keeps_newer)
        chain_links_merge(&all, &found);
    bool is_same = !found.cut && chain_links_same(&all, &found);
    if (status == ST_OK && !is_same)
        status = head_chain_write(chain, &all, error);
    if (status == ST_OK && !is_same && !sync_folder_of(chain))
        status = failed(chain, error);
    chain_links_fini(&found);
    chain_links_fini(&all);
    return status;
}

enum status head_file_replace(const char *path, const struct head *head,
                              const struct chain_links *links, struct error *error)
{
    char chain[PATH_SIZE];
    enum status status = chain_path(chain, path, error);
    if (status == ST_OK)
        status = head_file_write(path, head, error);
    return status == ST_OK ? renew_chain(chain, links, false, error) : status;
}

/* --- several daemons --- */

bool head_timelines_add(struct head_timelines *timelines,
                        const struct head_timeline *timeline)
{
    for (size_t i = 0; i < timelines->count; i++) {
        struct head_timeline *one = &timelines->all[i];
        if (memcmp(one->name.hash, timeline->name.hash, SHA256_SIZE) != 0)
            continue;
        one->seen = one->seen || timeline->seen;
        return true;
    }
    if (timelines->count == HEAD_TIMELINES_MAX)
        return false;
    timelines->all[timelines->count++] = *timeline;
    return true;
}

/* newest = the newer of newest and kept, member by member. */
static enum status merge(struct head *newest, const struct head *kept,
                         struct error *error)
{
    for (size_t i = 0; i < kept->timelines.count; i++)
        if (!head_timelines_add(&newest->timelines, &kept->timelines.all[i]))
            return error_set(error, ST_INVALID,
                             "more than %d timelines of the ledger are known",
                             HEAD_TIMELINES_MAX);
    if (kept->entry.seq >= newest->entry.seq)
        newest->entry = kept->entry;
    if (kept->authorised > newest->authorised)
        newest->authorised = kept->authorised;
    return ST_OK;
}

/* Writes the newer of the kept head and the new one. Precondition: the lock is held. */
static enum status raise_alone(const char *path, const struct head_raise *raise,
                               struct error *error)
{
    struct head kept = {0}, newest = *raise->head;
    bool found = false;
    char chain[PATH_SIZE];
    enum status status = head_file_read(path, &kept, &found, error);
    if (status == ST_OK)
        status = chain_path(chain, path, error);
    const struct head before = kept;
    if (status == ST_OK && found)
        status = merge(&newest, &kept, error);
    if (status != ST_OK)
        return status;
    if (raise->ended != NULL)
        receipts_forget(&kept.receipts, raise->ended);
    if (found && receipts_merge(&newest.receipts, &kept.receipts) > 0)
        log_event(LOG_WARNING, "receipt_dropped", "path", path, (char *)NULL);
    status = raise->links_are_all ? renew_chain(chain, raise->links, true, error)
                                  : head_chain_append(chain, raise->links, error);
    bool is_newer =
        newest.entry.seq > before.entry.seq || newest.authorised > before.authorised ||
        newest.timelines.count > before.timelines.count ||
        memcmp(&newest.receipts, &before.receipts, sizeof before.receipts) != 0;
    if (status != ST_OK || (found && !is_newer))
        return status;
    return head_file_write(path, &newest, error);
}

enum status head_file_raise(const char *path, const struct head_raise *raise,
                            struct error *error)
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
    enum status status = raise_alone(path, raise, error);
    close(lock);
    return status;
}
