#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The manifests of docker/kubernetes, as kustomize builds them, and docker/compose.yaml: what each file
# beside this one says. Skips, with exit code 77, without the Go of go.mod or a registry of modules;
# fails there if CI is set.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../interop/common.sh"
module=$source_dir/tests/kubernetes
export GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false'

# Downloads the modules of what is compiled, and no others.
install_kubernetes() { (cd "$module" && go list -deps -test ./... >/dev/null); }

command -v go >/dev/null || lacks 'no Go'
version=$(go env GOVERSION)
wanted=$(awk '$1 == "go" { print $2 }' "$module/go.mod")
at_least "${version#go}" "$wanted" || lacks "Go ${version#go} is older than $wanted"
install kubernetes "$version" "$module/go.mod" "$module/go.sum"

cd "$module"
[[ -z $(gofmt -l .) ]] || fail "not formatted: $(gofmt -l .)"
go vet ./...
# The cache of Go does not notice changes of the manifests, which lie outside the module.
go test -count=1 ./...
