// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How long does the client take to write a frame of 4,096 segments, and to read all columns of its answer? The fastest
// of many runs, beside that of protobuf-es. Fails if protobuf-es takes less than 20 times as long.
//
// usage: node client_speed.mjs

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Frame, FrameAnswer } from '@carom/client';
import { segments } from '@carom/core/questions';
import { ask } from '../../../client/web/client/dist/codec/frames.js';
import { StreamRequestSchema, StreamResponseSchema } from './gen/carom/v1/query_service_pb.js';

const SEGMENTS = 4096;
const LEAST_RATIO = 20;
const RUNS = 400;

const column = (of) => Float64Array.from({ length: SEGMENTS }, (_, i) => of(i));
const [ax, ay] = [column(Math.sin), column(Math.cos)];
const [bx, by] = [column((i) => i / 7), column((i) => 100 - i / 9)];
const frame = new Frame();
const question = frame.ask('arena', segments({ ax, ay, bx, by }));
const groups = [{ target: { case: 'scene', value: 'scenes/arena' }, segments: { ax: [...ax], ay: [...ay], bx: [...bx], by: [...by] } }]; // prettier-ignore

// Every other segment hits, with all that the detail EXIT answers.
const rows = Array.from({ length: SEGMENTS / 2 }, (_, i) => i);
const each = (of) => rows.map(of);
const hits = {
  counts: Array.from({ length: SEGMENTS }, (_, i) => i % 2),
  polygonId: each((i) => BigInt(i * 977)),
  ring: each(() => 0),
  edge: each((i) => i % 300),
  feature: each((i) => 1 + (i % 3)),
  startsInside: each((i) => i % 5 === 0),
  endsInside: each((i) => i % 7 === 0),
  hasExitEdge: each(() => true),
  exitRing: each(() => 0),
  exitEdge: each((i) => i % 200),
};
for (const name of ['fraction', 'pointX', 'pointY', 'normalX', 'normalY', 'exitFraction', 'exitNormalX', 'exitNormalY']) {
  hits[name] = each(Math.sin);
}
const response = create(StreamResponseSchema, { answer: { groups: [{ version: 1n, segments: hits }] } });
const data = toBinary(StreamResponseSchema, response);
const answerData = toBinary(StreamResponseSchema.fields[0].message, response.answer);

function fastest(run) {
  let best = Infinity;
  for (let i = 0; i < RUNS; ++i) {
    const began = process.hrtime.bigint();
    run();
    best = Math.min(best, Number(process.hrtime.bigint() - began));
  }
  return best / SEGMENTS;
}

const write = fastest(() => ask(frame));
const asked = ask(frame);
const read = fastest(() => {
  const answers = new FrameAnswer(asked, answerData).get(question);
  for (const spec of answers.specs) answers.source.column(spec);
});
const theirs = fastest(() => {
  toBinary(StreamRequestSchema, create(StreamRequestSchema, { frame: { groups } }));
  fromBinary(StreamResponseSchema, data);
});
const ours = write + read;
console.log(
  `write ${write.toFixed(1)} ns, read ${read.toFixed(1)} ns a segment: ${ours.toFixed(1)} ns; ` +
    `protobuf-es ${theirs.toFixed(1)} ns, ${(theirs / ours).toFixed(1)} times as long`,
);
process.exitCode = theirs >= LEAST_RATIO * ours ? 0 : 1;
