/*
 * known_names.h - whether a person's name has been used in any project: a key had it,
 * or a person of that name made something. A dataset stays known after it was deleted;
 * a deleted job does not, and leaves nothing that its owner could act on.
 *
 * To the service, the holder of a key with a name is that person: may settle the
 * person's charges, cancel the person's jobs, and read why the person's imports were
 * refused. So a key that is made through the API has its maker's name or a new one.
 *
 * Threads: any.
 */
#ifndef SERVICE_ACCESS_KNOWN_NAMES_H
#define SERVICE_ACCESS_KNOWN_NAMES_H

#include <stdbool.h>

#include "base/status.h"

struct access_key;
struct daemon_state;
struct error;
struct principal;

/* Returns whether the name was used. Names are compared as person_equal does. */
bool known_names_have(struct daemon_state *context, const char *name);

/* Checks whether the principal may make a key in that name.
 *   ST_FORBIDDEN  it is another person's: it was used, or people come through a proxy,
 *                 which may bring any person under any name */
enum status known_names_check_new(struct daemon_state *context,
                                  const struct principal *maker, const char *name,
                                  struct error *error);

/* Checks whether the principal may replace the key of that id: the key has the
 * principal's own name, or the audit trail says that the principal made it.
 *   ST_FORBIDDEN  neither
 *   ST_IO         the audit trail cannot be read */
enum status known_names_check_rotation(struct daemon_state *context,
                                       const struct principal *maker,
                                       const struct access_key *key,
                                       struct error *error);

#endif
