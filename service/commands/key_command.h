/*
 * key_command.h - `epsilond key create|list|revoke ... --data-dir DIR`. If a daemon
 * serves the directory, the daemon does what is asked, so it knows the change at once
 * (admin_socket.h); otherwise the command opens the store itself.
 */
#ifndef SERVICE_COMMANDS_KEY_COMMAND_H
#define SERVICE_COMMANDS_KEY_COMMAND_H

/* Takes the arguments after the program's name, `key` first, and returns the exit code:
 * that of key_admin.h; or 65 or 75 if the store does not verify or cannot be opened. */
int key_command(int argc, char **argv);

#endif
