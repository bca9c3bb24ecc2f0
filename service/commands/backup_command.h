/*
 * backup_command.h - `epsilond backup FOLDER --data-dir DIR` and `epsilond restore
 * BACKUP --data-dir DIR [--head-file PATH]`.
 *
 * A backup is a data directory of its own (backup_copy.h), so `epsilond verify` checks
 * it like any other. Its name has the time when it was made and the newest entry of the
 * ledger:
 *
 *   FOLDER/epsilond-20261122T234500Z-94-0f5a0b1c2d3e
 *
 * It can be made while a daemon is running, and has another name until it is complete.
 *
 * A restored ledger lacks what was spent since the backup. So restore refuses a backup
 * that is older than the head stored elsewhere, if --head-file names that head. If the
 * newer entries are lost for good, restore without --head-file; the daemon, started
 * with it, then freezes the private datasets (ledger.md 6).
 *
 * Keys that were revoked since the backup are valid again in the restored data. So
 * restore lists the valid keys under a warning, one per line of stderr; `epsilond key
 * revoke` ends them before the daemon starts.
 */
#ifndef SERVICE_COMMANDS_BACKUP_COMMAND_H
#define SERVICE_COMMANDS_BACKUP_COMMAND_H

/* Take the arguments from the command's name on, and return the exit code: 0; 64 for
 * wrong usage, or a data directory that is not empty; 65 if the source does not verify,
 * or is older than the head; 75 if something cannot be read or written; 78 for another
 * schema. */
int backup_command(int argc, char **argv);
int restore_command(int argc, char **argv);
extern const char backup_usage[], restore_usage[]; /* lines for --help */

#endif
