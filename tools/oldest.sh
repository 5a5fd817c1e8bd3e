#!/bin/sh
# Tries the oldest packages that pyproject.toml allows, in an environment under build/oldest, with the
# tests of Python's side. PYTHON chooses the interpreter: 3.11, 3.12 have wheels of those packages.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh system
folder=build/oldest
rm -rf $folder
"${PYTHON:-python3}" -m venv $folder
$folder/bin/python - >$folder/constraints.txt <<'END'
import re
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
needs = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
for need in needs:
    if match := re.fullmatch(r"([\w-]+)>=([\d.]+)", need):
        print(f"{match[1]}=={match[2]}")
print("pyparsing<3.2")  # 3.3 warns of the oldest Matplotlib's calls
END
$folder/bin/python -m pip install -q --disable-pip-version-check -c $folder/constraints.txt \
    '.[tune,ffi,plot,trace,optuna]' \
    pytest pytest-timeout pytest-xdist hypothesis ml-dtypes array-api-compat
PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_PLUGINS=pytest_timeout $folder/bin/python -m pytest -q \
    -p xdist -n "${JOBS:-2}" --dist worksteal -p no:cacheprovider \
    tests/core/test_array*.py tests/core/test_callables.py tests/core/test_dlpack_exchange.py \
    tests/core/test_interface.py tests/core/test_odd_arguments.py tests/core/test_options.py \
    tests/core/test_trace.py tests/primitives/test_every_primitive.py \
    tests/tuner/test_analyze.py tests/tuner/test_frames.py tests/tuner/test_model.py \
    tests/tuner/test_plots.py tests/tuner/test_report.py tests/tuner/test_strategy.py
