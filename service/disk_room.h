/*
 * disk_room.h - how many bytes may still be written to the data directory before
 * nothing new is taken: what is free on its disk less 64 MiB (store/README.md).
 *
 * The disk is measured at ticks of the public clock alone; in between, what uploads
 * write is taken off. The disk itself would tell whoever asks often when a run put its
 * model there.
 *
 * Threads: any.
 */
#ifndef SERVICE_DISK_ROOM_H
#define SERVICE_DISK_ROOM_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/held_figure.h"
#include "store/blob.h"

struct disk_room {
    struct blobs *blobs;             /* borrowed */
    atomic_uint_fast64_t left, free; /* free: on the disk, when it was measured */
    struct held_figure shown;        /* free, as others may read it */
};

/* Nothing is left before the first measurement. */
void disk_room_init(struct disk_room *room, struct blobs *blobs);

/* Asks the disk, and has what could be fetched again make room (blobs_trim). Where it does not answer, which is logged, nothing is left. */
void disk_room_measure(struct disk_room *room);

/* Bytes that may be written. */
uint64_t disk_room_left(const struct disk_room *room);

/* Bytes that were free on the disk at the last measurement. */
uint64_t disk_room_free(const struct disk_room *room);

/* The same in steps of 1 GiB, as it is shown (held_figure.h). */
uint64_t disk_room_shown(const struct disk_room *room);

/* Takes off what was written; never below zero. */
void disk_room_take(struct disk_room *room, uint64_t size);

/*   ST_DISK_FULL  nothing is left */
enum status disk_room_check(const struct disk_room *room, struct error *error);

#endif
