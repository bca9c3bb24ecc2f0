#include "service/sign_on.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/group_map.h"
#include "api/limits.h"
#include "base/check.h"

enum { FILE_SIZE_MAX = 1 << 20 };

struct sign_on {
    struct proxy_trust trust;
    const char *groups_path;
    pthread_mutex_t lock; /* guards groups */
    struct group_map groups;
};

static enum status read_groups(struct group_map *groups, const char *path,
                               struct error *error)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, FILE_SIZE_MAX);
    CHECK(text != NULL);
    enum status status = ST_OK;
    size_t size = file != NULL ? fread(text, 1, FILE_SIZE_MAX, file) : 0;
    if (file == NULL || ferror(file))
        status = error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    else if (group_map_parse(groups, text, size, error) != ST_OK)
        status = error_within(error, ST_INVALID, "%s: %s", path, error->pointer);
    if (file != NULL)
        fclose(file);
    free(text);
    return status;
}

enum status sign_on_open(struct sign_on **out, const struct proxy_trust *trust,
                         const char *groups_path, struct error *error)
{
    struct sign_on *sign_on = calloc(1, sizeof *sign_on);
    CHECK(sign_on != NULL);
    sign_on->trust = *trust;
    sign_on->groups_path = groups_path;
    pthread_mutex_init(&sign_on->lock, NULL);
    enum status status = sign_on_reload(sign_on, error);
    if (status == ST_OK)
        *out = sign_on;
    else
        sign_on_close(sign_on);
    return status;
}

enum status sign_on_reload(struct sign_on *sign_on, struct error *error)
{
    struct group_map *groups = calloc(1, sizeof *groups);
    CHECK(groups != NULL);
    enum status status = read_groups(groups, sign_on->groups_path, error);
    if (status == ST_OK) {
        pthread_mutex_lock(&sign_on->lock);
        sign_on->groups = *groups;
        pthread_mutex_unlock(&sign_on->lock);
    }
    free(groups);
    return status;
}

void sign_on_close(struct sign_on *sign_on)
{
    if (sign_on == NULL)
        return;
    pthread_mutex_destroy(&sign_on->lock);
    free(sign_on);
}

bool sign_on_claimed(const struct sign_on_headers *headers)
{
    return headers->user != NULL || headers->email != NULL || headers->groups != NULL;
}

bool sign_on_trusts(const struct sign_on *sign_on, const struct sockaddr *peer)
{
    return sign_on != NULL && proxy_trust_holds(&sign_on->trust, peer);
}

enum status sign_on_read(struct sign_on *sign_on, const struct sign_on_headers *headers,
                         struct principal *principal, struct error *error)
{
    bool has_email = headers->email != NULL && headers->email[0] != '\0';
    const char *name = has_email ? headers->email : headers->user;
    const char *groups = headers->groups != NULL ? headers->groups : "";
    struct principal read = {.via = VIA_PROXY};
    if (name == NULL || !principal_name_is_good(name) ||
        person_equal(name, principal_local.name))
        return error_set(
            error, ST_INVALID,
            "X-Forwarded-Email or -User must be a name of 1 to %d letters, "
            "digits and . _ @ + -, other than %s",
            PRINCIPAL_NAME_SIZE - 1, principal_local.name);
    snprintf(read.name, sizeof read.name, "%s", name);
    pthread_mutex_lock(&sign_on->lock);
    const struct group_row *row = group_map_find(&sign_on->groups, groups);
    if (row != NULL) {
        read.role = row->role;
        memcpy(read.project, row->project, sizeof read.project);
    }
    pthread_mutex_unlock(&sign_on->lock);
    if (row == NULL)
        return error_set(error, ST_FORBIDDEN,
                         "none of the groups in X-Forwarded-Groups has a role here");
    *principal = read;
    return ST_OK;
}

static bool is_same(const struct principal *a, const struct principal *b)
{
    return a->role == b->role && a->scopes == b->scopes && principal_equal(a, b) &&
           strcmp(a->project, b->project) == 0;
}

enum status sign_on_renew(struct sign_on *sign_on,
                          const struct sign_on_headers *headers,
                          const struct principal *principal, int64_t stream_s,
                          struct error *error)
{
    struct principal now;
    enum status status = sign_on_read(sign_on, headers, &now, error);
    if (status != ST_OK)
        return status;
    if (!is_same(&now, principal))
        return error_set(error, ST_FORBIDDEN,
                         "the groups in X-Forwarded-Groups have another role or "
                         "project by now");
    if (stream_s >= LIMIT_SIGN_ON_STREAM_S)
        return error_set(error, ST_SESSION_ENDED,
                         "the proxy has to say again who follows");
    return ST_OK;
}
