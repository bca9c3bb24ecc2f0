/*
 * column_text.h - one column of a schema as JSON. Which members a column has depends on
 * its kind:
 *
 *   numeric      "range":[low,high]
 *   boolean
 *   date         "format":text, "range":[date,date], "parts"?:[quarter|month|weekday]
 *   categorical  "values":[texts], "other"?:flag
 *   hashed       "buckets":count, "seed"?:count
 *   text         "length":count, "tokenizer":{...} (tokenizer_text.h)
 *   label        "values" if the task is classification, else "range"
 *   ignored, privacy_id
 *
 * All but texts and the last two may have "default" and "missing":[texts], and all kinds that make
 * features "if_missing": "default", "indicator" (numbers) or "category" (words). Dates
 * in JSON are YYYY-MM-DD, whatever the column's format.
 */
#ifndef API_REQUESTS_COLUMN_TEXT_H
#define API_REQUESTS_COLUMN_TEXT_H

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "engine/data/schema.h"

/* Texts of missing cells. The owner must release them with missing_texts_fini. */
struct missing_texts {
    size_t count;
    char **items;
};
void missing_texts_read(struct missing_texts *texts, struct json_node list);
void missing_texts_fini(struct missing_texts *texts);

/* Fills in a zeroed column, whose schema frees it. missing: the table's texts, for a
 * column that has none of its own. */
void column_text_read(struct column *column, struct json_node node, enum task task,
                      const struct missing_texts *missing);

void column_text_write(struct json_writer *writer, const struct column *column);

#endif
