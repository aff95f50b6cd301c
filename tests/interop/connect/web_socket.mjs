// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server questions over one web socket, in frames of protobuf and of JSON by turns.
//
// usage: node web_socket.mjs ADDRESS QUESTIONS
//
// QUESTIONS are lines of ../questions.py; the answers are printed as ../expected.py defines.

import assert from 'node:assert/strict';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import WebSocket from 'ws';
import { StreamRequestSchema, StreamResponseSchema } from './gen/carom/v1/query_service_pb.js';
import { makeFrame, printAnswers, readQuestions, seqOf } from './questions.mjs';

const SCENE = 'scenes/interop-web-socket';
const IN_FLIGHT = 8; // frames ahead of their answers; a server takes 16 by default

async function makeScene(address, polygons) {
  const response = await fetch(`http://${address}/carom.v1.SceneService/CreateScene`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: SCENE, polygons }),
  });
  const { scene } = await response.json();
  assert.equal(scene.polygonCount, String(polygons.length));
}

const isText = (index) => index % 2 === 1;

function requestOf(index, lines) {
  const request = { frame: makeFrame(index, lines, index === 0 ? SCENE : undefined) };
  if (isText(index)) return JSON.stringify(request);
  return toBinary(StreamRequestSchema, fromJson(StreamRequestSchema, request));
}

// Returns the answer in a message of the server, with the fields that have default values.
function answerOf(data) {
  const response =
    typeof data === 'string'
      ? fromJson(StreamResponseSchema, JSON.parse(data))
      : fromBinary(StreamResponseSchema, new Uint8Array(data));
  return toJson(StreamResponseSchema, response, { alwaysEmitImplicit: true }).answer;
}

function ask(address, frames) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${address}/carom.v1.QueryService/Stream`, 'carom.v1');
    socket.binaryType = 'arraybuffer';
    let sent = 0;
    let answered = 0;
    const send = () => {
      if (sent < frames.length) socket.send(requestOf(sent, frames[sent++]));
    };
    socket.onopen = () => {
      for (let i = 0; i < IN_FLIGHT; ++i) send();
    };
    socket.onmessage = ({ data }) => {
      assert.equal(typeof data === 'string', isText(answered), 'an answer has the form of its frame');
      const answer = answerOf(data);
      assert.equal(answer.seq, seqOf(answered));
      printAnswers(frames[answered++], answer);
      send();
      if (answered === frames.length) socket.close(1000);
    };
    socket.onclose = ({ code, reason }) => {
      if (code === 1000 && answered === frames.length) resolve();
      else reject(new Error(`close code ${code} ${reason} after ${answered} answers`));
    };
    socket.onerror = ({ error }) => reject(error);
  });
}

const [address, path] = process.argv.slice(2);
const { polygons, frames } = readQuestions(path);
await makeScene(address, polygons);
await ask(address, frames);
