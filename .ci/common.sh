# What both gates share. It is sourced from the root of the repository.

work=$(mktemp -d)
beside= # the process that runs beside this one
trap 'end_beside; rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=1 # two test processes on two cores
# Modules are compiled when they are first imported, and once for all processes that tests start.
unset PYTHONDONTWRITEBYTECODE
export PIP_COMPILE=0 PYTHONPYCACHEPREFIX="$work/compiled"
path=$PATH

fresh() { # fresh NAME PYTHON: an empty environment, and the one in use from here on
  "$2" -m venv "$work/$1"
  export PATH="$work/$1/bin:$path" VIRTUAL_ENV="$work/$1"
}

step() { # step TITLE: says what comes, and after how many seconds
  printf '== %s (after %s s)\n' "$1" "$SECONDS"
}

beside() { # beside COMMAND...: on the core that the next steps leave free; `joined` waits for it
  set -m # it and what it starts are a group, which ends with this process
  ("$@") >"$work/beside" 2>&1 &
  set +m
  beside=$!
}

end_beside() { # the command beside has no use when the gate ends before it
  [ -z "$beside" ] || kill -- "-$beside" 2>/dev/null || true # it may have ended
}

joined() { # joined: show what the command beside said, and fail if it failed
  local status=0
  wait "$beside" || status=$?
  beside=
  cat "$work/beside"
  return "$status"
}

readme() { # readme COMMAND: run it exactly as it stands
  step "$1"
  bash -euo pipefail -c "$1"
}

packages() { # packages EXTRA...: what the project and these extras need, without the project itself
  python - "$@" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = [project["optional-dependencies"][extra] for extra in sys.argv[1:]]
print(*project["dependencies"], *sum(extras, []), sep="\n")
PYTHON
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

# on_python VERSION PROCESSES PACKAGES TEST...: these tests on another Python, if it is at hand
on_python() {
  local version=$1 processes=$2 packages=$3 interpreter
  shift 3
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
  python -m pytest -q -n "$processes" "$@"
}

mapfile -t commands < <(sed -n 's/^\$ //p' README.md)
if [ "${#commands[@]}" -ne 3 ]; then
  echo "README.md should have 3 commands (main job, tests, weights), not ${#commands[@]}" >&2
  exit 1
fi
