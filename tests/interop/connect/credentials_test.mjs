// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Tokens of connect-es: none, a wrong one, and those of a reader and of a writer.
//
// usage: node credentials_test.mjs ADDRESS proto|json READER WRITER

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { QueryService } from './gen/carom/v1/query_service_pb.js';
import { SceneService } from './gen/carom/v1/scene_service_pb.js';

const [address, form, reader, writer] = process.argv.slice(2);

// Returns clients of both services that send `authorization`, if any.
function clientsOf(authorization) {
  const authorize = (next) => (request) => {
    if (authorization) request.header.set('Authorization', authorization);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: `http://${address}`,
    httpVersion: '1.1',
    useBinaryFormat: form === 'proto',
    interceptors: [authorize],
  });
  return [createClient(SceneService, transport), createClient(QueryService, transport)];
}

async function codeOf(promise) {
  try {
    await promise;
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
  return 'OK';
}

async function first(stream) {
  for await (const message of stream) return message;
  return undefined;
}

const name = 'scenes/owned';
const [owned] = clientsOf(`Bearer ${writer}`);
await owned.createScene({ name });

// The codes of a read, a stream, a frame and a change.
async function codesOf(authorization) {
  const [scenes, queries] = clientsOf(authorization);
  return [
    await codeOf(scenes.getScene({ name })),
    await codeOf(first(scenes.exportScene({ name }))),
    await codeOf(queries.evaluate({ frame: {} })),
    await codeOf(scenes.commitEdits({ name })),
  ];
}

test('a call without a valid token is refused', async () => {
  const refused = Array(4).fill('Unauthenticated');
  const wrong = [undefined, 'Bearer wrong', 'Bearer ', `Basic ${reader}`, `Bearer ${reader}0`];
  for (const authorization of wrong) {
    assert.deepEqual(await codesOf(authorization), refused, authorization);
  }
});

test('a role permits what it should', async () => {
  assert.deepEqual(await codesOf(`Bearer ${reader}`), ['OK', 'OK', 'OK', 'PermissionDenied']);
  assert.deepEqual(await codesOf(`Bearer ${writer}`), ['OK', 'OK', 'OK', 'OK']);
  assert.equal(await codeOf(owned.deleteScene({ name })), 'PermissionDenied');
});
