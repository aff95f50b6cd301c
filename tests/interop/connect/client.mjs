// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server questions by `Evaluate` of the Connect protocol over HTTP/1.1.
//
// usage: node client.mjs ADDRESS proto|json QUESTIONS
//
// QUESTIONS are lines of ../questions.py; the answers are printed as ../expected.py defines. The
// code in gen/ is made by protoc-gen-es. `Evaluate` keeps no tracker, so each frame defines all
// trackers again.

import assert from 'node:assert/strict';
import { fromJson, toJson } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { PolygonSchema } from './gen/carom/v1/geometry_pb.js';
import { FrameAnswerSchema, FrameSchema, QueryService } from './gen/carom/v1/query_service_pb.js';
import { SceneService } from './gen/carom/v1/scene_service_pb.js';
import { isQuestion, makeFrame, printAnswers, readQuestions, seqOf } from './questions.mjs';

const SCENE = 'scenes/interop-connect';

// Makes the scene in parts, as a scene above the size of a message must be.
async function makeScene(service, polygons) {
  await service.createScene({ name: SCENE });
  for (let i = 0; i < polygons.length; i += 10) {
    const added = polygons.slice(i, i + 10).map((polygon) => fromJson(PolygonSchema, polygon));
    const edits = added.map((value) => ({ edit: { case: 'add', value } }));
    await service.commitEdits({ name: SCENE, edits });
  }
  const { scene } = await service.getScene({ name: SCENE });
  assert.equal(scene.polygonCount, BigInt(polygons.length));
}

async function ask(service, frames) {
  const trackers = new Map();
  for (const [index, lines] of frames.entries()) {
    for (const line of lines) if (!isQuestion(line)) trackers.set(line.tracker, line);
    const questions = lines.filter(isQuestion);
    const frame = makeFrame(index, [...trackers.values(), ...questions], SCENE);
    const { answer } = await service.evaluate({ frame: fromJson(FrameSchema, frame) });
    assert.equal(answer.seq, BigInt(seqOf(index)));
    printAnswers(questions, toJson(FrameAnswerSchema, answer, { alwaysEmitImplicit: true }));
  }
}

const [address, form, path] = process.argv.slice(2);
const transport = createConnectTransport({
  baseUrl: `http://${address}`,
  httpVersion: '1.1',
  useBinaryFormat: form === 'proto',
});
const { polygons, frames } = readQuestions(path);
await makeScene(createClient(SceneService, transport), polygons);
await ask(createClient(QueryService, transport), frames);
