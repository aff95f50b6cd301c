// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are bodies described that a server keeps with their poses by tick, for shots in the past? A definition and a tick
// are bytes at once, so that arrays may change afterwards, and a stream may send them again.

import { type Flags, type Integers, type Longs, type Numbers, refuse, Shapes, type ShapesLike } from '@carom/core/questions';
import { columnOf, entries } from '../bodies.js';
import { checkOptions, integer, type SceneLike, sceneName } from '../values.js';
import { shapeMessages } from './polygons.js';
import { Writer } from './writer.js';

const MOST_TICK = 2 ** 53;
const SCENE = 2;
const RESENT = 11;

export interface BodySetOptions {
  /** The index of the shape of each body; absent: body i has shape i. */
  shape?: Integers;
  /** Bits that are compared with the masks of questions; absent: 1. */
  category?: Longs;
  /** The owner, which `ignoreOwner` of a question names; 0, and absent: none. */
  owner?: Integers;
  /** How many ticks the set keeps, the last that came; in [1, 256], 64 if absent. */
  keepTicks?: number;
  /** The fork that keeps the set, for all of its streams; absent: the stream keeps it. */
  fork?: SceneLike;
}

/** The poses of all bodies of a set at one tick. */
export interface PosesArguments {
  /** The number of the tick, in [0, 2^53]. */
  tick: number | bigint;
  /** [length] At most 2^52 in magnitude. */
  x: Numbers;
  /** [length] */
  y: Numbers;
  /** Cosine and sine of the rotation, or the angle in radians, in all ticks of a set; absent: no rotation. */
  c?: Numbers;
  s?: Numbers;
  angle?: Numbers;
  /** A flag for each body: no item considers the others; absent: all are alive. */
  alive?: Flags;
  /** A flag for each body: it does not move from the tick before; absent: none. */
  teleported?: Flags;
}

/** The definition of a body set. */
export interface SetDefinition {
  readonly handle: number;
  readonly fork: string; // empty: none
  readonly keepTicks: number;
  readonly shapes: number;
  /** The message BodySet with all its columns, so equal for equal definitions. */
  readonly data: Uint8Array;
}

/** A tick of a body set. */
export interface SetTick {
  readonly handle: number;
  readonly tick: number;
  /** The message BodyPoses. */
  readonly data: Uint8Array;
  /** The message that is sent after a break. */
  readonly resent: Uint8Array;
}

/** Returns the handle of a body set. */
export function setHandle(handle: unknown): number {
  return integer(handle, 'bodySet', 0, 65535);
}

export function setDefinition(bodySet: number, given: ShapesLike, options: BodySetOptions): SetDefinition {
  checkOptions(options, ['shape', 'category', 'owner', 'keepTicks', 'fork']);
  const handle = setHandle(bodySet);
  const { keepTicks = 64, shape, category = 1, owner = 0 } = options;
  integer(keepTicks, 'keepTicks', 1, 256);
  const fork = options.fork === undefined ? '' : sceneName(options.fork, 'fork');
  const shapes = given instanceof Shapes ? given : new Shapes(given);
  const list = shape === undefined ? Uint32Array.from({ length: shapes.length }, (_, i) => i) : shape;
  const index = entries(list, 'shape', 'bodySet');
  const bodies = typeof index === 'object' ? index.length : 1;
  const own = columnOf(new Uint32Array(bodies), list, 'shape', 'bodySet');
  const wrong = own.findIndex((each) => each >= shapes.length);
  if (wrong >= 0) throw refuse(`bodySet.shape[${wrong}]`, `is ${own[wrong]}, where there are ${shapes.length} shapes`);
  const writer = new Writer(256);
  writer.number(8, keepTicks);
  writer.varints(7, columnOf(new Uint32Array(bodies), owner, 'owner', 'bodySet'));
  writer.fixed(6, columnOf(new BigUint64Array(bodies), category, 'category', 'bodySet'));
  writer.varints(5, own);
  for (const each of shapeMessages(shapes).toReversed()) writer.bytes(4, each);
  if (fork !== '') writer.text(SCENE, fork);
  if (handle > 0) writer.number(1, handle);
  return { handle, fork, keepTicks, shapes: shapes.length, data: writer.finish() };
}

/** Flags as bits in words of 64, as bytes. */
function bitsOf(given: Flags | undefined, name: string, bodies: number): Uint8Array {
  if (given === undefined) return new Uint8Array(0);
  const list = typeof given === 'object' ? given : null;
  if (list !== null && list.length !== bodies) {
    throw refuse(`poses.${name}`, `has ${list.length} entries, where there are ${bodies} bodies`);
  }
  const made = new Uint8Array(8 * Math.ceil(bodies / 64));
  for (let i = 0; i < bodies; ++i) {
    const flag = list === null ? given : list[i];
    if (typeof flag !== 'boolean' && flag !== 0 && flag !== 1) {
      throw refuse(`poses.${name}[${i}]`, `is ${String(flag)}; a flag is accepted`);
    }
    if (flag) made[i >> 3]! |= 1 << (i & 7);
  }
  return made;
}

const POSES = ['angle', 's', 'c', 'y', 'x'] as const; // by descending number of their fields

export function setTick(bodySet: number, given: PosesArguments): SetTick {
  const handle = setHandle(bodySet);
  if (typeof given !== 'object' || given === null) throw refuse('poses', 'is no object');
  checkOptions(given, ['tick', ...POSES, 'alive', 'teleported']);
  const tick = integer(typeof given.tick === 'bigint' ? Number(given.tick) : given.tick, 'poses.tick', 0, MOST_TICK);
  const lists = POSES.map((name) => given[name]).filter((each) => typeof each === 'object');
  const first = lists.length > 0 ? entries(lists.at(-1), 'x', 'poses') : 1; // x, if that is a list
  const bodies = typeof first === 'object' ? first.length : 1;
  const columns = POSES.map((name) =>
    given[name] === undefined && name !== 'x' && name !== 'y'
      ? new Float64Array(0)
      : columnOf(new Float64Array(bodies), given[name], name, 'poses'),
  );
  const areFloats = columns.every((column) => column.every((value) => Math.fround(value) === value));
  const writer = new Writer(64 + 48 * bodies);
  const mark = writer.mark;
  if (areFloats) {
    columns.forEach((column, i) => writer.fixed(5 - i, Float32Array.from(column)));
    writer.head(10, mark);
  }
  const [alive, teleported] = [bitsOf(given.alive, 'alive', bodies), bitsOf(given.teleported, 'teleported', bodies)];
  if (teleported.length > 0) writer.bytes(9, teleported);
  if (alive.length > 0) writer.bytes(8, alive);
  if (!areFloats) columns.forEach((column, i) => writer.fixed(7 - i, column));
  if (tick > 0) writer.number(2, tick);
  if (handle > 0) writer.number(1, handle);
  const data = writer.finish();
  writer.number(RESENT, 1); // the last field
  writer.raw(data);
  return { handle, tick, data, resent: writer.finish() };
}
