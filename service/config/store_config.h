/*
 * store_config.h - the database that the configuration names: a file in the data
 * directory, or that of a server (--store); and checks that it is the directory's own.
 *
 * A data directory whose database is elsewhere holds a file, `store`, with that
 * database's identity, from its first start on. A start with any other database is
 * refused: it would find no rows for the directory's files and remove them.
 *
 * A database knows whether another has taken its place (struct migration_row). While
 * one is copied into another (store_migration.h) neither knows, and the file `store`
 * decides: it then has a second line with the identity of the other, which the row has
 * too.
 *
 *   the row says     and `store`                      the database
 *   HERE             is not there                     is the directory's, and is named
 *   HERE             names it                         is the directory's
 *   ARRIVING, LEFT   names it, and the row's other    is the directory's, and says HERE
 *                                                     from now on
 *   ARRIVING, LEFT   does not, or is not there        is refused
 *   anything         names another                    is refused
 *
 * So renaming one file switches the directory from one database to the other,
 * atomically; and an earlier copy of the directory, which names the database that was
 * left, cannot be used.
 */
#ifndef SERVICE_CONFIG_STORE_CONFIG_H
#define SERVICE_CONFIG_STORE_CONFIG_H

#include "store/rows/migration_row.h"

struct blobs;
struct config;

/* Opens the database for a command, exclusively; the daemon's role in the configuration
 * is ignored.
 *   ST_INVALID  the directory belongs to another database, or the database is not the
 *               current one
 *   others      as store_open and store_open_server */
enum status store_config_open(struct store **out, const struct config *config,
                              const struct blobs *blobs, struct error *error);

/* Opens it for a daemon: by store_open_beside, if it is a file; shared, if the daemon's
 * role says so. */
enum status store_config_open_beside(struct store **out, const struct config *config,
                                     const struct blobs *blobs, struct error *error);

/* Opens it for reading, as store_open_read and store_open_server_read. */
enum status store_config_open_read(struct store **out, const struct config *config,
                                   const struct blobs *blobs, struct error *error);

/* Checks that a copy of the data directory would be a backup.
 *   ST_INVALID  it would not: the database is elsewhere */
enum status store_config_check_copy(const struct config *config, struct error *error);

/* --- parts of these, for migrations --- */

/* The server that the configuration names; its URL is the configuration's. */
struct store_server store_config_server(const struct config *config);

/* The part of store_config_open after a database is open: checks that it is the
 * directory's, and makes its row and the directory say so. */
enum status store_config_claim(struct store *store, const struct config *config,
                               const struct blobs *blobs, struct error *error);

/* Refuses a row that does not say HERE.
 *   ST_INVALID  the error says what has become of the database */
enum status store_config_check(const struct migration_row *row, struct error *error);

/* Read and write the row, in transactions of their own. */
enum status store_config_read(struct store *store, struct migration_row *row,
                              struct error *error);
enum status store_config_write(struct store *store, const struct migration_row *row,
                               struct error *error);

/* Returns whether the directory has a file `store`. */
bool store_config_is_named(const struct config *config);

/* Makes the directory's file `store` name this database, durably, instead of the one
 * before; other is the content of its second line, or "".
 *   ST_IO  the file names one of the two */
enum status store_config_name(const struct config *config, const char *identity,
                              const char *other, struct error *error);

#endif
