// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which body sets (bodies with their poses by tick) does a stream have, and how are they sent again to another server? A
// server keeps the sets of a stream as long as its call, and those of a fork as long as the fork. After a break the stream
// sends the definitions again, with the ticks that the sets keep.

import type { SetDefinition, SetTick } from '../codec/body_sets.js';
import { asIs, type Asked } from '../codec/frames.js';
import type { Inner } from '../codec/messages.js';
import type { StreamLimits } from '../values.js';

// Limits of one message of a replay.
const MOST_SETS = 16;
const MOST_TICKS = 1024;
const MOST_BYTES = 2 ** 20;

/** Returns the smaller number; a limit of 0 is unknown. */
export function capped(most: number, limit: number | undefined): number {
  return limit === undefined || limit === 0 ? most : Math.min(most, limit);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i]);
}

/** A body set, with the last ticks that were sent, at most as many as it keeps. */
interface BodySet {
  readonly definition: SetDefinition;
  ticks: SetTick[]; // ascending
  isDefinedAgain: boolean; // since the newest tick
}

/**
 * Takes a tick that the server accepted. One that is not above the newest one is accepted in three cases: it is kept with
 * the same poses; it is below all that are kept, and changes nothing; or, if the set was defined again, the fork was made
 * again meanwhile, and its set had no ticks.
 */
function add(set: BodySet, tick: SetTick): void {
  const newest = set.ticks.at(-1);
  if (newest !== undefined && tick.tick <= newest.tick) {
    const known = set.ticks.find((each) => each.tick === tick.tick);
    if (!set.isDefinedAgain || (known !== undefined && isEqual(known.data, tick.data))) return;
    set.ticks = [];
  }
  set.isDefinedAgain = false;
  set.ticks.push(tick);
  if (set.ticks.length > set.definition.keepTicks) set.ticks.shift();
}

/** A frame of a replay: sets and ticks of one fork, or of none. */
export interface Part {
  readonly fork: string;
  readonly frame: Readonly<Record<string, Inner[]>>;
}

/** The body sets of a stream as its server has them. */
export class BodySets {
  private readonly sets = new Map<number, BodySet>();

  /**
   * Takes what a frame has changed that the server did not refuse. A set that is defined again keeps its ticks; another
   * definition is that of another set, and the one before has ended, as with its fork.
   */
  change({ removedSets, bodySets, ticks }: Pick<Asked, 'removedSets' | 'bodySets' | 'ticks'>): void {
    for (const handle of removedSets) this.sets.delete(handle);
    for (const definition of bodySets) {
      const known = this.sets.get(definition.handle);
      if (known !== undefined && isEqual(known.definition.data, definition.data)) known.isDefinedAgain = true;
      else this.sets.set(definition.handle, { definition, ticks: [], isDefinedAgain: false });
    }
    for (const tick of ticks) {
      const set = this.sets.get(tick.handle);
      if (set !== undefined) add(set, tick);
    }
  }

  /** Forgets the sets of a fork, which the server has refused; also during a replay. */
  dropFork(fork: string): void {
    for (const [handle, { definition }] of this.sets) if (definition.fork === fork) this.sets.delete(handle);
  }

  /** Makes the frames that define all sets again, with their ticks. */
  *parts(limits: StreamLimits | undefined): Generator<Part> {
    const mostBytes = capped(MOST_BYTES, Math.floor((limits?.maxFrameBytes ?? 0) / 2));
    const mostShapes = capped(MOST_BYTES, limits?.maxQueriesPerFrame);
    let fork = '';
    let [sets, ticks]: [Inner[], Inner[]] = [[], []];
    let [bytes, shapes] = [0, 0];
    for (const [handle, set] of [...this.sets].toSorted(([a], [b]) => a - b)) {
      const { definition } = set;
      for (const piece of [definition, ...set.ticks]) {
        const isSet = piece === definition;
        const data = isSet ? definition.data : (piece as SetTick).resent;
        const size = bytes + data.length;
        const all = shapes + (isSet ? definition.shapes : 0);
        const isFull = size > mostBytes || all > mostShapes || (isSet ? sets.length >= MOST_SETS : ticks.length >= MOST_TICKS);
        if (sets.length + ticks.length > 0 && (fork !== definition.fork || isFull)) {
          yield { fork, frame: { body_sets: sets, poses: ticks } };
          [sets, ticks] = [[], []];
          [bytes, shapes] = [0, 0];
        }
        if (this.sets.get(handle) !== set) break; // dropped while the frame before was on its way
        fork = definition.fork;
        (isSet ? sets : ticks).push(asIs({ data }));
        bytes += data.length;
        shapes += isSet ? definition.shapes : 0;
      }
    }
    if (sets.length + ticks.length > 0) yield { fork, frame: { body_sets: sets, poses: ticks } };
  }
}
