#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# The web socket answers frames of protobuf and of JSON with the same bits as `carom eval`; its
# trackers, tokens, limits and close codes are as docs/http.md describes them.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_connect
prepare_questions
make_credentials
cd "$build/connect"

start_server --http-address 127.0.0.1:0
node web_socket.mjs "$http_address" "$scratch/questions" >"$scratch/got"
check_answers 'web socket' "$scratch/got"
stop_server

start_server --http-address 127.0.0.1:0 --credentials "$scratch/credentials"
guarded=$http_address
start_server --http-address 127.0.0.1:0 --http-allowed-origins https://game.example \
  --idle-stream-seconds 5 --max-message-bytes 65536
node web_socket_test.mjs "$http_address" "$guarded" "$reader" "$server_pid"
await_server
