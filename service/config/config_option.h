/*
 * config_option.h - the options of a configuration by name, and how the text of each is
 * read. config.h says where the text comes from.
 *
 * Pure.
 */
#ifndef SERVICE_CONFIG_CONFIG_OPTION_H
#define SERVICE_CONFIG_CONFIG_OPTION_H

#include <stddef.h>

#include "service/config/config.h"

struct config_option {
    const char *name; /* without leading dashes */
    enum status (*set)(struct config *config, const char *text, struct error *error);
};

extern const struct config_option config_options[]; /* (config_option_count) */
extern const size_t config_option_count;

/* Returns the option of that name, which has length bytes; NULL if there is none. */
const struct config_option *config_option_find(const char *name, size_t length);

/* Sets the option to text.
 *   ST_INVALID  the error names the source of the text and what is allowed */
enum status config_option_set(struct config *config, const struct config_option *option,
                              const char *source, const char *text,
                              struct error *error);

#endif
