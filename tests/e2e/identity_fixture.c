#include "tests/e2e/identity_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

#include "tests/expect.h"

void identity_make(struct identity *identity, const char *folder, const char *name)
{
    char command[512];
    snprintf(identity->certificate, sizeof identity->certificate, "%s/%s.pem", folder,
             name);
    snprintf(identity->key, sizeof identity->key, "%s/%s.key", folder, name);
    snprintf(
        command, sizeof command,
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
        "-days 2 -subj /CN=%s -addext subjectAltName=IP:127.0.0.1,DNS:localhost "
        "-keyout '%s' -out '%s' 2>/dev/null",
        name, identity->key, identity->certificate);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(identity->key, S_IRUSR | S_IWUSR), 0);
}
