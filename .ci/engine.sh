# Gets a container engine and an image to build on: `start_engine`, `stop_engine`. An engine that runs is used as it is; else
# one is installed and started here, without any network, and stopped by its process id. The base image is made from the
# system's packages, once a machine, since no registry of images need be reachable.

engine_cache=/var/cache/agentgym-ci
engine_run=""
engine_pid=""

engine_answers() { python3 .ci/engine.py ping "$1" 2>/dev/null; }

engine_has_base() {
  python3 - "$1" "$AGENTGYM_TEST_BASE" <<'END'
import sys

sys.path.insert(0, ".ci")
from engine import Engine

engine = Engine(sys.argv[1])
engine.request("GET", f"/images/{sys.argv[2]}/json")
sys.exit(engine.getresponse().status != 200)
END
}

# The release whose python3 is new enough: this machine's own where it is Debian 12 or later.
engine_suite() {
  (
    . /etc/os-release
    case "${ID:-}:${VERSION_ID:-}" in
      debian:1[2-9]) echo "$VERSION_CODENAME" ;;
      *) echo bookworm ;;
    esac
  )
}

make_base() {
  local suite tar
  suite="$(engine_suite)"
  tar="$engine_cache/base-$suite.tar"
  if [[ ! -s "$tar" ]]; then
    mkdir -p "$engine_cache"
    echo "== making a base image of $suite packages"
    mmdebstrap --variant=essential --include=python3 --format=tar "$suite" "$tar.part" >"$engine_run/mmdebstrap.log" 2>&1 || {
      tail -n 20 "$engine_run/mmdebstrap.log"
      return 1
    }
    mv "$tar.part" "$tar"
  fi
  python3 .ci/engine.py load "$1" "$tar" "$AGENTGYM_TEST_BASE"
}

# dockerd with the options given, in the background; waits until it answers or ends.
try_engine() {
  local socket="$engine_run/docker.sock"
  dockerd --host "unix://$socket" --pidfile "$engine_run/docker.pid" --exec-root "$engine_run/exec" \
    --data-root "$engine_cache/docker" --bridge=none --iptables=false --ip6tables=false "$@" \
    >>"$engine_run/dockerd.log" 2>&1 &
  engine_pid=$!
  for _ in $(seq 120); do
    engine_answers "$socket" && return 0
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.5
  done
  stop_engine
  return 1
}

start_engine() {
  local socket="${DOCKER_HOST:-unix:///var/run/docker.sock}" missing=()
  engine_run="$(mktemp -d /tmp/agentgym-ci.XXXXXX)"
  socket="${socket#unix://}"
  if ! engine_answers "$socket"; then
    command -v dockerd >/dev/null || missing+=(docker.io iptables)
    command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
    if ((${#missing[@]})); then
      echo "== installing ${missing[*]}"
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$engine_run/apt.log" 2>&1 || {
        tail -n 20 "$engine_run/apt.log"
        return 1
      }
    fi
    socket="$engine_run/docker.sock"
    # Where the file system beneath is an overlay itself, only copying layers works.
    try_engine || try_engine --storage-driver=vfs || {
      tail -n 30 "$engine_run/dockerd.log"
      echo "no container engine could be started here" >&2
      return 1
    }
    echo "== a container engine runs, process $engine_pid"
    export DOCKER_HOST="unix://$socket"
  fi
  if ! engine_has_base "$socket"; then
    if ! command -v mmdebstrap >/dev/null; then
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null
    fi
    make_base "$socket"
  fi
}

stop_engine() {
  if [[ -n "$engine_pid" ]] && kill "$engine_pid" 2>/dev/null; then
    for _ in $(seq 60); do
      kill -0 "$engine_pid" 2>/dev/null || break
      sleep 0.5
    done
    kill -9 "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
  fi
  engine_pid=""
}

# At the end: the engine that was started here, and its folder.
clean_engine() {
  stop_engine
  [[ -z "$engine_run" ]] || rm -rf "$engine_run"
}
