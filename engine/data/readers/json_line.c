/* A text without escapes is never longer than with them, so it is written over itself.
 * Outside of texts a byte 0 is no sign of JSON, so it means the end of the line. */
#include "engine/data/readers/json_line.h"

#include <stdint.h>
#include <string.h>

#include "engine/data/readers/id_text.h"

enum { LEAD_FIRST = 0xD800, TRAIL_FIRST = 0xDC00, TRAIL_LAST = 0xDFFF };

struct json_line json_line_at(const struct line *line)
{
    return (struct json_line){
        .begin = line->text, .at = line->text, .end = line->text + line->size};
}

size_t json_line_place(const struct json_line *line)
{
    return (size_t)(line->at - line->begin) + 1;
}

static bool refuse(struct json_line *line, const char *fault)
{
    line->fault = fault;
    return false;
}

static char sign(const struct json_line *line)
{
    return line->at < line->end ? *line->at : '\0';
}

static char next_sign(struct json_line *line)
{
    while (sign(line) == ' ' || sign(line) == '\t')
        line->at++;
    return sign(line);
}

/* ---- texts ---- */

/* Reads the four digits of an escape. */
static bool read_code(struct json_line *line, uint32_t *code)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    *code = 0;
    for (int i = 0; i < 4; i++, line->at++) {
        const char *digit = sign(line) != '\0' ? strchr(digits, sign(line)) : NULL;
        if (digit == NULL)
            return refuse(line, "an escape \\u must have four hexadecimal digits");
        const uint32_t value = (uint32_t)(digit - digits);
        *code = *code << 4 | (value < 16 ? value : value - 6);
    }
    return true;
}

static char *put_utf8(char *out, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[size > 1 ? size : 0] | code);
    return out + size;
}

/* Reads the rest of an escape behind \u, of which a lead surrogate needs a second. */
static bool read_unicode(struct json_line *line, char **out)
{
    uint32_t code, trail = 0;
    if (!read_code(line, &code))
        return false;
    if (code >= LEAD_FIRST && code <= TRAIL_LAST) {
        const bool has_second = code < TRAIL_FIRST && line->end - line->at >= 2 &&
                                memcmp(line->at, "\\u", 2) == 0;
        line->at += has_second ? 2 : 0;
        if (has_second && !read_code(line, &trail))
            return false;
        if (trail < TRAIL_FIRST || trail > TRAIL_LAST)
            return refuse(line, "an escape \\u is half of a character");
        code = 0x10000 + ((code - LEAD_FIRST) << 10) + (trail - TRAIL_FIRST);
    }
    *out = put_utf8(*out, code);
    return true;
}

static bool read_escape(struct json_line *line, char **out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    line->at++;
    if (sign(line) == 'u') {
        line->at++;
        return read_unicode(line, out);
    }
    const char *name = sign(line) != '\0' ? strchr(names, sign(line)) : NULL;
    if (name == NULL)
        return refuse(line,
                      "a backslash must be followed by one of \" \\ / b f n r t u");
    *(*out)++ = bytes[name - names];
    line->at++;
    return true;
}

static bool read_text(struct json_line *line, struct cell *text)
{
    char *out = ++line->at;
    unsigned char all = 0; /* the bits of all bytes */
    text->text = out;
    while (line->at < line->end && *line->at != '"') {
        const unsigned char byte = (unsigned char)*line->at;
        if (byte < ' ')
            return refuse(line, "a text must not hold a control character");
        if (byte == '\\') {
            if (!read_escape(line, &out))
                return false;
            continue;
        }
        all |= byte;
        *out++ = *line->at++;
    }
    if (line->at == line->end)
        return refuse(line, "the line ends inside a text");
    line->at++;
    text->size = (size_t)(out - text->text);
    return all < 0x80 || id_text_is_utf8(text->text, text->size)
               ? true
               : refuse(line, "the text before this is not UTF-8");
}

/* ---- other values ---- */

static size_t skip_digits(struct json_line *line)
{
    const char *from = line->at;
    while (sign(line) >= '0' && sign(line) <= '9')
        line->at++;
    return (size_t)(line->at - from);
}

static bool read_number(struct json_line *line, struct cell *text)
{
    text->text = line->at;
    line->at += sign(line) == '-';
    bool whole = true;
    if (sign(line) == '0')
        line->at++;
    else
        whole = skip_digits(line) > 0;
    if (whole && sign(line) == '.') {
        line->at++;
        whole = skip_digits(line) > 0;
    }
    if (whole && (sign(line) == 'e' || sign(line) == 'E')) {
        line->at++;
        line->at += sign(line) == '+' || sign(line) == '-';
        whole = skip_digits(line) > 0;
    }
    text->size = (size_t)(line->at - text->text);
    return whole ? true : refuse(line, "a number must have a digit here");
}

static bool read_word(struct json_line *line, struct cell *text)
{
    static const char *const words[] = {"true", "false", "null"};
    const size_t left = (size_t)(line->end - line->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i]);
        if (left < size || memcmp(line->at, words[i], size) != 0)
            continue;
        *text = (struct cell){line->at, i < 2 ? size : 0};
        line->at += size;
        return true;
    }
    return refuse(line, "a value must be a text in quotes, a number, true, false or "
                        "null");
}

static bool read_value(struct json_line *line, struct cell *value)
{
    const char first = sign(line);
    if (first == '"')
        return read_text(line, value);
    if (first == '-' || (first >= '0' && first <= '9'))
        return read_number(line, value);
    if (first == '{' || first == '[')
        return refuse(line,
                      "a value must not be an array or an object: declare a column "
                      "for each of its values, and write them as members");
    return read_word(line, value);
}

/* ---- the object ---- */

/* Reads what comes before a member. Returns false at the end of the object too. */
static bool read_separator(struct json_line *line)
{
    const char before = next_sign(line);
    if (!line->begun && before != '{')
        return refuse(line, "a line must be one JSON object, and begin with {");
    if (line->begun && before != ',' && before != '}')
        return refuse(line, before != '\0' || line->at < line->end
                                ? "a comma or } must follow the member"
                                : "the line ends inside the object, which must be on "
                                  "one line");
    line->at++;
    const bool is_empty = !line->begun && next_sign(line) == '}';
    line->begun = true;
    line->at += is_empty;
    if (before != '}' && !is_empty)
        return true;
    next_sign(line);
    if (line->at < line->end)
        refuse(line, "the line goes on behind its object");
    return false;
}

bool json_line_next(struct json_line *line, struct json_member *member)
{
    if (!read_separator(line))
        return false;
    const char first = next_sign(line);
    member->name_at = json_line_place(line);
    if (first != '"')
        return refuse(line, line->at < line->end
                                ? "a member must begin with its name in quotes"
                                : "the line ends inside the object, which must be on "
                                  "one line");
    if (!read_text(line, &member->name))
        return false;
    if (next_sign(line) != ':')
        return refuse(line, "a colon must follow the name of the member");
    line->at++;
    next_sign(line);
    member->value_at = json_line_place(line);
    return read_value(line, &member->value);
}
