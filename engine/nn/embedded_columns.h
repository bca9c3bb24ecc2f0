/*
 * embedded_columns.h - the columns whose words a model embeds (layers/embed_columns.c).
 * A column of words is a group of features of the record, one a word: 1 for the cell's
 * word, else 0. Two columns of a list share no feature.
 *
 * Ownership: a list owns its columns and their names; embedded_columns_fini releases
 * them. Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_EMBEDDED_COLUMNS_H
#define ENGINE_NN_EMBEDDED_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

struct embedded_column {
    char *name;     /* as the dataset declares it */
    uint32_t first; /* of its features in a record */
    uint32_t words; /* its features; 0: only the name is known yet */
};

struct embedded_columns { /* zeroed: none named, which means all columns of words */
    size_t count;
    struct embedded_column *list; /* (count) */
};

void embedded_columns_fini(struct embedded_columns *columns);
void embedded_columns_copy(struct embedded_columns *to,
                           const struct embedded_columns *from);

/* Appends a column whose features are not known yet, and returns it. The name is copied. */
struct embedded_column *embedded_columns_add(struct embedded_columns *columns,
                                             const char *name);

#endif
