#include "service/outbound/transfers.h"

#include <stdlib.h>
#include <curl/curl.h>

#include "base/check.h"

struct transfers {
    CURLM *handle;
    int begun; /* added, and neither returned as ended nor dropped */
};

struct transfers *transfers_create(void)
{
    struct transfers *transfers = calloc(1, sizeof *transfers);
    CHECK(transfers != NULL);
    transfers->handle = curl_multi_init();
    CHECK(transfers->handle != NULL);
    return transfers;
}

void transfers_destroy(struct transfers *transfers)
{
    if (transfers == NULL)
        return;
    curl_multi_cleanup(transfers->handle);
    free(transfers);
}

void transfers_add(struct transfers *transfers, struct transfer *transfer)
{
    CHECK(curl_multi_add_handle(transfers->handle, transfer_handle(transfer)) ==
          CURLM_OK);
    transfers->begun++;
}

void transfers_drop(struct transfers *transfers, struct transfer *transfer)
{
    CHECK(curl_multi_remove_handle(transfers->handle, transfer_handle(transfer)) ==
          CURLM_OK);
    transfers->begun--;
}

void transfers_wait(struct transfers *transfers, int wait_ms)
{
    int running;
    CHECK(curl_multi_perform(transfers->handle, &running) == CURLM_OK);
    if (running < transfers->begun) /* one has ended, which poll would not report */
        return;
    CHECK(curl_multi_poll(transfers->handle, NULL, 0, wait_ms, NULL) == CURLM_OK);
    CHECK(curl_multi_perform(transfers->handle, &running) == CURLM_OK);
}

struct transfer *transfers_ended(struct transfers *transfers,
                                 struct transfer_result *result)
{
    int left;
    const CURLMsg *message;
    struct transfer *transfer = NULL;
    while ((message = curl_multi_info_read(transfers->handle, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        CHECK(curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer) ==
              CURLE_OK);
        *result = transfer_result(transfer, (int)code);
        transfers_drop(transfers, transfer);
        return transfer;
    }
    return NULL;
}

void transfers_wake(struct transfers *transfers)
{
    curl_multi_wakeup(transfers->handle);
}
