# `make help` lists the targets. This file builds, tests and packages; make/layers.mk has the
# architecture and the libraries, make/tests.mk the test programs, make/checks.mk the longer checks.
# No file recurses into folders.
# Variables:
#   MODE=release|debug|asan|tsan|fuzz  selects the flags; each mode has its own build folder
#   ONLY=word                          for unit, e2e, test: only the programs whose path contains the word
#   SHARED=folder                      real data for tests that need it (default ../shared)
#   V=1                                show the commands

VERSION := 0.1.0
MODE    ?= release
BUILD   := build/$(MODE)
export SHARED ?= ../shared
.DEFAULT_GOAL := all
.SECONDEXPANSION:
.SECONDARY:
.DELETE_ON_ERROR:
# Every target with a text for `make help` is a name and no file.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*\#\#.*/\1/p' Makefile make/*.mk) FORCE

include make/layers.mk

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
# The sources of tests compile in half the time so, with a sanitizer in a quarter; what they test is optimised as always.
flags.tests   := $(if $(filter asan tsan,$(MODE)),-O0,-O1) -g1
COMPILE = $(CC) $(strict) $(warnings) $(flags.$(MODE)) $(lighter) -I. $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(flags.$(MODE)) -Wl,--as-needed $(CFLAGS) $(LDFLAGS)

quiet     = $(if $(V),,@)
linked    = $(or $(top.$(firstword $(subst /, ,$(1)))),$(1))
archived  = $(below.$(call linked,$(1)))
empty    :=
comma    := ,
space    := $(empty) $(empty)
either    = $(subst $(space),|,$(strip $(1)))
objects   = $(patsubst %.c,$(BUILD)/%.o,$(filter-out service/commands/main.c mpi/main.c $(absent),$(wildcard $(1)/*.c)))
archives  = $(patsubst %,$(BUILD)/%.a,$(below.$(1)))
libs      = $(foreach layer,$(below.$(1)),$(libs.$(layer)))
programs  = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))
runs      = $(addsuffix .run,$(call programs,$(1)))
# Selects the programs to run: those that are out of date, or with ONLY all that match it.
chosen    = $(if $(ONLY),$(addsuffix .run,$(foreach test,$(1),$(if $(findstring $(ONLY),$(test)),$(test)))),$(1:=.ok))

include make/tests.mk
include make/checks.mk

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
# makefile builds what the edit affects and nothing else; warnings affect nothing.
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
unit: $(call chosen,$(tests)) $(replays)   ## run the unit tests that are out of date
e2e e2e-once slow faults: export EPSILOND := $(BUILD)/epsilond
e2e: $(BUILD)/epsilond $(BUILD)/epsilond-rank $(call chosen,$(e2e)) ## run the end-to-end tests: a real daemon and a client
e2e-once: $(BUILD)/epsilond $(BUILD)/epsilond-rank $(call chosen,$(once.$(MODE))) ## run the share of the end-to-end tests that CI runs under this sanitizer (MODE=asan, tsan)
deb: all                                   ## build build/deb/epsilond_VERSION_ARCH.deb, and that of epsilond-rank
	@mkdir -p build/deb && deploy/deb $(BUILD)/epsilond $(VERSION) build/deb
fuzzers: $(fuzzers)                        ## build the fuzzers (MODE=fuzz CC=clang)

format:                                    ## clang-format everything in place
	clang-format -i $$(git ls-files '*.c' '*.h')
check-format:                              ## refuse what clang-format would change
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')
help:                                      ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p; s/^#   \([A-Z]*=\)/\1/p' Makefile make/*.mk
clean:                                     ## remove build/
	rm -rf build

-include $(wildcard $(foreach depth,* */* */*/* */*/*/*,$(BUILD)/$(depth)/*.d))
