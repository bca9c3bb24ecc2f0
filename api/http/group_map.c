#include "api/http/group_map.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "api/http/roles.h"
#include "api/json/json_reader.h"

static void read_row(struct json_node node, struct group_row *row)
{
    json_read_object(node, (const char *const[]){"group", "role", "project", NULL});
    struct json_node group = json_member(&node, "group");
    struct json_node role = json_member(&node, "role");
    struct json_node project = json_member(&node, "project");
    const char *name = json_read_text(group);
    if (name[0] == '\0' || strlen(name) > LIMIT_GROUP_NAME || strchr(name, ',') != NULL)
        json_refuse(group, "1 to %d bytes without a comma", LIMIT_GROUP_NAME);
    snprintf(row->group, sizeof row->group, "%s", name);
    const char *project_name = json_read_text(project);
    if (!project_name_is_good(project_name))
        json_refuse(project, "not the name of a project");
    snprintf(row->project, sizeof row->project, "%s", project_name);
    if (!role_parse(&row->role, json_read_text(role)))
        json_refuse(role, "one of analyst, data_owner, privacy_officer, operator, "
                          "auditor");
}

enum status group_map_parse(struct group_map *map, const char *text, size_t size,
                            struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct group_map read = {0};
    if (json_reader_open(&reader, &root, json_text_sized(text, size), error) == ST_OK) {
        json_read_object(root, (const char *const[]){"groups", NULL});
        struct json_node groups = json_member(&root, "groups");
        read.count = json_read_array(groups, 1, LIMIT_GROUPS);
        for (size_t i = 0; i < read.count; i++)
            read_row(json_element(&groups, i), &read.rows[i]);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *map = read;
    return status;
}

/* Returns whether the comma-separated list contains name. */
static bool holds(const char *list, const char *name)
{
    size_t wanted = strlen(name);
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, " \t,");
        size_t size = strcspn(at, ",");
        size_t used = size;
        while (used > 0 && (at[used - 1] == ' ' || at[used - 1] == '\t'))
            used--;
        if (used == wanted && memcmp(at, name, used) == 0)
            return true;
        at += size;
    }
    return false;
}

const struct group_row *group_map_find(const struct group_map *map, const char *groups)
{
    for (size_t i = 0; i < map->count; i++)
        if (holds(groups, map->rows[i].group))
            return &map->rows[i];
    return NULL;
}
