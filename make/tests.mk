# The test programs: what they are called, how they are linked and run, and the share of each sanitizer.

tests    := $(call programs,$(LAYERS:%=tests/%/test_*.c))
fuzzers  := $(call programs,tests/fuzz/fuzz_*.c)
replays  := $(if $(filter asan,$(MODE)$(ONLY)),$(fuzzers:=.replay))
# The longest tests begin first, because otherwise the last one would run without others in parallel.
# Tests wait for ticks and disks, so more of them run at once than there are processors.
long     := lost_daemons random_kills time events flipped_bits recovery webhooks upgrades server_store tutorial \
            restored_backup logins polls sweep_ends openapi_replay last_budget lost_ranks rank_faults
long     := $(call programs,$(long:%=tests/e2e/test_%.c))
e2e      := $(long) $(filter-out $(long),$(call programs,tests/e2e/test_*.c))
# CI runs each of these programs under one sanitizer: under the thread sanitizer those in which many
# clients, jobs or daemons act at the same time, under the address sanitizer all others.
crowded  := charges closed_accounts connections daemon_logins daemon_pages daemons deleted_in_use deletes equal_times \
            event_crowds events grants idempotency jobs last_budget lists logins lost_daemons metrics models \
            object_store pending_grants polls predictions random_kills ranks recovery regrants reserved server_store \
            statistics sweep_ends sweeps time webhooks what_fits
crowded  := $(call programs,$(crowded:%=tests/e2e/test_%.c))
once.asan := $(filter-out $(crowded),$(e2e))
once.tsan := $(filter $(crowded),$(e2e))
# These wait for many ticks, and say nothing of their length: their daemon has ticks of 200 ms. It is the
# daemon of the others with one object compiled in another way (service/threads/tick_clock.c). Under a
# sanitizer all ticks have their length.
quick    := access closed_accounts declared_anew deleted_in_use event_crowds grants model_evaluations models pending_grants \
            predictions regrants statistics sweeps webhooks what_fits
quick    := $(if $(filter release,$(MODE)),$(call programs,$(quick:%=tests/e2e/test_%.c)))
$(foreach kind,ok run,$(quick:=.$(kind))): export EPSILOND := $(BUILD)/epsilond-quick
$(foreach kind,ok run,$(quick:=.$(kind))): $(BUILD)/epsilond-quick
$(BUILD)/quick_clock.o: service/threads/tick_clock.c $(BUILD)/flags
	$(quiet)$(COMPILE) -DTICK_MS_FOR_TESTS=200 -MMD -MP -c -o $@ $<
$(BUILD)/epsilond-quick: $(BUILD)/service/commands/main.o $(BUILD)/quick_clock.o $(call archives,service/commands)
	@echo "  ld  $@"
	$(quiet)$(LINK) $(link.tests) -o $@ $(filter %.o %.a,$^) $(call libs,service/commands)
e2e.fixtures := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/e2e/*_fixture.c))

# The thread sanitizer finds nothing in programs that start no thread. Programs that started none when
# the release build ran them (tests/threads.c) are left out under tsan, unless ONLY names them.
ifeq ($(MODE)$(ONLY)$(EVERY),tsan)
alone    := $(shell cd build/release 2>/dev/null && for test in $(tests:$(BUILD)/%=%); do \
              [ $$test.ok -nt $$test ] && [ $$test.ok -nt tests/threads.o ] && [ ! -e $$test.threads ] && echo $$test; done)
tests    := $(filter-out $(alone:%=$(BUILD)/%),$(tests))
endif

# A sanitizer makes these slow: they are a tenth of its programs and half of their time. Only `make slow` runs them
# with it (EVERY=1), unless ONLY names them. Each has tests of the same code that the sanitizer does run:
#   ways_batches, ways_reach, ways_releases      every way of running a private row: ways_streams
#   trainer_ranks     its ranks are threads of the test only; those of a rank: trainer, trainer_cells
#   trainer_persons   the threads of a step: trainer, trainer_features; the rows of persons: readers/persons
#   ledger_accounts   threads that ask for closed accounts: e2e/closed_accounts; that race for a budget: ledger_model
#   store_migration   one thread and its killed children; stores that daemons share: e2e/server_store
patient.asan := accountant/ledger/ledger_accounts accountant/ledger/ledger_kill accountant/ledger/ledger_model \
            accountant/ledger/ledger_seal accountant/pricing/odometer accountant/pricing/papers \
            accountant/pricing/pld api/openapi engine/data/readers/secret_order engine/data/shuffle \
            engine/dp/algorithms/adp engine/dp/algorithms/adp_adagrad_norm engine/dp/algorithms/adp_toy \
            engine/dp/algorithms/dcsgd_toy engine/dp/algorithms/dicesgd_steps engine/dp/algorithms/diff2_toy \
            engine/dp/algorithms/value_clip_toys engine/dp/algorithms/ways_batches \
            engine/dp/algorithms/ways_reach engine/dp/person_sums engine/nn/layers/gradients \
            engine/trainer_ranks service/commands/store_migration
patient.tsan := accountant/ledger/ledger_accounts engine/dp/algorithms/adp engine/dp/algorithms/adp_adagrad_norm \
            engine/dp/algorithms/diff2 engine/dp/algorithms/diff2_noise engine/dp/algorithms/quantile_clip \
            engine/dp/algorithms/ways_batches engine/dp/algorithms/ways_reach engine/dp/algorithms/ways_releases \
            engine/nn/layers/scatter engine/onnx_export engine/trainer_persons engine/trainer_ranks \
            service/commands/store_migration
patient  := $(if $(ONLY)$(EVERY),,$(patient.$(MODE)))
tests    := $(filter-out $(foreach test,$(patient),$(BUILD)/tests/$(dir $(test))test_$(notdir $(test))),$(tests))

# Programs whose length is set by a variable: HISTORIES, KILLS, ALLOCATIONS, FLIPS, FULL.
slow     := $(filter $(call programs,$(shell grep -lrE 'getenv."(HISTORIES|KILLS|ALLOCATIONS|FLIPS|FULL)"' tests)),$(tests) $(e2e))

# gold links the test programs if it is installed, as Debian's binutils have it, in a third of the time. The shipped
# programs are linked by the system's default linker.
link.tests := $(if $(shell command -v ld.gold),-fuse-ld=gold)

$(addsuffix .o,$(tests) $(e2e)): private lighter := $(flags.tests)

# tests/<layer>/test_x links <layer> (or its top room) and the layers below it; tests/e2e/test_x
# links the other files of tests/e2e and talks to the daemon from outside.
# A test that defines __wrap_f intercepts the calls of f in the product's own objects.
wraps     = $$(nm $@.o | sed -n 's/^.* T __wrap_/-Wl,--wrap=/p')
link.test = $(LINK) $(link.tests) $(call libs,$(call linked,$(*D))) $(libs.tests)
$(BUILD)/tests/%.link: FORCE
	$(call keep,$(link.test))
ifeq ($(MODE),release)
$(tests): $(BUILD)/tests/threads.o
$(tests): libs.tests += -Wl,--wrap=pthread_create
endif
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/tests/%.link $$(call archives,$$(call linked,$$(*D)))
	$(quiet)$(LINK) $(link.tests) $(wraps) -o $@ $(filter %.o %.a,$^) $(call libs,$(call linked,$(*D))) $(libs.tests)
$(e2e) $(BUILD)/tests/faults/test_daemon_failover $(BUILD)/tests/slurm/test_slurm_ranks: $(e2e.fixtures)
# A fuzzer gets new inputs from clang's library, or in any other mode its committed corpus (tests/fuzz/replay.c).
$(fuzzers): libs.tests := $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer)
$(fuzzers): $(if $(filter fuzz,$(MODE)),,$(BUILD)/tests/fuzz/replay.o)
$(BUILD)/tests/fuzz/%.replay: $(BUILD)/tests/fuzz/%
	@echo "  $<"
	$(quiet)$< tests/fuzz/corpus/$(*:fuzz_%=%)/*
$(BUILD)/tests/bench/bare_server: libs.tests := $(libs.service/http)
$(BUILD)/tests/bench/followers: libs.tests :=
$(BUILD)/tests/%.ok: $(BUILD)/tests/%
	tests/run.py $< && touch $@
$(e2e:=.ok) $(e2e:=.run): $(BUILD)/epsilond $(BUILD)/epsilond-rank

$(BUILD)/tests/api/test_openapi.ok: openapi.yaml api/limits.h $(wildcard tests/api/*.py)
%.run: %
	tests/run.py $<

# Programs of tests/e2e talk to the daemon from outside, so a sanitizer of theirs would find nothing of the
# product: those of the release build run with the sanitizer's daemon.
ifneq ($(filter asan tsan,$(MODE)),)
e2e.release := $(e2e:$(BUILD)/%=build/release/%)
e2e.wanted  := $(if $(ONLY),$(foreach test,$(e2e.release),$(if $(findstring $(ONLY),$(test)),$(test))),$(e2e.release))
$(e2e:=.ok): $(BUILD)/%.ok: build/release/%
	@mkdir -p $(@D)
	tests/run.py $< $(BUILD)/$* && touch $@
$(e2e:=.run): $(BUILD)/%.run: build/release/%
	@mkdir -p $(@D)
	tests/run.py $< $(BUILD)/$*
$(e2e.release): e2e.programs ;
e2e.programs: FORCE
	$(quiet)$(MAKE) --no-print-directory MODE=release $(e2e.wanted)
endif
