# Every command of this repository. Each does all the set-up that it needs (tools/setup.sh).
#
#   make demo      search and speed up a kernel that nobody has tuned, on this machine's device
#   make test      everything that can be checked without a GPU
#   make test-gpu  the tests marked gpu, on this machine's GPU
#   make suites    the sources of CuPy, whose tests `make test` runs then
#   make test-suites the tests of NumPy, CuPy and cuda.compute, whose sources it fetches or is told
#   make test-oldest the oldest NumPy, pandas and others that pyproject.toml allows, in build/oldest
#   make ctest     the C core alone: no Python, under ASan and UBSan
#   make tsan      those of its programs that use threads, under ThreadSanitizer
#   make fuzz      a million damaged inputs of every kind, the same way; by libFuzzer where clang has it
#   make lint      formatting, lint, types and the stub, and `make analyze`; `make format` mends what it can
#   make analyze   the C core by gcc's analyzer
#   make docs      the pages of docs/, by Sphinx, into build/docs/html; warnings are errors
#   make notebooks runs the notebooks on the cpu and writes their outputs into them
#   make wheel     a wheel for this machine, checked and tried in fresh environments
#   make bench     benchmarks/ side by side with NumPy, or with CUB where nvcc is found
#   make bench-cub every cell beside the newest CUB, into benchmarks/results; `make tables` then
#                  writes the tables of README.md and of benchmarks/notes
#
# PYTHON chooses the interpreter, CC and CXX the compilers, JOBS how much runs at once.

PYTHON ?= python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BIN := .venv/bin
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
export PYTHON

# Hundreds of the tests' processes import NumPy and cubc, and some pandas: without byte code, which
# some environments forbid, that takes two to four times as long.
export PYTHONDONTWRITEBYTECODE :=

# Only the plugins that the tests need: another one of the environment must not change or break them.
PYTEST := PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_PLUGINS=pytest_timeout $(BIN)/python -m pytest -q -p xdist

.PHONY: build system installed test test-gpu suites test-suites test-oldest stubs compiled collected checked ctest tsan fuzz fuzz-texts lint analyze format docs notebooks wheel demo bench bench-cub tables clean
.DEFAULT_GOAL := build

build:
	@sh tools/setup.sh run

# Compilers and headers come first: part of the set-up compiles.
system:
	@sh tools/setup.sh system

# The C core is compiled while pip installs, which keeps one processor waiting; pytest comes last, so
# that its summary is the last thing to be read. It has two processes more than there are processors,
# for the time that tests wait: for a compiler, a deadline, the end of a process.
# Kernels that a run has compiled are kept, as objects are: the next run compiles what has changed.
test: export CUBC_TEST_CACHE ?= $(CURDIR)/build/test-kernels
test: export CUBC_CUPY ?= $(CURDIR)/$(CUPY)
test:
	@$(MAKE) --no-print-directory -j$(JOBS) stubs collected lint ctest
	$(PYTEST) -n $$(($(JOBS) + 2)) --maxprocesses 8 --dist worksteal

stubs: checked
	$(BIN)/python -m mypy.stubtest --mypy-config-file tools/stubtest.ini cubc._core

# Writes the byte code of the tests and of what they import, which each of pytest's processes would
# do at the same time. What cannot be collected is reported by the run.
collected: installed
	@$(PYTEST) --collect-only -qq >/dev/null 2>&1 || true

installed: | system
	@sh tools/setup.sh dev

test-gpu: export CUBC_TESTS ?= all
test-gpu:
	@sh tools/setup.sh dev
	$(PYTEST) -m gpu

# CuPy's package of sources has its tests; nothing of it is built, and its stubs spare pip a search for
# CUDA. Where it cannot be fetched `make test` leaves its tests out. Those of cuda.compute are in CCCL's
# repository, a checkout of which CUBC_CCCL names.
CUPY := build/suites/cupy-14.2.0
$(CUPY): | installed
	-CUPY_INSTALL_USE_STUB=1 $(BIN)/python -m pip download -q --no-deps --no-binary :all: \
	    --no-build-isolation --disable-pip-version-check -d build/suites cupy==14.2.0
	-tar xzf $@.tar.gz -C build/suites

suites: $(CUPY)

test-suites: export CUBC_TEST_CACHE ?= $(CURDIR)/build/test-kernels
test-suites: export CUBC_CUPY ?= $(CURDIR)/$(CUPY)
test-suites: suites
	@test -d "$$CUBC_CUPY" || { echo "make test-suites: CuPy's sources were not fetched" >&2; exit 1; }
	$(PYTEST) -n $(JOBS) --dist worksteal tests/suites

test-oldest: export CUBC_TEST_CACHE ?= $(CURDIR)/build/test-kernels
test-oldest:
	@sh tools/oldest.sh

demo: build
	$(BIN)/python -m cubc.tuner._demo

# ---- the C core without Python ------------------------------------------------------------------
# One object a source, one program a tests/c/test_*.c, all instrumented. Kernels that the programs
# compile at run time get the same sanitizers: the CPU device passes its own on. All is compiled
# without optimisation, kernels for a fifth of the time: each runs for a moment. The analyzer looks at
# optimised code, and has the warnings that need it.
C_BUILD := build/ctest
C_SOURCES := $(filter-out csrc/python/%,$(wildcard csrc/*/*.c csrc/*/*/*.c))
C_OBJECTS := $(C_SOURCES:csrc/%.c=$(C_BUILD)/%.o)
C_TESTS := $(patsubst tests/c/%.c,$(C_BUILD)/%,$(wildcard tests/c/test_*.c))
C_COMMON := -std=c11 -g -pthread -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Werror \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-Icsrc -Icsrc/include -DCUBC_VERSION='"$(VERSION)"'
C_FLAGS := -O0 $(C_COMMON)

# The fuzzers, each one file tests/fuzz/fuzz_*.c, with a driver that needs no libFuzzer.
C_FUZZERS := $(patsubst tests/fuzz/%.c,$(C_BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
C_PROGRAMS := $(C_TESTS) $(C_FUZZERS)
C_KERNELS := -O0 -Dalways_inline=unused

C_RUNS := $(C_PROGRAMS:=.run)
.PHONY: $(C_RUNS)

# All programs run, whichever fails.
ctest: $(C_RUNS)
	@failed=; for program in $(C_PROGRAMS); do \
	    [ ! -e $$program.failed ] || failed="$$failed $$program"; \
	done; \
	if [ -n "$$failed" ]; then echo "ctest: failed:$$failed"; exit 1; fi; \
	echo "ctest: $(words $(C_PROGRAMS)) programs passed"

$(C_RUNS): %.run: %
	@rm -f $*.failed
	@CUBC_KERNELS="$(CURDIR)/kernels" CUBC_CXXFLAGS="$(C_KERNELS)" ./$* || touch $*.failed

$(C_BUILD)/%.o: csrc/%.c Makefile | system
	@mkdir -p $(@D)
	@echo "CC $<"
	@$(CC) $(C_FLAGS) -MMD -MP -c -o $@ $<

# A program gets the objects that it calls: linking all of them takes twice as long.
$(C_BUILD)/core.a: $(C_OBJECTS)
	@rm -f $@
	@ar rcs $@ $^

$(C_TESTS): $(C_BUILD)/%: tests/c/%.c $(C_BUILD)/core.a
	@echo "CC $<"
	@$(CC) $(C_FLAGS) -MMD -MP -MF $@.d -o $@ $< $(C_BUILD)/core.a -lsqlite3 -ldl -lm

$(C_FUZZERS): $(C_BUILD)/%: tests/fuzz/%.c tests/fuzz/driver.c tests/fuzz/fuzz.h $(C_BUILD)/core.a
	@echo "CC $<"
	@$(CC) $(C_FLAGS) -Itests/fuzz -o $@ $< tests/fuzz/driver.c $(C_BUILD)/core.a -lsqlite3 -ldl -lm

-include $(C_OBJECTS:.o=.d) $(C_TESTS:=.d)

# ---- races ----------------------------------------------------------------------------------------
# The programs whose threads share something, under ThreadSanitizer. The kernels that they compile are
# not instrumented. Its shadow memory needs addresses that are not drawn at random.
T_BUILD := build/tsan
T_OBJECTS := $(C_SOURCES:csrc/%.c=$(T_BUILD)/%.o)
T_TESTS := $(addprefix $(T_BUILD)/test_,simt simt_signal launch order device_cpu workspace cache claim lattice_io policy recorded_calls table)
T_FLAGS := -O1 $(filter-out -W% -fsanitize=% -fno-sanitize-recover=%,$(C_COMMON)) -fsanitize=thread
T_RUN := $(shell setarch -R true 2>/dev/null && echo setarch -R)

tsan: $(T_TESTS)
	@failed=; for program in $(T_TESTS); do \
	    CUBC_KERNELS="$(CURDIR)/kernels" CUBC_CXXFLAGS=-O0 TSAN_OPTIONS=die_after_fork=0:history_size=0 \
	    $(T_RUN) ./$$program || failed="$$failed $$program"; \
	done; \
	if [ -n "$$failed" ]; then echo "tsan: failed:$$failed"; exit 1; fi; \
	echo "tsan: $(words $(T_TESTS)) programs passed"

$(T_BUILD)/%.o: csrc/%.c Makefile | system
	@mkdir -p $(@D)
	@echo "CC $< for ThreadSanitizer"
	@$(CC) $(T_FLAGS) -MMD -MP -c -o $@ $<

$(T_TESTS): $(T_BUILD)/%: tests/c/%.c $(T_OBJECTS)
	@$(CC) $(T_FLAGS) -o $@ $< $(T_OBJECTS) -lsqlite3 -ldl -lm

-include $(T_OBJECTS:.o=.d)

# ---- fuzzing ------------------------------------------------------------------------------------
# Every harness with libFuzzer (clang's), else with the driver of `make ctest`. FUZZ_RUNS inputs each;
# FUZZ="gauge space" chooses some. A find is written to build/fuzz/<name>, or named by its seed.
# Texts that Python reads have a harness in Python.
FUZZ_RUNS ?= 1000000
FUZZ_CC ?= clang
C_FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ ?= $(C_FUZZ) texts
F_BUILD := build/fuzz
F_OBJECTS := $(C_SOURCES:csrc/%.c=$(F_BUILD)/%.o)
F_FUZZERS := $(patsubst %,$(F_BUILD)/fuzz_%,$(filter $(C_FUZZ),$(FUZZ)))
F_RUNS := $(patsubst %,fuzz-%,$(filter $(C_FUZZ),$(FUZZ)))
F_FLAGS := -O1 $(filter-out -W%,$(C_COMMON)) -fsanitize=fuzzer-no-link # ctest has judged warnings
LIBFUZZER := $(shell echo 'int LLVMFuzzerTestOneInput(void);int LLVMFuzzerTestOneInput(void){return 0;}' \
	| $(FUZZ_CC) -x c -fsanitize=fuzzer - -o /dev/null 2>/dev/null && echo yes)

fuzz: $(FUZZ:%=fuzz-%)

fuzz-texts: build
	$(BIN)/python tests/fuzz/fuzz_texts.py $(FUZZ_RUNS) $$(date +%s)

$(F_RUNS): fuzz-%: $(C_BUILD)/fuzz_% $(if $(LIBFUZZER),$(F_BUILD)/fuzz_%)
ifeq ($(LIBFUZZER),yes)
	@mkdir -p $(F_BUILD)/$*/seeds $(F_BUILD)/$*/found
	./$< --seeds $(F_BUILD)/$*/seeds $(F_BUILD)/$*/words
	cd $(F_BUILD)/$* && CUBC_KERNELS="$(CURDIR)/kernels" ../fuzz_$* -runs=$(FUZZ_RUNS) -max_len=16384 \
	    -timeout=5 -malloc_limit_mb=8 -print_final_stats=1 -dict=words found seeds
else
	CUBC_KERNELS="$(CURDIR)/kernels" ./$< $(FUZZ_RUNS) $$(date +%s)
endif

$(F_BUILD)/%.o: csrc/%.c Makefile | system
	@mkdir -p $(@D)
	@echo "CC $< for libFuzzer"
	@$(FUZZ_CC) $(F_FLAGS) -MMD -MP -c -o $@ $<

$(F_FUZZERS): $(F_BUILD)/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(F_OBJECTS)
	@$(FUZZ_CC) $(F_FLAGS) -Itests/fuzz -fsanitize=fuzzer -o $@ $< $(F_OBJECTS) -lsqlite3 -ldl -lm

-include $(F_OBJECTS:.o=.d)

# ---- pages ---------------------------------------------------------------------------------------
# Notebooks lie beside the pages while they are built.
docs: build
	@$(BIN)/python -c 'import furo, myst_nb, numpydoc' 2>/dev/null \
	    || $(BIN)/python -m pip install -q --no-compile --disable-pip-version-check -r docs/requirements.txt
	@rm -rf build/docs && mkdir -p build/docs/pages
	@cp -R docs notebooks build/docs/pages && cp -R notebooks build/docs/pages/docs
	@ln -s $(foreach name,csrc CONTRIBUTING.md README.md pyproject.toml,"$(CURDIR)/$(name)") build/docs/pages
	$(BIN)/python -m sphinx -q -W --keep-going -j $(JOBS) -b html build/docs/pages/docs build/docs/html

notebooks:
	@sh tools/setup.sh dev
	$(BIN)/python tools/notebooks.py $(NOTEBOOKS)

# ---- wheel --------------------------------------------------------------------------------------
wheel:
	@sh tools/wheel.sh

# ---- analysis -----------------------------------------------------------------------------------
# A source that passed is looked at again when it, or what it includes, has changed. Every version of
# gcc has false findings of its own: lint asks only the one that the exceptions below are for.
ANALYZER := 12
ANALYZED = $(if $(filter $(ANALYZER),$(shell $(CC) -dumpversion)),analyze)
A_BUILD := build/analyze
A_STAMPS := $(C_SOURCES:csrc/%.c=$(A_BUILD)/%.o)
A_FLAGS = -O1 $(filter-out -g -fsanitize=% -fno-sanitize-recover=%,$(C_COMMON)) -fanalyzer

# The array is filled by two loops, a part each.
$(A_BUILD)/base/hash.o: A_FLAGS += -Wno-analyzer-use-of-uninitialized-value
# The last error is the thread's own until it ends.
$(A_BUILD)/base/error.o: A_FLAGS += -Wno-analyzer-malloc-leak
# A format that is not found has set an error, which is not 0.
$(A_BUILD)/lattice/io/field_file.o: A_FLAGS += -Wno-analyzer-null-dereference
# strncasecmp has found six characters in the word.
$(A_BUILD)/lattice/io/nersc.o: A_FLAGS += -Wno-analyzer-use-of-uninitialized-value

analyze: $(A_STAMPS)

$(A_BUILD)/%.o: csrc/%.c Makefile | system
	@mkdir -p $(@D)
	@echo "ANALYZE $<"
	@$(CC) $(A_FLAGS) -MMD -MP -c -o $@ $<

-include $(A_STAMPS:.o=.d)

# All of the tests that needs no Python, to be made while pip waits for packages.
compiled: $(C_PROGRAMS) $(ANALYZED)

# ---- formatting and lint ------------------------------------------------------------------------
C_FILES = $(shell find csrc kernels tests/c tests/fuzz benchmarks -name '*.[ch]' -o -name '*.cu')

lint: checked $(ANALYZED)

checked: installed
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/stub.py --check
	$(BIN)/python -m mypy
	$(BIN)/python tools/subjects.py

format:
	@sh tools/setup.sh dev
	$(BIN)/clang-format -i $(C_FILES)
	$(BIN)/python tools/stub.py
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# ---- measurements -------------------------------------------------------------------------------
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

# Those that need no file; lattice_dslash needs a GPU and PyTorch.
MEASURED := cpu cub flush lattice_cg lattice_io measurement overhead search_rate startup \
	verdict_errors verdicts

# CUB of the toolkit, and the newest: its headers come with the package cuda-cccl (the extra bench), or
# lie in CCCL=FOLDER.
CCCL = $(shell $(BIN)/python -c 'import cuda.cccl as c; print(*c.__path__)' 2>/dev/null)/headers/include

bench: build $(if $(NVCC),build/libcub_reference.so $(if $(wildcard $(CCCL)),build/libcub_newest.so))
	set -e; for name in $(MEASURED); do $(BIN)/python benchmarks/$$name.py; done

# All cells beside CUB: those that read and write, and those that sort, two to four minutes a part.
SORTS := sort.keys sort.pairs merge_sort.keys merge_sort.pairs segmented_sort.keys.8 \
	segmented_sort.keys.256 segmented_sort.keys.65536 segmented_sort.pairs.256
CUB_OPTIONS := --samples 21 --jobs $(JOBS) --json
bench-cub: build build/libcub_newest.so
	$(BIN)/python benchmarks/cub.py $(CUB_OPTIONS) --but $(SORTS)
	$(BIN)/python benchmarks/cub.py $(CUB_OPTIONS) --names $(SORTS)

tables: build
	$(BIN)/python benchmarks/readme_table.py
	$(BIN)/python benchmarks/note_tables.py
	$(BIN)/python benchmarks/lattice_model.py --write

# A library is compiled in parts, one for each type of items: `make -j`.
CUB_PARTS := entry int8_t uint8_t int32_t int64_t float double
CUB_ARCH := native
define CUB_COMPILE
@mkdir -p $(@D)
$(NVCC) -O3 -std=c++17 -arch=$(CUB_ARCH) -Xcompiler -fPIC $(1) \
    $(if $(filter entry,$*),,-DCUB_ITEM=$*) -c -o $@ $<
endef

build/libcub_reference.so: $(CUB_PARTS:%=build/cub_reference/%.o)
build/libcub_newest.so: $(CUB_PARTS:%=build/cub_newest/%.o)
build/libcub_reference.so build/libcub_newest.so:
	$(NVCC) -shared -o $@ $^

build/cub_reference/%.o: benchmarks/cub_reference.cu
	$(call CUB_COMPILE)

build/cub_newest/%.o: benchmarks/cub_reference.cu
	$(call CUB_COMPILE,-I $(CCCL))

clean:
	rm -rf build dist .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis
	rm -rf python/cubc.egg-info python/cubc/kernels python/cubc/include python/cubc/_core*.so
	find . -name __pycache__ -prune -exec rm -rf {} +
