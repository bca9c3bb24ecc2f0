#include "service/identity/sso.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/group_map.h"
#include "api/limits.h"
#include "base/check.h"

enum { FILE_SIZE_MAX = 1 << 20 };

struct sso {
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

enum status sso_open(struct sso **out, const struct proxy_trust *trust,
                     const char *groups_path, struct error *error)
{
    struct sso *sso = calloc(1, sizeof *sso);
    CHECK(sso != NULL);
    sso->trust = *trust;
    sso->groups_path = groups_path;
    pthread_mutex_init(&sso->lock, NULL);
    enum status status = sso_reload(sso, error);
    if (status == ST_OK)
        *out = sso;
    else
        sso_close(sso);
    return status;
}

enum status sso_reload(struct sso *sso, struct error *error)
{
    struct group_map *groups = calloc(1, sizeof *groups);
    CHECK(groups != NULL);
    enum status status = read_groups(groups, sso->groups_path, error);
    if (status == ST_OK) {
        pthread_mutex_lock(&sso->lock);
        sso->groups = *groups;
        pthread_mutex_unlock(&sso->lock);
    }
    free(groups);
    return status;
}

void sso_close(struct sso *sso)
{
    if (sso == NULL)
        return;
    pthread_mutex_destroy(&sso->lock);
    free(sso);
}

bool sso_claimed(const struct sso_headers *headers)
{
    return headers->user != NULL || headers->email != NULL || headers->groups != NULL;
}

bool sso_trusts(const struct sso *sso, const struct sockaddr *peer)
{
    return sso != NULL && proxy_trust_holds(&sso->trust, peer);
}

enum status sso_read(struct sso *sso, const struct sso_headers *headers,
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
    pthread_mutex_lock(&sso->lock);
    const struct group_row *row = group_map_find(&sso->groups, groups);
    if (row != NULL) {
        read.role = row->role;
        memcpy(read.project, row->project, sizeof read.project);
    }
    pthread_mutex_unlock(&sso->lock);
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

enum status sso_renew(struct sso *sso, const struct sso_headers *headers,
                      const struct principal *principal, int64_t stream_s,
                      struct error *error)
{
    struct principal now;
    enum status status = sso_read(sso, headers, &now, error);
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
