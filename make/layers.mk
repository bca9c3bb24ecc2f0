# What may include what, and the libraries of each folder.

# The architecture: a folder may include headers only of the folders in its line. The libraries of
# programs and tests, and `make layers`, are derived from this table.
below.base       := base
below.store/sql  := store/sql base
below.store/sqlite := store/sqlite store/sql base
below.store/postgres := store/postgres store/sql base
below.store      := store store/sqlite store/postgres store/sql base
below.store/rows := store/rows $(below.store)
below.store/blobs := store/blobs $(below.store/rows)
below.store/copy := store/copy $(below.store/blobs)
below.accountant/mechanisms := accountant/mechanisms base
below.accountant/numeric := accountant/numeric accountant/mechanisms base
below.accountant/pricing := accountant/pricing accountant/numeric accountant/mechanisms base
below.accountant/ledger := accountant/ledger accountant/pricing accountant/numeric accountant/mechanisms $(below.store/copy)
below.accountant/audit := accountant/audit $(below.accountant/ledger)
below.engine/parallel := engine/parallel base
below.engine/data := engine/data engine/text engine/parallel base
below.engine/data/readers := engine/data/readers engine/data engine/text engine/parallel base
below.engine/text := engine/text base
below.engine/onnx := engine/onnx base
below.engine/gemm := engine/gemm base
below.engine/nn   := engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/noise := engine/noise engine/parallel base
below.engine/quality := engine/quality engine/noise engine/parallel base
below.engine/sampling := engine/sampling engine/noise engine/parallel base
below.engine/statistics := engine/statistics engine/noise engine/data engine/text engine/parallel base
below.engine/difference := engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/nn/layers := engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/model_file := engine/model_file engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/rounding := engine/rounding base
below.engine/dp   := engine/dp engine/rounding engine/sampling engine/noise engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/data engine/text engine/parallel base
below.engine/dp/algorithms := engine/dp/algorithms $(below.engine/dp)
below.engine      := engine engine/quality engine/model_file engine/data/readers engine/statistics $(below.engine/dp/algorithms)
below.api         := api base
below.api/json    := api/json $(below.api)
below.api/http    := api/http $(below.api/json)
below.api/requests := api/requests api/http api/json api $(filter-out base,$(below.engine)) $(below.accountant/audit)
below.api/views   := api/views $(below.api/requests)
# The rooms of service/, from the bottom up: each may include the rooms before it.
rooms := outbound process threads config http audit identity datasets jobs models peers webhooks access metrics ingest planning runs recovery handlers server commands
below.service := $(below.api/views)
$(foreach room,$(rooms),$(eval below.service/$(room) := service/$(room) $(below.service))$(eval below.service := $(below.service/$(room))))
below.mpi         := mpi $(below.api/views)
LAYERS            := mpi $(below.service)
# The top room of each folder whose tests link all its rooms, because a test reads with one room
# what another room wrote, and the fixtures of tests/service start the whole daemon. After these: the
# highest layer that is linked by test folders which do not belong to a layer.
top.store := store/copy
top.accountant := accountant/audit
top.api := api/views
top.service := service/commands
$(foreach folder,audit bench faults fuzz papers slurm,$(eval top.$(folder) := api/views))
top.bench := mpi

# Each third-party library belongs to one folder (or a few); other folders must not include its header.
vendor.base        := openssl/
vendor.store/sqlite := sqlite3.h
vendor.store/postgres := libpq-fe.h
vendor.engine/data/readers := zlib.h
vendor.engine/nn   := cblas.h
vendor.engine/text := utf8proc.h jansson.h
vendor.engine/onnx := protobuf-c/
vendor.engine/rounding := cblas.h
vendor.engine/model_file := jansson.h
$(foreach room,json http requests views,$(eval vendor.api/$(room) := jansson.h))
$(foreach room,$(rooms),$(eval vendor.service/$(room) := microhttpd.h gnutls/))
vendor.service/outbound := curl/ libpq-fe.h
vendor.service/http += zlib.h
vendor.mpi         := mpi.h
VENDORS            := $(foreach layer,$(LAYERS),$(vendor.$(layer)))
# Only these files call SQLite or libpq. A build may lack libpq.
sqlite             := store/sqlite/sqlite.c store/sqlite/sqlite.h
libpq.users        := store/postgres/pg_connection.c store/postgres/pg_commit_outcome.c store/postgres/postgres_session.c store/postgres/global_write_lock.c store/postgres/postgres.c store/postgres/postgres_tables.c service/outbound/pg_login.c service/outbound/pg_query.c
libpq              := $(shell pkg-config --exists libpq && echo found)
mpi                := $(shell pkg-config --exists ompi-c && echo found)
absent             := $(if $(libpq),store/postgres/postgres_absent.c service/outbound/pg_query_absent.c,$(libpq.users)) $(if $(mpi),mpi/mpi_absent.c,mpi/mpi_group.c)
libs.base          := -lcrypto -lm -pthread
libs.store/sqlite  := -lsqlite3
libs.store/postgres := $(if $(libpq),$(shell pkg-config --libs libpq))
libs.accountant/numeric := -lm
libs.accountant/pricing := -lm
libs.accountant/ledger := -lm
libs.accountant/mechanisms := -lm
libs.engine/data   := -lm
libs.engine/data/readers := -lz -lm
libs.engine/text   := -lutf8proc -ljansson
libs.engine/onnx   := -lprotobuf-c
libs.engine/gemm := -lm
libs.engine/rounding := -lopenblas
libs.engine/nn     := -lopenblas -lm
libs.engine/statistics := -lm
libs.engine/difference := -lm
libs.engine/nn/layers := -lm
libs.engine/model_file := -ljansson
libs.engine/dp     := -lm
libs.engine/noise  := -lm
libs.engine/quality := -lm
libs.engine/parallel := -lm -pthread
libs.engine/dp/algorithms := -lm
libs.api/json      := -ljansson -lm
libs.service/outbound := -lcurl $(if $(libpq),$(shell pkg-config --libs libpq))
libs.service/http  := -lmicrohttpd -lgnutls -lz
libs.mpi       := $(if $(mpi),$(shell pkg-config --libs ompi-c)) -lm -pthread
libs.tests         := -lcmocka -ljansson -lcurl -lcrypto -lz -lm
