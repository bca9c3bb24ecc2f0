/*
 * store_migration.h - moves a data directory's database from its file to a server, or
 * from a server into a file. The directory, its files and its `lock` stay where they
 * are.
 *
 *      source    target      `store` names what is done
 *  1   HERE      empty       the source    both are opened and locked, source verified
 *  2   HERE      ARRIVING    the source    every row is copied, in one transaction
 *  3   HERE      ARRIVING    the source    the copy is compared with it and verified
 *  4   LEFT      ARRIVING    the source    `store` names both, the source says where
 *                                          it has gone
 *  5   LEFT      ARRIVING    the target    `store` is renamed: the target is current
 *  6   LEFT      HERE        the target    the target says so itself
 *
 * Invariants
 *   (1) At every moment the directory can be served with exactly one of the two
 *       databases: the one that `store` names (store_config.h). A start on that
 *       database cancels an unfinished migration: it says HERE again.
 *   (2) A database that was left is never used again: two copies in use would spend the
 *       budget twice.
 *   (3) seq, prev and hash of every entry and act stay the same, so that a head that
 *       was noted before stays valid.
 *
 * Threads: one.
 */
#ifndef SERVICE_COMMANDS_STORE_MIGRATION_H
#define SERVICE_COMMANDS_STORE_MIGRATION_H

#include "accountant/ledger/entry.h"
#include "store/copy/table_copy.h"
#include "store/rows/migration_row.h"

struct config;

struct store_migration { /* what was moved */
    struct table_copy copy;
    struct ledger_entry_name head;
};

/* Moves the database. from and to name one data directory, and one of them a server.
 * Prints what `verify` finds in both on stdout.
 *   ST_INVALID  the directory is not the source's, the source is no longer the current
 *               one, or the target is not empty
 *   ST_CORRUPT  the source does not verify, or the copy differs from the source
 *   ST_IO       one of them cannot be read or written, or is in use */
enum status store_migration_run(struct store_migration *migration,
                                const struct config *from, const struct config *to,
                                struct error *error);

/* Sets place to a readable name of the database of a configuration: its folder, or its
 * URL without users, passwords and options. */
void store_migration_place(char place[MIGRATION_PLACE_SIZE],
                           const struct config *config);

#endif
