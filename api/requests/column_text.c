#include "api/requests/column_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_word.h"
#include "api/limits.h"
#include "api/requests/schema_value.h"
#include "api/requests/tokenizer_text.h"
#include "base/check.h"
#include "engine/data/calendar.h"
#include "engine/data/cell_text.h"
#include "engine/data/encode.h"

_Static_assert((int)LIMIT_MISSING == (int)COLUMN_MISSING_MAX,
               "the contract and the engine agree");

/* Reads a text that a cell can contain. Import strips the blanks around a cell. */
static const char *read_cell_text(struct json_node node)
{
    const char *text = json_read_text(node);
    size_t size = strlen(text);
    if (size == 0 || isspace((unsigned char)text[0]) ||
        isspace((unsigned char)text[size - 1])) {
        json_refuse(node, "must not be empty, nor begin or end with a blank");
        return "";
    }
    return text;
}

static char *duplicate(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static bool holds_value(const struct column *column, const char *text)
{
    for (size_t i = 0; i < column->value_count; i++)
        if (strcmp(column->values[i], text) == 0)
            return true;
    return false;
}

/* ---- missing cells ---- */

void missing_texts_fini(struct missing_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct missing_texts){0};
}

void missing_texts_read(struct missing_texts *texts, struct json_node list)
{
    json_auto_t *seen = json_object();
    size_t count = json_read_array(list, 0, LIMIT_MISSING);
    if (count == 0)
        return;
    texts->items = schema_value_allocate(count, sizeof *texts->items);
    for (; texts->count < count; texts->count++) {
        struct json_node element = json_element(&list, texts->count);
        const char *text = json_read_text(element);
        if (text[0] != '\0') /* the empty cell, which is always missing */
            text = read_cell_text(element);
        schema_value_remember(seen, element, text);
        texts->items[texts->count] = duplicate(text);
    }
}

/* Gives the column its own texts, or a copy of the table's. */
static void take_missing(struct column *column, struct json_node own,
                         const struct missing_texts *table)
{
    struct missing_texts texts = {0};
    if (json_present(own)) {
        missing_texts_read(&texts, own);
    } else if (table->count > 0) {
        texts.items = schema_value_allocate(table->count, sizeof *texts.items);
        for (; texts.count < table->count; texts.count++)
            texts.items[texts.count] = duplicate(table->items[texts.count]);
    }
    column->missing = texts.items;
    column->missing_count = texts.count;
}

/* The default is stored as text, so that a narrower range of a job maps the same
 * number. */
static void set_number_default(struct column *column, double value)
{
    char number[40];
    snprintf(number, sizeof number, "%.17g", value);
    column->fallback = duplicate(number);
}

/* Reads the rule for missing cells. A rule for words is a category, and one for numbers
 * an indicator. */
static void read_if_missing(struct column *column, const struct json_node *object)
{
    struct json_node node = json_member(object, "if_missing");
    struct json_node fallback = json_member(object, "default");
    bool is_word = column_kind_form(column->kind) == COLUMN_FORM_WORD;
    const char *own = is_word ? "category" : "indicator";
    if (!json_present(node))
        return;
    const char *text = json_read_text(node);
    column->missing_feature = strcmp(text, own) == 0;
    if (!column->missing_feature && strcmp(text, "default") != 0)
        json_refuse(node, "must be default or %s", own);
    else if (!column->missing_feature && !json_present(fallback))
        json_refuse(node, "needs a default");
    else if (column->missing_feature && is_word && json_present(fallback))
        json_refuse(fallback, "a missing cell is a category of its own");
    else if (column->missing_feature && column->kind == COLUMN_NUMERIC &&
             column->fallback == NULL)
        set_number_default(column, column->low / 2 + column->high / 2);
}

/* Refuses a text of missing cells that a boolean column reads as a value. */
static void check_flags(const struct column *column, struct json_node list)
{
    for (size_t i = 0; column->kind == COLUMN_BOOLEAN && i < column->missing_count; i++)
        if (encode_is_boolean(column->missing[i]))
            json_refuse(json_present(list) ? json_element(&list, i) : list,
                        "\"%.60s\" is a value of the boolean column \"%.60s\": declare "
                        "other texts there",
                        column->missing[i], column->name);
}

/* Refuses a word that is also a text of missing cells, or the name of a category that
 * the column adds. */
static void check_words(const struct column *column, const struct json_node *object)
{
    struct json_node values = json_member(object, "values");
    for (size_t i = 0; i < column->value_count; i++) {
        const char *word = column->values[i];
        for (size_t k = 0; k < column->missing_count; k++)
            if (strcmp(column->missing[k], word) == 0)
                json_refuse(json_element(&values, i),
                            "is also a text of missing cells: leave it out here, or "
                            "declare \"missing\": [] for this column");
        if ((column->other && strcmp(word, COLUMN_OTHER) == 0) ||
            (column->missing_feature && strcmp(word, COLUMN_MISSING) == 0))
            json_refuse(json_element(&values, i),
                        "is the name of the category for %s cells: rename the word in "
                        "the file, or declare no such category",
                        strcmp(word, COLUMN_OTHER) == 0 ? "other" : "missing");
    }
}

/* ---- kinds ---- */

static void read_words(struct column *column, struct json_node node, size_t low)
{
    json_auto_t *seen = json_object();
    size_t count = json_read_array(node, low, LIMIT_CLASSES);
    if (count == 0)
        return;
    column->values = schema_value_allocate(count, sizeof *column->values);
    for (; column->value_count < count; column->value_count++) {
        struct json_node element = json_element(&node, column->value_count);
        const char *text = read_cell_text(element);
        schema_value_remember(seen, element, text);
        column->values[column->value_count] = duplicate(text);
    }
}

static void read_number(struct column *column, const struct json_node *object)
{
    struct json_node fallback = json_member(object, "default");
    schema_value_read_range(&column->low, &column->high, json_member(object, "range"));
    if (json_present(fallback))
        set_number_default(column, json_read_real(fallback, json_any_real));
}

static void read_boolean(struct column *column, const struct json_node *object)
{
    struct json_node fallback = json_member(object, "default");
    column->high = 1;
    if (json_present(fallback))
        column->fallback = duplicate(json_read_flag(fallback) ? "true" : "false");
}

static double read_day(struct json_node node)
{
    double days = 0;
    const char *text = json_read_text(node);
    if (!calendar_read(&days, CALENDAR_ISO, text, strlen(text)))
        json_refuse(node, "must be a date as YYYY-MM-DD");
    return days;
}

static void read_parts(struct column *column, struct json_node list)
{
    size_t count =
        json_present(list) ? json_read_array(list, 0, CALENDAR_PART_COUNT) : 0;
    for (size_t i = 0; i < count; i++) {
        struct json_node node = json_element(&list, i);
        const char *text = json_read_text(node);
        unsigned part = 0;
        while (part < CALENDAR_PART_COUNT &&
               strcmp(calendar_part_name((enum calendar_part)part), text) != 0)
            part++;
        if (part == CALENDAR_PART_COUNT)
            json_refuse(node, "must be quarter, month or weekday");
        else if ((column->parts >> part & 1) != 0)
            json_refuse(node, "stands here a second time");
        else
            column->parts |= 1U << part;
    }
}

static void read_date(struct column *column, const struct json_node *object)
{
    struct json_node format = json_member(object, "format");
    struct json_node range = json_member(object, "range");
    struct json_node fallback = json_member(object, "default");
    size_t refusals = json_refusals(format);
    const char *text = json_read_text(format);
    const char *fault = calendar_format_fault(text);
    if (json_refusals(format) == refusals && fault != NULL)
        json_refuse(format, "%s", fault);
    column->format = duplicate(text);
    refusals = json_refusals(range);
    json_read_array(range, 2, 2);
    column->low = read_day(json_element(&range, 0));
    column->high = read_day(json_element(&range, 1));
    if (json_refusals(range) == refusals && column->low >= column->high)
        json_refuse(range, "must be [first, last], two dates in this order");
    read_parts(column, json_member(object, "parts"));
    if (json_present(fallback)) {
        read_day(fallback);
        column->fallback = duplicate(json_read_text(fallback));
    }
}

/* The default is one of the values, if all of these are known. */
static void read_value_default(struct column *column, struct json_node node, bool known)
{
    if (!json_present(node))
        return;
    const char *text = json_read_text(node);
    if (known && !holds_value(column, text))
        json_refuse(node, "must be one of the declared values");
    column->fallback = duplicate(text);
}

static void read_values(struct column *column, const struct json_node *object)
{
    struct json_node other = json_member(object, "other");
    size_t refusals = json_refusals(other);
    read_words(column, json_member(object, "values"),
               column->kind == COLUMN_LABEL ? 2 : 1);
    read_value_default(column, json_member(object, "default"),
                       json_refusals(other) == refusals);
    column->other = json_present(other) && json_read_flag(other);
}

static void read_hashed(struct column *column, const struct json_node *object)
{
    struct json_node seed = json_member(object, "seed");
    struct json_node texts = json_member(object, "text_bytes");
    struct json_node fallback = json_member(object, "default");
    column->buckets =
        (uint32_t)json_read_count(json_member(object, "buckets"), 2, LIMIT_FEATURES);
    if (json_present(texts))
        column->text_bytes = (uint32_t)json_read_count(texts, 1, CELL_TEXT_MAX);
    column->has_seed = json_present(seed);
    if (column->has_seed)
        column->seed = json_read_count(seed, 0, LIMIT_COUNT - 1);
    if (json_present(fallback))
        column->fallback = duplicate(read_cell_text(fallback));
}

/* A refused column has no text, and is dropped with its schema. */
static void read_text(struct column *column, const struct json_node *object)
{
    struct text_column read = {0};
    if (!tokenizer_text_read(&read, object))
        return;
    column->text = schema_value_allocate(1, sizeof *column->text);
    *column->text = read;
}

static void read_nothing(struct column *column, const struct json_node *object)
{
    (void)column;
    (void)object;
}

static void write_number(struct json_writer *writer, const struct column *column)
{
    schema_value_write_range(writer, column->low, column->high);
    if (column->fallback != NULL)
        json_write_real(writer, "default", strtod(column->fallback, NULL));
}

static void write_boolean(struct json_writer *writer, const struct column *column)
{
    if (column->fallback != NULL)
        json_write_flag(writer, "default", strcmp(column->fallback, "true") == 0);
}

static void write_text_default(struct json_writer *writer, const struct column *column)
{
    if (column->fallback != NULL)
        json_write_text(writer, "default", column->fallback);
}

static void write_texts(struct json_writer *writer, const char *name,
                        char *const *texts, size_t count)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < count; i++)
        json_write_text(writer, NULL, texts[i]);
    json_write_array_end(writer);
}

static void write_date(struct json_writer *writer, const struct column *column)
{
    char first[CALENDAR_TEXT_SIZE], last[CALENDAR_TEXT_SIZE];
    calendar_write(first, column->low);
    calendar_write(last, column->high);
    json_write_text(writer, "format", column->format);
    write_texts(writer, "range", (char *const[]){first, last}, 2);
    if (column->parts != 0) {
        json_write_array(writer, "parts");
        for (int i = 0; i < CALENDAR_PART_COUNT; i++)
            if ((column->parts >> i & 1) != 0)
                json_write_text(writer, NULL,
                                calendar_part_name((enum calendar_part)i));
        json_write_array_end(writer);
    }
    write_text_default(writer, column);
}

static void write_values(struct json_writer *writer, const struct column *column)
{
    write_texts(writer, "values", column->values, column->value_count);
    if (column->other)
        json_write_flag(writer, "other", true);
    write_text_default(writer, column);
}

static void write_hashed(struct json_writer *writer, const struct column *column)
{
    json_write_count(writer, "buckets", column->buckets);
    if (column->has_seed)
        json_write_count(writer, "seed", column->seed);
    if (column->text_bytes > 0)
        json_write_count(writer, "text_bytes", column->text_bytes);
    write_text_default(writer, column);
}

static void write_text(struct json_writer *writer, const struct column *column)
{
    tokenizer_text_write(writer, column->text);
}

static void write_nothing(struct json_writer *writer, const struct column *column)
{
    (void)writer;
    (void)column;
}

/* The members that only some kinds have. */
enum { MEMBERS_MAX = 11 };
static const char *const members[MEMBERS_MAX] = {
    "range", "values", "default", "missing", "if_missing", "format",
    "parts", "other",  "buckets", "length",  "tokenizer"};

/* The members of a kind, how they are read and written, and why it has no others. */
struct syntax {
    const char *members[MEMBERS_MAX + 1]; /* of the list above; NULL after the last */
    const char *others;
    void (*read)(struct column *column, const struct json_node *object);
    void (*write)(struct json_writer *writer, const struct column *column);
};

static const struct syntax syntaxes[COLUMN_KIND_COUNT] = {
    [COLUMN_NUMERIC] = {{"range", "default", "missing", "if_missing"},
                        "a numeric column has a range",
                        read_number,
                        write_number},
    [COLUMN_CATEGORICAL] = {{"values", "default", "missing", "if_missing", "other"},
                            "a categorical column has values",
                            read_values,
                            write_values},
    [COLUMN_IGNORED] = {{NULL},
                        "an ignored column is not read",
                        read_nothing,
                        write_nothing},
    [COLUMN_PRIVACY_ID] = {{NULL},
                           "ids are compared, and become no feature",
                           read_nothing,
                           write_nothing},
    [COLUMN_BOOLEAN] = {{"default", "missing", "if_missing"},
                        "a boolean column has two values that are known",
                        read_boolean,
                        write_boolean},
    [COLUMN_DATE] = {{"range", "default", "missing", "if_missing", "format", "parts"},
                     "a date has a format and a range",
                     read_date,
                     write_date},
    [COLUMN_HASHED] = {{"buckets", "default", "missing", "if_missing"},
                       "a hashed column has buckets",
                       read_hashed,
                       write_hashed},
    [COLUMN_TEXT] = {{"length", "tokenizer"},
                     "a text has a tokenizer and a length; an empty cell is a text "
                     "without a word",
                     read_text,
                     write_text},
};

/* The label's members depend on the task. */
static const struct syntax label_class = {
    {"values", "default", "missing"}, "a class has values", read_values, write_values};
static const struct syntax label_value = {{"range", "default", "missing"},
                                          "a regression has a range",
                                          read_number,
                                          write_number};

static const struct syntax *syntax_of(enum column_kind kind, bool has_classes)
{
    if (kind == COLUMN_LABEL)
        return has_classes ? &label_class : &label_value;
    return &syntaxes[kind];
}

static bool has_member(const struct syntax *syntax, const char *name)
{
    for (size_t i = 0; syntax->members[i] != NULL; i++)
        if (strcmp(syntax->members[i], name) == 0)
            return true;
    return false;
}

/* Returns false if the node was refused. */
static bool read_kind(enum column_kind *kind, struct json_node node)
{
    const char *names[COLUMN_KIND_COUNT + 1] = {NULL};
    size_t index;
    for (int i = 0; i < COLUMN_KIND_COUNT; i++)
        names[i] = column_kind_name((enum column_kind)i);
    if (!json_read_word(&index, node, names))
        return false;
    *kind = (enum column_kind)index;
    return true;
}

void column_text_read(struct column *column, struct json_node node, enum task task,
                      const struct missing_texts *missing)
{
    json_read_object(node, (const char *const[]){
                               "name", "kind", "range", "values", "default", "missing",
                               "if_missing", "other", "buckets", "seed", "text_bytes",
                               "format", "parts", "length", "tokenizer", NULL});
    column->name = duplicate(read_cell_text(json_member(&node, "name")));
    if (!read_kind(&column->kind, json_member(&node, "kind")))
        return;
    const struct syntax *syntax = syntax_of(column->kind, task == TASK_CLASSIFICATION);
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        if (!has_member(syntax, members[i]))
            schema_value_refuse(&node, members[i], syntax->others);
    if (column->kind != COLUMN_HASHED) {
        schema_value_refuse(&node, "seed", "only a hashed column has a seed");
        schema_value_refuse(&node, "text_bytes", "only a hashed column stores texts");
    }
    size_t refusals = json_refusals(node);
    syntax->read(column, &node);
    if (!has_member(syntax, "missing"))
        return;
    take_missing(column, json_member(&node, "missing"), missing);
    check_flags(column, json_member(&node, "missing"));
    if (has_member(syntax, "if_missing"))
        read_if_missing(column, &node);
    if (json_refusals(node) == refusals)
        check_words(column, &node);
}

void column_text_write(struct json_writer *writer, const struct column *column)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "name", column->name);
    json_write_text(writer, "kind", column_kind_name(column->kind));
    syntax_of(column->kind, column->value_count > 0)->write(writer, column);
    if (column->missing_count > 0)
        write_texts(writer, "missing", column->missing, column->missing_count);
    if (column->missing_feature)
        json_write_text(writer, "if_missing",
                        column_kind_form(column->kind) == COLUMN_FORM_WORD
                            ? "category"
                            : "indicator");
    json_write_object_end(writer);
}
