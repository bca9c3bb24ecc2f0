/*
 * text_lines.h - the lines of a vocabulary's file, one by one.
 *
 * A line ends with "\n" or "\r\n", the last one also with the text.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_TEXT_TEXT_LINES_H
#define ENGINE_TEXT_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/text/tokenizer_kind.h"

/* Moves the first line of rest, without its end, into line. Returns false if rest is
 * empty. */
bool text_lines_next(struct text *rest, struct text *line);

/* Returns the number of lines. */
size_t text_lines_count(struct text text);

#endif
