/*
 * demo_command.h - `epsilond --demo`: shows the main job on sample data and leaves the
 * dashboard open until Ctrl-C. Everything lies in a temporary directory, which is
 * removed at the end.
 *
 * It runs deploy/demo, which the package installs with its data in
 * ../share/epsilond/demo, seen from the folder of the program.
 */
#ifndef SERVICE_COMMANDS_DEMO_COMMAND_H
#define SERVICE_COMMANDS_DEMO_COMMAND_H

extern const char demo_usage[];

/* Takes the arguments from `--demo` on. Becomes the demo; returns only an exit code for
 * a failure: 64 for further arguments, 69 if the demo is not installed. The reason goes
 * to stderr. */
int demo_command(int argc, char **argv);

#endif
