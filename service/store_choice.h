/*
 * store_choice.h - the database that the configuration names: a file in the data
 * directory, or that of a server (--store).
 *
 * A data directory whose database is elsewhere holds a file, `store`, with that database's
 * identity, from its first start on. A start with any other database is refused: it would
 * take the directory's files for nobody's and remove them.
 */
#ifndef SERVICE_STORE_CHOICE_H
#define SERVICE_STORE_CHOICE_H

#include "service/config.h"
#include "store/blob.h"
#include "store/store.h"

/* Opens it.
 *   ST_INVALID  the directory belongs to another database
 *   others      as store_open and store_open_server */
enum status store_choice_open(struct store **out, const struct config *config,
                              const struct blobs *blobs, struct error *error);

/* Opens it to be read, as store_open_read and store_open_server_read. */
enum status store_choice_open_read(struct store **out, const struct config *config,
                                   const struct blobs *blobs, struct error *error);

/* Why a copy of the data directory would be no backup: the database is not in it.
 *   ST_INVALID  it is elsewhere */
enum status store_choice_check_copy(const struct config *config, struct error *error);

#endif
