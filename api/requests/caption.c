#include "api/requests/caption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/query.h"
#include "api/json/json_schema.h"
#include "base/check.h"

static char *copy_text(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static void take_out(struct caption *caption, size_t place)
{
    free(caption->tags[place].key);
    free(caption->tags[place].value);
    caption->tag_count--;
    memmove(&caption->tags[place], &caption->tags[place + 1],
            (caption->tag_count - place) * sizeof *caption->tags);
}

static void clear_tags(struct caption *caption)
{
    while (caption->tag_count > 0)
        take_out(caption, caption->tag_count - 1);
}

void caption_fini(struct caption *caption)
{
    clear_tags(caption);
    free(caption->tags);
    free(caption->display_name);
    *caption = (struct caption){0};
}

/* Returns the index at which the tag with that key is, or would be inserted. */
static size_t place_of(const struct caption *caption, const char *key)
{
    size_t place = 0;
    while (place < caption->tag_count && strcmp(caption->tags[place].key, key) < 0)
        place++;
    return place;
}

static bool has_at(const struct caption *caption, size_t place, const char *key)
{
    return place < caption->tag_count && strcmp(caption->tags[place].key, key) == 0;
}

static void set_tag(struct caption *caption, const char *key, const char *value)
{
    size_t place = place_of(caption, key);
    if (has_at(caption, place, key))
        take_out(caption, place);
    caption->tags =
        reallocarray(caption->tags, caption->tag_count + 1, sizeof *caption->tags);
    CHECK(caption->tags != NULL);
    memmove(&caption->tags[place + 1], &caption->tags[place],
            (caption->tag_count - place) * sizeof *caption->tags);
    caption->tags[place] = (struct caption_tag){copy_text(key), copy_text(value)};
    caption->tag_count++;
}

struct caption caption_copy(const struct caption *caption)
{
    struct caption copy = {0};
    if (caption->display_name != NULL)
        copy.display_name = copy_text(caption->display_name);
    for (size_t i = 0; i < caption->tag_count; i++)
        set_tag(&copy, caption->tags[i].key, caption->tags[i].value);
    return copy;
}

bool caption_is_empty(const struct caption *caption)
{
    return caption->display_name == NULL && caption->tag_count == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool caption_equal(const struct caption *a, const struct caption *b)
{
    bool same =
        same_text(a->display_name, b->display_name) && a->tag_count == b->tag_count;
    for (size_t i = 0; same && i < a->tag_count; i++)
        same = same_text(a->tags[i].key, b->tags[i].key) &&
               same_text(a->tags[i].value, b->tags[i].value);
    return same;
}

/* --- reading --- */

/* Returns whether the character that begins at `at` is a control character: U+0000 to
 * U+001F, U+007F to U+009F, or one that changes the direction of the text after it,
 * U+202A to U+202E and U+2066 to U+2069. With those a name could imitate another. The
 * text is UTF-8. */
static bool is_control(const unsigned char *at)
{
    if (at[0] == 0xe2 && at[1] == 0x80)
        return at[2] >= 0xaa && at[2] <= 0xae;
    if (at[0] == 0xe2 && at[1] == 0x81)
        return at[2] >= 0xa6 && at[2] <= 0xa9;
    return at[0] < ' ' || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
}

/* Returns whether text has 1 to max characters, none of which is a control
 * character. */
static bool are_words(const char *text, size_t max)
{
    size_t count = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (is_control(at))
            return false;
        count += (*at & 0xc0) != 0x80;
    }
    return count >= 1 && count <= max;
}

static bool is_key(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(text);
    return length >= 1 && length <= LIMIT_TAG_KEY && strchr(first, text[0]) != NULL &&
           strspn(text, others) == length;
}

static const char *read_words(struct json_node node, size_t max)
{
    const char *text = json_read_text(node);
    if (!are_words(text, max))
        json_refuse(node, "must be 1 to %zu characters, none of them a control one",
                    max);
    return text;
}

static void read_name(struct caption *caption, struct json_node node)
{
    if (!json_present(node))
        return;
    free(caption->display_name);
    caption->display_name = NULL;
    if (!json_is_null(node.value))
        caption->display_name = copy_text(read_words(node, LIMIT_DISPLAY_NAME));
}

static void read_tag(struct caption *caption, struct json_node node)
{
    if (!is_key(node.name)) {
        json_refuse(node, "a tag's key must match [a-z0-9][a-z0-9._-]{0,62}");
        return;
    }
    const char *value = read_words(node, LIMIT_TAG_VALUE);
    if (!json_refused(node))
        set_tag(caption, node.name, value);
}

/* Removes tags before any are added, so that only the final number of tags
 * is checked. */
static void drop_tags(struct caption *caption, struct json_node node)
{
    const char *key;
    json_t *value;
    json_object_foreach(node.value, key, value)
    {
        size_t place = place_of(caption, key);
        if (json_is_null(value) && has_at(caption, place, key))
            take_out(caption, place);
    }
}

static void read_tags(struct caption *caption, struct json_node node, bool merges)
{
    const char *key;
    json_t *value;
    if (!json_present(node))
        return;
    if (json_is_null(node.value)) {
        clear_tags(caption);
        return;
    }
    if (!json_is_object(node.value)) {
        json_refuse(node, "must be an object of texts, or null");
        return;
    }
    if (merges)
        drop_tags(caption, node);
    json_object_foreach(node.value, key, value)
    {
        if (merges && json_is_null(value))
            continue;
        read_tag(caption, json_member(&node, key));
        if (caption->tag_count <= LIMIT_TAGS)
            continue;
        json_refuse(node, "must be at most %d tags", LIMIT_TAGS);
        return;
    }
}

void caption_read(struct caption *caption, const struct json_node *root)
{
    read_name(caption, json_member(root, "display_name"));
    read_tags(caption, json_member(root, "tags"), false);
}

enum status caption_merge(struct caption *out, const struct caption *from,
                          struct json_text body, struct error *error)
{
    struct caption merged = caption_copy(from);
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        json_read_object(root, (const char *const[]){"display_name", "tags", NULL});
        read_name(&merged, json_member(&root, "display_name"));
        read_tags(&merged, json_member(&root, "tags"), true);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *out = merged;
    else
        caption_fini(&merged);
    return status;
}

/* --- writing --- */

static void write_tags(struct json_writer *writer, const struct caption *caption)
{
    json_write_object(writer, "tags");
    for (size_t i = 0; i < caption->tag_count; i++)
        json_write_text(writer, caption->tags[i].key, caption->tags[i].value);
    json_write_object_end(writer);
}

void caption_write(struct json_writer *writer, const struct caption *caption)
{
    static const struct caption none = {0};
    const struct caption *written = caption != NULL ? caption : &none;
    json_write_text(writer, "display_name", written->display_name);
    write_tags(writer, written);
}

void caption_write_if(struct json_writer *writer, const struct caption *caption)
{
    if (caption->display_name != NULL)
        json_write_text(writer, "display_name", caption->display_name);
    if (caption->tag_count > 0)
        write_tags(writer, caption);
}

static void write_words_schema(struct json_writer *writer, size_t max)
{
    json_write_text(writer, "type", "string");
    json_write_count(writer, "minLength", 1);
    json_write_count(writer, "maxLength", max);
    json_write_text(
        writer, "pattern",
        "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$");
}

void caption_schema_write(struct json_writer *writer)
{
    json_write_object(writer, "display_name");
    write_words_schema(writer, LIMIT_DISPLAY_NAME);
    json_write_object_end(writer);
    json_write_object(writer, "tags");
    json_write_text(writer, "type", "object");
    json_write_count(writer, "maxProperties", LIMIT_TAGS);
    json_write_object(writer, "propertyNames");
    json_write_text(writer, "pattern", "^[a-z0-9][a-z0-9._-]{0,62}$");
    json_write_object_end(writer);
    json_write_object(writer, "additionalProperties");
    write_words_schema(writer, LIMIT_TAG_VALUE);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

char *caption_render(const struct caption *caption)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    caption_write_if(&writer, caption);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status caption_restore(struct caption *out, const char *text, struct error *error)
{
    static const struct caption none = {0};
    return caption_merge(out, &none, json_text_of(text), error);
}

/* --- searching --- */

static enum status read_tag_search(struct caption_search *search, const char *tag,
                                   struct error *error)
{
    const char *colon = strchr(tag, ':');
    size_t length = colon != NULL ? (size_t)(colon - tag) : 0;
    if (length > 0 && length <= LIMIT_TAG_KEY) {
        memcpy(search->key, tag, length);
        search->key[length] = '\0';
        search->value = colon + 1;
    }
    if (search->value != NULL && is_key(search->key) &&
        are_words(search->value, LIMIT_TAG_VALUE))
        return ST_OK;
    return query_refuse("tag", "must be the key and the value of a tag, KEY:VALUE",
                        error);
}

enum status caption_search_read(struct caption_search *search, const char *q,
                                const char *tag, struct error *error)
{
    enum status status = ST_OK;
    *search = (struct caption_search){.q = q};
    if (q != NULL && !are_words(q, LIMIT_SEARCH))
        status = query_refuse("q",
                              "must be 1 to 100 characters, none of them a "
                              "control one",
                              error);
    if (tag != NULL && read_tag_search(search, tag, error) != ST_OK)
        status = ST_INVALID;
    return status;
}

bool caption_search_is_any(const struct caption_search *search)
{
    return search->q == NULL && search->key[0] == '\0';
}

static bool holds(const char *text, const char *wanted)
{
    size_t length = strlen(wanted);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, wanted, length) == 0)
            return true;
    return false;
}

static bool tag_holds(const struct caption_tag *tag, const char *wanted)
{
    char text[LIMIT_TAG_KEY + 1 + 4 * LIMIT_TAG_VALUE + 1];
    snprintf(text, sizeof text, "%s:%s", tag->key, tag->value);
    return holds(text, wanted);
}

static bool words_hold(const struct caption *caption, const char *wanted)
{
    bool found = caption->display_name != NULL && holds(caption->display_name, wanted);
    for (size_t i = 0; !found && i < caption->tag_count; i++)
        found = tag_holds(&caption->tags[i], wanted);
    return found;
}

bool caption_fits(const struct caption *caption, const char *id,
                  const struct caption_search *search)
{
    if (search->key[0] != '\0') {
        size_t place = place_of(caption, search->key);
        if (!has_at(caption, place, search->key) ||
            strcmp(caption->tags[place].value, search->value) != 0)
            return false;
    }
    return search->q == NULL || strncmp(id, search->q, strlen(search->q)) == 0 ||
           words_hold(caption, search->q);
}
