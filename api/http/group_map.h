/*
 * group_map.h - maps the groups of an organisation to access rights: the file of
 * --groups gives each group a role and a project.
 *
 *   {"groups": [{"group": "fraud-analysts", "role": "analyst", "project": "fraud"}]}
 *
 * A person in several groups gets the first matching row of the file: one role in
 * one project.
 *
 * Pure.
 */
#ifndef API_HTTP_GROUP_MAP_H
#define API_HTTP_GROUP_MAP_H

#include <stddef.h>

#include "api/limits.h"
#include "base/principal.h"
#include "base/status.h"

struct group_row {
    char group[LIMIT_GROUP_NAME + 1];
    char project[PRINCIPAL_NAME_SIZE];
    enum role role;
};

struct group_map {
    size_t count;
    struct group_row rows[LIMIT_GROUPS];
};

/* Reads the file's text.
 *   ST_INVALID  it does not have the form above: error->pointer names the place */
enum status group_map_parse(struct group_map *map, const char *text, size_t size,
                            struct error *error);

/* Returns the first row whose group is in groups, a comma-separated list in which
 * blanks around commas are ignored; NULL if there is none. */
const struct group_row *group_map_find(const struct group_map *map, const char *groups);

#endif
