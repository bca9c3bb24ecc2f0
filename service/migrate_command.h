/*
 * migrate_command.h - `epsilond migrate --from DIR --to URL` and `--from URL --to DIR`:
 * moves the database of a data directory to a server, or back into the directory
 * (migration.h). No daemon serves either meanwhile.
 */
#ifndef SERVICE_MIGRATE_COMMAND_H
#define SERVICE_MIGRATE_COMMAND_H

/* Takes the arguments after `migrate` and returns the exit code: 0 where it was moved, 64
 * for wrong usage, 65 where the source does not verify, 75 where one of them cannot be read
 * or written, or is in use, 78 where the source is not the one any more or the target
 * holds something. */
int migrate_command(int argc, char **argv);
extern const char migrate_usage[]; /* lines for --help */

#endif
