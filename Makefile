# A thin front over cmake, ctest and tools/: nothing is decided here. "make help" lists it all.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

CMAKE_FLAGS ?=

# Make, unless the folder was configured for something else: "cd build && make" has to work too.
CONFIGURE = cmake -S . -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-G 'Unix Makefiles')
COMPILE   = MAKEFLAGS=--no-print-directory cmake --build $(BUILD)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: all configure setup setup-deb setup-test setup-lint demo test golden bench soak lint fuzz install \
	deb dist clean help

all: setup configure ## build unitrace into build/ (this is what plain "make" does)
	@$(COMPILE)

configure: # each time: it takes no time, and the set-up may have brought something new
	@$(CONFIGURE) $(CMAKE_FLAGS)

setup: # install what is missing to build; nothing happens when all is there
	@tools/setup.sh build

setup-deb:
	@tools/setup.sh deb

setup-test:
	@tools/setup.sh test

setup-lint:
	@tools/setup.sh lint

demo: all ## build, trace an example, show what to type next
	@tools/demo.sh $(BUILD)

test: setup-test configure ## build and run every test
	@$(COMPILE) --target all tests
	@status=0; tools/ctest.sh $(BUILD) -LE build -j $(JOBS) || status=$$?; \
		tools/skipped.sh $(BUILD); exit $$status

golden: all ## write the expectations of tests/golden anew; review them with git diff
	@UNITRACE_BUILD='$(BUILD)' python3 -B tests/golden/make_inputs.py
	@UNITRACE_BUILD='$(BUILD)' python3 -B tests/golden/run.py --update

bench: all ## measure the cost of tracing
	@$(COMPILE) --target tests_bench
	@tools/bench.sh $(BUILD)

soak: all ## record, kill, rotate and export for an hour (SOAK_SECONDS=3600): nothing may grow
	@$(COMPILE) --target tests_programs_soak_worker
	@UNITRACE_BUILD=$(BUILD) python3 tests/soak/soak.py

lint: setup-lint ## format, layers, limits, clang-tidy, cppcheck
	@tools/ci.sh lint

fuzz: setup-lint ## fuzz every importer; FUZZ_SECONDS=60 in total
	@tools/ci.sh fuzz

install: setup ## install under PREFIX (default /usr/local); DESTDIR is honoured
	@$(CONFIGURE) -DCMAKE_INSTALL_PREFIX='$(PREFIX)' $(CMAKE_FLAGS)
	@$(COMPILE)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD)

deb: all setup-deb ## make a Debian package of it: build/unitrace_*.deb
	@tools/deb.sh $(BUILD)

dist: all ## make a release tarball that carries the viewer's page: build/unitrace-*.tar.gz
	@tools/dist.sh $(BUILD)

clean: ## remove everything that was built
	rm -rf $(BUILD) build-*/

help: ## this list
	@grep -E '^[a-z]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | \
		awk -F '\t' '{ printf "  make %-9s %s\n", $$1, $$2 }'
