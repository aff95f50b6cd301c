// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the page and the worker that reads a recording send to each other.
import type { Packed } from '../scene/packed';
import type { Mark } from './marks';

/** A line of the list of verdicts. */
export interface Verdict {
  group: number;
  kind: string;
  item: number;
  text: string;
  /** Where the item is; null: nowhere. */
  at: { x: number; y: number } | null;
}

/** One tick: a frame with its answers about one scene. */
export interface Tick {
  index: number;
  /** [microseconds] From the begin of the recording. */
  atUs: number;
  /** The same of the next tick; that of this one at the end. */
  nextUs: number;
  seq: bigint;
  /** Why the frame has no answers; empty: it has. */
  problem: string;
  scene: string;
  /** The version that the frame, or the last frame before it, read; 0n: none. */
  version: bigint;
  marks: Mark[];
  verdicts: Verdict[];
  /** Verdicts and marks beyond the most that are shown. */
  more: number;
}

export interface Summary {
  name: string;
  serverVersion: string;
  begin: Date;
  frames: number;
  spanUs: number;
  end: string;
  /** Names of the scenes that the recording has, and behind them of others that its frames ask. */
  scenes: string[];
  /** What is wrong behind the frames that were read; empty: nothing. */
  damage: string;
}

export interface DifferenceText {
  frame: number;
  group: number;
  scene: string;
  kind: string;
  column: string;
  entry: number;
  item: number;
  recorded: string;
  computed: string;
}

export interface Comparison {
  difference: DifferenceText | null;
  frames: number;
  questions: number;
  items: number;
  notCompared: [string, number][];
  stopped: boolean;
}

export type ToRecord =
  | { kind: 'open'; file: File }
  | { kind: 'tick'; index: number; scene: string }
  | { kind: 'scene'; name: string; version: bigint }
  | { kind: 'compare' }
  | { kind: 'stop' };

export type FromRecord =
  | { kind: 'opened'; summary: Summary }
  | { kind: 'failed'; message: string }
  | { kind: 'tick'; tick: Tick }
  | { kind: 'scene'; name: string; version: bigint; packed: Packed | null }
  | { kind: 'progress'; frames: number }
  | { kind: 'compared'; result: Comparison };
