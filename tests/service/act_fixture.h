/*
 * act_fixture.h - an audit event of a user, for tests that append to the audit trail.
 */
#ifndef TESTS_SERVICE_ACT_FIXTURE_H
#define TESTS_SERVICE_ACT_FIXTURE_H

#include "store/rows/audit_rows.h"

static const struct audit_row act_of_test = {
    .second = 1753000000,
    .actor = "ana",
    .key = "k7Qd",
    .project = "fraud",
    .via = "bearer",
    .address = "192.0.2.7",
    .action = "dataset.import",
    .object = "mnist",
    .result = "ok",
    .code = "",
    .request = "r-1",
    .detail = "{}",
};

#endif
