/*
 * ping_command.h - `epsilond ping [--listen ADDR:PORT] [--tls-cert FILE --tls-key FILE]`: asks
 * the daemon that was told to listen there whether it is ready, as a container's health check
 * does where there is no curl. Options, environment and file are the daemon's own, so that in
 * its container `epsilond ping` says it all.
 *
 * Under TLS the certificate is not checked: what is asked is whether this machine's daemon
 * answers, not who it is.
 */
#ifndef SERVICE_PING_COMMAND_H
#define SERVICE_PING_COMMAND_H

/* Takes the arguments after `ping` and answers the exit code: 0 where it is ready, 1 where it
 * is not or does not answer, 64 for wrong usage. Why, it says on stderr. */
int ping_command(int argc, char **argv);

#endif
