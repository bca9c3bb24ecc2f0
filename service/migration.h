/*
 * migration.h - a data directory's database moved: from its file to a server, or from a
 * server into a file. The directory, its files and its `lock` stay where they are.
 *
 *        source    target      `store` names   what is done
 *    1   HERE      empty       the source      both are opened and locked, the source verified
 *    2   HERE      ARRIVING    the source      every row is copied, in one transaction
 *    3   HERE      ARRIVING    the source      the copy is compared with it and verified
 *    4   LEFT      ARRIVING    the source      `store` names both, and the source says where
 *                                              it has gone
 *    5   LEFT      ARRIVING    the target      `store` is renamed: the target is the one
 *    6   LEFT      HERE        the target      the target says so itself
 *
 * Invariants
 *   (1) At every moment the directory can be served with one of the two databases, and
 *       with no other: that which `store` names (store_choice.h). A start of it ends what
 *       a migration has begun: it says HERE again.
 *   (2) A database that is left is never used again: two heirs would spend twice.
 *   (3) seq, prev and hash of every entry and act stay, so that a head which somebody has
 *       noted stays good.
 *
 * Threads: one.
 */
#ifndef SERVICE_MIGRATION_H
#define SERVICE_MIGRATION_H

#include "accountant/entry.h"
#include "service/config.h"
#include "store/table_copy.h"
#include "store/migration_row.h"

struct migration { /* what was moved */
    struct table_copy copy;
    struct ledger_entry_name head;
};

/* Moves it. from and to name one data directory, and one of them a server. What `verify`
 * finds of both it says on stdout.
 *   ST_INVALID  the directory is not the source's, the source is not the one any more, or
 *               the target holds something
 *   ST_CORRUPT  the source does not verify, or the copy is not as the source
 *   ST_IO       one of them cannot be read or written, or is in use */
enum status migration_run(struct migration *migration, const struct config *from,
                          const struct config *to, struct error *error);

/* place = what people call the database of a configuration: its folder, or its URL without
 * users, passwords and options. */
void migration_place(char place[MIGRATION_PLACE_SIZE], const struct config *config);

#endif
