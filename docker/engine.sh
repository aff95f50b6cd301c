# shellcheck shell=bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Container functions of ./dev, which sources this file: docker where its engine answers, else podman
# and buildah as root, with settings and storage of their own below build/containers, so that they
# work without a running service and change nothing of the machine's. CAROM_CONTAINERS names another folder,
# so that several checkouts can share one.

containers_dir=${CAROM_CONTAINERS:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../build/containers}
containers_dir=$(realpath -m "$containers_dir")

# Runs a command as root; fails, and says so, where that is not possible.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif ! command -v sudo >/dev/null; then
    printf 'dev: this needs root, and there is no sudo\n' >&2
    return 1
  elif [[ -t 0 && ${CI-} != true ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

has_docker() { command -v docker >/dev/null && docker info >/dev/null 2>&1; }

# Writes podman's settings.
write_settings() {
  mkdir -p "$containers_dir"
  cat >"$containers_dir/containers.conf" <<'TEXT'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
TEXT
  cat >"$containers_dir/storage.conf" <<TEXT
[storage]
driver = "overlay"
graphroot = "$containers_dir/graphroot"
runroot = "$containers_dir/runroot"
TEXT
}

# with_storage COMMAND…: podman or buildah, as root, with the settings above.
with_storage() {
  [[ -f $containers_dir/storage.conf ]] || write_settings
  as_root env BUILDAH_ISOLATION=chroot CONTAINERS_CONF="$containers_dir/containers.conf" \
    CONTAINERS_STORAGE_CONF="$containers_dir/storage.conf" "$@"
}

# engine ARGS…: docker or podman.
engine() {
  if has_docker; then
    docker "$@"
  elif command -v podman >/dev/null; then
    with_storage podman "$@"
  else
    printf 'dev: no Docker engine answers and there is no podman: run ./dev image first\n' >&2
    return 2
  fi
}

# Writes the machine's way to Debian's packages, sources and transport, to sources.list and apt.conf,
# so that a build goes the same way. They stay below build/ and are mounted, never copied.
write_apt_settings() {
  # shellcheck disable=SC2016  # apt-get expands these
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 ~ /^bookworm/ && $3 == "main" && !seen[$0]++ { print "deb", $0 }' \
      >"$containers_dir/sources.list"
  apt-config dump Acquire | grep -E '^Acquire::(http|https|Check)' \
    >"$containers_dir/apt.conf" || true
}

# Makes the image debian:bookworm-slim from Debian's packages, unless it is there.
import_base() {
  local mirror base=$containers_dir/base
  if with_storage podman image exists localhost/debian:bookworm-slim; then
    return
  fi
  mirror=$(awk '$3 == "bookworm" { print $2; exit }' "$containers_dir/sources.list")
  as_root rm -rf "$base"
  as_root debootstrap --variant=minbase --include=ca-certificates bookworm "$base" "$mirror"
  as_root tar -C "$base" -c . | with_storage podman import - localhost/debian:bookworm-slim
  as_root rm -rf "$base"
}

# Prints the time that what is built from the checkout ROOT bears, in seconds since 1970: SOURCE_DATE_EPOCH,
# else the time of the commit, else 0. Never the time of the build, so that equal sources give equal bytes.
source_epoch() {
  printf '%s\n' "${SOURCE_DATE_EPOCH:-$(git -C "$1" log -1 --format=%ct 2>/dev/null || echo 0)}"
}

# bud ROOT TAG ARGS…: builds the image by buildah.
bud() {
  local epoch
  epoch=$(source_epoch "$1")
  write_settings
  write_apt_settings
  import_base
  with_storage buildah bud "${@:3}" --network host --timestamp "$epoch" \
    --build-arg SOURCE_DATE_EPOCH="$epoch" \
    --volume "$containers_dir/sources.list:/etc/apt/sources.list:ro" \
    --volume "$containers_dir/apt.conf:/etc/apt/apt.conf.d/90host:ro" \
    --file "$1/docker/Dockerfile" --tag "$2" "$1"
}

# build_image ROOT TAG
build_image() {
  if has_docker; then
    docker build --build-arg SOURCE_DATE_EPOCH="$(source_epoch "$1")" \
      --file "$1/docker/Dockerfile" --tag "$2" "$1"
  else
    bud "$1" "$2" --layers --format docker
  fi
}

# release_image ROOT VERSION FOLDER: builds the image of a release and writes to FOLDER the image, as an archive
# in the format of OCI, and what the image says of its parts. By buildah even where docker is there, so that
# the bytes do not depend on the engine; without a cache, so that the libraries are Debian's latest.
release_image() {
  local tag=localhost/carom:$2 name=$3/carom-$2-image layout=$containers_dir/release container files
  bud "$1" "$tag" --no-cache --format oci --build-arg CAROM_VERSION="$2"
  as_root rm -rf "$layout"
  with_storage buildah push --quiet "$tag" "oci:$layout:$tag"
  as_root tar -C "$layout" --sort=name --mtime="@$(source_epoch "$1")" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX -c blobs index.json oci-layout >"$name.tar"
  as_root rm -rf "$layout"
  container=$(with_storage buildah from --pull-never "$tag")
  files=$(with_storage buildah mount "$container")/usr/share/doc/carom
  as_root cat "$files/carom.cdx.json" >"$name.cdx.json"
  as_root cat "$files/THIRD_PARTY.md" >"$3/THIRD_PARTY.md"
  with_storage buildah rm "$container" >/dev/null
  with_storage buildah rmi "$tag" >/dev/null
}
