# What there is to do with tsdb's sources; "make help" lists it.
# The plain go commands work too: GOEXPERIMENT=simd lets kernels use vector instructions where they have a version for them.

export GOEXPERIMENT ?= simd
GO       ?= go
FUZZTIME ?= 20s
QUERIES  ?= 5000
# The seed of make oracle, so that a run can be repeated; SEED= takes another one each time.
SEED     ?= 4
RACE     := ./colstore/... ./exec/... ./pgwire/... ./sql/...
TOOL     := GOEXPERIMENT= $(GO) tool -modfile=.ci/tools/go.mod

.PHONY: help build demo test scripts race oracle lint bench bench-full crash-long pgbench fuzz clean first-build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

build: first-build ## build ./tsdb
	$(GO) build -o tsdb ./cmd/tsdb

demo: build ## load real data, run the tour, go on serving
	./tsdb demo

first-build:
	@echo "The first build compiles PostgreSQL's grammar, which is C code: about 2 minutes on two cores. Later builds take seconds."

test: ## run all tests
	$(GO) test ./...

scripts: ## run the SQL scripts in all configurations, and with batches of 64 rows
	cd tests/slt && TSDB_CONFIGS=all $(GO) test -count=1 -timeout 10m -run 'TestScripts$$'
	cd tests/slt && TSDB_CONFIGS=plain,row $(GO) test -count=1 -timeout 10m -tags tinybatch -run 'TestScripts$$'

race: ## run the tests of concurrent packages under the race detector
	$(GO) test -race -short $(RACE)

oracle: ## compare answers with a PostgreSQL 15 that the tests start themselves; SEED= for other random statements each time
	TSDB_ORACLE=1 TSDB_SEED=$(SEED) $(GO) test -count=1 -timeout 20m ./tests/oracle ./tests/slt ./tests/types
	cd tests/random && TSDB_ORACLE=1 TSDB_SEED=$(SEED) TSDB_QUERIES=$(QUERIES) $(GO) test -count=1 -timeout 20m

lint: ## format, vet, staticcheck, dead code, go.mod, layers
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not formatted:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	@out=$$($(TOOL) deadcode -test ./...) || exit 1; test -z "$$out" || { echo "not reachable from any main or test:"; echo "$$out"; exit 1; }
	$(GO) mod tidy -diff
	$(GO) test -count=1 ./tests/arch

bench: ## measure against PostgreSQL 15 on this machine, scaled down; prints ratios
	TSDB_BENCH=1 $(GO) test -count=1 -v -timeout 30m ./bench

bench-full: ## the same with the sizes of bench/RESULTS.md: 20 minutes, 20 GB of memory
	TSDB_BENCH=1 TSDB_BENCH_FULL=1 $(GO) test -count=1 -v -timeout 3h ./bench

crash-long: ## kill a loaded server 1,000 times and check what is there: 15 minutes
	TSDB_KILL_ROUNDS=1000 $(GO) test -count=1 -v -timeout 2h -run TestKill ./tests/crash

pgbench: ## run pgbench, check that balances add up and that space comes back
	TSDB_PGBENCH=1 $(GO) test -count=1 -v -timeout 15m ./tests/pgbench

fuzz: ## run every fuzz target for FUZZTIME (20s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/p' "$$file"); do \
	    echo "== $$(dirname "$$file") $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$(dirname "$$file")" || exit 1; \
	  done; \
	done

clean: ## remove the binary and the demo's data
	rm -rf tsdb tsdb-demo bench/out
