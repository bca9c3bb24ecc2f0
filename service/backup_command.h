/*
 * backup_command.h - `epsilond backup FOLDER --data-dir DIR` and `epsilond restore BACKUP
 * --data-dir DIR [--head-file PATH]`.
 *
 * A backup is a data directory of its own (data_copy.h), so `epsilond verify` checks it like
 * any other. Its name says when it was made and which entry was the newest:
 *
 *   FOLDER/epsilond-20261122T234500Z-94-0f5a0b1c2d3e
 *
 * It is made beside a running daemon, under another name until it is whole.
 *
 * A restored ledger forgets what was spent since the backup. So restore refuses one that is
 * older than the head kept elsewhere, where --head-file names it. Whoever has lost what came
 * after restores without it; the daemon, started with it, then freezes the private datasets
 * (ledger.md 6).
 *
 * Keys that were revoked since the backup are good again in what was restored. So restore
 * says which keys are, each a line of stderr, under a warning; `epsilond key revoke` ends
 * them before the daemon starts.
 */
#ifndef SERVICE_BACKUP_COMMAND_H
#define SERVICE_BACKUP_COMMAND_H

/* Take the arguments after the command's name, it first, and answer the exit code: 0; 64 for
 * wrong usage, or a data directory that is not empty; 65 where what is to be copied does not
 * verify, or is older than the head; 75 where something cannot be read or written; 78 for
 * another schema. */
int backup_command(int argc, char **argv);
int restore_command(int argc, char **argv);
extern const char backup_usage[], restore_usage[]; /* lines for --help */

#endif
