/*
 * known_names.h - whether a name of a person has been used, in whatever project: there was a
 * key in it, or somebody of that name made something. A dataset stays known after it was
 * deleted; a deleted job does not, and leaves nothing that its owner could do.
 *
 * Whoever has a key in a name is that person to the service: settles its charges, cancels
 * its jobs, reads why its imports were refused. So a key that is made by the API is in its
 * maker's name or in a new one.
 *
 * Threads: any.
 */
#ifndef SERVICE_KNOWN_NAMES_H
#define SERVICE_KNOWN_NAMES_H

#include "service/context.h"

/* Whether the name was used. Names are compared as person_equal does. */
bool known_names_have(struct context *context, const char *name);

/* Checks whether the principal may make a key in that name.
 *   ST_FORBIDDEN  it is another person's: it was used, or people come by a proxy, which may
 *                 bring anybody under any name */
enum status known_names_check_new(struct context *context,
                                  const struct principal *maker, const char *name,
                                  struct error *error);

/* Checks whether the principal may replace the key of that id: it is in its own name, or
 * this principal made the key, by what the audit trail says.
 *   ST_FORBIDDEN  neither
 *   ST_IO         the audit trail cannot be read */
enum status known_names_check_rotation(struct context *context,
                                       const struct principal *maker,
                                       const struct access_key *key,
                                       struct error *error);

#endif
