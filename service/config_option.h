/*
 * config_option.h - what may be set of a configuration, by name, and how its text is read;
 * from where config.h has it.
 *
 * Pure.
 */
#ifndef SERVICE_CONFIG_OPTION_H
#define SERVICE_CONFIG_OPTION_H

#include <stddef.h>

#include "service/config.h"

struct config_option {
    const char *name; /* without dashes in front */
    enum status (*set)(struct config *config, const char *text, struct error *error);
};

extern const struct config_option config_options[]; /* (config_option_count) */
extern const size_t config_option_count;

/* The option of that name, which has length bytes; NULL if there is none. */
const struct config_option *config_option_find(const char *name, size_t length);

/* Sets what the option says to text.
 *   ST_INVALID  the error says where it came from, which is source, and what is allowed */
enum status config_option_set(struct config *config, const struct config_option *option,
                              const char *source, const char *text,
                              struct error *error);

#endif
