# Checks that `make test` leaves out; CI runs most of them. A check that cannot run exits with 77 after it
# printed "not run".

demo-cluster: all                          ## show two daemons that answer and two that train, on PostgreSQL and S3
	@deploy/demo-cluster $(BUILD)/epsilond || [ $$? = 77 ] # 77: it printed "not run"
slow: all                                  ## run the long suites: half an hour or more
	@HISTORIES=1000000 KILLS=1000 ALLOCATIONS=all FLIPS=1000 FULL=1 $(MAKE) --no-print-directory $(slow:=.run)
	@for mode in asan tsan; do FLIPS=20 $(MAKE) --no-print-directory -j4 MODE=$$mode EVERY=1 unit e2e || exit; done
	@tests/fuzz/check 60 || [ $$? = 77 ] # 77: it printed "not run"
	@EVERY=1 clients/python/check $(BUILD)/epsilond || [ $$? = 77 ]
	@$(MAKE) --no-print-directory mutants
mutants: all                               ## plant privacy bugs; tests must catch each (ONLY="words", MINUTES=2)
	@CC="$(CC)" python3 tests/mutants/plant.py $(ONLY)
faults: $(BUILD)/epsilond $(call runs,tests/faults/test_*.c) $(BUILD)/tests/service/commands/test_store_migration ## run tests with failing PostgreSQL servers, and a failover
	@KILLS=all $(BUILD)/tests/service/commands/test_store_migration
storm: all                                 ## inject faults into four daemons for ten minutes; nothing may be lost (MINUTES=10, SEED=)
	@tests/storm/check $(BUILD)/epsilond || [ $$? = 77 ]
audit: all $(call runs,tests/audit/audit_*.c)  ## attack the charged privacy loss from outside (RUNS=)
	@python3 tests/audit/audit_api.py $(BUILD)/epsilond $(RUNS)
bench: all $(addprefix $(BUILD)/tests/bench/,bare_server followers) $(call runs,tests/bench/bench_*.c) ## measure speed, each figure next to a baseline
	@tests/bench/api $(BUILD)/epsilond $(BUILD)/tests/bench/bare_server
	@tests/bench/polls $(BUILD)/epsilond
	@tests/bench/jobs $(BUILD)/epsilond
	@tests/bench/predictions $(BUILD)/epsilond
	@tests/bench/follow $(BUILD)/epsilond $(BUILD)/tests/bench/followers
numbers: all                               ## measure the README's table, on real data in SHARED
	@python3 tests/python/measure.py $(BUILD)/epsilond $(SHARED)
	@tests/python/bodies $(BUILD)/epsilond $(SHARED) || [ $$? = 77 ]
papers: all $(BUILD)/tests/papers/descent  ## reproduce the papers' tables (ONLY="adp dcsgd")
	@python3 tests/papers/papers.py $(BUILD)/epsilond $(SHARED) $(ONLY)
bench-peers: $(BUILD)/tests/bench/bench_train ## compare speed with PyTorch and Opacus, packages of PyPI
	@tests/bench/peers $< || [ $$? = 77 ]
check-python: all                          ## check published models in Python, packages of PyPI
	@tests/python/check $(BUILD)/epsilond || [ $$? = 77 ] # 77: it printed "not run"
check-interpret:                           ## train InterpretML's DP-EBM next to boosted histograms, packages of PyPI
	@tests/python/check_interpret $(SHARED) || [ $$? = 77 ] # 77: it printed "not run"
check-onnx: all                            ## check published models as ONNX, and Opacus on a budget, packages of PyPI
	@tests/python/check_onnx $(BUILD)/epsilond || [ $$? = 77 ]
	@tests/python/check_opacus $(BUILD)/epsilond || [ $$? = 77 ]
check-tokenizers: $(BUILD)/tests/engine/text/encode_texts ## check tokenizers on real texts, packages of PyPI and npm
	@tests/python/check_tokenizers $< || [ $$? = 77 ]
check-contract: all                        ## check openapi.yaml with schemathesis of PyPI (MINUTES=10)
	@tests/contract/check $(BUILD)/epsilond || [ $$? = 77 ]
openapi: $(BUILD)/tests/api/openapi_tables ## write into openapi.yaml what tables of the code say
	@$< >$(BUILD)/openapi_tables.json
	@tests/api/write_openapi.py openapi.yaml api/limits.h $(BUILD)/openapi_tables.json
	@python3 clients/python/tools/make_types.py
check-fuzz:                                ## run each fuzzer for some seconds, by clang (SECONDS=3)
	@tests/fuzz/check $(or $(SECONDS),3) || [ $$? = 77 ]
check-openapi-lint:                        ## lint openapi.yaml with redocly and spectral of npm
	@tests/contract/lint || [ $$? = 77 ]
check-generators: all                      ## check clients that are generated from openapi.yaml
	@tests/generators/check $(BUILD)/epsilond || [ $$? = 77 ]
check-client: all                          ## check clients/python, packages of PyPI (EVERY=1: with every installed Python)
	@clients/python/check $(BUILD)/epsilond || [ $$? = 77 ]
check-browser: all                         ## check the dashboard in Chromium (SHOTS=docs)
	@tests/browser/check $(BUILD)/epsilond $(SHOTS) || [ $$? = 77 ]
check-metrics: all                         ## check /metrics and the rules with the real Prometheus
	@tests/watch/check $(BUILD)/epsilond || [ $$? = 77 ]
check-packages: all $(BUILD)/epsilond-quick ## check the .deb, units, manual page, manifests, image
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
layers: $(LAYERS:%=layers/%)               ## check includes (no upward or circular ones), citations, planted bugs, options, commands and routes in texts, copies of results, and tests of sentences that forbid
	@python3 tests/circles.py $(LAYERS)
	@python3 tests/citations.py
	@python3 tests/options.py
	@python3 tests/texts.py
	@python3 tests/papers/readme_rows.py --check
	@python3 tests/papers/overview.py --check
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
