#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# The Debian packages have equal bytes if they are packed twice, and lintian reports no error and no warning. In a clean
# Debian 12, which is booted with systemd and has no network, the service starts when it is installed, with the packaged
# settings, and keeps its scenes over a restart and an upgrade. Programs use the library, and a purge leaves nothing.
#
#   deb_test.sh [BUILD]   BUILD is a build of the preset `deb`; by default ./dev deb makes it
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=docker/engine.sh
source "$root/docker/engine.sh"
build=${1-}
if [[ -z $build ]]; then
  "$root/dev" deb
  build=$root/build/deb
fi
if ((EUID != 0)); then
  as_root env SOURCE_DATE_EPOCH="$(source_epoch "$root")" "$0" "$build"
  exit
fi

mkdir -p "$root/build"
scratch=$(mktemp -d "$root/build/deb_test.XXXXXX")
containers_dir=$scratch # where write_apt_settings writes
debian=$scratch/debian packages=$scratch/packages
container='' leader=''

fail() {
  printf 'deb_test: %s\n' "$*" >&2
  exit 1
}

# quietly COMMAND…: its output is shown only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && fail "failed: $*"; }; }

# Shuts the container down, which takes a second, or else ends it.
clean_up() {
  if [[ -n $container ]]; then
    [[ -z $leader ]] || inside systemctl poweroff 2>/dev/null || true
    timeout 20 tail --pid="$container" -f /dev/null || kill -KILL "$container" 2>/dev/null || true
  fi
  rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

# What commands in the clean Debian find in their environment. DEBIAN_FRONTEND forbids questions.
environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TMPDIR=/tmp DEBIAN_FRONTEND=noninteractive)

# within COMMAND…: in the folder of the clean Debian, with the machine's network and without systemd.
within() { env "${environment[@]}" chroot "$debian" "$@"; }

# inside COMMAND…: in the booted Debian.
inside() { env -i "${environment[@]}" nsenter --target "$leader" --all --wdns=/ -- "$@"; }

# --- Without a container ------------------------------------------------------------------------

# A second run gives the same bytes, also under another umask, and no file names the folder of the build.
pack() {
  quietly "$root/docker/debian/pack.sh" "$build" "$packages"
  (umask 077 && quietly "$root/docker/debian/pack.sh" "$build" "$scratch/again")
  local package
  for package in "$packages"/*.deb; do
    cmp "$package" "$scratch/again/${package##*/}" || fail "a second run packs other bytes"
    dpkg-deb -x "$package" "$scratch/files"
  done
  ! grep -rlaF "$(realpath "$root")" "$scratch/files" || fail "these files name the folder of the build"
}

# The one tag that is left out asks which bug of Debian an upload to Debian closes.
check_by_lintian() {
  lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$packages"/*.deb ||
    fail "lintian complains"
}

# groff and man warn about what they cannot render.
check_manual_pages() {
  local page
  for page in "$scratch"/files/usr/share/man/man*/*.gz; do
    zcat "$page" | groff -mandoc -ww -z -Tutf8 >"$scratch/log" 2>&1
    MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>>"$scratch/log" >/dev/null
    [[ ! -s $scratch/log ]] || fail "${page##*/}: $(cat "$scratch/log")"
  done
}

# The completions are where the shells look for them, are those of the packaged program, and work.
check_completions() {
  local carom=$scratch/files/usr/bin/carom share=$scratch/files/usr/share shell
  local -A place=([bash]=bash-completion/completions/carom [zsh]=zsh/vendor-completions/_carom
    [fish]=fish/vendor_completions.d/carom.fish)
  for shell in bash zsh fish; do
    "$carom" completion "$shell" | cmp - "$share/${place[$shell]}" || fail "the completion for $shell is another one"
    ! command -v "$shell" >/dev/null || CAROM_BINARY=$carom quietly "$root/tests/client/completion_test.sh" "$shell"
  done
}

# --- In a Debian that is not booted -----------------------------------------------------------------

# Makes a clean Debian with what the packages depend on, and with what builds a program.
make_debian() {
  local mirror
  write_apt_settings
  mirror=$(awk '$3 == "bookworm" { print $2; exit }' "$scratch/sources.list")
  quietly debootstrap --variant=minbase --include=ca-certificates bookworm "$debian" "$mirror"
  cp "$scratch/sources.list" "$debian/etc/apt/sources.list"
  cp "$scratch/apt.conf" "$debian/etc/apt/apt.conf.d/90host"
  cp -r "$packages" "$debian/packages"
  quietly within apt-get -q update
  quietly within apt-get -q -y install --no-install-recommends cmake g++ make systemd
  cp "$debian"/etc/{passwd,group,shadow,gshadow} "$scratch"
}

# check_nothing_left: no file, user or group of the packages.
check_nothing_left() {
  local file
  file=$(find "$debian" -xdev -name '*carom*' -not -path "$debian/packages/*")
  [[ -z $file ]] || fail "a purge leaves" "$file"
  for file in passwd group shadow gshadow; do
    cmp "$scratch/$file" "$debian/etc/$file" || fail "a purge leaves an entry in /etc/$file"
  done
}

# As in the making of an image: nothing can be started, but the service is enabled for the first boot.
check_installation() {
  quietly within sh -c 'apt-get -q -y install --no-install-recommends /packages/*.deb'
  [[ $(within id -nG carom) == carom ]] || fail "the user carom is not there, or in other groups"
  [[ -L $debian/etc/systemd/system/multi-user.target.wants/caromd.service ]] || fail "the service is not enabled"
  quietly within dpkg --purge caromd carom libcarom1 libcarom-dev
  check_nothing_left
}

# --- In the booted Debian ---------------------------------------------------------------------------

# Boots the Debian in namespaces of its own. Its network is loopback alone, so that all ports are free.
boot() {
  systemd-nspawn --quiet --directory="$debian" --machine="carom-$$" --register=no --keep-unit \
    --private-network --link-journal=no --boot </dev/null >"$scratch/console" 2>&1 &
  container=$!
  local state=''
  for _ in {1..120}; do
    leader=$(tr -d ' ' <"/proc/$container/task/$container/children")
    [[ -z $leader ]] || state=$(inside systemctl is-system-running 2>/dev/null) || true
    [[ $state != running && $state != degraded ]] || return 0
    sleep 0.5
  done
  cat "$scratch/console" >&2
  fail "systemd does not start in the container"
}

# fail_service MESSAGE: with the log of the service.
fail_service() {
  inside journalctl --no-pager --unit caromd >&2 || true
  fail "$*"
}

# Waits until the server answers, and checks that it has the scene.
await_scene() {
  for _ in {1..50}; do
    ! inside carom scene list >"$scratch/scenes" 2>"$scratch/log" || break
    sleep 0.2
  done
  grep -q '"\(scenes/\)\?arena"' "$scratch/scenes" || fail_service "$1: the scene is not there: $(cat "$scratch/log")"
}

main_pid() { inside systemctl show --property MainPID --value caromd; }

# The service runs as its user, with the packaged settings, and keeps a scene.
check_service() {
  quietly inside sh -c 'dpkg -i /packages/*.deb'
  [[ $(inside systemctl is-enabled caromd) == enabled ]] || fail "the service is not enabled"
  [[ $(inside systemctl is-active caromd) == active ]] || fail_service "the service is not active"
  [[ $(inside stat -c %U:%G "/proc/$(main_pid)") == carom:carom ]] || fail "the service runs as another user"
  cp "$root/client/examples/arena.json" "$debian/packages/arena.json"
  for _ in {1..50}; do
    ! inside carom scene list >/dev/null 2>&1 || break
    sleep 0.2
  done
  inside carom scene import arena /packages/arena.json >/dev/null || fail_service "the import fails"
  inside systemctl restart caromd
  await_scene 'after a restart'
  [[ $(inside stat -c %U:%a /var/lib/carom) == carom:700 ]] || fail "others can read /var/lib/carom"
}

# A reload keeps the process, and an upgrade replaces it; a disabled service stays disabled over an upgrade.
check_reload_and_upgrade() {
  local before after
  before=$(main_pid)
  inside systemctl reload caromd
  await_scene 'after a reload'
  after=$(main_pid)
  [[ $after == "$before" ]] || fail_service "a reload starts another process"
  inside systemctl disable --quiet caromd
  quietly inside sh -c 'dpkg -i /packages/caromd_*.deb'
  await_scene 'after an upgrade'
  [[ $(main_pid) != "$before" ]] || fail "after an upgrade the earlier program runs"
  [[ $(inside systemctl is-enabled caromd) == disabled ]] || fail "an upgrade enables a disabled service"
}

# The filter of system calls lets caromd lower the priority of its threads with long work.
check_sandbox() {
  local pid
  pid=$(main_pid)
  inside sh -c "cut -d ' ' -f 19 /proc/$pid/task/*/stat" | grep -x 10 >/dev/null ||
    fail "caromd cannot lower a priority"
  quietly inside systemd-analyze verify --man=no /usr/lib/systemd/system/caromd.service
  # The threshold is ten times the exposure.
  inside systemd-analyze security --offline=true --threshold=20 /usr/lib/systemd/system/caromd.service \
    >"$scratch/security" || fail "the service is exposed more than 2.0: $(tail -n 1 "$scratch/security")"
  tail -n 1 "$scratch/security"
}

# The defaults that /etc/carom/caromd.toml shows are those of caromd, and its other keys and the options of the
# manual page exist.
check_settings() {
  local key
  inside caromd --print-config >"$scratch/defaults"
  sed 's/^#\([a-z]\)/\1/' "$debian/etc/carom/caromd.toml" >"$debian/packages/shown.toml"
  inside caromd --config /packages/shown.toml --print-config | diff "$scratch/defaults" - ||
    fail "caromd.toml shows other defaults, above as >"
  while read -r key; do
    grep -q "^$key = " "$scratch/defaults" || fail "caromd.toml shows a key that caromd does not have: $key"
  done < <(sed -n 's/^#* *\([a-z_]*\) = .*/\1/p' "$debian/etc/carom/caromd.toml")
  inside caromd --help >"$scratch/help"
  while read -r key; do
    grep -qE -- "^ *--$key( |$|\[|,)" "$scratch/help" || fail "caromd.8 has an option that caromd does not have: $key"
  done < <(grep '^\.It Fl Fl' "$root/docker/debian/caromd.8" | grep -o 'Fl Fl [a-z-]*' | cut -d ' ' -f 3)
  inside caromd --probe || fail "the service is not ready"
}

# Programs find the library and the client, and these need no package beside those that libcarom-dev names.
check_library() {
  mkdir "$debian/packages/client"
  cp -r "$root/client/examples/core_only" "$debian/packages/core_only"
  cp "$root/client/examples/first_query.cc" "$debian/packages/client"
  cat >"$debian/packages/client/CMakeLists.txt" <<'TEXT_OF_CMAKE'
cmake_minimum_required(VERSION 3.25)
project(first_query LANGUAGES CXX)
find_package(carom REQUIRED COMPONENTS client)
add_executable(first_query first_query.cc)
target_link_libraries(first_query PRIVATE carom::client)
TEXT_OF_CMAKE
  local program
  for program in core_only client; do
    quietly inside cmake -S "/packages/$program" -B "/packages/$program/build"
    quietly inside cmake --build "/packages/$program/build"
  done
  cp "$root"/core/abi/examples/{ten_questions.c,expected.txt} "$debian/packages"
  inside gcc -std=c11 /packages/ten_questions.c -lcarom -o /packages/ten_questions
  inside /packages/ten_questions | cmp - "$debian/packages/expected.txt" || fail "ten_questions answers otherwise"
  inside /packages/core_only/build/core_only | grep -F 'bullet 0 hits polygon 7 at (0, 5)' >/dev/null ||
    fail "core_only answers otherwise"
  inside /packages/client/build/first_query 127.0.0.1:7420 | grep -F 'bullet 0 hits polygon 7 at (0, 5)' >/dev/null ||
    fail "first_query answers otherwise"
}

# A removal stops the service and keeps scenes and settings; a purge removes them, and what the administrator added.
check_removal() {
  echo '# none' >"$debian/etc/carom/credentials"
  quietly inside dpkg --remove caromd carom
  [[ $(inside systemctl is-active caromd) != active ]] || fail "the service runs after its removal"
  [[ -d $debian/var/lib/carom && -f $debian/etc/carom/caromd.toml ]] || fail "a removal deletes scenes or settings"
  quietly inside dpkg --purge caromd carom libcarom1 libcarom-dev
  check_nothing_left
}

pack
check_by_lintian
check_manual_pages
check_completions
make_debian
check_installation
boot
check_service
check_sandbox
check_reload_and_upgrade
check_settings
check_library
check_removal
echo "the packages were installed, used and purged"
