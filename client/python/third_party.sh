# shellcheck shell=bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by client/python/wheel.sh and client/web/web.sh, which compile the core by ziglang: the compiler, and sources of
# others as they were published. Needs `fail`.

# The tarball of Abseil; Debian's changes to it are settings of Debian's build.
abseil_sha256=abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe

# install_tools VENV PINS: installs what PINS names, by hashes.
install_tools() {
  [[ ! $1/installed -nt $2 ]] || return 0
  python3 -m venv --clear "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$2"
  touch "$1/installed"
}

# fetch_source FOLDER SUITE PACKAGE TARBALL SHA256: the tarball of a source package of Debian, in FOLDER. By lists of
# apt's that stay there: the machine's own settings, which need not name sources, stay as they are.
fetch_source() {
  local folder=$1 suite=$2 package=$3 tarball=$4 lists=$1/apt/$2
  if [[ ! -f $folder/$tarball ]]; then
    mkdir -p "$lists/lists/partial"
    # shellcheck disable=SC2016  # apt-get expands these
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
      awk -v suite="$suite" '$2 == "bookworm" && $3 == "main" && !seen[$0]++ { print "deb-src", $1, suite, $3 }' \
        >"$lists/sources.list"
    local -a apt=(apt-get -qq -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
      -o Dir::State::Lists="$lists/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
      -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$lists" && "${apt[@]}" source --download-only --tar-only "$package")
    mv "$lists/$tarball" "$folder/$tarball"
  fi
  sha256sum --check --quiet <<<"$5  $folder/$tarball" || fail "$folder/$tarball is another file: remove it"
}

# lay_abseil FOLDER: Abseil's sources in FOLDER/third_party, of a tarball in FOLDER.
lay_abseil() {
  local tarball=abseil_20220623.1.orig.tar.gz folder=$1/third_party
  fetch_source "$1" bookworm abseil "$tarball" "$abseil_sha256"
  [[ -d $folder/absl && ! -L $folder/absl ]] || {
    rm -rf "$folder"
    mkdir "$folder"
    tar -xf "$1/$tarball" -C "$folder" --strip-components=1 --wildcards '*/absl' '*/LICENSE'
  }
  ln -sfn /usr/include/boost "$folder/boost"
}
