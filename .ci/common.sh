# What both gates share. It is sourced from the root of the repository.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=1 # two test processes on two cores
path=$PATH

fresh() { # fresh NAME PYTHON: an empty environment, and the one in use from here on
  "$2" -m venv "$work/$1"
  export PATH="$work/$1/bin:$path" VIRTUAL_ENV="$work/$1"
}

step() { # step TITLE: says what comes, and after how many seconds
  printf '== %s (after %s s)\n' "$1" "$SECONDS"
}

readme() { # readme COMMAND: run it exactly as it stands
  step "$1"
  bash -euo pipefail -c "$1"
}

python_of() { # python_of VERSION: an interpreter that starts, on the PATH or among pyenv's
  local candidate
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if "$candidate" -c "" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

on_python() { # on_python VERSION PACKAGES TEST...: these tests on another Python, if it is at hand
  local version=$1 packages=$2 interpreter
  shift 2
  interpreter=$(python_of "$version")
  if [ -z "$interpreter" ]; then
    echo "Python $version is not tested: it is not here"
    return
  fi
  step "Python $version: $*"
  fresh "python$version" "$interpreter"
  if ! bash -c "pip install -q $packages"; then
    echo "Python $version is not tested: its packages cannot be had here"
    return
  fi
  python -m pytest -q -n 2 "$@"
}

mapfile -t commands < <(sed -n 's/^\$ //p' README.md)
if [ "${#commands[@]}" -ne 3 ]; then
  echo "README.md should have 3 commands (main job, tests, weights), not ${#commands[@]}" >&2
  exit 1
fi
