// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What has a stream defined on its server, and how is that sent again to another one? A session has the handles of
// scenes, the body sets with their ticks, and the trackers of the frames that were answered and not refused. Equal shapes,
// masks and distances of trackers are sent once, so that a thousand equal players are one shape and their handles.

import { encode, type Inner, put } from '../codec/messages.js';
import type { Asked } from '../codec/frames.js';
import type { StreamLimits } from '../values.js';
import { BodySets, capped, type Part } from './body_sets.js';

/** The most handles of scenes that a stream uses; groups of further scenes have names. */
export const MOST_BINDINGS = 1024;
// Limits of one message of a replay.
const MOST_LISTS = 1024;
const MOST_BYTES = 2 ** 20;
// Upper bounds of what a part adds to a message.
const BYTES_OF_A_BINDING = 128;
const BYTES_OF_A_TRACKER = 10;
const BYTES_OF_A_LIST = 32;

interface Tracker {
  readonly shape: Uint8Array;
  readonly shapeKey: string;
  readonly mask: bigint | null;
  readonly within: number;
}

/** Definitions with one mask and one distance. */
class List {
  readonly shapes = new Map<string, { index: number; bytes: Uint8Array }>();
  readonly shape: number[] = [];
  readonly trackers: number[] = [];

  constructor(readonly mask: bigint | null, readonly within: number) {}

  add(handle: number, tracker: Tracker): void {
    let shape = this.shapes.get(tracker.shapeKey);
    if (shape === undefined) {
      shape = { index: this.shapes.size, bytes: tracker.shape };
      this.shapes.set(tracker.shapeKey, shape);
    }
    this.shape.push(shape.index);
    this.trackers.push(handle);
  }

  message(): Inner {
    return (writer) => {
      if (this.mask !== null) writer.word(6, this.mask);
      if (this.within !== 0) writer.double(5, this.within);
      writer.varints(3, this.trackers);
      writer.varints(2, this.shape);
      for (const { bytes } of [...this.shapes.values()].toReversed()) writer.bytes(1, bytes);
    };
  }
}

/** The bytes of a shape as a key of a map. */
export function keyOf(bytes: Uint8Array): string {
  let key = '';
  for (let i = 0; i < bytes.length; i += 8192) key += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return key;
}

/** The handles of scenes, the body sets and the trackers of a stream. */
export class Session {
  readonly scenes = new Map<string, number>(); // handles by names
  readonly bodySets = new BodySets();
  private readonly trackers = new Map<number, Tracker>();

  /** Takes what a frame has defined that the server did not refuse. */
  apply(bindings: ReadonlyMap<string, number>, asked: Asked): void {
    const { removed, definitions } = asked;
    this.bodySets.change(asked);
    for (const [scene, handle] of bindings) this.scenes.set(scene, handle);
    for (const handle of removed) this.trackers.delete(handle);
    for (const { handles, shape, shapes, mask, within } of definitions) {
      const keys = shapes.map(keyOf);
      handles.forEach((handle, i) => {
        const bytes = shapes[shape[i]!];
        if (bytes !== undefined) {
          this.trackers.set(handle, { shape: bytes, shapeKey: keys[shape[i]!]!, mask, within });
        }
      });
    }
  }

  /** Makes the messages that define everything again; each has the seq 0. */
  *replay(limits: StreamLimits | undefined): Generator<Replayed> {
    const room = 1 + capped(MOST_BINDINGS - 1, Math.floor((limits?.maxFrameBytes ?? 0) / BYTES_OF_A_BINDING));
    const bound = [...this.scenes];
    for (let at = 0; at < bound.length; at += room) {
      const bindings = bound.slice(at, at + room).map(
        ([scene, handle]): Inner => (writer) => put(writer, 'SceneBinding', { handle, scene }),
      );
      yield replayed({ bindings });
    }
    for (const { fork, frame } of this.bodySets.parts(limits)) yield replayed(frame, fork);
    for (const trackers of this.lists(limits)) yield replayed({ trackers });
  }

  /** Makes the definitions of all trackers, in parts of which each fits into a frame. */
  private *lists(limits: StreamLimits | undefined): Generator<Inner[]> {
    const mostLists = capped(MOST_LISTS, limits?.maxGroupsPerFrame);
    const mostShapes = capped(MOST_BYTES, limits?.maxQueriesPerFrame);
    const mostBytes = capped(MOST_BYTES, Math.floor((limits?.maxFrameBytes ?? 0) / 2));
    let lists = new Map<string, List>();
    let [bytes, shapes] = [0, 0];
    for (const [handle, tracker] of [...this.trackers].toSorted(([a], [b]) => a - b)) {
      const key = `${tracker.mask} ${tracker.within}`;
      let isNew = !lists.get(key)?.shapes.has(tracker.shapeKey);
      let added = BYTES_OF_A_TRACKER + (lists.has(key) ? 0 : BYTES_OF_A_LIST) + (isNew ? tracker.shape.length : 0);
      const isFull = bytes + added > mostBytes || lists.size + (lists.has(key) ? 0 : 1) > mostLists;
      if (bytes > 0 && (isFull || shapes + (isNew ? 1 : 0) > mostShapes)) {
        yield [...lists.values()].map((list) => list.message());
        lists = new Map();
        [bytes, shapes, isNew] = [0, 0, true];
        added = BYTES_OF_A_TRACKER + BYTES_OF_A_LIST + tracker.shape.length;
      }
      let list = lists.get(key);
      if (list === undefined) lists.set(key, (list = new List(tracker.mask, tracker.within)));
      list.add(handle, tracker);
      bytes += added;
      shapes += isNew ? 1 : 0;
    }
    if (lists.size > 0) yield [...lists.values()].map((list) => list.message());
  }
}

/** A message of a replay. */
export interface Replayed {
  readonly data: Uint8Array<ArrayBuffer>;
  /** The fork whose body sets it has; empty: none. */
  readonly fork: string;
}

function replayed(frame: Part['frame'], fork = ''): Replayed {
  return { data: encode('StreamRequest', { frame: encode('Frame', frame) }) as Uint8Array<ArrayBuffer>, fork };
}
