/*
 * json_word.h - reads a text that must be one of a closed list of words, such as the
 * names of the members of an enum. A refusal lists the words, so that no message
 * repeats a list.
 */
#ifndef API_JSON_JSON_WORD_H
#define API_JSON_JSON_WORD_H

#include "api/json/json_reader.h"

/* *index = the place of the node's text in words (NULL-ended). Any other text is
 * refused: returns false, *index untouched. */
bool json_read_word(size_t *index, struct json_node node, const char *const *words);

#endif
