#!/bin/sh
# Makes this checkout runnable: `make demo` and `make test` call it first, so that a machine with
# nothing but git, python3 and a C compiler needs no further instruction.
#
#   tools/setup.sh system    system packages only
#   tools/setup.sh run       and .venv with cubc, installed for editing
#   tools/setup.sh dev       and what the tests and linters need
#
# Missing packages are installed where that is allowed (root, with apt-get); else a sentence names
# them.
# A stamp in .venv remembers what was installed from which sources: the second call does nothing.
# PYTHON chooses the interpreter (default: python3).
set -eu
cd "$(dirname "$0")/.."
goal=${1:-dev}
python=${PYTHON:-python3}
venv=.venv

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

compiles() { # compiles COMPILER LANGUAGE HEADER [OPTION...]
    compiler=$1 language=$2 header=$3
    shift 3
    printf '#include <%s>\n' "$header" | $compiler -x "$language" -fsyntax-only "$@" - >/dev/null 2>&1
}

missing_packages() { # Debian's names of what is not there, one a line
    command -v make >/dev/null || echo make
    compiles "${CC:-cc}" c stdlib.h || printf 'gcc\nlibc6-dev\n'
    compiles "${CXX:-c++}" c++ cstdlib || echo g++
    compiles "${CC:-cc}" c sqlite3.h || echo libsqlite3-dev
    command -v "$python" >/dev/null || printf 'python3\n'
    "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null) || headers=
    compiles "${CC:-cc}" c Python.h "-I$headers" || echo python3-dev
}

system() {
    missing=$(missing_packages | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing $missing"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq
        # shellcheck disable=SC2086 # a list of words
        apt-get install -y -qq --no-install-recommends $missing >/dev/null
        missing=$(missing_packages | tr '\n' ' ')
        [ -z "$missing" ] || die "still missing after their installation: $missing"
    else
        die "please install: $missing(Debian's names; as root: apt-get install $missing)"
    fi
}

extras() { # of pyproject.toml, for `pip install .[...]`
    if [ "$goal" != dev ]; then
        echo '[tune]'
        return 0
    fi
    # NVRTC compiles for GPUs that are not there, so a machine without a driver tests with NVIDIA's
    # wheel; a machine with one tests with the CUDA that belongs to its driver.
    if [ -e /dev/nvidiactl ]; then
        echo '[dev]'
    else
        echo '[dev,cuda13]'
    fi
}

stamped() { # stamped NAME TEXT: whether the last successful step NAME was for this very TEXT
    [ "$(cat "$venv/cubc-$1" 2>/dev/null)" = "$2" ]
}
stamp() { printf '%s\n' "$2" >"$venv/cubc-$1"; }
checksum() { cksum | tr ' ' -; }

environment() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "cubc needs Python 3.11 or newer, $python is older: choose one with PYTHON=..."
    interpreter=$("$python" -c 'import sys; print(sys.base_prefix, *sys.version.split())')

    # Our own .venv is made anew for another Python; one that somebody else made is used as it is.
    if ! stamped python "$interpreter" &&
        { [ -e $venv/cubc-python ] || ! $venv/bin/python -m pip --version >/dev/null 2>&1; }; then
        say "creating $venv"
        rm -rf $venv
        "$python" -m venv $venv
        stamp python "$interpreter"
    fi

    if [ "$goal" = run ] && grep -qs '^dev' $venv/cubc-needs; then
        goal=dev # never less than what is there
    fi
    needs="$goal $(checksum <pyproject.toml)"
    sources=$({
        echo "${CUBC_DEBUG:-}/${CUBC_SANITIZE:-}/${CUBC_COVERAGE:-}"
        find kernels -type f | LC_ALL=C sort
        cat setup.py
        find csrc -type f | LC_ALL=C sort | xargs cksum
    } | checksum)

    # Only a part of what is installed is imported, and compiled then.
    pip="$venv/bin/python -m pip install -q --no-compile --disable-pip-version-check"
    if ! stamped needs "$needs"; then
        say "installing cubc$(extras) and what it needs into $venv"
        $pip 'setuptools>=77'
        $pip --no-build-isolation -e ".$(extras)"
        stamp needs "$needs"
        stamp sources "$sources"
    elif ! stamped sources "$sources"; then
        say "building the core"
        $pip --no-build-isolation --no-deps -e .
        stamp sources "$sources"
    fi
}

case $goal in
    system) system ;;
    run | dev)
        system
        environment
        ;;
    *) die "unknown goal $goal: system, run or dev" ;;
esac
