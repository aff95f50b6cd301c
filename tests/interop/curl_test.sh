#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# curl calls both services in JSON: answers, errors and their HTTP statuses, limits, origins of web
# pages (CORS), hosts, tokens, TLS and a Unix socket.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v curl >/dev/null || lacks 'no curl'
page=https://game.example
json='Content-Type: application/json'

# request PATH OPTION…: sets `status`, `head` (in lower case, without carriage returns) and `body`.
request() {
  status=$(curl --silent --show-error --max-time 30 --output "$scratch/body" \
    --dump-header "$scratch/head" --write-out '%{http_code}' "$base/$1" "${@:2}")
  head=$(tr -d '\r' <"$scratch/head" | tr '[:upper:]' '[:lower:]')
  body=$(tr -d '\0' <"$scratch/body")
}

# call METHOD JSON OPTION…: a call of carom.v1.METHOD.
call() { request "carom.v1.$1" --header "$json" --data "$2" "${@:3}"; }

# is STATUS PART…: the last answer has this status, and its body these parts.
is() {
  local part
  [[ $status == "$1" ]] || fail "curl: status $status instead of $1: $body"
  for part in "${@:2}"; do
    [[ $body == *"$part"* ]] || fail "curl: no $part in $body"
  done
}

# has_header LINE, lacks_header NAME: of the last answer, in lower case.
has_header() { grep -qxF -- "$1" <<<"$head" || fail "curl: no header $1 in $head"; }
lacks_header() { ! grep -q "^$1:" <<<"$head" || fail "curl: a header $1 in $head"; }

check_calls() {
  call SceneService/CreateScene '{"name": "scenes/unit", "polygons": [
    {"id": "18446744073709551615", "rings": [{"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}]}]}'
  is 200 '"name":"scenes/unit"' '"polygonCount":"1"'
  has_header 'content-type: application/json'
  call QueryService/Evaluate '{"frame": {"seq": "9007199254740993", "groups": [
    {"scene": "scenes/unit",
     "segments": {"ax": [-1, 5], "ay": [0.1, 5], "bx": [3, 6], "by": [0.5, 6]},
     "points": {"x": [0.5, "NaN"], "y": [0.5, 0]}},
    {"scene": "scenes/nowhere", "points": {"x": [0], "y": [0]}}]}}'
  is 200 '"seq":"9007199254740993"' '"counts":[1,0]' '"polygonId":["18446744073709551615"]' \
    '"fraction":[0.25]' '"exitFraction":[0.5]' '"feature":["FEATURE_EDGE"]' \
    '"location":["LOCATION_INSIDE"]' '"index":1,"code":3,"field":"x"' '"code":5'
  # Names as in the .proto files, numbers for 64-bit integers, another character set.
  request carom.v1.SceneService/ListScenes --data '{"page_size": 1}' \
    --header 'Content-Type: application/json; charset=utf-8'
  is 200 '"scenes":[{"name":"scenes/unit"'
  # The stream of an export: a message and the end, each in an envelope.
  printf '\0\0\0\0\26{"name":"scenes/unit"}' >"$scratch/envelope"
  request carom.v1.SceneService/ExportScene --data-binary "@$scratch/envelope" \
    --header 'Content-Type: application/connect+json'
  is 200 '"polygons":[{"id":"18446744073709551615"' $'\2\2{}'
  has_header 'content-type: application/connect+json'
  has_header 'transfer-encoding: chunked'
}

# The HTTP status and the code of each error that a request can easily meet.
check_errors() {
  call SceneService/GetScene '{"name": "scenes/nowhere"}'
  is 404 '"code":"not_found"' '"type":"google.rpc.BadRequest"' '"field":"name"'
  call SceneService/CreateScene '{"name": "scenes/unit"}'
  is 409 '"code":"already_exists"'
  call SceneService/GetScene '{"name": "scenes/unit", "version": 99}'
  is 400 '"code":"out_of_range"'
  call SceneService/CommitEdits '{"name": "scenes/unit", "base_version": 99}'
  is 409 '"code":"aborted"'
  call SceneService/LintScene '{"name": "scenes/nowhere"}'
  is 404 '"code":"not_found"'
  call SceneService/GetScene '{"name": "scenes/unit", "colour": 1}'
  is 400 '"code":"invalid_argument"' colour
  call SceneService/GetScene '{"name": '
  is 400 '"code":"invalid_argument"'
  call QueryService/Evaluate '{"frame": {"budgetUs": 9000000, "groups": [{"scene": "scenes/unit",
    "minVersion": 99, "points": {"x": [0], "y": [0]}}]}}' --header 'Connect-Timeout-Ms: 200'
  is 504 '"code":"deadline_exceeded"'
  call QueryService/Evaluate '{}' --header 'Connect-Timeout-Ms: soon'
  is 400 '"code":"invalid_argument"' Connect-Timeout-Ms
  call QueryService/Evaluate '{}' --header 'Content-Encoding: gzip'
  is 501 '"code":"unimplemented"'
  call QueryService/Stream '{}'
  is 501 '"code":"unimplemented"'
  call SceneService/ImportScene '{}'
  is 501 '"code":"unimplemented"'
  request carom.v1.QueryService/Evaluate
  is 405 '"code":"unimplemented"'
  has_header 'allow: post, options'
  request carom.v1.QueryService/Evaluate --data '{}' # the content type of a form
  is 415 '"code":"unimplemented"'
  has_header 'accept-post: application/json, application/proto'
  call SceneService/ExportScene '{}'
  is 415 '"code":"unimplemented"'
  call QueryService/Answer '{}'
  is 404 '"code":"unimplemented"'
  request ''
  is 404
}

check_limits() {
  head -c 70000 /dev/zero | tr '\0' ' ' >"$scratch/spaces"
  call QueryService/Evaluate "@$scratch/spaces"
  is 413
  head -c 60000 "$scratch/spaces" >"$scratch/fewer"
  printf '{}' >>"$scratch/fewer"
  call QueryService/Evaluate "@$scratch/fewer"
  is 200
  call QueryService/Evaluate '{}' --header "X-Long: $(head -c 20000 /dev/zero | tr '\0' x)"
  is 431
  call QueryService/Evaluate '{}' --header "X-Long: $(head -c 15000 /dev/zero | tr '\0' x)"
  is 200
}

# What a browser asks before a page may call, and what it reads from the answer.
check_origins() {
  local method=carom.v1.QueryService/Evaluate
  request $method --request OPTIONS --header "Origin: $page" \
    --header 'Access-Control-Request-Method: POST' \
    --header 'Access-Control-Request-Headers: authorization,connect-protocol-version,content-type'
  is 204
  has_header "access-control-allow-origin: $page"
  has_header 'access-control-allow-methods: post'
  has_header 'vary: origin'
  for name in authorization connect-protocol-version connect-timeout-ms content-type; do
    grep -q "^access-control-allow-headers:.*$name" <<<"$head" || fail "curl: $name is not allowed"
  done
  request $method --request OPTIONS --header 'Origin: https://other.example' \
    --header 'Access-Control-Request-Method: POST'
  is 403 '"code":"permission_denied"' --http-allowed-origins
  lacks_header access-control-allow-origin
  call QueryService/Evaluate '{}' --header "Origin: $page"
  is 200
  has_header "access-control-allow-origin: $page"
  call SceneService/GetScene '{"name": "scenes/nowhere"}' --header "Origin: $page"
  is 404
  has_header "access-control-allow-origin: $page"
  call QueryService/Evaluate '{}' --header "Origin: $base" # a page of the server itself
  is 200
  for origin in https://other.example null "http://${page#https://}" "$page:8443"; do
    call QueryService/Evaluate '{}' --header "Origin: $origin"
    is 403 '"code":"permission_denied"'
    lacks_header access-control-allow-origin
  done
}

# The name by which a page reached the server.
check_hosts() {
  local host
  for host in localhost localhost:1 127.0.0.1:1 '[::1]:1' "${page#https://}" "${page#https://}:1"; do
    call QueryService/Evaluate '{}' --header "Host: $host"
    is 200
  done
  for host in other.example localhost.other.example "${page#https://}.other.example"; do
    call QueryService/Evaluate '{}' --header "Host: $host"
    is 403 '"code":"permission_denied"' --http-allowed-origins
  done
}

check_tokens() {
  call SceneService/ListScenes '{}'
  is 401 '"code":"unauthenticated"'
  has_header 'www-authenticate: bearer'
  call SceneService/ListScenes '{}' --header 'Authorization: Bearer wrong'
  is 401 '"code":"unauthenticated"'
  call SceneService/ListScenes '{}' --header "Authorization: Bearer $reader"
  is 200
  call SceneService/CreateScene '{"name": "scenes/mine"}' --header "Authorization: Bearer $reader"
  is 403 '"code":"permission_denied"'
}

# tls_file NAME SUBJECT: makes a key and a certificate that the authority in ca.pem has signed.
tls_file() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$2" \
    -addext "subjectAltName = DNS:$2" -keyout "$1.key" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy \
    -days 2 -out "$1.pem"
}

make_tls_files() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca \
    -keyout ca.key -out ca.pem
  tls_file server localhost
  tls_file writer game.example
  tls_file stranger other.example
}

# TLS, and clients that their certificates name.
check_tls() {
  local -a trusted=(--cacert "$scratch/ca.pem")
  status=$(curl --silent --output /dev/null --write-out '%{http_code}' "$base/" || true)
  [[ $status == 000 ]] || fail 'curl: the server speaks without TLS'
  base=https://localhost:${http_address##*:}
  call SceneService/ListScenes '{}' "${trusted[@]}" --header "Authorization: Bearer $reader"
  is 200
  call SceneService/ListScenes '{}' "${trusted[@]}"
  is 401
}

check_certificates() {
  local -a trusted=(--cacert "$scratch/ca.pem")
  base=https://localhost:${http_address##*:}
  ! curl --silent --output /dev/null "${trusted[@]}" "$base/" ||
    fail 'curl: a client without a certificate can connect'
  trusted+=(--cert "$scratch/writer.pem" --key "$scratch/writer.key")
  call SceneService/CreateScene '{"name": "scenes/mine"}' "${trusted[@]}"
  is 200
  # A token replaces the certificate.
  call SceneService/ListScenes '{}' "${trusted[@]}" --header "Authorization: Bearer $reader"
  is 200 scenes/mine
  call SceneService/DeleteScene '{"name": "scenes/mine"}' "${trusted[@]}" \
    --header "Authorization: Bearer $reader"
  is 403
  call SceneService/ListScenes '{}' --cacert "$scratch/ca.pem" --cert "$scratch/stranger.pem" \
    --key "$scratch/stranger.key"
  is 401
}

# watch NAME CLIENT: writes what a watch of scenes/unit gets to $scratch/NAME, behind a proxy that names the address
# CLIENT. The watch replaces the shell that it runs in, so that its id is that of the job.
watch() {
  exec curl --silent --no-buffer --max-time 30 --unix-socket "$scratch/http.sock" --output "$scratch/$1" \
    --header 'Content-Type: application/connect+json' --header "X-Forwarded-For: $2" \
    --data-binary "@$scratch/envelope" "$base/carom.v1.SceneService/WatchScene"
}

# await_watch NAME: waits until the watch has the scene.
await_watch() {
  local waited
  for ((waited = 0; waited < 400; ++waited)); do
    ! grep -aqs '"name":"scenes/unit"' "$scratch/$1" || return 0
    sleep 0.05
  done
  fail "curl: the $1 peer has no watch"
}

# A proxy on a Unix socket names the client whose limits count.
check_peers() {
  local -a watches
  base=http://localhost
  call SceneService/CreateScene '{"name": "scenes/unit"}' --unix-socket "$scratch/http.sock"
  is 200
  printf '\0\0\0\0\26{"name":"scenes/unit"}' >"$scratch/envelope"
  watch first 192.0.2.1 &
  watches=($!)
  await_watch first
  (watch second 192.0.2.1) || true
  grep -aq '"code":"resource_exhausted"' "$scratch/second" || fail 'curl: a peer has two watches'
  watch other 192.0.2.2 &
  watches+=($!)
  await_watch other
  kill "${watches[@]}" 2>/dev/null || true
  wait "${watches[@]}" 2>/dev/null || true
}

make_credentials
start_server --http-address 127.0.0.1:0 --http-allowed-origins "$page" --max-message-bytes 65536
base=http://$http_address
check_calls
check_errors
check_limits
check_origins
check_hosts
stop_server

start_server --http-address 127.0.0.1:0 --credentials "$scratch/credentials"
base=http://$http_address
check_tokens
stop_server

(cd "$scratch" && make_tls_files) 2>"$scratch/openssl"
declare -a tls=(--tls-certificate "$scratch/server.pem" --tls-key "$scratch/server.key")
start_server --http-address 127.0.0.1:0 "${tls[@]}" --credentials "$scratch/credentials"
check_tls
stop_server
printf 'certificate game.example acme writer\n' >>"$scratch/credentials"
start_server --http-address 127.0.0.1:0 "${tls[@]}" --tls-client-ca "$scratch/ca.pem" \
  --credentials "$scratch/credentials"
check_certificates
stop_server

listen=unix:$scratch/grpc.sock start_server --http-address "unix:$scratch/http.sock" \
  --trust-forwarded-for --max-watches-per-peer 1
check_peers
stop_server
