/*
 * identity_fixture.h - certificates for the daemon's TLS, made by the program openssl:
 * each is self-signed, for 127.0.0.1 and localhost.
 */
#ifndef TESTS_E2E_IDENTITY_FIXTURE_H
#define TESTS_E2E_IDENTITY_FIXTURE_H

struct identity {
    char certificate[96], key[96]; /* PEM files; other users cannot read the key */
};

/* Makes the certificate and the key in the folder; name is the beginning of their file
 * names. */
void identity_make(struct identity *identity, const char *folder, const char *name);

#endif
