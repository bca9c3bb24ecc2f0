#include "engine/data/cell_text.h"

#include <string.h>

uint32_t cell_text_floats(uint32_t bytes)
{
    return (bytes + CELL_TEXT_PER_FLOAT - 1) / CELL_TEXT_PER_FLOAT;
}

/* Returns how much of the text is stored: up to a NUL, and whole characters of UTF-8. */
static size_t stored_size(uint32_t bytes, const char *text, size_t size)
{
    const char *nul = memchr(text, '\0', size);
    if (nul != NULL)
        size = (size_t)(nul - text);
    if (size <= bytes)
        return size;
    size = bytes;
    while (size > 0 && ((uint8_t)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

void cell_text_pack(float *out, uint32_t bytes, const char *text, size_t size)
{
    size = stored_size(bytes, text, size);
    for (uint32_t i = 0; i < cell_text_floats(bytes); i++) {
        uint32_t number = 0;
        for (size_t k = CELL_TEXT_PER_FLOAT; k-- > 0;) {
            size_t place = CELL_TEXT_PER_FLOAT * (size_t)i + k;
            number = number << 8 | (place < size ? (uint8_t)text[place] : 0);
        }
        out[i] = (float)number;
    }
}

uint8_t cell_text_byte(const float *packed, uint32_t place)
{
    uint32_t number = (uint32_t)packed[place / CELL_TEXT_PER_FLOAT];
    return (uint8_t)(number >> 8 * (place % CELL_TEXT_PER_FLOAT));
}
