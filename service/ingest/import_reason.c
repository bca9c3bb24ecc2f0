#include "service/ingest/import_reason.h"

#include <stdio.h>

#include "base/principal.h"

struct import_failure import_reason_kept(const struct import_failure *failure)
{
    struct import_failure ours = {.status = ST_INTERNAL};
    if (failure->status == ST_IMPORT_FAILED || failure->status == ST_INVALID ||
        failure->status == ST_DUPLICATE_CONTENT)
        return *failure;
    if (failure->status == ST_DISK_FULL)
        ours.status = ST_DISK_FULL;
    snprintf(ours.text, sizeof ours.text, "%s",
             ours.status == ST_DISK_FULL
                 ? "the disk of the service has no room for the imported records"
                 : "the service could not read or write its files");
    return ours;
}

struct import_failure import_reason_for(const struct import_failure *failure,
                                        const struct principal *owner,
                                        const struct principal *reader)
{
    if (principal_equal(owner, reader))
        return *failure;
    if (failure->status != ST_OK && principal_equal(owner, &principal_local))
        return (struct import_failure){
            .status = ST_IMPORT_FAILED,
            .text = "the files are not as declared; declare them under another id to "
                    "read where "
                    "and why: this one was declared before there were keys"};
    return (struct import_failure){0};
}
