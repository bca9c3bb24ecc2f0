#include "accountant/pricing/known_mechanisms.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/siphash.h"

enum { PLACES = 256 };

struct known_mechanisms {
    struct place {
        char *text; /* NULL: the place is empty */
        struct mechanism mechanism;
    } places[PLACES];
};

struct known_mechanisms *known_mechanisms_create(void)
{
    struct known_mechanisms *known = calloc(1, sizeof *known);
    CHECK(known != NULL);
    return known;
}

static void forget(struct place *place)
{
    free(place->text);
    mechanism_fini(&place->mechanism);
    *place = (struct place){0};
}

void known_mechanisms_destroy(struct known_mechanisms *known)
{
    for (size_t i = 0; known != NULL && i < PLACES; i++)
        forget(&known->places[i]);
    free(known);
}

enum status known_mechanisms_parse(struct known_mechanisms *known, struct mechanism *m,
                                   const char *text)
{
    static const struct siphash_key any = {{0, 0}};
    if (known == NULL)
        return mechanism_parse(m, text, NULL);
    struct place *place = &known->places[siphash(&any, text, strlen(text)) % PLACES];
    if (place->text == NULL || strcmp(place->text, text) != 0) {
        struct mechanism read = {0};
        enum status status = mechanism_parse(&read, text, NULL);
        if (status != ST_OK)
            return status;
        forget(place);
        place->mechanism = read;
        place->text = strdup(text);
        CHECK(place->text != NULL);
    }
    mechanism_copy(m, &place->mechanism);
    return ST_OK;
}
