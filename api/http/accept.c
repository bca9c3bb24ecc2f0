#include "api/http/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { WHOLE = 1000 }; /* a weight of 1 */

struct media_range { /* a media range of the header; borrowed text */
    const char *text;
    size_t size; /* length of "type/subtype" */
    unsigned weight;
};

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* Reads "0.25" as 250. Text that is not a number, or is above 1, is read as 0. */
static unsigned read_weight(const char *text)
{
    unsigned weight = 0, unit = WHOLE;
    bool point = false, digit = false;
    for (; *text == '.' || (*text >= '0' && *text <= '9'); text++) {
        if (*text == '.') {
            if (point)
                return 0;
            point = true;
            continue;
        }
        digit = true;
        if (point)
            unit /= 10;
        weight = point ? weight + (unsigned)(*text - '0') * unit
                       : 10 * weight + (unsigned)(*text - '0') * WHOLE;
        if (weight > WHOLE)
            return 0;
    }
    text = skip_blanks(text);
    return digit && strchr(",;", *text) != NULL ? weight : 0;
}

/* Returns where the part ends that one of marks ends. Marks inside quotes do
 * not count. */
static const char *part_end(const char *text, const char *marks)
{
    for (; *text != '\0' && strchr(marks, *text) == NULL; text++)
        if (*text == '"')
            for (text++; *text != '"'; text++) {
                if (*text == '\\' && text[1] != '\0')
                    text++;
                if (*text == '\0')
                    return text;
            }
    return text;
}

/* Reads the range that begins at text and returns where it ends. */
static const char *read_range(struct media_range *range, const char *text)
{
    *range = (struct media_range){text, strcspn(text, " \t;,"), WHOLE};
    const char *end = part_end(text, ",");
    for (text = part_end(text, ";,"); *text == ';'; text = part_end(text, ";,")) {
        text = skip_blanks(text + 1);
        if ((text[0] == 'q' || text[0] == 'Q') && text[1] == '=')
            range->weight = read_weight(text + 2);
    }
    return end;
}

/* Returns how well the range fits a type: 0 not at all, 1 as any type, 2 as one of its
 * family, 3 by its own name. */
static unsigned fit(const struct media_range *range, const char *type, size_t size)
{
    size_t family = strcspn(type, "/") + 1;
    if ((range->size == 1 && range->text[0] == '*') ||
        (range->size == 3 && memcmp(range->text, "*/*", 3) == 0))
        return 1;
    if (range->size == family + 1 && range->text[family] == '*' &&
        strncasecmp(range->text, type, family) == 0)
        return 2;
    return range->size == size && strncasecmp(range->text, type, size) == 0 ? 3 : 0;
}

struct choice { /* what the header says about one type, so far */
    unsigned specific, weight;
};

static void take_in(struct choice *choice, const struct media_range *range,
                    const char *type, size_t size)
{
    unsigned specific = fit(range, type, size);
    if (specific == 0 || specific < choice->specific ||
        (specific == choice->specific && range->weight <= choice->weight))
        return;
    *choice = (struct choice){specific, range->weight};
}

/* Returns the weight of one type, or 0 if it is not accepted. */
static unsigned weigh(const char *accept, const char *type, size_t size)
{
    struct media_range range;
    struct choice choice = {0, 0};
    while (*(accept += strspn(accept, " \t,")) != '\0') {
        accept = read_range(&range, accept);
        take_in(&choice, &range, type, size);
    }
    return choice.weight;
}

int accept_choose(const char *types, const char *accept)
{
    int best = -1;
    unsigned most = 0;
    if (accept == NULL || types[0] == '\0')
        return 0;
    for (int i = 0; *types != '\0'; i++) {
        size_t size = strcspn(types, " ");
        unsigned weight = weigh(accept, types, size);
        if (weight > most) {
            most = weight;
            best = i;
        }
        types += size + strspn(types + size, " ");
    }
    return best;
}
