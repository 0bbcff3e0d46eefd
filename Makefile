# A thin front over cmake, ctest and tools/: nothing is decided here. "make help" lists it all.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
# Tests wait half of their time: two share a core well.
TEST_JOBS ?= $(shell expr $(JOBS) '*' 2)

CMAKE_FLAGS ?=

# Make, unless the folder was configured for something else: "cd build && make" has to work too.
CONFIGURE = cmake -S . -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-G 'Unix Makefiles')
COMPILE   = MAKEFLAGS=--no-print-directory cmake --build $(BUILD)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: all configure missing setup setup-test compile-tests demo test check nightly golden bench soak lint \
	fuzz install deb dist release-check clean help

all: missing configure ## build unitrace into build/ (this is what plain "make" does)
	@$(COMPILE)

missing: # says what is not installed, and how to get it; fails only without a compiler or cmake
	@tools/setup.sh --missing build || { echo "make setup installs it, as root on Debian" >&2; exit 1; }

configure: # each time: it takes no time, and the set-up may have brought something new
	@$(CONFIGURE) $(CMAKE_FLAGS)

setup: ## install what the build can use (root, Debian); nothing happens when all is there
	@tools/setup.sh build

setup-test:
	@tools/setup.sh test

demo: setup configure ## set up, build, trace an example, show what to type next
	@$(COMPILE)
	@tools/demo.sh $(BUILD)

compile-tests: configure
	@$(COMPILE) --target all tests

test: setup-test compile-tests ## set up, build and run every test (docs/testing.md has the labels)
	@tools/test.sh $(BUILD) -j $(TEST_JOBS)

check: compile-tests ## what to run before a commit: 3 minutes on two cores, installs nothing
	@tools/ci.sh check

nightly: setup-test ## what takes hours: everything in full, long fuzzing, soak, benchmarks
	@tools/ci.sh nightly

golden: all ## write the expectations of tests/golden anew; review them with git diff
	@UNITRACE_BUILD='$(BUILD)' python3 -B tests/golden/make_inputs.py
	@UNITRACE_BUILD='$(BUILD)' python3 -B tests/golden/run.py --update

bench: all ## measure the cost of tracing
	@$(COMPILE) --target tests_bench
	@tools/bench.sh $(BUILD)

soak: all ## record, kill, rotate and export for an hour (SOAK_SECONDS=3600): nothing may grow
	@$(COMPILE) --target tests_programs_soak_worker
	@UNITRACE_BUILD=$(BUILD) python3 tests/soak/soak.py

lint: ## format, layers, limits, spelling, clang-tidy, cppcheck
	@tools/ci.sh lint

fuzz: ## fuzz every importer; FUZZ_SECONDS=60 in total
	@tools/ci.sh fuzz

install: missing ## install under PREFIX (default /usr/local); DESTDIR is honoured
	@$(CONFIGURE) -DCMAKE_INSTALL_PREFIX='$(PREFIX)' $(CMAKE_FLAGS)
	@$(COMPILE)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD)

deb: all ## make a Debian package of it: build/unitrace_*.deb
	@tools/setup.sh --missing deb
	@tools/deb.sh $(BUILD)

dist: all ## make a release tarball that carries the viewer's page: build/unitrace-*.tar.gz
	@tools/dist.sh $(BUILD)

release-check: all ## what docs/releasing.md asks for before a tag
	@tools/release_check.sh $(BUILD)

clean: ## remove everything that was built
	rm -rf $(BUILD) build-*/

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | \
		awk -F '\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'
