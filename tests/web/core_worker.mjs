// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A worker thread of core_api_test.mjs: asks an instance of its own, and posts the lines of the digest.

import { parentPort, workerData } from 'node:worker_threads';
import * as carom from '@carom/core';
import { digestLines } from './digest.mjs';

const { items, ...options } = workerData;
parentPort.postMessage(await digestLines(carom, await carom.load(options), items), []);
