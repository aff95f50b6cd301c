// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server questions over one stream; an example of a client in Node.js.
//
// usage: node client.mjs PROTO_FOLDER ADDRESS QUESTIONS
//
// QUESTIONS are lines of ../questions.py; the answers are printed as ../expected.py defines. The
// .proto files are read as they are; uint64 and fixed64 are strings here, as a number would round.
// ../questions.mjs, which makes the frames and prints the answers, is copied beside this file.

import assert from 'node:assert/strict';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import { makeFrame, printAnswers, readQuestions, seqOf } from './questions.mjs';

const SCENE = 'scenes/interop-node';
const IN_FLIGHT = 8; // frames ahead of their answers; a server takes 16 by default

// Sends the polygons in parts, as a scene above the size of a message must be.
function importScene(service, polygons) {
  return new Promise((resolve, reject) => {
    const done = (error, made) => (error ? reject(error) : resolve(made.scene));
    const call = service.ImportScene(done);
    for (let i = 0; i < polygons.length; i += 10) {
      const part = polygons.slice(i, i + 10);
      call.write({ name: SCENE, mode: 'IMPORT_MODE_REPLACE', polygons: part });
    }
    call.end();
  });
}

// The first frame binds the handle of the scene, for all frames of the stream.
const frameOf = (index, lines) => makeFrame(index, lines, index === 0 ? SCENE : undefined);

function ask(service, frames) {
  return new Promise((resolve, reject) => {
    const stream = service.Stream();
    let sent = 0;
    let answered = 0;
    const send = () => {
      if (sent < frames.length) stream.write({ frame: frameOf(sent, frames[sent++]) });
      if (sent === frames.length) stream.end(); // closes our side; harmless again
    };
    stream.on('data', ({ answer }) => {
      assert.equal(answer.seq, seqOf(answered));
      printAnswers(frames[answered++], answer);
      send();
    });
    stream.on('error', reject);
    stream.on('status', ({ code }) => {
      if (code === grpc.status.OK && answered === frames.length) resolve();
      else reject(new Error(`status ${code} after ${answered} answers`));
    });
    for (let i = 0; i < IN_FLIGHT; ++i) send();
  });
}

const [folder, address, path] = process.argv.slice(2);
const services = protoLoader.loadSync(
  ['carom/v1/query_service.proto', 'carom/v1/scene_service.proto'],
  { includeDirs: [folder], longs: String, enums: String, defaults: true },
);
const { QueryService, SceneService } = grpc.loadPackageDefinition(services).carom.v1;
const { polygons, frames } = readQuestions(path);

const scenes = new SceneService(address, grpc.credentials.createInsecure());
const made = await importScene(scenes, polygons);
assert.equal(made.polygonCount, String(polygons.length));
const queries = new QueryService(address, grpc.credentials.createInsecure());
await ask(queries, frames);
scenes.close();
queries.close();
