/*
 * verify_command.h - `epsilond verify --data-dir DIR [--from-genesis --archive
 * FOLDER]`: recomputes the whole ledger from its entries, checks all that a start
 * checks (consistency_check.h; with --head-file PATH, the head kept elsewhere too), and every
 * matrix and model file against its row. If parts of the ledger are archived it begins
 * at the newest SEAL, and with --from-genesis at the first entry, reading the archives
 * in FOLDER. It writes nothing, and may run at the same time as a daemon. It prints its
 * findings on stdout, and names the table and row or the file.
 */
#ifndef SERVICE_COMMANDS_VERIFY_COMMAND_H
#define SERVICE_COMMANDS_VERIFY_COMMAND_H

/* Takes the arguments after `verify` and returns the exit code: 0 if all is well, 64
 * for wrong usage, 65 if an entry, a row or a file is wrong, 75 if it cannot be read,
 * 78 for a newer schema. */
int verify_command(int argc, char **argv);

/* The same for the data directory of config, and its head file. */
struct config;
int verify_directory(const struct config *config);

/* The same for an open store, from the newest SEAL on, with its files in blobs. If all
 * is well, sets *head to its newest entry. */
struct blobs;
struct ledger_entry_name;
struct store;
int verify_opened(struct ledger_entry_name *head, const struct config *config,
                  struct blobs *blobs, struct store *store);

#endif
