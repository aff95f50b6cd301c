// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does this program answer recorded frames as the server did? `Replay` evaluates them anew by @carom/core and compares
// the columns of the answers bit for bit: a -0 is not a 0. What was answered depends on the scene, the bodies and the
// trackers alone, so frames may be compared in any order. Left out is what differs from run to run: the costs of a frame
// (`stats`), and quiet radii.

import {
  type Answers,
  Bodies as LocalBodies,
  CaromError,
  type Core,
  type Question,
  Scene,
  Trackers,
} from '@carom/core';
import type { TypedArray } from '@carom/core/questions';
import type { Bodies } from '../bodies.js';
import { type Level, TABLES } from '../codec/tables.js';
import type { RecordedGroup, RecordedTracker, Recording } from './reader.js';

/** A place where the recorded answers and those of this program differ. */
export interface Difference {
  /** The index in `Recording.frames`. */
  readonly frame: number;
  /** The index of the group in the frame. */
  readonly group: number;
  /** `scenes/{scene}`. */
  readonly scene: string;
  readonly version: bigint;
  /** Such as `segments`. */
  readonly kind: string;
  /** The column of the answers, such as `fraction`. */
  readonly column: string;
  /** The index of the entry in the column; -1: the column as a whole is malformed, or this program has an error. */
  readonly entry: number;
  /** The index of the item, such as the segment; -1: not known. */
  readonly item: number;
  /** Null: there is no such entry. A text: why there are no values. */
  readonly recorded: number | bigint | string | null;
  readonly computed: number | bigint | string | null;
}

export interface ReplayCounts {
  frames: number;
  groups: number;
  /** Questions whose answers were compared, and their items. */
  questions: number;
  items: number;
  /** Questions, groups and frames that were not compared, by reason. */
  readonly notCompared: Map<string, number>;
}

export interface ReplayOptions {
  /** The instance that evaluates; absent: that of `load`. */
  core?: Core;
}

const MOST_SCENES = 4; // that stay loaded
const MOST_REASONS = 100; // that are counted apart
const MOST_TRACKERS = 2 ** 24;
const TRACKER_BYTES = 2 ** 28;
const INFORMATIVE = new Set(['quiet_radius']); // columns that may differ between runs, by the .proto files

/** Evaluates the frames of a recording anew. Not for several threads; frees its memory by `dispose`. */
export class Replay {
  readonly counts: ReplayCounts = { frames: 0, groups: 0, questions: 0, items: 0, notCompared: new Map() };
  private readonly scenes = new Map<string, Scene>(); // the least recently used one first
  private readonly core: { core?: Core };
  private readonly trackers: Trackers;
  private readonly defined = new Map<number, RecordedTracker>();

  constructor(
    readonly recording: Recording,
    options: ReplayOptions = {},
  ) {
    this.core = options.core === undefined ? {} : { core: options.core };
    this.trackers = new Trackers({ ...this.core, maxTrackers: MOST_TRACKERS, maxBytes: TRACKER_BYTES });
  }

  dispose(): void {
    for (const scene of this.scenes.values()) scene.dispose();
    this.scenes.clear();
    this.trackers.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Compares the answers of a frame; returns the first difference, or null. */
  compare(index: number): Difference | null {
    const frame = this.recording.frames[index];
    if (frame === undefined) throw new CaromError('INVALID_ARGUMENT', 'index', `is ${index}; no frame has it`);
    this.counts.frames += 1;
    if (frame.error !== null || frame.skipped) {
      this.skip(frame.skipped ? 'the frame was superseded' : `the server refused the frame: ${frame.error!.code}`);
      return null;
    }
    for (const [i, group] of frame.groups().entries()) {
      const found = this.compareGroup(index, group);
      if (found !== null) return { frame: index, group: i, scene: group.scene, version: group.version, ...found };
    }
    return null;
  }

  private skip(reason: string): void {
    const { notCompared } = this.counts;
    const own = notCompared.has(reason) || notCompared.size < MOST_REASONS ? reason : 'another reason';
    notCompared.set(own, (notCompared.get(own) ?? 0) + 1);
  }

  private compareGroup(frame: number, group: RecordedGroup): Found | null {
    this.counts.groups += 1;
    if (group.unknown > 0) {
      // It may be asked of bodies that are not known here.
      for (const _ of group.questions) this.skip(`the group has the field ${group.unknown}`);
      return null;
    }
    if (group.error !== null) {
      this.skip(`the server did not answer the group: ${group.error.code}`);
      return null;
    }
    const scene = this.sceneOf(group);
    if (typeof scene === 'string') {
      for (const _ of group.questions) this.skip(scene);
      return null;
    }
    let bodies: LocalBodies | null = null;
    try {
      const given = group.bodies();
      if (given !== null) bodies = makeBodies(given, this.core);
    } catch (error) {
      for (const _ of group.questions) this.skip(reasonOf(error, 'bodies'));
      return null;
    }
    try {
      const world = (bodies === null ? scene : scene.withBodies(bodies)).withTrackers(this.trackers);
      for (const { kind, question, problem } of group.questions) {
        if (question === null) this.skip(reasonOf(problem, kind));
        else {
          const found = this.compareQuestion(frame, group, world, question);
          if (found !== null) return found;
        }
      }
      return null;
    } finally {
      bodies?.dispose();
    }
  }

  private compareQuestion(
    frame: number,
    group: RecordedGroup,
    world: Scene,
    question: Question<Answers>,
  ): Found | null {
    const kind = question.kind.name;
    let computed: Answers;
    try {
      if (kind === 'moves') this.defineTrackers(question, frame);
      computed = world.ask(question);
    } catch (error) {
      if (!(error instanceof CaromError)) throw error;
      // Limits and memory of this program say nothing about the answers.
      if (error.code !== 'RESOURCE_EXHAUSTED') return whole(kind, '', 'answers', error.message);
      this.skip(reasonOf(error, kind));
      return null;
    }
    this.counts.questions += 1;
    this.counts.items += question.items;
    try {
      return compareAnswers(group.answers(question), computed);
    } catch (error) {
      if (!(error instanceof CaromError)) throw error;
      return whole(kind, error.field.split('.')[1] ?? '', error.detail, 'answers');
    } finally {
      computed.dispose();
    }
  }

  /** The version of a scene that a group read, or why there is none. */
  private sceneOf({ scene: name, version }: RecordedGroup): Scene | string {
    const key = `${version} ${name}`;
    let made = this.scenes.get(key);
    if (made === undefined) {
      const recorded = this.recording.scene(name, version);
      if (recorded === undefined) return 'the recording does not have the version of the scene';
      try {
        made = Scene.fromBundle(recorded.bundle, { ...this.core, version });
      } catch (error) {
        return reasonOf(error, name);
      }
      for (const [oldest, scene] of this.scenes) {
        if (this.scenes.size < MOST_SCENES) break;
        scene.dispose();
        this.scenes.delete(oldest);
      }
    }
    this.scenes.delete(key);
    this.scenes.set(key, made);
    return made;
  }

  /** Gives the trackers of a question the definitions that they had at a frame. Their memories remain where they can. */
  private defineTrackers(question: Question<Answers>, frame: number): void {
    for (const handle of new Set(trackersOf(question))) {
      const wanted = this.recording.tracker(handle, frame);
      const known = this.defined.get(handle);
      if (handle >= MOST_TRACKERS || (known ?? null) === wanted) continue;
      if (known !== undefined) this.trackers.remove([handle]);
      this.defined.delete(handle);
      if (wanted === null) continue;
      const { shapes, shape, within, mask } = wanted;
      const own = mask === null ? {} : { mask };
      this.trackers.define({ shapes, shape: [shape], tracker: [handle], within, ...own });
      this.defined.set(handle, wanted);
    }
  }
}

type Found = Pick<Difference, 'kind' | 'column' | 'entry' | 'item' | 'recorded' | 'computed'>;

function whole(kind: string, column: string, recorded: string, computed: string): Found {
  return { kind, column, entry: -1, item: -1, recorded, computed };
}

function reasonOf(error: unknown, what: string): string {
  if (!(error instanceof CaromError)) throw error;
  return `${error.field === '' ? what : error.field}: ${error.detail}`;
}

/** The handles of the trackers that a question moves. */
export function trackersOf(question: Question<Answers>): Uint32Array {
  const { columns, options } = question.kind.question;
  const given = question.array(columns.findIndex(({ name }) => name === 'tracker')) as Uint32Array | null;
  if (given !== null) return given;
  const first = Number(question.options[options.findIndex(({ name }) => name === 'firstTracker')] ?? 0);
  return Uint32Array.from({ length: question.items }, (_, i) => first + i);
}

/** Makes bodies of @carom/core of the bodies of a group. */
export function makeBodies(bodies: Bodies, options: { core?: Core } = {}): LocalBodies {
  const { shapes, x, y } = bodies;
  const given: ConstructorParameters<typeof LocalBodies>[0] = { shapes, x, y };
  for (const name of ['shape', 'c', 's', 'angle', 'category', 'owner'] as const) {
    const column = bodies[name];
    if (column !== null) Object.assign(given, { [name]: column });
  }
  return new LocalBodies(given, options);
}

// --- Comparing ------------------------------------------------------------------------------------

/** Returns the first difference of answers to one question, by the order of their columns. */
function compareAnswers(recorded: Answers, computed: Answers): Found | null {
  for (const [i, { path, name }] of computed['specs'].entries()) {
    if (INFORMATIVE.has(path)) continue;
    const [left, right] = [recorded['column'](i), computed['column'](i)];
    const entry = firstDifference(left, right);
    if (entry < 0) continue;
    const item = itemOf(computed, path, entry, left, right);
    const value = (column: TypedArray) => column[entry] ?? null;
    return {
      kind: computed.question.kind.name,
      column: name,
      entry,
      item,
      recorded: value(left),
      computed: value(right),
    };
  }
  return compareTexts(recorded, computed);
}

/** The index of the first entry whose bits differ, or that one column has alone; -1: none. */
function firstDifference(left: TypedArray, right: TypedArray): number {
  const bytes = [left, right].map((each) => new Uint8Array(each.buffer, each.byteOffset, each.byteLength));
  const [a, b] = bytes as [Uint8Array, Uint8Array];
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; ++i) if (a[i] !== b[i]) return Math.floor(i / left.BYTES_PER_ELEMENT);
  return a.length === b.length ? -1 : Math.floor(length / left.BYTES_PER_ELEMENT);
}

/** The texts of errors of items. */
function compareTexts(recorded: Answers, computed: Answers): Found | null {
  const texts = [recorded, computed].map((answers) => answers.errors());
  for (const [i, { index, error }] of texts[1]!.entries()) {
    const other = texts[0]![i]!.error;
    if (other.detail === error.detail) continue;
    const kind = computed.question.kind.name;
    return { kind, column: 'errors', entry: i, item: index, recorded: other.detail, computed: error.detail };
  }
  return null;
}

/** The index of the last entry of ascending numbers that is at most `value`. */
function lastAtMost(starts: ArrayLike<number>, value: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The item of an entry of a column; -1: no item. */
function itemOf(answers: Answers, path: string, entry: number, recorded: TypedArray, computed: TypedArray): number {
  const column = TABLES.get(answers.question.kind.number)!.columns[path];
  const level: Level | 'x' = column?.level ?? 'x';
  const items = answers.length;
  const own = (item: number) => (item >= 0 && item < items ? item : -1);
  switch (level) {
    case 'i':
      return own(entry);
    case 'e':
      return own(lastAtMost(answers.offsets, entry));
    case 'w':
      return own(Math.floor(entry / (computed.length / items)));
    case 'g':
      return own(lastAtMost(answers.offsets, rowOfEdge(answers, entry)));
    case 'u':
      return own(unclearItem(answers, entry));
    case 'l': {
      if (path !== 'clear') return own(Number(computed[entry] ?? recorded[entry]));
      const differing = BigInt(recorded[entry] ?? 0n) ^ BigInt(computed[entry] ?? 0n);
      return own(
        entry * 64 + (differing === 0n ? 0 : differing.toString(2).length - 1 - differing.toString(2).lastIndexOf('1')),
      );
    }
    default: {
      const at = answers['specs'].findIndex((spec) => spec.path === 'error_index');
      return own(Number(answers['column'](at)[entry] ?? -1));
    }
  }
}

/** The row that has an edge, of rows with numbers of edges. */
function rowOfEdge(answers: Answers, edge: number): number {
  const counts = answers['column'](answers['specs'].findIndex(({ path }) => path === 'edge_counts')) as Uint32Array;
  let at = 0;
  const row = counts.findIndex((count) => (at += count) > edge);
  return row < 0 ? counts.length : row;
}

/** The item that is not clear and has `place` such items before it. */
function unclearItem(answers: Answers, place: number): number {
  const clear = answers['column'](answers['specs'].findIndex(({ path }) => path === 'clear')) as BigUint64Array;
  for (let item = 0, before = 0; item < answers.length; ++item) {
    if ((((clear[item >>> 6] ?? 0n) >> BigInt(item & 63)) & 1n) === 1n) continue;
    if (before++ === place) return item;
  }
  return -1;
}
