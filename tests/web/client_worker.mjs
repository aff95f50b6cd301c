// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A worker thread of client_node_test.mjs: asks by a client of its own, and posts what its stream was answered.

import { parentPort, workerData } from 'node:worker_threads';
import { connect, Frame } from '@carom/client';
import { points } from '@carom/core/questions';

const { address, frames } = workerData;
const client = connect(address);
const stream = client.stream();
const found = [];
for (let i = 0; i < frames; ++i) {
  const frame = new Frame();
  const question = frame.ask('shared', points({ x: [i / 4, 1], y: [1, 1] }));
  found.push((await stream.ask(frame)).get(question).counts.join());
  if (i === 0) parentPort.postMessage('answered', []);
}
parentPort.postMessage(found, []);
client.close();
