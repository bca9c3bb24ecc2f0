/*
 * named_columns.h - columns of the dataset that a model names: those whose words it
 * embeds (layers/embed_columns.c), and those of its pairs until their numbers are known.
 * A column of words is a group of features of the record, one a word: 1 for the cell's
 * word, else 0.
 *
 * Ownership: a list owns its columns and their names; named_columns_fini releases
 * them. Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_NAMED_COLUMNS_H
#define ENGINE_NN_NAMED_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

struct named_column {
    char *name;     /* as the dataset declares it */
    uint32_t first; /* of its features in a record */
    uint32_t words; /* its features; 0: only the name is known yet */
};

struct named_columns { /* zeroed: none */
    size_t count;
    struct named_column *list; /* (count) */
};

void named_columns_fini(struct named_columns *columns);
void named_columns_copy(struct named_columns *to, const struct named_columns *from);

/* Appends a column whose features are not known yet, and returns it. The name is copied. */
struct named_column *named_columns_add(struct named_columns *columns, const char *name);

#endif
