/* Reports that this program was built without MPI. */
#include "mpi/mpi_group.h"

enum status mpi_group_open(struct group *group, struct error *error)
{
    (void)group;
    return error_set(error, ST_INVALID,
                     "this program was built without MPI: install libopenmpi-dev and "
                     "build it again");
}

void mpi_group_close(struct group *group)
{
    (void)group;
}
