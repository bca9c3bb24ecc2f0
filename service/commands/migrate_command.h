/*
 * migrate_command.h - `epsilond migrate --from DIR --to URL` and `--from URL --to DIR`:
 * moves the database of a data directory to a server, or back into the directory
 * (store_migration.h). Meanwhile no daemon serves either of them.
 */
#ifndef SERVICE_COMMANDS_MIGRATE_COMMAND_H
#define SERVICE_COMMANDS_MIGRATE_COMMAND_H

/* Takes the arguments after `migrate` and returns the exit code: 0 if the database was
 * moved, 64 for wrong usage, 65 if the source does not verify, 75 if one of them cannot
 * be read or written, or is in use, 78 if the source is no longer the current one or
 * the target is not empty. */
int migrate_command(int argc, char **argv);
extern const char migrate_usage[]; /* lines for --help */

#endif
