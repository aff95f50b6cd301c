#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# connect-es uses the HTTP port in both forms of the Connect protocol, protobuf and JSON: some
# thousand answers are the same bits as those of `carom eval`, and messages, streams, errors,
# timeouts and tokens are as docs/http.md describes them.

# shellcheck source=tests/interop/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_connect
prepare_questions
make_credentials
cd "$build/connect"

for form in proto json; do
  start_server --http-address 127.0.0.1:0 --max-watches 4
  node client.mjs "$http_address" "$form" "$scratch/questions" >"$scratch/got"
  check_answers "connect-es ($form)" "$scratch/got"
  stop_server
  start_server --http-address 127.0.0.1:0 --max-watches 4
  node calls_test.mjs "$http_address" "$form"
  stop_server
  start_server --http-address 127.0.0.1:0 --credentials "$scratch/credentials"
  node credentials_test.mjs "$http_address" "$form" "$reader" "$writer"
  stop_server
done
