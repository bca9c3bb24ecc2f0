/*
 * store_choice.h - the database that the configuration names: a file in the data
 * directory, or that of a server (--store); and whether it is the one.
 *
 * A data directory whose database is elsewhere holds a file, `store`, with that database's
 * identity, from its first start on. A start with any other database is refused: it would
 * take the directory's files for nobody's and remove them.
 *
 * A database knows whether another has taken its place (struct migration_row). While one
 * is copied into another (migration.h) both do not know, and the file `store` decides: it
 * has a second line then, with the identity of the other, which the row has too.
 *
 *   the row says     and `store`                      the database
 *   HERE             is not there                     is the directory's, and is named
 *   HERE             names it                         is the directory's
 *   ARRIVING, LEFT   names it, and the row's other    is the directory's, and says HERE
 *                                                     from now on
 *   ARRIVING, LEFT   does not, or is not there        is refused
 *   anything         names another                    is refused
 *
 * So renaming one file passes the directory from one database to the other, at once; and
 * a copy of the directory from before, which names what was left, is of no use.
 */
#ifndef SERVICE_STORE_CHOICE_H
#define SERVICE_STORE_CHOICE_H

#include "service/config.h"
#include "store/blob.h"
#include "store/store.h"
#include "store/migration_row.h"

/* Opens it for a command, which has it alone, whatever part of a service the configuration says
 * that a daemon is.
 *   ST_INVALID  the directory belongs to another database, or the database is not the one
 *   others      as store_open and store_open_server */
enum status store_choice_open(struct store **out, const struct config *config,
                              const struct blobs *blobs, struct error *error);

/* Opens it for a daemon: by store_open_beside, where it is a file; shared, where its role says
 * so. */
enum status store_choice_open_beside(struct store **out, const struct config *config,
                                     const struct blobs *blobs, struct error *error);

/* Opens it to be read, as store_open_read and store_open_server_read. */
enum status store_choice_open_read(struct store **out, const struct config *config,
                                   const struct blobs *blobs, struct error *error);

/* Why a copy of the data directory would be no backup: the database is not in it.
 *   ST_INVALID  it is elsewhere */
enum status store_choice_check_copy(const struct config *config, struct error *error);

/* --- parts of these, for migrations --- */

/* The server that the configuration names; its URL is the configuration's. */
struct store_server store_choice_server(const struct config *config);

/* What store_choice_open does once a database is open: sees that it is the one, and has
 * its row and the directory say so. */
enum status store_choice_claim(struct store *store, const struct config *config,
                               const struct blobs *blobs, struct error *error);

/* Refuses a row that does not say HERE.
 *   ST_INVALID  the error says what has become of the database */
enum status store_choice_check(const struct migration_row *row, struct error *error);

/* Reads and writes the row, in transactions of their own. */
enum status store_choice_read(struct store *store, struct migration_row *row,
                              struct error *error);
enum status store_choice_write(struct store *store, const struct migration_row *row,
                               struct error *error);

/* Whether the directory has a file `store`. */
bool store_choice_is_named(const struct config *config);

/* Has the directory's file `store` name a database, durably, in place of what it names;
 * other is what its second line says, or "".
 *   ST_IO  it names either */
enum status store_choice_name(const struct config *config, const char *identity,
                              const char *other, struct error *error);

#endif
