#include "engine/data/dialect.h"

static const struct {
    char sign;
    const char *name;
} rows[DELIMITER_COUNT] = {
    [DELIMITER_COMMA] = {',', "commas"},
    [DELIMITER_SEMICOLON] = {';', "semicolons"},
    [DELIMITER_TAB] = {'\t', "tabs"},
    [DELIMITER_PIPE] = {'|', "bars"},
};

char delimiter_sign(enum delimiter delimiter)
{
    return rows[delimiter].sign;
}

const char *delimiter_name(enum delimiter delimiter)
{
    return rows[delimiter].name;
}

char delimiter_second_blank(enum delimiter delimiter)
{
    return delimiter == DELIMITER_TAB ? ' ' : '\t';
}

bool delimiter_parse(enum delimiter *delimiter, const char *text)
{
    for (int i = 0; i < DELIMITER_COUNT; i++) {
        if (text[0] == rows[i].sign && text[1] == '\0') {
            *delimiter = (enum delimiter)i;
            return true;
        }
    }
    return false;
}
