#include "api/requests/ancestry.h"

#include <stdio.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"

static void read_ancestor(struct ancestor *ancestor, struct json_node node)
{
    struct json_node digest = json_member(&node, "sha256");
    const char *id = json_read_text(json_member(&node, "id"));
    const char *hex = json_read_text(digest);
    snprintf(ancestor->id, sizeof ancestor->id, "%s", id);
    snprintf(ancestor->sha256, sizeof ancestor->sha256, "%s", hex);
    struct json_node note = json_member(&node, "note");
    if (json_present(note))
        snprintf(ancestor->note, sizeof ancestor->note, "%s", json_read_text(note));
    if (strspn(hex, "0123456789abcdef") != SHA256_HEX_SIZE - 1 ||
        strlen(hex) != SHA256_HEX_SIZE - 1)
        json_refuse(digest, "is no digest");
}

static void read_ancestors(struct ancestry *ancestry, const struct json_node *root)
{
    struct json_node list = json_member(root, "ancestors");
    if (!json_present(list))
        return;
    ancestry->count = json_read_array(list, 0, LIMIT_ANCESTORS);
    for (size_t i = 0; i < ancestry->count; i++)
        read_ancestor(&ancestry->items[i], json_element(&list, i));
}

enum status ancestry_of(struct ancestry *ancestry, const char *card,
                        const struct ancestor *parent, struct error *error)
{
    struct ancestry read = {0};
    struct json_reader reader;
    struct json_node root;
    enum status status = ST_OK;
    if (card != NULL) {
        if (json_reader_open(&reader, &root, json_text_of(card), NULL) == ST_OK)
            read_ancestors(&read, &root);
        status = json_reader_close(&reader);
    }
    if (status != ST_OK)
        return error_set(error, ST_CORRUPT, "the certificate of %s does not read back",
                         parent->id);
    if (read.count == LIMIT_ANCESTORS)
        return error_set_at(error, ST_INVALID, "/model/weights",
                            "it descends from %d others already: start from one that "
                            "is nearer to the first",
                            LIMIT_ANCESTORS);
    read.items[read.count++] = *parent;
    *ancestry = read;
    return ST_OK;
}

void ancestry_write(struct json_writer *writer, const struct ancestry *ancestry)
{
    if (ancestry->count == 0)
        return;
    json_write_array(writer, "ancestors");
    for (size_t i = 0; i < ancestry->count; i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "id", ancestry->items[i].id);
        json_write_text(writer, "sha256", ancestry->items[i].sha256);
        if (ancestry->items[i].note[0] != '\0')
            json_write_text(writer, "note", ancestry->items[i].note);
        json_write_text(writer, "guarantee", "not covered");
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}
