/*
 * disk_room.h - how many bytes may still be written to the data directory before new
 * data is refused: the free space of its disk less 64 MiB (store/blobs/README.md).
 *
 * The disk is measured only at ticks of the tick clock; in between, what uploads
 * write is subtracted. A measurement at each request would show a client that asks
 * often when a run wrote its model.
 *
 * Threads: any.
 */
#ifndef SERVICE_PROCESS_DISK_ROOM_H
#define SERVICE_PROCESS_DISK_ROOM_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/process/held_figure.h"
#include "store/blobs/blob.h"

struct disk_room {
    struct blobs *blobs;             /* borrowed */
    atomic_uint_fast64_t left, free; /* free: on the disk, at the last measurement */
    struct held_figure shown;        /* free, as clients may read it */
};

/* Before the first measurement no room is left. */
void disk_room_init(struct disk_room *room, struct blobs *blobs);

/* Measures the disk, and removes local copies that could be fetched again to make room
 * (blobs_trim). If the disk cannot be measured, that is logged and no room is left. */
void disk_room_measure(struct disk_room *room);

/* Returns the bytes that may be written. */
uint64_t disk_room_left(const struct disk_room *room);

/* Returns the bytes that were free on the disk at the last measurement. */
uint64_t disk_room_free(const struct disk_room *room);

/* Returns the same in steps of 1 GiB, for clients (held_figure.h). */
uint64_t disk_room_shown(const struct disk_room *room);

/* Subtracts what was written; never goes below zero. */
void disk_room_take(struct disk_room *room, uint64_t size);

/* Checks that there is room.
 *   ST_DISK_FULL  nothing is left */
enum status disk_room_check(const struct disk_room *room, struct error *error);

#endif
