// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do questions and bodies become the bytes that a server reads? What a caller leaves out is left out of the message,
// so that its default is that of the server, which is that of the core.

import type { Answers, Question, Shapes } from '@carom/core/questions';
import type { Bodies } from '../bodies.js';
import { putScalar } from './messages.js';
import { shapeMessages } from './polygons.js';
import { type KindTable, type QuestionField, TABLES } from './tables.js';
import { Writer } from './writer.js';

type Kind = Question<Answers>['kind'];

/** How a field is written: the place is that of the column or the option in the question. */
export interface Step {
  readonly field: number;
  readonly type: string;
  readonly place: number;
  readonly inner: readonly Step[];
}

const plans = new Map<number, readonly Step[]>();

/** Returns how questions of a kind are written, and their answers read. */
export function tableOf(kind: Kind): KindTable {
  return TABLES.get(kind.number)!;
}

export function planOf(kind: Kind): readonly Step[] {
  let plan = plans.get(kind.number);
  if (plan === undefined) {
    const { fields, placed } = tableOf(kind);
    const inner = placed.map((field) => stepOf(kind, field, true, [])).toReversed();
    plan = fields.map((field) => stepOf(kind, field, placed.length === 0 ? null : false, inner)).toReversed();
    plans.set(kind.number, plan);
  }
  return plan;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** isPlaced: whether the column is one of placed shapes; null: the question has none. */
function stepOf(kind: Kind, [field, type, name]: QuestionField, isPlaced: boolean | null, inner: Step[]): Step {
  const place = 'DQU'.includes(type)
    ? kind.question.columns.findIndex(
        ({ path }) => lastOf(path) === name && (isPlaced === null || path.startsWith('movers.') === isPlaced),
      )
    : kind.question.options.findIndex(({ path }) => lastOf(path) === name);
  return { field, type, place, inner: type === 'P' ? inner : [] };
}

const shapeFields = new WeakMap<Shapes, Uint8Array>();
const polygonFields = new WeakMap<Shapes, Uint8Array>();

/** Returns the field `shapes`, which has the number 1 in most messages: of shapes, or of polygons alone. */
export function shapesField(shapes: Shapes, ofPolygons = false): Uint8Array {
  const known = ofPolygons ? polygonFields : shapeFields;
  let made = known.get(shapes);
  if (made === undefined) {
    const writer = new Writer(256);
    for (const shape of shapeMessages(shapes).toReversed()) {
      // The bytes of a Shape that is a polygon are field 1 of Shape, with the polygon: as in a list of polygons.
      if (ofPolygons) writer.raw(shape);
      else writer.bytes(1, shape);
    }
    made = writer.finish();
    known.set(shapes, made);
  }
  return made;
}

/** Writes the fields of a question. */
export function putQuestion(writer: Writer, question: Question<Answers>): void {
  putSteps(writer, question, planOf(question.kind));
}

function putSteps(writer: Writer, question: Question<Answers>, steps: readonly Step[]): void {
  for (const { field, type, place, inner } of steps) {
    switch (type) {
      case 'D':
      case 'Q': {
        const column = question.array(place);
        if (column !== null) writer.fixed(field, column as Float64Array | BigUint64Array);
        break;
      }
      case 'U': {
        const column = question.array(place);
        if (column !== null) writer.varints(field, column as Uint32Array);
        break;
      }
      case 'P': {
        const mark = writer.mark;
        putSteps(writer, question, inner);
        writer.head(field, mark);
        break;
      }
      case 'S':
      case 'G':
        if (question.shapes !== null) writer.raw(shapesField(question.shapes, type === 'G'));
        break;
      default:
        putScalar(writer, field, type, question.options[place]!, false);
    }
  }
}

/** The value of the option `coherence`, which a frame has; 0 if it is not given. */
export function coherenceOf(question: Question<Answers>): number {
  const place = question.kind.question.options.findIndex(({ path }) => path === 'coherence');
  return place < 0 ? 0 : Number(question.options[place]);
}

/** Writes the fields of bodies. */
export function putBodies(writer: Writer, bodies: Bodies): void {
  const { owner, category } = bodies;
  if (owner !== null) writer.varints(3, owner);
  if (category !== null) writer.fixed(2, category);
  const mark = writer.mark;
  if (bodies.angle !== null) writer.fixed(7, bodies.angle);
  if (bodies.s !== null) writer.fixed(6, bodies.s);
  if (bodies.c !== null) writer.fixed(5, bodies.c);
  writer.fixed(4, bodies.y);
  writer.fixed(3, bodies.x);
  if (bodies.shape !== null) writer.varints(2, bodies.shape);
  writer.raw(shapesField(bodies.shapes));
  writer.head(1, mark);
}
