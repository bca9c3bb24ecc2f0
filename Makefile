# The only Makefile; it does not recurse into folders. `make help` lists the targets.
# Variables:
#   MODE=release|debug|asan|tsan|fuzz  selects the flags; each mode has its own build folder
#   ONLY=word                          for unit, e2e, test: only the programs whose path contains the word
#   SHARED=folder                      real data for tests that need it (default ../shared)
#   V=1                                show the commands

VERSION := 0.1.0
MODE    ?= release
BUILD   := build/$(MODE)
export SHARED ?= ../shared

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
below.engine/data := engine/data engine/parallel base
below.engine/data/readers := engine/data/readers engine/data engine/parallel base
below.engine/onnx := engine/onnx base
below.engine/gemm := engine/gemm base
below.engine/nn   := engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/noise := engine/noise engine/parallel base
below.engine/quality := engine/quality engine/noise engine/parallel base
below.engine/sampling := engine/sampling engine/noise engine/parallel base
below.engine/statistics := engine/statistics engine/noise engine/data engine/parallel base
below.engine/difference := engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/nn/layers := engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/model_file := engine/model_file engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/parallel base
below.engine/rounding := engine/rounding base
below.engine/dp   := engine/dp engine/rounding engine/sampling engine/noise engine/nn/layers engine/difference engine/nn engine/gemm engine/onnx engine/data engine/parallel base
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
vendor.engine/onnx := protobuf-c/
vendor.engine/rounding := cblas.h
vendor.engine/model_file := jansson.h
$(foreach room,json http requests views,$(eval vendor.api/$(room) := jansson.h))
$(foreach room,$(rooms),$(eval vendor.service/$(room) := microhttpd.h gnutls/))
vendor.service/outbound := curl/
vendor.service/http += zlib.h
vendor.mpi         := mpi.h
VENDORS            := $(foreach layer,$(LAYERS),$(vendor.$(layer)))
# In store/ only these files call SQLite or libpq. A build may lack libpq.
sqlite             := store/sqlite/sqlite.c store/sqlite/sqlite.h
libpq.users        := store/postgres/pg_connection.c store/postgres/pg_commit_outcome.c store/postgres/postgres_session.c store/postgres/global_write_lock.c store/postgres/postgres.c store/postgres/postgres_tables.c
libpq              := $(shell pkg-config --exists libpq && echo found)
mpi                := $(shell pkg-config --exists ompi-c && echo found)
absent             := $(if $(libpq),store/postgres/postgres_absent.c,$(libpq.users)) $(if $(mpi),mpi/mpi_absent.c,mpi/mpi_group.c)
libs.base          := -lcrypto -lm -pthread
libs.store/sqlite  := -lsqlite3
libs.store/postgres := $(if $(libpq),$(shell pkg-config --libs libpq))
libs.accountant/numeric := -lm
libs.accountant/pricing := -lm
libs.accountant/ledger := -lm
libs.accountant/mechanisms := -lm
libs.engine/data   := -lm
libs.engine/data/readers := -lz -lm
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
libs.service/outbound := -lcurl
libs.service/http  := -lmicrohttpd -lgnutls -lz
libs.mpi       := $(if $(mpi),$(shell pkg-config --libs ompi-c)) -lm -pthread
libs.tests         := -lcmocka -ljansson -lcurl -lcrypto -lz -lm

# -ffp-contract=off: the same source gives the same epsilon with every compiler.
# Never -ffast-math: the accountant relies on infinities and on NaN checks.
strict   := -std=c17 -D_DEFAULT_SOURCE -ffp-contract=off -fno-common \
            -DEPSILOND_VERSION='"$(VERSION)"'
warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion \
            -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wwrite-strings \
            -Wformat=2 -Wundef -Wvla -Wswitch-enum $(if $(WERROR),-Werror)
# Loops are aligned so that a step is as fast wherever the linker puts its code.
flags.release := -O3 -g -falign-functions=64 -falign-loops=64 -fopenmp-simd -D_FORTIFY_SOURCE=2 -fstack-protector-strong
flags.debug   := -Og -g3
flags.asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
flags.tsan    := -O1 -g1 -fsanitize=thread
flags.fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined # needs CC=clang
# The sources of tests compile in half the time so; what they test is optimised as always.
flags.tests   := -O1 -g1
COMPILE = $(CC) $(strict) $(warnings) $(flags.$(MODE)) $(lighter) -I. $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(flags.$(MODE)) -Wl,--as-needed $(CFLAGS) $(LDFLAGS)
# mold links the test programs if it is installed, in a third of the time. The shipped programs are
# linked by the system's linker.
link.tests := $(if $(shell command -v mold),-fuse-ld=mold)

quiet     = $(if $(V),,@)
linked    = $(or $(top.$(firstword $(subst /, ,$(1)))),$(1))
archived  = $(below.$(call linked,$(1)))
empty    :=
space    := $(empty) $(empty)
either    = $(subst $(space),|,$(strip $(1)))
objects   = $(patsubst %.c,$(BUILD)/%.o,$(filter-out service/commands/main.c mpi/main.c $(absent),$(wildcard $(1)/*.c)))
archives  = $(patsubst %,$(BUILD)/%.a,$(below.$(1)))
libs      = $(foreach layer,$(below.$(1)),$(libs.$(layer)))
programs  = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))
runs      = $(addsuffix .run,$(call programs,$(1)))
# Selects the programs to run: those that are out of date, or with ONLY all that match it.
chosen    = $(if $(ONLY),$(addsuffix .run,$(foreach test,$(1),$(if $(findstring $(ONLY),$(test)),$(test)))),$(1:=.ok))
tests    := $(call programs,$(LAYERS:%=tests/%/test_*.c))
fuzzers  := $(call programs,tests/fuzz/fuzz_*.c)
# The longest tests begin first, because otherwise the last one would run without others in parallel.
# Tests wait for ticks and disks, so more of them run at once than there are processors.
long     := lost_daemons random_kills time events flipped_bits recovery webhooks upgrades server_store tutorial \
            restored_backup logins polls sweep_ends openapi_replay last_budget lost_ranks rank_faults
long     := $(call programs,$(long:%=tests/e2e/test_%.c))
e2e      := $(long) $(filter-out $(long),$(call programs,tests/e2e/test_*.c))
# CI runs each of these programs under one sanitizer: under the thread sanitizer those in which many
# clients, jobs or daemons act at the same time, under the address sanitizer all others.
crowded  := charges closed_accounts connections daemon_logins daemon_pages daemons deleted_in_use deletes equal_times \
            event_crowds events grants idempotency jobs last_budget lists logins lost_daemons main_job metrics models \
            object_store pending_grants polls predictions random_kills ranks recovery regrants reserved server_store \
            statistics sweep_ends sweeps time webhooks what_fits
crowded  := $(call programs,$(crowded:%=tests/e2e/test_%.c))
once.asan := $(filter-out $(crowded),$(e2e))
once.tsan := $(filter $(crowded),$(e2e))
e2e.fixtures := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/e2e/*_fixture.c))

# The thread sanitizer finds nothing in programs that cannot start a thread. Such programs (according
# to the release build) are left out under tsan, unless ONLY names them.
ifeq ($(MODE)$(ONLY),tsan)
alone    := $(shell cd build/release 2>/dev/null && for test in $(tests:$(BUILD)/%=%); do \
              [ ! -x $$test ] || nm -D --undefined-only $$test | grep -q pthread_create || echo $$test; done)
tests    := $(filter-out $(alone:%=$(BUILD)/%),$(tests))
endif

# Programs whose length is set by a variable: HISTORIES, KILLS, ALLOCATIONS, FLIPS, FULL.
slow     := $(filter $(call programs,$(shell grep -lrE 'getenv."(HISTORIES|KILLS|ALLOCATIONS|FLIPS|FULL)"' tests)),$(tests) $(e2e))

.DEFAULT_GOAL := all
# Every target with a text for `make help` is a name and no file.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*\#\#.*/\1/p' Makefile) FORCE
.SECONDEXPANSION:
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/epsilond $(BUILD)/epsilond-rank ## build the daemon and epsilond-rank
$(BUILD)/epsilond: $(BUILD)/service/commands/main.o $(call archives,service/commands)
$(BUILD)/epsilond-rank: $(BUILD)/mpi/main.o $(call archives,mpi)
shipped   := $(BUILD)/epsilond $(BUILD)/epsilond-rank
$(BUILD)/epsilond: room := service/commands
$(BUILD)/epsilond-rank: room := mpi
$(shipped): %: %.link
	@echo "  ld  $@"
	$(quiet)$(LINK) -o $@ $(filter %.o %.a,$^) $(call libs,$(room))
$(shipped:=.link): FORCE
	$(call keep,$(LINK) $(call libs,$(room)))

$(BUILD)/%.a: $$(call objects,$$*)
	@rm -f $@
	$(quiet)$(AR) rcs $@ $^

# A file of flags or of a link line is written if its text differs from before, so an edit of this
# Makefile builds what the edit affects and nothing else; warnings affect nothing.
same       = $(filter x$(subst $(space),_,$(strip $(1))),x$(subst $(space),_,$(strip $(2))))
keep       = $(if $(call same,$(1),$(file <$@)),,$(shell mkdir -p $(@D))$(file >$@,$(1)))
compiled  := $(CC) $(strict) $(flags.$(MODE)) $(flags.tests) -I. $(CPPFLAGS) $(CFLAGS)
$(BUILD)/flags: FORCE
	$(call keep,$(compiled))
FORCE: ;

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  cc  $<"
	$(quiet)$(COMPILE) -MMD -MP -c -o $@ $<

$(addsuffix .o,$(tests) $(e2e)): private lighter := $(flags.tests)

# tests/<layer>/test_x links <layer> (or its top room) and the layers below it; tests/e2e/test_x
# links the other files of tests/e2e and talks to the daemon from outside.
link.test = $(LINK) $(link.tests) $(wrapped) $(call libs,$(call linked,$(*D))) $(libs.tests)
$(BUILD)/tests/%.link: FORCE
	$(call keep,$(link.test))
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/tests/%.link $$(call archives,$$(call linked,$$(*D)))
	$(quiet)$(LINK) $(link.tests) $(wrapped) -o $@ $(filter %.o %.a,$^) $(call libs,$(call linked,$(*D))) $(libs.tests)
# The functions that tests/engine/dp/trace_fixture.h intercepts in the test_ways programs.
traced := random_bytes stream_read noise_source_next noise_chunk_draw dropout_mask \
          matrix_gather batch_cut_cells workspace_losses workspace_spreads \
          workspace_layer_spreads noise_release noise_release_counts
$(call programs,tests/engine/dp/algorithms/test_ways_*.c): wrapped := $(traced:%=-Wl,--wrap=%)
$(BUILD)/tests/engine/test_trainer_views: wrapped := -Wl,--wrap=views_draw
$(BUILD)/tests/engine/test_trainer_ranks: wrapped := -Wl,--wrap=group_records,--wrap=noise_release
$(BUILD)/tests/engine/nn/layers/test_scatter: wrapped := -Wl,--wrap=wavelet_spectrum_of
# The tests that run with each kernel of engine/gemm.
$(call programs,$(shell grep -l gemm_fixture.h -r tests/engine --include=test_*.c)): wrapped := -Wl,--wrap=gemm_choice_best
$(BUILD)/tests/accountant/pricing/test_estimate_work: wrapped := $(foreach name,exp expm1 log log1p erfc pow sincos,-Wl,--wrap=$(name))
$(BUILD)/tests/accountant/ledger/test_ledger_catch_up: wrapped := -Wl,--wrap=ledger_rows_extent,--wrap=mark_rows_walk_after,--wrap=ledger_rows_walk
$(BUILD)/tests/accountant/ledger/test_ledger_accounts: wrapped := -Wl,--wrap=sealed_row_up_to
$(BUILD)/tests/service/runs/test_runner: wrapped := -Wl,--wrap=trainer_step,--wrap=ledger_authorise,--wrap=run_filter_take,--wrap=reveal_delay_draw,--wrap=verified_matrix_open,--wrap=tick_clock_wait_until,--wrap=publication_write,--wrap=job_hand_over
$(BUILD)/tests/service/outbound/test_s3: wrapped := -Wl,--wrap=curl_easy_setopt
$(BUILD)/tests/store/blobs/test_object_garbage: wrapped := -Wl,--wrap=clock_gettime
$(BUILD)/tests/service/runs/test_rank_memory: wrapped := -Wl,--wrap=rank_memory_sweep
$(BUILD)/tests/service/handlers/test_write_queue: wrapped := -Wl,--wrap=request_header,--wrap=idempotency_find
$(BUILD)/tests/service/http/test_pagination: wrapped := -Wl,--wrap=request_query
$(BUILD)/tests/service/ingest/test_upload: wrapped := -Wl,--wrap=dataset_read,--wrap=store_shared
$(BUILD)/tests/service/runs/test_statistics_runner: wrapped := -Wl,--wrap=measurement_run,--wrap=ledger_authorise,--wrap=reveal_delay_end,--wrap=evaluation_run_open,--wrap=evaluation_run_read
$(BUILD)/tests/service/ingest/test_importer: wrapped := -Wl,--wrap=import_run,--wrap=blob_publish,--wrap=clock_wall_s,--wrap=tick_clock_wait,--wrap=reveal_delay_wait
$(BUILD)/tests/engine/data/readers/test_secret_order: wrapped := -Wl,--wrap=random_bytes
$(BUILD)/tests/service/process/test_held_figure: wrapped := -Wl,--wrap=random_bytes
$(BUILD)/tests/engine/test_equal_work: wrapped := -Wl,--wrap=matrix_gather,--wrap=stream_read,--wrap=stored_column_number,--wrap=stored_column_value
$(BUILD)/tests/store/test_lease: wrapped := -Wl,--wrap=pg_connection_execute
$(BUILD)/tests/service/runs/test_lost_statistics: wrapped := -Wl,--wrap=work_lease_rows_walk_lost
$(BUILD)/tests/service/recovery/test_interrupted_start: wrapped := -Wl,--wrap=statistics_runs_open
$(BUILD)/tests/service/planning/test_planner: wrapped := -Wl,--wrap=network_create_of_units,--wrap=network_destroy
$(e2e) $(BUILD)/tests/faults/test_daemon_failover $(BUILD)/tests/slurm/test_slurm_ranks: $(e2e.fixtures)
$(fuzzers): libs.tests := -fsanitize=fuzzer
$(BUILD)/tests/bench/bare_server: libs.tests := $(libs.service/http)
$(BUILD)/tests/bench/followers: libs.tests :=
$(BUILD)/tests/%.ok: $(BUILD)/tests/%
	tests/run.py $< && touch $@
$(e2e:=.ok): $(BUILD)/epsilond $(BUILD)/epsilond-rank

# The compiler of protobuf-c generates the ONNX messages in C; its code is compiled without warnings.
messages := $(BUILD)/engine/onnx/onnx.pb-c
$(messages).c: engine/onnx/onnx.proto
	@mkdir -p $(@D)
	$(quiet)protoc-c --c_out=$(BUILD) $<
$(messages).h: $(messages).c ;
$(messages).o: $(messages).c
	$(quiet)$(CC) $(strict) -w $(flags.$(MODE)) -I$(BUILD) $(CFLAGS) -c -o $@ $<
$(BUILD)/engine/onnx.a: $(messages).o
onnx.readers := $(patsubst %.c,$(BUILD)/%.o,$(wildcard engine/onnx/*.c tests/engine/onnx/*.c tests/engine/test_onnx_*.c))
$(onnx.readers): CPPFLAGS += -I$(BUILD)
$(onnx.readers): $(messages).h

$(libpq.users:%.c=$(BUILD)/%.o): CPPFLAGS += $(if $(libpq),$(shell pkg-config --cflags libpq))
$(BUILD)/mpi/mpi_group.o: CPPFLAGS += $(if $(mpi),$(patsubst -I%,-isystem %,$(shell pkg-config --cflags ompi-c)))
# The dashboard's files and openapi.yaml become part of the program, both plain and gzipped.
ui := openapi.yaml $(wildcard $(foreach kind,html css js svg,service/ui/*.$(kind) service/ui/vendor/*.$(kind)))
$(BUILD)/service/http/assets.o: CPPFLAGS += -I$(BUILD)
$(BUILD)/service/http/assets.o: $(BUILD)/service/ui_files.h
$(BUILD)/service/ui_files.h: service/ui/embed $(ui)
	$(quiet)service/ui/embed $(BUILD)/service $(ui)
$(BUILD)/tests/api/test_openapi.ok: openapi.yaml api/limits.h tests/api/test_openapi.py tests/api/write_openapi.py

test:                                      ## run everything that must pass: unit and e2e
	@deploy/install-deps --if-missing
	@$(MAKE) --no-print-directory -j2 all
	@# Programs of tests/e2e wait for ticks and disks, so the others compile and run at the same time.
	@$(MAKE) --no-print-directory -j5 e2e & trap "kill $$!" INT TERM; \
	 $(MAKE) --no-print-directory -j2 unit; unit=$$?; wait $$! && exit $$unit
	@tests/skips.py $(BUILD) $(ONLY)
demo:                                      ## show the main job end to end (DATA=folder: MNIST)
	@deploy/install-deps --if-missing
	@$(MAKE) --no-print-directory -j2 all
	@deploy/demo $(BUILD)/epsilond $(DATA)
demo-cluster: all                          ## show two daemons that answer and two that train, on PostgreSQL and S3
	@deploy/demo-cluster $(BUILD)/epsilond || [ $$? = 77 ] # 77: it printed "not run"
unit: $(call chosen,$(tests))              ## run the unit tests that are out of date
e2e e2e-once slow faults: export EPSILOND := $(BUILD)/epsilond
e2e: $(BUILD)/epsilond $(BUILD)/epsilond-rank $(call chosen,$(e2e)) ## run the end-to-end tests: a real daemon and a client
e2e-once: $(BUILD)/epsilond $(BUILD)/epsilond-rank $(call chosen,$(once.$(MODE))) ## run the share of the end-to-end tests that CI runs under this sanitizer (MODE=asan, tsan)
slow: all                                  ## run the long suites: half an hour or more
	@HISTORIES=1000000 KILLS=1000 ALLOCATIONS=all FLIPS=1000 FULL=1 $(MAKE) --no-print-directory $(slow:=.run)
	@for mode in asan tsan; do FLIPS=20 $(MAKE) --no-print-directory -j4 MODE=$$mode e2e || exit; done
	@$(MAKE) --no-print-directory mutants
mutants: all                               ## plant privacy bugs; tests must catch each (ONLY="words", MINUTES=5)
	@CC="$(CC)" python3 tests/mutants/plant.py $(ONLY)
faults: $(BUILD)/epsilond $(call runs,tests/faults/test_*.c) $(BUILD)/tests/service/commands/test_store_migration ## run tests with failing PostgreSQL servers, and a failover
	@KILLS=all $(BUILD)/tests/service/commands/test_store_migration
storm: all                                 ## inject faults into four daemons for ten minutes; nothing may be lost (MINUTES=10, SEED=)
	@tests/storm/check $(BUILD)/epsilond || [ $$? = 77 ]
audit: $(call runs,tests/audit/audit_*.c)  ## attack the charged privacy loss from outside
bench: all $(addprefix $(BUILD)/tests/bench/,bare_server followers) $(call runs,tests/bench/bench_*.c) ## measure speed, each figure next to a baseline
	@tests/bench/api $(BUILD)/epsilond $(BUILD)/tests/bench/bare_server
	@tests/bench/polls $(BUILD)/epsilond
	@tests/bench/jobs $(BUILD)/epsilond
	@tests/bench/follow $(BUILD)/epsilond $(BUILD)/tests/bench/followers
%.run: %
	tests/run.py $<
numbers: all                               ## measure the README's table, on real data in SHARED
	@python3 tests/python/measure.py $(BUILD)/epsilond $(SHARED)
	@tests/python/bodies $(BUILD)/epsilond $(SHARED) || [ $$? = 77 ]
papers: all $(BUILD)/tests/papers/descent  ## reproduce the papers' tables (ONLY="adp dcsgd")
	@python3 tests/papers/papers.py $(BUILD)/epsilond $(SHARED) $(ONLY)
bench-peers: $(BUILD)/tests/bench/bench_train ## compare speed with PyTorch and Opacus, packages of PyPI
	@tests/bench/peers $< || [ $$? = 77 ]
check-python: all                          ## check published models in Python, packages of PyPI
	@tests/python/check $(BUILD)/epsilond || [ $$? = 77 ] # 77: it printed "not run"
check-onnx: all                            ## check published models as ONNX, and Opacus on a budget, packages of PyPI
	@tests/python/check_onnx $(BUILD)/epsilond || [ $$? = 77 ]
	@tests/python/check_opacus $(BUILD)/epsilond || [ $$? = 77 ]
check-contract: all                        ## check openapi.yaml with schemathesis of PyPI (MINUTES=10)
	@tests/contract/check $(BUILD)/epsilond || [ $$? = 77 ]
openapi: $(BUILD)/tests/api/openapi_tables ## write into openapi.yaml what tables of the code say
	@$< >$(BUILD)/openapi_tables.json
	@tests/api/write_openapi.py openapi.yaml api/limits.h $(BUILD)/openapi_tables.json
	@python3 clients/python/tools/make_types.py
check-openapi-lint:                        ## lint openapi.yaml with redocly and spectral of npm
	@tests/contract/lint || [ $$? = 77 ]
check-generators: all                      ## check clients that are generated from openapi.yaml
	@tests/generators/check $(BUILD)/epsilond || [ $$? = 77 ]
check-client: all                          ## check clients/python with every installed Python, packages of PyPI
	@clients/python/check $(BUILD)/epsilond || [ $$? = 77 ]
check-browser: all                         ## check the dashboard in Chromium (SHOTS=docs)
	@tests/browser/check $(BUILD)/epsilond $(SHOTS) || [ $$? = 77 ]
check-metrics: all                         ## check /metrics and the rules with the real Prometheus
	@tests/watch/check $(BUILD)/epsilond || [ $$? = 77 ]
check-packages: all                        ## check the .deb, units, manual page, manifests, image
	@tests/packages/check $(BUILD)/epsilond $(VERSION) || [ $$? = 77 ]
check-lean: all                            ## check a build without libpq and Open MPI, and its messages
	@tests/packages/lean || [ $$? = 77 ]
check-image:                               ## check the image, built by docker or buildah, and the daemon in it (BASE=)
	@tests/packages/image $(VERSION) || [ $$? = 77 ]
check-compose:                             ## check several daemons with docker compose, some killed (BASE=)
	@tests/compose/check || [ $$? = 77 ]
check-blobs: all                           ## check files in real S3 servers, packages of PyPI
	@tests/blobs/check $(BUILD)/epsilond || [ $$? = 77 ]
check-slurm: all $(BUILD)/tests/slurm/test_slurm_ranks ## check ranks that srun starts, with Debian's Slurm
	@deploy/install-deps --slurm
	@EPSILOND=$(BUILD)/epsilond tests/slurm/check $(BUILD)/tests/slurm/test_slurm_ranks || [ $$? = 77 ]
deb: all                                   ## build build/deb/epsilond_VERSION_ARCH.deb, and that of epsilond-rank
	@mkdir -p build/deb && deploy/deb $(BUILD)/epsilond $(VERSION) build/deb
fuzzers: $(fuzzers)                        ## build the fuzzers (MODE=fuzz CC=clang)

layers: $(LAYERS:%=layers/%)               ## check includes (no upward or circular ones), citations, planted bugs, options, commands and routes in texts, and tests of sentences that forbid
	@python3 tests/circles.py $(LAYERS)
	@python3 tests/citations.py
	@python3 tests/options.py
	@python3 tests/texts.py
	@python3 tests/forbidden.py
	@python3 tests/table_files.py
	@python3 tests/endings.py
	@python3 tests/mutants/plant.py --check
	@cd service/ui/vendor && sha256sum --quiet --check SHA256SUMS
layers/%:
	@! grep -nHE '#include "($(call either,$(filter-out $(below.$*),$(LAYERS))))/[^/"]*"' $(wildcard $*/*.[ch]) /dev/null
	@! grep -nHE '#include <($(call either,$(filter-out $(vendor.$*),$(VENDORS))))' $(wildcard $*/*.[ch]) /dev/null
	@! grep -nHE 'sqlite3_|sqlite3\.h' $(filter-out $(sqlite),$(wildcard $*/*.[ch])) /dev/null
	@! grep -nHE 'PQ[a-z]+\(|libpq-fe\.h' $(filter-out $(libpq.users),$(wildcard $*/*.[ch])) /dev/null
	@! grep -nHE '#include "store/(sql/(database|statement)|sqlite/[a-z_]*|postgres/[a-z_]*)\.h"' $(filter-out store/%,$(wildcard $*/*.[ch])) /dev/null
	@! grep -nH '#include "engine/dp/stepper_state.h"' $(filter-out engine/dp/stepper.c,$(wildcard $*/*.[ch])) /dev/null

format:                                    ## clang-format everything in place
	clang-format -i $$(git ls-files '*.c' '*.h')
check-format:                              ## refuse what clang-format would change
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')
help:                                      ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p; s/^#   \([A-Z]*=\)/\1/p' Makefile
clean:                                     ## remove build/
	rm -rf build

-include $(wildcard $(foreach depth,* */* */*/* */*/*/*,$(BUILD)/$(depth)/*.d))
