#include "service/identity/access_key_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/rows/access_key_rows.h"

static bool read_principal(struct principal *principal,
                           const struct access_key_row *row)
{
    bool good = principal_name_is_good(row->owner) &&
                project_name_is_good(row->project) &&
                role_parse(&principal->role, row->role) &&
                key_scopes_parse(&principal->scopes, row->scopes);
    if (!good)
        return false;
    strcpy(principal->name, row->owner); /* a good name fits */
    strcpy(principal->project, row->project);
    principal->via = VIA_BEARER;
    return true;
}

enum status access_key_record_read(struct access_key *known,
                                   uint8_t sha256[SHA256_SIZE],
                                   const struct access_key_row *row,
                                   struct error *error)
{
    *known = (struct access_key){.create_ms = row->create_ms,
                                 .expire_ms = row->expire_ms,
                                 .revoke_ms = row->revoke_ms,
                                 .used_day = row->used_day};
    if (strlen(row->id) != ACCESS_KEY_ID_LENGTH ||
        !read_principal(&known->principal, row))
        return error_set(error, ST_CORRUPT, "an id, name, role or scope is none");
    memcpy(known->id, row->id, ACCESS_KEY_ID_SIZE);
    memcpy(known->principal.key, row->id, ACCESS_KEY_ID_SIZE);
    memcpy(sha256, row->sha256, SHA256_SIZE);
    return key_policy_parse(&known->policy, row->policy, error);
}

enum status access_key_record_write(struct store_tx *tx, const struct access_key *known,
                                    const uint8_t sha256[SHA256_SIZE], bool is_new,
                                    struct error *error)
{
    char scopes[KEY_SCOPES_SIZE];
    char *policy = key_policy_render(&known->policy);
    key_scopes_render(scopes, known->principal.scopes);
    struct access_key_row row = {
        .id = known->id,
        .owner = known->principal.name,
        .project = known->principal.project,
        .role = role_name(known->principal.role),
        .scopes = scopes,
        .policy = policy,
        .create_ms = known->create_ms,
        .expire_ms = known->expire_ms,
        .revoke_ms = known->revoke_ms,
        .used_day = known->used_day,
    };
    memcpy(row.sha256, sha256, SHA256_SIZE);
    enum status status = is_new ? access_key_row_insert(tx, &row, error)
                                : access_key_row_update(tx, &row, error);
    free(policy);
    return status;
}

/* Names have no character that JSON would escape. */
void access_key_detail(char detail[ACCESS_KEY_DETAIL_SIZE],
                       const struct principal *principal)
{
    snprintf(detail, ACCESS_KEY_DETAIL_SIZE,
             "{\"owner\":\"%s\",\"project\":\"%s\",\"role\":\"%s\"}", principal->name,
             principal->project, role_name(principal->role));
}
