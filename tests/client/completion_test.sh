#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# completion_test.sh bash|zsh|fish: the completion that `carom completion` prints works in that shell: it completes a
# command, a flag and a file.
#
# Skips without the shell; fails without it under CI=true.
set -euo pipefail

: "${CAROM_BINARY:?}"
shell=${1:?}
if ! command -v "$shell" >/dev/null; then
  printf 'completion_test: needs %s (apt-get install %s)\n' "$shell" "$shell" >&2
  [[ ${CI-} != true ]] || exit 1
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/home"
ln -s "$CAROM_BINARY" "$scratch/bin/carom"
export PATH=$scratch/bin:$PATH HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home TERM=dumb
cd "$scratch"
touch level.tmx
carom completion "$shell" >carom.completion

# candidates LINE: what the shell offers for the last word of LINE, one a line.
candidates_bash() {
  bash --norc -c '
    . ./carom.completion
    read -ra COMP_WORDS <<<"$1"
    [[ $1 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _carom carom
    printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}
# shellcheck disable=SC2016
candidates_fish() { fish --no-config -c 'source carom.completion; complete -C $argv[1]' -- "$1" | cut -f 1; }
# zsh completes on a terminal alone: a second zsh, on a pseudo-terminal, gets the line and a tab, and the key of a
# function that prints its line, completed.
cat >.zshrc <<'ZSH'
PS1=
autoload -U compinit && compinit -u -d ./dump
. ./carom.completion
report() { print -r -- "<$BUFFER>"; }
zle -N report
bindkey '^T' report
print ready
ZSH
candidates_zsh() {
  # shellcheck disable=SC2016
  zsh -f -c '
    zmodload zsh/zpty
    zpty shell "ZDOTDIR=$PWD zsh -i"
    zpty -r -m shell text "*ready*"
    zpty -w -n shell "$1"$'"'\\t\\x14'"'
    zpty -r -m shell text "*<*>*"
    print -r -- "${text//[<>]/ }"
    zpty -d shell' zsh "$1"
}

# expect LINE WORD: WORD is among the candidates for LINE.
expect() {
  local found
  found=$("candidates_$shell" "$1" | tr -d '\r')
  if ! grep -qE -- "(^|[[:space:]])$2([[:space:]]|\$)" <<<"$found"; then
    printf 'completion_test: %s offers for "%s":\n%s\nwhich is not %s\n' "$shell" "$1" "$found" "$2" >&2
    exit 1
  fi
}

expect 'carom sc' scene
expect 'carom scene imp' import
expect 'carom slide --max' --max-contacts
expect 'carom convert lev' level.tmx
