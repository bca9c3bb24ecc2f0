/*
 * cell_text.h - the text of a cell in a row of a stored matrix, for columns that declare
 * a number of text bytes (schema.h). A row has these floats behind its features, so no
 * model reads them.
 *
 * Each float holds three bytes, as a whole number below 2^24, which float32 represents
 * exactly. A text of any length takes the declared room; zeros follow it. A text
 * that is longer than its room is cut at a character. A missing cell has no text.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_CELL_TEXT_H
#define ENGINE_DATA_CELL_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { CELL_TEXT_MAX = 64, CELL_TEXT_PER_FLOAT = 3 }; /* bytes */

/* Returns how many floats hold a text of that many bytes. */
uint32_t cell_text_floats(uint32_t bytes);

/* Writes cell_text_floats(bytes) floats. */
void cell_text_pack(float *out, uint32_t bytes, const char *text, size_t size);

/* Returns byte number place of a packed text; 0 behind its end. */
uint8_t cell_text_byte(const float *packed, uint32_t place);

#endif
