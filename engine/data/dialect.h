/*
 * dialect.h - how a file of columns writes its cells and numbers: the sign between two
 * cells, and the decimal sign. The owner declares both; nothing is inferred from the
 * file. Line ends need no declaration (engine/data/readers/lines.h).
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DATA_DIALECT_H
#define ENGINE_DATA_DIALECT_H

#include <stdbool.h>

enum delimiter {
    DELIMITER_COMMA,
    DELIMITER_SEMICOLON,
    DELIMITER_TAB,
    DELIMITER_PIPE,
    DELIMITER_COUNT
};

struct dialect { /* zeroed: commas between cells, and points in numbers */
    enum delimiter delimiter;
    bool decimal_comma; /* numbers have a comma in place of the point */
};

/* Returns the sign between cells. */
char delimiter_sign(enum delimiter delimiter);

/* Returns its name in messages, in the plural. */
const char *delimiter_name(enum delimiter delimiter);

/* Returns the blank around cells other than the space: the tab, unless it separates
 * cells; then the space again. */
char delimiter_second_blank(enum delimiter delimiter);

/* Returns the delimiter with that sign as its whole text. False if there is none. */
bool delimiter_parse(enum delimiter *delimiter, const char *text);

#endif
