/*
 * seal_command.h - `epsilond seal --data-dir DIR --archive FOLDER`: archives all
 * entries after the ledger's newest SEAL in a file of the folder, and seals them
 * (accountant/ledger/ledger_seal.h). It locks the data directory and its database as a daemon
 * does, so it is refused while a daemon has either; with --head-file it keeps the head
 * there from the beginning.
 */
#ifndef SERVICE_COMMANDS_SEAL_COMMAND_H
#define SERVICE_COMMANDS_SEAL_COMMAND_H

#include <stdbool.h>

#include "base/status.h"

/* Takes the arguments after `seal` and returns the exit code: 0 if all is sealed, 64
 * for wrong usage and for a folder that holds something else under the part's name, 65
 * if the store is wrong, 75 if something cannot be read or written or is in use, 78 for
 * a newer schema or an unsuitable folder. */
int seal_command(int argc, char **argv);
extern const char seal_usage[]; /* lines for --help */

/* The same for a configuration: *done is the newest SEAL, and *any whether it is new.
 *   ST_INVALID, ST_ALREADY_EXISTS, ST_CORRUPT, ST_IO  as above */
struct config;
struct seal;
enum status seal_directory(struct seal *done, bool *any, const struct config *config,
                           const char *folder, struct error *error);

#endif
