# Every command of this repository. Each does all the set-up that it needs (tools/setup.sh).
#
#   make demo      search, analyse and speed up one reduction on this machine's device
#   make test      everything that can be checked without a GPU
#   make test-gpu  the tests marked gpu, on this machine's GPU
#   make ctest     the C core alone: no Python, under ASan and UBSan
#   make lint      formatting and lint; `make format` mends what it can
#   make bench     benchmarks/*.py side by side with NumPy, or with CUB where nvcc is found
#
# PYTHON chooses the interpreter, CC and CXX the compilers, JOBS how much runs at once.

PYTHON ?= python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BIN := .venv/bin
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
export PYTHON

.PHONY: build test test-gpu ctest lint format demo bench clean
.DEFAULT_GOAL := build

build:
	@sh tools/setup.sh run

# pytest comes last, so that its summary is the last thing to be read.
test: lint
	@$(MAKE) --no-print-directory -j$(JOBS) ctest
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml cubc._core
	$(BIN)/python -m pytest -q -n $(JOBS) --maxprocesses 8

test-gpu:
	@sh tools/setup.sh dev
	$(BIN)/python -m pytest -q -m gpu

demo: build
	$(BIN)/python -m cubc.tuner.demo

# ---- the C core without Python ------------------------------------------------------------------
# One object a source, one program a tests/c/test_*.c, all instrumented. Kernels that the programs
# compile at run time get the same sanitizers: the CPU device passes its own on.
C_BUILD := build/ctest
C_SOURCES := $(filter-out csrc/py_%,$(wildcard csrc/*.c csrc/*/*.c))
C_OBJECTS := $(C_SOURCES:csrc/%.c=$(C_BUILD)/%.o)
C_TESTS := $(patsubst tests/c/%.c,$(C_BUILD)/%,$(wildcard tests/c/test_*.c))
C_FLAGS := -std=c11 -g -O1 -pthread -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Werror \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-Icsrc -DCUBC_VERSION='"$(VERSION)"'

ctest: $(C_TESTS)
	@failed=; for program in $(C_TESTS); do \
	    CUBC_KERNELS="$(CURDIR)/kernels" ./$$program || failed="$$failed $$program"; \
	done; \
	if [ -n "$$failed" ]; then echo "ctest: failed:$$failed"; exit 1; fi; \
	echo "ctest: $(words $(C_TESTS)) programs passed"

$(C_BUILD)/%.o: csrc/%.c Makefile
	@mkdir -p $(@D)
	@echo "CC $<"
	@$(CC) $(C_FLAGS) -MMD -MP -c -o $@ $<

$(C_TESTS): $(C_BUILD)/%: tests/c/%.c $(C_OBJECTS)
	@echo "CC $<"
	@$(CC) $(C_FLAGS) -MMD -MP -MF $@.d -o $@ $< $(C_OBJECTS) -lsqlite3 -ldl -lm

-include $(C_OBJECTS:.o=.d) $(C_TESTS:=.d)

# ---- formatting and lint ------------------------------------------------------------------------
C_FILES = $(shell find csrc kernels tests/c benchmarks -name '*.[ch]' -o -name '*.cu')

lint:
	@sh tools/setup.sh dev
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format:
	@sh tools/setup.sh dev
	$(BIN)/clang-format -i $(C_FILES)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# ---- measurements -------------------------------------------------------------------------------
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

bench: build $(if $(NVCC),build/libcub_reference.so)
	set -e; for script in benchmarks/*.py; do $(BIN)/python $$script; done

build/libcub_reference.so: benchmarks/cub_reference.cu
	@mkdir -p $(@D)
	$(NVCC) -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o $@ $<

clean:
	rm -rf build dist .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis
	rm -rf python/cubc.egg-info python/cubc/kernels python/cubc/include python/cubc/_core*.so
	find . -name __pycache__ -prune -exec rm -rf {} +
