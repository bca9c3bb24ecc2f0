/*
 * ping_command.h - `epsilond ping [--listen ADDR:PORT] [--tls-cert FILE --tls-key
 * FILE]`: asks the daemon at that address whether it is ready: a container's health
 * check that needs no curl. Options, environment and file are the daemon's own, so that
 * in its container `epsilond ping` is enough.
 *
 * Over TLS the certificate is not checked: the question is whether this machine's
 * daemon answers, not its identity.
 */
#ifndef SERVICE_COMMANDS_PING_COMMAND_H
#define SERVICE_COMMANDS_PING_COMMAND_H

/* Takes the arguments after `ping` and returns the exit code: 0 if the daemon is ready,
 * 1 if it is not or does not answer, 64 for wrong usage. The reason goes to stderr. */
int ping_command(int argc, char **argv);

#endif
