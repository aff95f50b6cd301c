// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the bytes of a group become questions, bodies and shapes again? The reverse of codec/encode.ts, by its tables.

import { fromBinary } from '@bufbuild/protobuf';
import { type Answers, CaromError, type Kind, Polygons, Question, refuse, Shapes } from '@carom/core/questions';
import * as all from '@carom/core/questions';
import { Bodies, type BodiesArguments } from '../bodies.js';
import { planOf, type Step } from '../codec/encode.js';
import { Joiner } from '../codec/polygons.js';
import { bigs, doubles, floats, type Found, integers, PACKABLE, scan, type Wires } from '../codec/reader.js';
import { FIXED32, FIXED64, LENGTH, VARINT } from '../codec/writer.js';
import { type Capsule, PolygonSchema, ShapeSchema } from '../generated/carom/v1/geometry_pb.js';
import { FLOATS } from '../generated/tables.js';

/** The kinds of questions, by their numbers in carom.h. */
export const KINDS: ReadonlyMap<number, Kind> = new Map(
  Object.values(all as Record<string, unknown>)
    .filter((each): each is Kind => typeof each === 'object' && each !== null && 'number' in each && 'method' in each)
    .map((kind) => [kind.number, kind]),
);

/** Thrown for what a server may answer and this package does not. */
export function unsupported(field: string, what: string): CaromError {
  return new CaromError('UNIMPLEMENTED', field, what);
}

function wireOf(type: string): number {
  switch (type) {
    case 'D':
    case 'Q':
      return PACKABLE + FIXED64;
    case 'U':
      return PACKABLE + VARINT;
    case 'P':
    case 'S':
    case 'G':
      return LENGTH;
    case 'd':
    case 'q':
      return FIXED64;
    default:
      return VARINT;
  }
}

function wiresOf(steps: readonly Step[]): (number | undefined)[] {
  const made: (number | undefined)[] = [];
  for (const { field, type } of steps) made[field] = wireOf(type);
  return made;
}

/** Shapes, and for each shape of the message its index in them: polygons precede capsules there. */
export interface ReadShapes {
  readonly shapes: Shapes;
  readonly places: readonly number[];
}

/** Returns the shapes of messages `Shape`, or of messages `Polygon`. */
export function readShapes(messages: readonly Uint8Array[], arePolygons = false): ReadShapes {
  const joiner = new Joiner();
  const capsules: Capsule[] = [];
  const isCapsule: boolean[] = [];
  let polygons = 0;
  const add = (polygon: Parameters<Joiner['add']>[0]['polygons'][number]): void => {
    polygon.id = BigInt(polygons++);
    joiner.add({ polygons: [polygon], continues: false });
  };
  for (const message of messages) {
    if (arePolygons) add(parse(() => fromBinary(PolygonSchema, message)));
    else {
      const { kind } = parse(() => fromBinary(ShapeSchema, message));
      if (kind.case === 'polygon') add(kind.value);
      else if (kind.case === 'capsule') capsules.push(kind.value);
      else throw unsupported('shapes', 'has a shape of an unknown kind');
      isCapsule.push(kind.case === 'capsule');
    }
  }
  let [nextPolygon, nextCapsule] = [0, polygons];
  const places = messages.map((_, i) => (isCapsule[i] ? nextCapsule++ : nextPolygon++));
  const column = (name: 'ax' | 'ay' | 'bx' | 'by' | 'radius') => Float64Array.from(capsules, (each) => each[name]);
  const columns = { ax: column('ax'), ay: column('ay'), bx: column('bx'), by: column('by'), radius: column('radius') };
  return { shapes: new Shapes(polygons > 0 ? joiner.finish() : new Polygons([]), columns), places };
}

function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new CaromError('INVALID_ARGUMENT', 'shapes', 'is malformed', { cause });
  }
}

type Given = Record<string, unknown>;

/** Replaces the indices of a message by those of the shapes; absent ones are 0, 1, 2 and so on. */
function placeShapes(given: Given, places: readonly number[]): void {
  if (places.every((place, i) => place === i)) return;
  const shape = (given['shape'] as Uint32Array | undefined) ?? Uint32Array.from(places, (_, i) => i);
  given['shape'] = shape.map((index) => places[index] ?? places.length);
}

function readColumns(kind: Kind, found: Found, steps: readonly Step[], given: Given): void {
  for (const step of steps) {
    const { field, type, place } = step;
    if (type === 'P') {
      const inner = scan(found.bytes(field), wiresOf(step.inner));
      if (inner.unknown > 0) throw unsupported(`${kind.name}.movers`, `has the field ${inner.unknown}`);
      readColumns(kind, inner, step.inner, given);
    } else if (type === 'S' || type === 'G') {
      const { shapes, places } = readShapes(found.all(field), type === 'G');
      given['shapes'] = shapes;
      given['places'] = places;
    } else if ('DQU'.includes(type)) {
      const { name, optional } = kind.question.columns[place]!;
      const raw = found.bytes(field);
      if (raw.length === 0 && optional) continue;
      given[name] = type === 'D' ? doubles(raw) : type === 'Q' ? bigs(raw) : integers(raw);
    } else if (found.has(field)) {
      readOption(kind, found, step, given);
    }
  }
}

function readOption(kind: Kind, found: Found, { field, type, place }: Step, given: Given): void {
  const { name } = kind.question.options[place]!;
  if (type === 'd') {
    given[name] = doubles(found.last(field))[0];
  } else if (type === 'q') {
    const mask = bigs(found.last(field))[0]!;
    // In carom.h, 0 stands for all categories.
    if (mask === 0n) throw unsupported(`${kind.name}.${name}`, 'is 0, which meets nothing; here it would meet all');
    given[name] = mask;
  } else if (found.big(field) !== 0n) {
    given[name] = Number(BigInt.asUintN(32, found.big(field)));
  }
}

/** Columns that a client sent as floats, each of which has the same value as a double. */
function readFloats(kind: Kind, data: Uint8Array, columns: string, given: Given): void {
  const fields = [...columns.matchAll(/(\d+)F(\w+)/g)].map(([, field, name]) => [Number(field), name!] as const);
  const wires: (number | undefined)[] = [];
  for (const [field] of fields) wires[field] = PACKABLE + FIXED32;
  const found = scan(data, wires);
  if (found.unknown > 0) throw unsupported(`${kind.name}.floats`, `has the field ${found.unknown}`);
  for (const [field, name] of fields) if (found.has(field)) given[name] = floats(found.bytes(field));
}

/**
 * Returns the question of a message.
 *
 * Throws UNIMPLEMENTED for what this package cannot ask, and INVALID_ARGUMENT or INTERNAL for what is malformed.
 */
export function readQuestion(kind: Kind, data: Uint8Array): Question<Answers> {
  const plan = planOf(kind);
  const [floatField = '', floatColumns = ''] = (FLOATS[kind.number] ?? '').split('|');
  const wires = wiresOf(plan);
  if (floatField !== '') wires[Number(floatField)] = LENGTH;
  const found = scan(data, wires);
  if (found.unknown > 0) throw unsupported(kind.name, `has the field ${found.unknown}`);
  const given: Given = {};
  readColumns(kind, found, plan, given);
  if (floatField !== '' && found.has(Number(floatField))) {
    readFloats(kind, found.bytes(Number(floatField)), floatColumns, given);
  }
  const places = given['places'] as readonly number[] | undefined;
  delete given['places'];
  if (places !== undefined) placeShapes(given, places);
  return new Question(kind, given);
}

const BODIES_WIRES: Wires = [undefined, LENGTH, PACKABLE + FIXED64, PACKABLE + VARINT];
const [D, U] = [PACKABLE + FIXED64, PACKABLE + VARINT];
const PLACED_WIRES: Wires = [undefined, LENGTH, U, D, D, D, D, D];
const POSE = [[5, 'c'], [6, 's'], [7, 'angle']] as const; // prettier-ignore

/** Returns the bodies of a message; null: none. */
export function readBodies(data: Uint8Array): Bodies | null {
  const found = scan(data, BODIES_WIRES);
  const placed = scan(found.bytes(1), PLACED_WIRES);
  if (found.unknown + placed.unknown > 0) throw unsupported('bodies', 'has an unknown field');
  const [x, y] = [doubles(placed.bytes(3)), doubles(placed.bytes(4))];
  if (x.length === 0) return null;
  const { shapes, places } = readShapes(placed.all(1));
  const given: Given = { shapes, x, y };
  if (placed.has(2)) given['shape'] = integers(placed.bytes(2));
  else if (shapes.length !== x.length)
    throw refuse('bodies.shapes', `has ${shapes.length} entries, where x has ${x.length}`);
  for (const [field, name] of POSE) if (placed.has(field)) given[name] = doubles(placed.bytes(field));
  if (found.has(2)) given['category'] = bigs(found.bytes(2));
  if (found.has(3)) given['owner'] = integers(found.bytes(3));
  placeShapes(given, places);
  return new Bodies(given as unknown as BodiesArguments);
}
