/* How it works: jansson parses the body, and this file walks the resulting tree. A node
 * (json_reader.h) is a value, its name and the node that it was found in, all on the
 * stack of the calling function. So the path from any value to the root is available
 * when a value is refused, and costs nothing when it is not.
 *
 * A refusal writes that path as a JSON pointer (json_pointer.h) and as a
 * place, the ranks of the containers on the path, by which refusals are kept in the
 * order of the text (insert). They become faults of the caller's error when the reader
 * is closed.
 *
 * Text that is not JSON has no tree. Then the text itself is scanned up to the byte
 * where jansson stopped, keeping the containers that are open there (json_trail.h),
 * which gives the pointer of the member that was being read. The same scan finds text
 * that is nested too deep before jansson sees it. */
#include "api/json/json_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/json/json_trail.h"
#include "api/json/json_wide.h"
#include "base/check.h"

enum { TEXT_SIZE = sizeof((struct fault *)NULL)->text };

static void refuse_text(struct json_reader *reader, const char *body, size_t size,
                        const json_error_t *at)
{
    struct json_trail trail;
    struct json_pointer pointer = {0};
    struct fault fault = {.kind = FAULT_MALFORMED};
    size_t stop = at->position > 0 ? (size_t)at->position : 0;
    if (stop > size)
        stop = size;
    /* A closing bracket in the position of a value has not closed anything. */
    if (stop > 0 && (body[stop - 1] == ']' || body[stop - 1] == '}'))
        stop--;
    json_trail_follow(&trail, body, stop);
    json_trail_pointer(&trail, &pointer);
    memcpy(fault.pointer, pointer.text, JSON_POINTER_SIZE);
    snprintf(fault.text, TEXT_SIZE, "line %d, column %d: %s", at->line, at->column,
             at->text);
    reader->status = fault_add(reader->error, &fault);
}

static void refuse_depth(struct json_reader *reader)
{
    struct fault fault = {.kind = FAULT_MALFORMED};
    snprintf(fault.text, TEXT_SIZE, "nested deeper than %d levels", LIMIT_JSON_DEPTH);
    reader->status = fault_add(reader->error, &fault);
}

/* Reads text that has a whole number beyond an int64, which jansson would refuse. */
static void read_wide(struct json_reader *reader, const char *body, size_t size)
{
    json_error_t at;
    struct json_wide wide;
    json_wide_init(&wide, body, size);
    reader->root = json_loadb(wide.text, wide.size, JSON_REJECT_DUPLICATES, &at);
    if (reader->root == NULL) {
        at.column -= (int)json_wide_inserted(body, size, (size_t)at.position);
        refuse_text(reader, wide.text, wide.size, &at);
    }
    json_wide_fini(&wide);
}

static void parse(struct json_reader *reader, const char *body, size_t size)
{
    struct json_trail trail;
    json_error_t at;
    if (!json_trail_follow(&trail, body, size)) {
        refuse_depth(reader);
        return;
    }
    reader->root = json_loadb(body, size, JSON_REJECT_DUPLICATES, &at);
    if (reader->root == NULL && json_error_code(&at) == json_error_numeric_overflow)
        read_wide(reader, body, size);
    else if (reader->root == NULL)
        refuse_text(reader, body, size, &at);
}

struct json_text json_text_of(const char *text)
{
    return json_text_sized(text, strlen(text));
}

struct json_text json_text_sized(const char *text, size_t size)
{
    return (struct json_text){.text = text, .size = size};
}

void json_text_parse(struct json_text *text)
{
    struct json_reader reader = {.status = ST_OK};
    parse(&reader, text->text, text->size);
    text->root = reader.root;
}

void json_text_fini(struct json_text *text)
{
    json_decref(text->root);
    *text = (struct json_text){0};
}

enum status json_reader_open(struct json_reader *reader, struct json_node *root,
                             struct json_text text, struct error *error)
{
    *reader = (struct json_reader){
        .status = ST_OK, .error = error, .root = json_incref(text.root)};
    if (text.root == NULL)
        parse(reader, text.text, text.size);
    *root = (struct json_node){.reader = reader, .value = reader->root};
    return reader->status;
}

/* A place is the position of a value in the text: the value's rank in its container,
 * for each level from the root. A missing member ranks last, and a container ranks
 * where it ends. */
struct place {
    size_t depth;
    size_t ranks[LIMIT_JSON_DEPTH];
};

struct json_refusals {
    struct faults faults;              /* ordered by place */
    struct place places[LIMIT_FAULTS]; /* (faults.count) */
    size_t spoilt; /* the number that are not about unknown members */
};

enum status json_reader_close(struct json_reader *reader)
{
    for (size_t i = 0; reader->refusals != NULL && i < reader->refusals->faults.count;
         i++)
        reader->status = fault_add(reader->error, &reader->refusals->faults.list[i]);
    free(reader->refusals);
    reader->refusals = NULL;
    json_decref(reader->root);
    reader->root = NULL;
    return reader->status;
}

static bool place_before(const struct place *a, const struct place *b)
{
    for (size_t i = 0; i < a->depth && i < b->depth; i++)
        if (a->ranks[i] != b->ranks[i])
            return a->ranks[i] < b->ranks[i];
    return a->depth > b->depth;
}

static size_t rank_of(const struct json_node *node)
{
    size_t rank = 0;
    const char *name;
    json_t *value;
    if (node->name == NULL)
        return node->index;
    json_object_foreach(node->parent->value, name, value)
    {
        if (strcmp(name, node->name) == 0)
            break;
        rank++;
    }
    return rank;
}

/* A node knows its path to the root, and the pointer is written from the root down, so
 * this function calls itself with the parent first. The depth is bounded by that of
 * the text. */
static void follow(const struct json_node *node, struct json_pointer *pointer,
                   struct place *place)
{
    if (node->parent == NULL)
        return;
    follow(node->parent, pointer, place);
    if (place->depth < LIMIT_JSON_DEPTH)
        place->ranks[place->depth++] = rank_of(node);
    if (node->name != NULL)
        json_pointer_name(pointer, node->name, strlen(node->name));
    else
        json_pointer_index(pointer, node->index);
}

/* Returns whether the value at pointer, or a container of it, was refused already. */
static bool is_known(const struct json_refusals *refusals, const char *pointer)
{
    for (size_t i = 0; i < refusals->faults.count; i++) {
        const char *refused = refusals->faults.list[i].pointer;
        size_t size = strlen(refused);
        if (strncmp(pointer, refused, size) == 0 &&
            (pointer[size] == '\0' || pointer[size] == '/'))
            return true;
    }
    return false;
}

/* Inserts the fault after all that come before it in the text. */
static void insert(struct json_refusals *refusals, const struct fault *fault,
                   const struct place *place)
{
    struct fault *faults = refusals->faults.list;
    struct place *places = refusals->places;
    size_t at = refusals->faults.count++;
    for (; at > 0 && place_before(place, &places[at - 1]); at--) {
        faults[at] = faults[at - 1];
        places[at] = places[at - 1];
    }
    faults[at] = *fault;
    places[at] = *place;
    refusals->spoilt += fault->kind != FAULT_UNKNOWN;
}

/* Returns whether reading has ended. */
static bool has_ended(const struct json_reader *reader)
{
    return reader->status != ST_OK ||
           (reader->refusals != NULL && reader->refusals->faults.count == LIMIT_FAULTS);
}

static void refuse_as(struct json_node node, enum fault_kind kind, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));
static void refuse_list(struct json_node node, enum fault_kind kind, const char *format,
                        va_list arguments) __attribute__((format(printf, 3, 0)));

static void refuse_list(struct json_node node, enum fault_kind kind, const char *format,
                        va_list arguments)
{
    struct json_reader *reader = node.reader;
    struct json_pointer pointer = {0};
    struct place place = {0};
    struct fault fault = {.kind = node.value == NULL ? FAULT_MISSING : kind};
    if (has_ended(reader))
        return;
    if (reader->refusals == NULL) {
        reader->refusals = calloc(1, sizeof *reader->refusals);
        CHECK(reader->refusals != NULL);
    }
    follow(&node, &pointer, &place);
    if (is_known(reader->refusals, pointer.text))
        return;
    memcpy(fault.pointer, pointer.text, JSON_POINTER_SIZE);
    vsnprintf(fault.text, TEXT_SIZE, format, arguments);
    insert(reader->refusals, &fault, &place);
}

static void refuse_as(struct json_node node, enum fault_kind kind, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse_list(node, kind, format, arguments);
    va_end(arguments);
}

void json_refuse(struct json_node node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse_list(node, FAULT_INVALID, format, arguments);
    va_end(arguments);
}

void json_refuse_unknown(struct json_node node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse_list(node, FAULT_UNKNOWN, format, arguments);
    va_end(arguments);
}

size_t json_refusals(struct json_node node)
{
    return node.reader->refusals != NULL ? node.reader->refusals->spoilt : 0;
}

bool json_refused(struct json_node node)
{
    return node.reader->status != ST_OK || node.reader->refusals != NULL;
}

struct json_node json_member(const struct json_node *object, const char *name)
{
    struct json_node node = {object->reader, object, name, 0, NULL};
    if (json_is_object(object->value))
        node.value = json_object_get(object->value, name);
    return node;
}

struct json_node json_element(const struct json_node *array, size_t index)
{
    struct json_node node = {array->reader, array, NULL, index, NULL};
    if (json_is_array(array->value))
        node.value = json_array_get(array->value, index);
    return node;
}

bool json_present(struct json_node node)
{
    return node.value != NULL;
}

/* Returns whether the node has a value of the wanted kind. If not, it is refused. */
static bool expect(struct json_node node, bool fits, const char *kind)
{
    if (has_ended(node.reader))
        return false;
    if (node.value == NULL)
        refuse_as(node, FAULT_MISSING, "is required: %s", kind);
    else if (!fits)
        refuse_as(node, FAULT_WRONG_TYPE, "must be %s", kind);
    return node.value != NULL && fits;
}

static bool listed(const char *name, const char *const *members)
{
    while (*members != NULL && strcmp(*members, name) != 0)
        members++;
    return *members != NULL;
}

void json_read_object(struct json_node node, const char *const *members)
{
    const char *name;
    json_t *value;
    if (!expect(node, json_is_object(node.value), "an object"))
        return;
    json_object_foreach(node.value, name, value)
    {
        if (listed(name, members))
            continue;
        refuse_as(json_member(&node, name), FAULT_UNKNOWN, "no such member");
        if (has_ended(node.reader))
            return;
    }
}

size_t json_read_array(struct json_node node, size_t low, size_t high)
{
    size_t count = json_array_size(node.value);
    if (!expect(node, json_is_array(node.value), "an array"))
        return 0;
    if (count < low || count > high) {
        refuse_as(node, FAULT_OUT_OF_RANGE, "must have %zu to %zu elements", low, high);
        return 0;
    }
    return count;
}

static bool within(double value, struct json_range range)
{
    return isfinite(value) && value >= range.low && value <= range.high &&
           !(range.low_open && value == range.low) &&
           !(range.high_open && value == range.high);
}

static void refuse_range(struct json_node node, struct json_range range)
{
    char low[48] = "", high[48] = "";
    if (isfinite(range.low))
        snprintf(low, sizeof low, "%s %.10g", range.low_open ? "above" : "at least",
                 range.low);
    if (isfinite(range.high))
        snprintf(high, sizeof high, "%s %.10g", range.high_open ? "below" : "at most",
                 range.high);
    refuse_as(node, FAULT_OUT_OF_RANGE, "must be a number %s%s%s", low,
              low[0] != '\0' && high[0] != '\0' ? " and " : "", high);
}

double json_read_real(struct json_node node, struct json_range range)
{
    if (!expect(node, json_is_number(node.value), "a number"))
        return 0;
    double value = json_number_value(node.value);
    if (!within(value, range)) {
        refuse_range(node, range);
        return 0;
    }
    return value;
}

/* 20, 20.0 and 2e1 are the same whole number (JSON Schema's integer). */
static bool is_whole(const json_t *value)
{
    return json_is_integer(value) ||
           (json_is_real(value) &&
            trunc(json_real_value(value)) == json_real_value(value));
}

/* Returns -1 if it is too large: from 2^53 on a real may be the rounding of another
 * whole number. */
static json_int_t count_of(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    double real = json_real_value(value);
    return fabs(real) < (double)LIMIT_COUNT ? (json_int_t)real : -1;
}

uint64_t json_read_count(struct json_node node, uint64_t low, uint64_t high)
{
    if (!expect(node, is_whole(node.value), "a whole number"))
        return 0;
    json_int_t value = count_of(node.value);
    if (value < 0 || (uint64_t)value < low || (uint64_t)value > high) {
        refuse_as(node, FAULT_OUT_OF_RANGE,
                  "must be a whole number from %" PRIu64 " to %" PRIu64, low, high);
        return 0;
    }
    return (uint64_t)value;
}

bool json_read_flag(struct json_node node)
{
    return expect(node, json_is_boolean(node.value), "true or false") &&
           json_is_true(node.value);
}

const char *json_read_long_text(struct json_node node, size_t size_max)
{
    if (!expect(node, json_is_string(node.value), "a string"))
        return "";
    if (json_string_length(node.value) > size_max) {
        refuse_as(node, FAULT_OUT_OF_RANGE, "must be at most %zu bytes", size_max);
        return "";
    }
    return json_string_value(node.value);
}

const char *json_read_text(struct json_node node)
{
    return json_read_long_text(node, LIMIT_TEXT);
}
