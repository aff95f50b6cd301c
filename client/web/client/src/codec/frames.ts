// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a program ask in one tick, and what does a server answer? A `Frame` has groups, each of which asks one scene,
// and its `FrameAnswer` has one answer for each group. Sending a frame turns it into bytes at once, so that the arrays of
// its questions may change afterwards.

import { toBinary } from '@bufbuild/protobuf';
import { type Answers, CaromError, checkAttached, Question, refuse, Shapes, type ShapesLike } from '@carom/core/questions';
import { Bodies } from '../bodies.js';
import { type Edit, EditSchema } from '../generated/carom/v1/scene_service_pb.js';
import { type Edits, editsOf } from '../scenes/edits.js';
import {
  checkOptions,
  type FrameStats,
  integer,
  long,
  milliseconds,
  newEditId,
  type SceneLike,
  sceneName,
} from '../values.js';
import { Columns } from './decode.js';
import {
  type BodySetOptions,
  type PosesArguments,
  setDefinition,
  type SetDefinition,
  setHandle,
  setTick,
  type SetTick,
} from './body_sets.js';
import { coherenceOf, putBodies, putQuestion, tableOf } from './encode.js';
import { type Inner, put, putInner, read, readNumbers } from './messages.js';
import { shapeMessages } from './polygons.js';
import { statusError } from './status.js';
import { table } from './tables.js';
import { Writer } from './writer.js';

const MOST_BUDGET_MS = 60_000;
const COHERENCE = { on: 1, off: 2 } as const;
// Fields of Group.
const [SCENE, HANDLE, MIN_VERSION, BODIES, BODY_SET, ROTATION, EDITS, VERSION, VERSION_AT_TICK] = [
  1, 2, 3, 40, 42, 43, 60, 61, 62,
];
const ROTATIONS = { nearest: 1, linear: 2 } as const;
const MOST_KEPT_BYTES = 2 ** 20;
const TRACKER = 2 ** 32 - 1;

export interface FrameOptions {
  /** A number that the answer repeats; a stream numbers frames without one. */
  seq?: number | bigint;
  /** From the server's receipt of the frame; groups that are not answered by then are DEADLINE_EXCEEDED. */
  budgetMs?: number;
  /** Whether moves use the memories of trackers; no answer changes. */
  coherence?: keyof typeof COHERENCE;
  /** On a stream: whether a later frame with `supersede` replaces this one, if it is not begun by then. */
  supersede?: boolean;
}

export interface GroupOptions {
  /** The version that is read, as far as the server keeps it; 0: the current one. */
  version?: number | bigint;
  /** The least version that is read; the server waits for it within the budget of the frame. */
  minVersion?: number | bigint;
  /** Shapes that exist for this group alone. */
  bodies?: Bodies;
  /** Of a fork, made before the questions are answered. */
  edits?: Edits;
  /** The handle of a body set, in place of bodies: each item considers them at its moment `asOf`. */
  bodySet?: number;
  /** Of these bodies between two ticks: that of the nearest tick, if absent, or the angle between. */
  rotation?: keyof typeof ROTATIONS;
  /** Of `bodySet`, a set of the fork that the group names: the group reads the fork as it was when the tick came. */
  versionAtTick?: number | bigint;
}

export interface TrackerOptions {
  /** The index of the shape of each definition; absent: definition i has shape i, or all have the only shape. */
  shape?: readonly number[] | Uint32Array;
  /** The handle of each definition; absent: firstTracker + i. */
  tracker?: readonly number[] | Uint32Array;
  firstTracker?: number;
  /** Bits that are compared with the categories of polygons; absent: all. */
  mask?: number | bigint;
  /** Polygons and edges at most this far away count as touched; world length. */
  within?: number;
}

/** Definitions of trackers, as what a stream sends again. */
export interface Definition {
  readonly shapes: readonly Uint8Array[];
  readonly shape: readonly number[];
  readonly handles: readonly number[];
  readonly mask: bigint | null;
  readonly within: number;
  readonly put: Inner;
}

/** The questions of a frame about one scene, at most one of each kind. Made by `Frame.group`. */
export class Group {
  readonly questions: Question<Answers>[] = [];

  constructor(
    readonly scene: string,
    readonly options: GroupOptions,
  ) {}

  /** Adds a question that a function of `@carom/core/questions` made, and returns it. */
  ask<A extends Answers>(question: Question<A>): Question<A> {
    if (!(question instanceof Question)) throw refuse('question', 'is no question of @carom/core/questions');
    if (this.questions.some(({ kind }) => kind.number === question.kind.number)) {
      throw refuse('question', `is the second of the kind ${question.kind.method} in the group; one is accepted`);
    }
    this.questions.push(question as unknown as Question<Answers>);
    return question;
  }
}

/** What a program asks in one tick: groups, each for one scene. A frame may be sent several times. */
export class Frame {
  readonly groups: Group[] = [];
  readonly definitions: Definition[] = [];
  readonly removed: number[] = [];
  readonly bodySets: SetDefinition[] = [];
  readonly ticks: SetTick[] = [];
  readonly removedSets: number[] = [];

  constructor(readonly options: FrameOptions = {}) {
    checkOptions(options, ['seq', 'budgetMs', 'coherence', 'supersede']);
    const { seq, budgetMs, coherence } = options;
    if (seq !== undefined) long(seq, 'seq');
    if (budgetMs !== undefined) milliseconds(budgetMs, 'budgetMs', 0, MOST_BUDGET_MS);
    if (coherence !== undefined && !Object.hasOwn(COHERENCE, coherence)) {
      throw refuse('coherence', `is ${String(coherence)}; accepted are on, off`);
    }
  }

  /** Adds a group about a scene. */
  group(scene: SceneLike, options: GroupOptions = {}): Group {
    checkOptions(options, ['version', 'minVersion', 'bodies', 'edits', 'bodySet', 'rotation', 'versionAtTick']);
    const { version, minVersion, bodies, bodySet, rotation, versionAtTick } = options;
    if (version !== undefined) long(version, 'version');
    if (minVersion !== undefined) long(minVersion, 'minVersion');
    if (bodies !== undefined && !(bodies instanceof Bodies)) throw refuse('bodies', 'is no Bodies');
    if (bodySet !== undefined) setHandle(bodySet);
    if (versionAtTick !== undefined) long(versionAtTick, 'versionAtTick');
    if (rotation !== undefined && !Object.hasOwn(ROTATIONS, rotation)) {
      throw refuse('rotation', `is ${String(rotation)}; accepted are nearest, linear`);
    }
    const group = new Group(sceneName(scene, 'scene'), options);
    this.groups.push(group);
    return group;
  }

  /** Asks one question about a scene, in a group of its own; returns the question. */
  ask<A extends Answers>(scene: SceneLike, question: Question<A>, options: GroupOptions = {}): Question<A> {
    return this.group(scene, options).ask(question);
  }

  /**
   * Defines trackers, shapes that a server keeps, before the groups are answered: on a stream for later frames, too.
   */
  defineTrackers(shapes: ShapesLike, options: TrackerOptions = {}): void {
    checkOptions(options, ['shape', 'tracker', 'firstTracker', 'mask', 'within']);
    this.definitions.push(definitionOf(shapes instanceof Shapes ? shapes : new Shapes(shapes), options));
  }

  /** Removes trackers by their handles, defined or not, before others are defined. */
  removeTrackers(tracker: Iterable<number>): void {
    if (typeof tracker?.[Symbol.iterator] !== 'function') throw refuse('tracker', 'is no list of handles');
    checkAttached(tracker, 'tracker');
    for (const handle of tracker) this.removed.push(integer(handle, 'tracker', 0, TRACKER));
  }

  /**
   * Defines bodies that the server keeps with their poses by tick, for shots in the past: on a stream for later frames,
   * too. The same definition again changes nothing. bodySet: handle, below 65,536, chosen by the caller
   */
  defineBodySet(bodySet: number, shapes: ShapesLike, options: BodySetOptions = {}): void {
    this.bodySets.push(setDefinition(bodySet, shapes, options));
  }

  /** Adds a tick to a body set, before the groups are answered; ticks come in ascending order. */
  addPoses(bodySet: number, poses: PosesArguments): void {
    this.ticks.push(setTick(bodySet, poses));
  }

  /** Removes body sets, defined or not, before others are defined. The set of a fork goes for all of its streams. */
  removeBodySets(bodySet: Iterable<number>): void {
    if (typeof bodySet?.[Symbol.iterator] !== 'function') throw refuse('bodySet', 'is no list of handles');
    for (const handle of bodySet) this.removedSets.push(setHandle(handle));
  }
}

function definitionOf(shapes: Shapes, options: TrackerOptions): Definition {
  const { firstTracker = 0, within = 0 } = options;
  integer(firstTracker, 'firstTracker', 0, TRACKER);
  if (typeof within !== 'number') throw refuse('within', `is ${String(within)}; a number is accepted`);
  const mask = options.mask === undefined ? null : long(options.mask, 'mask', 1n);
  for (const name of ['shape', 'tracker'] as const) checkAttached(options[name], name);
  const check = (name: 'shape' | 'tracker') =>
    options[name] && Array.from(options[name], (each, i) => integer(each, `${name}[${i}]`, 0, TRACKER));
  const tracker = check('tracker');
  const shape = check('shape') ?? (tracker && shapes.length === 1 ? tracker.map(() => 0) : undefined);
  const made = shapeMessages(shapes);
  const index = shape ?? made.map((_, i) => i);
  if (tracker !== undefined && tracker.length !== index.length) {
    throw refuse('tracker', `has ${tracker.length} entries, where there are ${index.length} shapes`);
  }
  const write: Inner = (writer) => {
    if (mask !== null) writer.word(6, mask);
    if (within !== 0) writer.double(5, within);
    if (firstTracker !== 0) writer.number(4, firstTracker);
    if (tracker !== undefined) writer.varints(3, tracker);
    if (shape !== undefined) writer.varints(2, shape);
    for (let i = made.length - 1; i >= 0; --i) writer.bytes(1, made[i]!);
  };
  const handles = tracker ?? index.map((_, i) => firstTracker + i);
  return { shapes: made, shape: index, handles, mask, within, put: write };
}

// --- As it is sent --------------------------------------------------------------------------------

/** A group as it was when it was sent. */
interface AskedGroup {
  readonly scene: string;
  readonly questions: readonly Question<Answers>[];
  readonly edits: readonly Edit[];
}

/** A frame as it was when it was sent. */
export interface Asked {
  readonly seq: bigint;
  readonly groups: readonly AskedGroup[];
  readonly definitions: readonly Definition[];
  readonly removed: readonly number[];
  readonly bodySets: readonly SetDefinition[];
  readonly ticks: readonly SetTick[];
  readonly removedSets: readonly number[];
  readonly data: Uint8Array<ArrayBuffer>; // the request
}

/** Returns what writes a message that is encoded already. */
export function asIs({ data }: { readonly data: Uint8Array }): Inner {
  return (writer) => writer.raw(data);
}

const NONE: ReadonlyMap<string, number> = new Map();
let kept: Writer | undefined;

/**
 * Turns a frame into the request of a call, or the message of a stream.
 *
 * seq: of a frame that has none; handles: of scenes that the stream has bound; bindings: handles that the frame binds
 */
export function ask(
  frame: Frame,
  seq = 0n,
  handles: ReadonlyMap<string, number> = NONE,
  bindings: ReadonlyMap<string, number> = NONE,
): Asked {
  const writer = kept ?? new Writer(4096);
  kept = undefined;
  const own = frame.options.seq === undefined ? seq : long(frame.options.seq, 'seq');
  const edits = frame.groups.map(({ options }) => (options.edits === undefined ? [] : editsOf(options.edits)));
  const writeGroups = frame.groups.map(
    (group, i): Inner =>
      (out) =>
        putGroup(out, group, edits[i]!, handles.get(group.scene) ?? bindings.get(group.scene)),
  );
  const { budgetMs, supersede = false } = frame.options;
  putInner(writer, 1, (out) =>
    put(out, 'Frame', {
      seq: own,
      budget_us: budgetMs === undefined ? 0 : Math.max(Math.round(budgetMs * 1e3), budgetMs > 0 ? 1 : 0),
      bindings: [...bindings].map(
        ([scene, handle]): Inner => (inner) => put(inner, 'SceneBinding', { handle, scene }),
      ),
      groups: writeGroups,
      removed_trackers: frame.removed.length === 0 ? null : packed(frame.removed),
      trackers: frame.definitions.map((definition) => definition.put),
      coherence: coherence(frame),
      supersede,
      body_sets: frame.bodySets.map(asIs),
      poses: frame.ticks.map(asIs),
      removed_body_sets: frame.removedSets.length === 0 ? null : packed(frame.removedSets),
    }),
  );
  const data = writer.finish();
  if (data.length <= MOST_KEPT_BYTES) kept = writer;
  const groups = frame.groups.map(({ scene, questions }, i) => ({ scene, questions: [...questions], edits: edits[i]! }));
  return {
    seq: own,
    groups,
    definitions: [...frame.definitions],
    removed: [...frame.removed],
    bodySets: [...frame.bodySets],
    ticks: [...frame.ticks],
    removedSets: [...frame.removedSets],
    data,
  };
}

/** The option of the frame, with which those of its questions must agree. */
function coherence(frame: Frame): number {
  let made: number = frame.options.coherence === undefined ? 0 : COHERENCE[frame.options.coherence];
  for (const question of frame.groups.flatMap((group) => group.questions)) {
    const own = coherenceOf(question);
    if (own !== 0 && made !== 0 && own !== made) {
      throw refuse('coherence', 'differs between the questions of a frame, or from that of the frame');
    }
    made = own || made;
  }
  return made;
}

function packed(values: readonly number[]): Uint8Array {
  const writer = new Writer(16 + 5 * values.length);
  for (let i = values.length - 1; i >= 0; --i) writer.varint(values[i]!);
  return writer.finish();
}

function putGroup(writer: Writer, group: Group, edits: readonly Edit[], handle: number | undefined): void {
  const { options } = group;
  const parts: [number, (out: Writer) => void][] = group.questions.map((question) => {
    const field = tableOf(question.kind).group;
    return [field, (out) => putInner(out, field, (inner) => putQuestion(inner, question))];
  });
  const version = long(options.version ?? 0, 'version');
  const minVersion = long(options.minVersion ?? 0, 'minVersion');
  if (version > 0n) parts.push([VERSION, (out) => out.big(VERSION, version)]);
  if (minVersion > 0n) parts.push([MIN_VERSION, (out) => out.big(MIN_VERSION, minVersion)]);
  const { bodies, bodySet, rotation, versionAtTick } = options;
  if (bodySet !== undefined) parts.push([BODY_SET, (out) => out.number(BODY_SET, bodySet)]);
  if (rotation !== undefined) parts.push([ROTATION, (out) => out.number(ROTATION, ROTATIONS[rotation])]);
  if (versionAtTick !== undefined) {
    parts.push([VERSION_AT_TICK, (out) => out.big(VERSION_AT_TICK, BigInt(versionAtTick))]);
  }
  if (bodies !== undefined && bodies.length > 0) {
    parts.push([BODIES, (out) => putInner(out, BODIES, (inner) => putBodies(inner, bodies))]);
  }
  if (options.edits !== undefined) {
    const { editId = newEditId(), baseVersion = 0 } = options.edits;
    parts.push([
      EDITS,
      (out) =>
        putInner(out, EDITS, (inner) =>
          put(inner, 'GroupEdits', {
            edit_id: editId,
            base_version: long(baseVersion, 'edits.baseVersion'),
            edits: edits.map((edit): Inner => (each) => each.raw(toBinary(EditSchema, edit))),
          }),
        ),
    ]);
  }
  parts.sort(([a], [b]) => b - a);
  for (const [, write] of parts) write(writer);
  if (handle !== undefined) writer.number(HANDLE, handle);
  else writer.text(SCENE, group.scene);
}

// --- Answers --------------------------------------------------------------------------------------

/** The answers to a group: `answer.get(question)` has those to one of its questions. */
export class GroupAnswer {
  /** Of the scene that every item read. */
  readonly version: bigint;
  /** The version that the edits made; 0: none. */
  readonly editedVersion: bigint;
  /** Why the group was not answered; null: it was. */
  readonly error: CaromError | null;
  private readonly found: ReturnType<typeof read>;
  private readonly made = new Map<Question<Answers>, Answers>();

  constructor(
    private readonly asked: AskedGroup,
    data: Uint8Array,
    private readonly numbers: (name: string) => bigint,
  ) {
    this.found = read('GroupAnswer', data);
    const fields = table('GroupAnswer');
    this.version = this.found.big(fields['version']![0]);
    this.editedVersion = this.found.big(fields['edited_version']![0]);
    const status = fields['status']![0];
    this.error = this.found.has(status) ? statusError(this.found.bytes(status)) : null;
  }

  /** `scenes/{scene}`. */
  get scene(): string {
    return this.asked.scene;
  }

  /** The questions of the group. */
  get questions(): readonly Question<Answers>[] {
    return this.asked.questions;
  }

  /** Returns the answers to a question of the group; throws why the group was not answered. */
  get<A extends Answers>(question: Question<A>): A {
    this.check();
    const asked = question as unknown as Question<Answers>;
    let made = this.made.get(asked);
    if (made === undefined) {
      if (!this.asked.questions.includes(asked)) throw refuse('question', 'is not one of the group');
      const { kind, items } = asked;
      const known = tableOf(kind);
      const data = this.found.bytes(known.answer);
      made = new kind.answers(asked, new Columns(known, kind.name, data, items, this.version, this.numbers));
      this.made.set(asked, made);
    }
    return made as A;
  }

  /** Throws why the group was not answered, if it was not. */
  check(): this {
    if (this.error !== null) throw this.error;
    return this;
  }
}

/** The answer to a frame: `answer.get(question)`, `answer.groups[i].get(question)`. */
export class FrameAnswer {
  readonly seq: bigint;
  /** Why the server refused the frame as a whole; null: it did not. */
  readonly error: CaromError | null;
  /** Whether a later frame superseded this one. */
  readonly skipped: boolean;
  readonly groups: readonly GroupAnswer[];
  private readonly statsData: Uint8Array;
  private readStats: FrameStats | undefined;
  private owners: Map<Question<Answers>, GroupAnswer | null> | undefined; // null: in several groups

  /** data: a message FrameAnswer */
  constructor(asked: Asked, data: Uint8Array) {
    const found = read('FrameAnswer', data);
    const fields = table('FrameAnswer');
    const status = fields['status']![0];
    this.seq = found.big(fields['seq']![0]);
    this.error = found.has(status) ? statusError(found.bytes(status)) : null;
    this.skipped = found.number(fields['skipped']![0]) !== 0;
    this.statsData = found.bytes(fields['stats']![0]);
    const groups = found.all(fields['groups']![0]);
    const expected = this.skipped || this.error !== null ? 0 : asked.groups.length;
    if (this.seq !== asked.seq || groups.length !== expected) {
      throw new CaromError('INTERNAL', '', 'the server sent the answer to another frame');
    }
    const numbers = (name: string) => BigInt(readNumbers('FrameStats', this.statsData)[camel(name)] ?? 0);
    this.groups = groups.map((group, i) => new GroupAnswer(asked.groups[i]!, group, numbers));
  }

  /** What the frame cost the server. */
  get stats(): FrameStats {
    return (this.readStats ??= readNumbers('FrameStats', this.statsData) as unknown as FrameStats);
  }

  /** Returns the answers to a question of the frame that is in one group. */
  get<A extends Answers>(question: Question<A>): A {
    this.check();
    if (this.owners === undefined) {
      this.owners = new Map();
      for (const group of this.groups) {
        for (const each of group.questions) this.owners.set(each, this.owners.has(each) ? null : group);
      }
    }
    const owner = this.owners.get(question as unknown as Question<Answers>);
    if (owner === null) throw refuse('question', 'is in several groups: use answer.groups[i].get(question)');
    if (owner !== undefined) return owner.get(question);
    throw refuse('question', this.skipped ? 'is of a frame that was skipped' : 'is not one of the frame');
  }

  /** Throws why the server refused the frame, if it did. */
  check(): this {
    if (this.error !== null) throw this.error;
    return this;
  }
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
