#include "api/requests/acknowledgement.h"

#include <stddef.h>
#include <string.h>

#include "api/limits.h"

enum { ACKNOWLEDGEMENTS = 2 };

#define EPSILON_NAME "epsilon_above_10"
#define DELTA_NAME   "delta_above_1_over_n"

const char *const acknowledged_names[] = {EPSILON_NAME, DELTA_NAME, NULL};

/* Indexed by the sets of what is missing. */
static const char *const missing_texts[] = {
    [ACKNOWLEDGED_EPSILON] =
        "epsilon is above 10, a weak promise to the people in the data: if that is "
        "meant, confirm it with \"acknowledge\": [\"" EPSILON_NAME
        "\"]; otherwise lower epsilon",
    [ACKNOWLEDGED_DELTA] =
        "delta is above 1/n, so the promise may fail for one of the n people or "
        "records "
        "in full: if that is meant, confirm it with \"acknowledge\": [\"" DELTA_NAME
        "\"]; otherwise lower delta",
    [ACKNOWLEDGED_EPSILON | ACKNOWLEDGED_DELTA] =
        "epsilon is above 10 and delta is above 1/n, a weak promise to the people in "
        "the "
        "data: if that is meant, confirm it with \"acknowledge\": [\"" EPSILON_NAME
        "\", \"" DELTA_NAME "\"]; otherwise lower them",
};

/* Indexed by the sets of what is confirmed and not needed. */
static const char *const extra_texts[] = {
    [ACKNOWLEDGED_EPSILON] = "confirms " EPSILON_NAME
                             ", a confirmation that nothing asked for: leave it out",
    [ACKNOWLEDGED_DELTA] =
        "confirms " DELTA_NAME ", a confirmation that nothing asked for: leave it out "
        "until a request is refused because delta is above 1/n",
    [ACKNOWLEDGED_EPSILON | ACKNOWLEDGED_DELTA] =
        "confirms " EPSILON_NAME " and " DELTA_NAME
        ", confirmations that nothing asked for: leave them out",
};

enum acknowledged acknowledgement_needed(double epsilon, double delta, uint64_t units)
{
    unsigned needed = ACKNOWLEDGED_NOTHING;
    if (epsilon > LIMIT_EPSILON_UNCONFIRMED)
        needed |= ACKNOWLEDGED_EPSILON;
    if (units > 0 && delta > 1 / (double)units)
        needed |= ACKNOWLEDGED_DELTA;
    return (enum acknowledged)needed;
}

bool acknowledgement_add(enum acknowledged *set, const char *name)
{
    for (unsigned i = 0; i < ACKNOWLEDGEMENTS; i++) {
        const unsigned bit = 1u << i;
        if (strcmp(name, acknowledged_names[i]) != 0 || (*set & bit) != 0)
            continue;
        *set = (enum acknowledged)(*set | bit);
        return true;
    }
    return false;
}

enum acknowledged acknowledgement_read(const struct json_node *object)
{
    struct json_node node = json_member(object, "acknowledge");
    enum acknowledged read = ACKNOWLEDGED_NOTHING;
    if (!json_present(node))
        return ACKNOWLEDGED_NOTHING;
    size_t count = json_read_array(node, 0, ACKNOWLEDGEMENTS);
    for (size_t i = 0; i < count; i++) {
        struct json_node element = json_element(&node, i);
        if (!acknowledgement_add(&read, json_read_text(element)))
            json_refuse(element, "must be \"%s\" or \"%s\", each at most once",
                        acknowledged_names[0], acknowledged_names[1]);
    }
    return read;
}

const char *acknowledgement_fault(enum acknowledged given, enum acknowledged needed)
{
    unsigned missing = needed & ~(unsigned)given, extra = given & ~(unsigned)needed;
    return missing != 0 ? missing_texts[missing] : extra_texts[extra];
}

enum status acknowledgement_check(enum acknowledged given, enum acknowledged needed,
                                  struct error *error)
{
    const char *fault = acknowledgement_fault(given, needed);
    return fault == NULL ? ST_OK
                         : error_set_at(error, ST_INVALID, "/acknowledge", "%s", fault);
}

void acknowledgement_write(struct json_writer *writer, enum acknowledged acknowledged)
{
    json_write_array(writer, "acknowledge");
    for (unsigned i = 0; i < ACKNOWLEDGEMENTS; i++)
        if ((acknowledged >> i & 1) != 0)
            json_write_text(writer, NULL, acknowledged_names[i]);
    json_write_array_end(writer);
}

void acknowledgement_write_if(struct json_writer *writer,
                              enum acknowledged acknowledged)
{
    if (acknowledged != ACKNOWLEDGED_NOTHING)
        acknowledgement_write(writer, acknowledged);
}
