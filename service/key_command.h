/*
 * key_command.h - `epsilond key create|list|revoke ... --data-dir DIR`. Where a daemon
 * serves the directory it does what is asked, and knows of it at once (door.h); where none
 * does, the command opens the store itself.
 */
#ifndef SERVICE_KEY_COMMAND_H
#define SERVICE_KEY_COMMAND_H

/* Takes the arguments after the program's name, `key` first, and returns the exit code: that
 * of key_admin.h; or 65 or 75 where the store does not verify or cannot be opened. */
int key_command(int argc, char **argv);

#endif
