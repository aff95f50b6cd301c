// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a recording have, that `caromd --record` wrote (proto/carom/v1/recording.proto)? `readRecording` finds the
// entries, and what handles of scenes and trackers mean in each frame, so that a frame can be read without the ones
// before it.

import { type Answers, CaromError, type Question } from '@carom/core/questions';
import type { Bodies } from '../bodies.js';
import { Columns } from '../codec/decode.js';
import { read } from '../codec/messages.js';
import { bigs, countOf, doubles, type Found, integers, scan, type Wires } from '../codec/reader.js';
import { statusError } from '../codec/status.js';
import { table, TABLES } from '../codec/tables.js';
import { LENGTH, VARINT } from '../codec/writer.js';
import { KINDS, readBodies, readQuestion, type ReadShapes, readShapes } from './questions.js';

const MOST_ENTRIES = 2 ** 21;
const MOST_CHANGES = 2 ** 22; // of handles and trackers
const REASONS = ['unspecified', 'stream_ended', 'full', 'slow_disk', 'missing_scene'] as const;

/** Why a recording has no later frames; `unspecified`: for an unknown reason. */
export type EndReason = (typeof REASONS)[number];

export interface ReadOptions {
  /** Whether the entries before damage are returned, with `Recording.damage`, instead of an error. */
  keepIntact?: boolean;
}

/** One version of a scene. */
export interface RecordedScene {
  /** `scenes/{scene}`. */
  readonly name: string;
  readonly version: bigint;
  /** docs/bundle.md */
  readonly bundle: Uint8Array;
}

/** What a client defined a tracker as. */
export class RecordedTracker {
  constructor(
    private readonly definitions: Definitions,
    private readonly index: number,
    readonly within: number,
    /** Bits that are compared with the categories of polygons; null: all. */
    readonly mask: bigint | null,
  ) {}

  /** The shapes of all trackers that were defined together. */
  get shapes(): ReadShapes['shapes'] {
    return this.definitions.read().shapes;
  }

  /** The index in `shapes` of the shape of this tracker. */
  get shape(): number {
    return this.definitions.read().places[this.index] ?? 0;
  }
}

/** The shapes of a message TrackerDefinitions, read when they are needed. */
class Definitions {
  private made: ReadShapes | undefined;

  constructor(private readonly messages: readonly Uint8Array[]) {}

  read(): ReadShapes {
    return (this.made ??= readShapes(this.messages));
  }
}

/** Values that frames change: `at` is the value after the changes of a frame. */
class History<K, V> {
  private readonly changes = new Map<K, { frame: number; value: V }[]>();

  set(key: K, frame: number, value: V): void {
    const known = this.changes.get(key);
    if (known === undefined) this.changes.set(key, [{ frame, value }]);
    else if (known[known.length - 1]!.frame === frame) known[known.length - 1]!.value = value;
    else known.push({ frame, value });
  }

  at(key: K, frame: number): V | undefined {
    const known = this.changes.get(key) ?? [];
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (known[middle]!.frame <= frame) low = middle + 1;
      else high = middle;
    }
    return known[low - 1]?.value;
  }
}

/** A question of a group, as it was asked and answered. */
export interface RecordedQuestion {
  /** The name of the kind, such as `segments`. */
  readonly kind: string;
  /** Null: `problem` says why this package cannot read it. */
  readonly question: Question<Answers> | null;
  readonly problem: CaromError | null;
}

/** The questions of a frame about one scene, with their answers. */
export class RecordedGroup {
  /** `scenes/{scene}`; empty: a handle without a scene. */
  readonly scene: string;
  /** The version of the scene that every item read; 0: none. */
  readonly version: bigint;
  /** Why the group was not answered; null: it was. */
  readonly error: CaromError | null;
  readonly questions: readonly RecordedQuestion[];
  /** Whether the group has edits; `version` has the scene after them. */
  readonly hasEdits: boolean;
  /** The number of an unknown field of the group or its answer; 0: none. */
  readonly unknown: number;
  private readonly asked: Found;
  private readonly answered: Found;

  constructor(recording: Recording, frame: number, asked: Uint8Array, answered: Uint8Array) {
    this.asked = scan(asked, GROUP_WIRES);
    this.answered = read('GroupAnswer', answered);
    const fields = table('GroupAnswer');
    const status = fields['status']![0];
    this.version = this.answered.big(fields['version']![0]);
    this.error = this.answered.has(status) ? statusError(this.answered.bytes(status)) : null;
    this.scene = this.asked.has(SCENE)
      ? this.asked.text(SCENE)
      : (recording.sceneOfHandle(this.asked.big(HANDLE), frame) ?? '');
    this.hasEdits = this.asked.has(EDITS);
    this.unknown = this.asked.unknown || this.answered.unknown;
    this.questions = [...TABLES.values()]
      .filter(({ group }) => this.asked.has(group))
      .map(({ number, group }) => questionOf(number, this.asked.bytes(group)));
  }

  /** The bodies of the group; null: none. Throws what `readBodies` throws. */
  bodies(): Bodies | null {
    return this.asked.has(BODIES) ? readBodies(this.asked.bytes(BODIES)) : null;
  }

  /** The recorded answers to a question of this group. Throws INTERNAL for answers that do not fit the question. */
  answers<A extends Answers>(question: Question<A>): A {
    const { kind, items } = question;
    const known = TABLES.get(kind.number)!;
    const columns = new Columns(known, kind.name, this.answered.bytes(known.answer), items, this.version, () => 0n);
    return new kind.answers(question as unknown as Question, columns);
  }
}

const [SCENE, HANDLE, BODIES, EDITS] = [1, 2, 40, 60];
const GROUP_WIRES: Wires = (() => {
  const made: (number | undefined)[] = [];
  for (const { group } of TABLES.values()) made[group] = LENGTH;
  for (const field of [SCENE, BODIES, EDITS]) made[field] = LENGTH;
  for (const field of [HANDLE, 3, 61]) made[field] = VARINT; // 3, 61: versions, of which the answer has what was read
  return made;
})();

function questionOf(number: number, data: Uint8Array): RecordedQuestion {
  const kind = KINDS.get(number)!;
  try {
    return { kind: kind.name, question: readQuestion(kind, data), problem: null };
  } catch (error) {
    if (!(error instanceof CaromError)) throw error;
    return { kind: kind.name, question: null, problem: error };
  }
}

/** A frame and its answer. */
export class RecordedFrame {
  readonly seq: bigint;
  /** Whether a later frame superseded this one, which then has no answers. */
  readonly skipped: boolean;
  /** Why the server refused the frame; null: it did not. */
  readonly error: CaromError | null;
  /** The number of groups that were asked. */
  readonly groupCount: number;
  private readonly asked: readonly Uint8Array[];
  private readonly answered: readonly Uint8Array[];

  constructor(
    private readonly recording: Recording,
    readonly index: number,
    /** [microseconds] From the begin of the recording to the server's receipt of the frame. */
    readonly receivedUs: number,
    frame: Found,
    answer: Found,
  ) {
    const status = table('FrameAnswer')['status']![0];
    this.seq = frame.big(table('Frame')['seq']![0]);
    this.skipped = answer.number(table('FrameAnswer')['skipped']![0]) !== 0;
    this.error = answer.has(status) ? statusError(answer.bytes(status)) : null;
    this.asked = frame.all(table('Frame')['groups']![0]);
    this.answered = answer.all(table('FrameAnswer')['groups']![0]);
    this.groupCount = this.asked.length;
    const isAnswered = !this.skipped && this.error === null;
    if (answer.big(table('FrameAnswer')['seq']![0]) !== this.seq) throw malformed('an answer to another frame');
    if (this.answered.length !== (isAnswered ? this.asked.length : 0)) throw malformed('an answer without its groups');
  }

  /** Reads the groups; none if the frame was refused or skipped. Throws INTERNAL for malformed ones. */
  groups(): RecordedGroup[] {
    return this.answered.map((answer, i) => new RecordedGroup(this.recording, this.index, this.asked[i]!, answer));
  }
}

function malformed(what: string): CaromError {
  return new CaromError('INTERNAL', '', `the recording has ${what}`);
}

/** One stream of frames. Made by `readRecording`; has views of its bytes, which must not change. */
export class Recording {
  serverVersion = '';
  /** When the first frame was received. */
  begin = new Date(0);
  readonly scenes: RecordedScene[] = [];
  readonly frames: RecordedFrame[] = [];
  /** Null: the stream goes on, or its server was killed. */
  end: EndReason | null = null;
  /** What is wrong after the entries that are here; null: nothing. */
  damage: CaromError | null = null;
  private readonly byName = new Map<string, RecordedScene>();
  private readonly handles = new History<bigint, string>();
  private readonly trackers = new History<number, RecordedTracker | null>();
  private changes = 0;

  /** Returns a version of a scene; undefined: the recording does not have it. */
  scene(name: string, version: bigint): RecordedScene | undefined {
    return this.byName.get(`${version} ${name}`);
  }

  /** Returns what a handle of the stream named, when a frame was answered. */
  sceneOfHandle(handle: bigint, frame: number): string | undefined {
    return this.handles.at(handle, frame);
  }

  /** Returns the tracker that a handle had when a frame was answered; null: none. */
  tracker(handle: number, frame: number): RecordedTracker | null {
    return this.trackers.at(handle, frame) ?? null;
  }

  /** For `readRecording`: adds an entry. */
  add(index: number, data: Uint8Array): void {
    const found = read('RecordingEntry', data);
    const fields = table('RecordingEntry');
    const has = (name: string) => found.has(fields[name]![0]);
    const bytes = (name: string) => found.bytes(fields[name]![0]);
    if (has('header') !== (index === 0)) throw malformed(index === 0 ? 'no header' : 'a second header');
    if (this.end !== null) throw malformed('an entry after its end');
    if (has('header')) this.addHeader(read('RecordingHeader', bytes('header')));
    else if (has('scene')) this.addScene(read('RecordedScene', bytes('scene')));
    else if (has('frame')) this.addFrame(read('RecordedFrame', bytes('frame')));
    else if (has('end')) this.end = REASONS[read('RecordingEnd', bytes('end')).number(1)] ?? 'unspecified';
    else throw malformed('an entry without content');
  }

  private addHeader(header: Found): void {
    this.serverVersion = header.text(1);
    this.begin = new Date(Number(BigInt.asIntN(64, header.big(2))) / 1000);
    if (Number.isNaN(this.begin.getTime())) throw malformed('a begin that is beyond all dates');
  }

  private addScene(found: Found): void {
    const made = { name: found.text(1), version: found.big(2), bundle: found.last(3) };
    const key = `${made.version} ${made.name}`;
    if (this.byName.has(key)) throw malformed('a version of a scene twice');
    this.byName.set(key, made);
    this.scenes.push(made);
  }

  private addFrame(found: Found): void {
    const fields = table('Frame');
    const frame = read('Frame', found.bytes(2));
    const answer = read('FrameAnswer', found.bytes(3));
    const made = new RecordedFrame(this, this.frames.length, found.number(1), frame, answer);
    // A frame that is refused changes nothing.
    if (made.error === null) {
      for (const binding of frame.all(fields['bindings']![0])) {
        const bound = read('SceneBinding', binding);
        this.change(1);
        this.handles.set(bound.big(1), made.index, bound.text(2));
      }
      const removed = frame.has(fields['removed_trackers']![0])
        ? integers(frame.bytes(fields['removed_trackers']![0]))
        : [];
      this.change(removed.length);
      for (const handle of removed) this.trackers.set(handle, made.index, null);
      for (const message of frame.all(fields['trackers']![0])) this.define(made.index, message);
    }
    this.frames.push(made);
  }

  private define(frame: number, data: Uint8Array): void {
    const fields = table('TrackerDefinitions');
    const found = read('TrackerDefinitions', data);
    const column = (name: string) => found.bytes(fields[name]![0]);
    const messages = found.all(fields['shapes']![0]);
    const shape = column('shape');
    const count = shape.length > 0 ? countOf(shape) : messages.length;
    this.change(count);
    const index = shape.length > 0 ? integers(shape) : null;
    const handles = column('tracker').length > 0 ? integers(column('tracker')) : null;
    const first = found.number(fields['first_tracker']![0]);
    const mask = fields['mask']![0];
    const within = fields['within']![0];
    const definitions = new Definitions(messages);
    const own = found.has(mask) ? bigs(found.last(mask))[0]! : null;
    const distance = found.has(within) ? doubles(found.last(within))[0]! : 0;
    for (let i = 0; i < count; ++i) {
      this.trackers.set(
        handles?.[i] ?? first + i,
        frame,
        new RecordedTracker(definitions, index?.[i] ?? i, distance, own),
      );
    }
  }

  private change(count: number): void {
    this.changes += count;
    if (this.changes > MOST_CHANGES) {
      throw new CaromError('RESOURCE_EXHAUSTED', '', `more than ${MOST_CHANGES} handles and trackers are defined`);
    }
  }
}

/** Returns where the entry that begins at a place has its bytes. */
function entryAt(data: Uint8Array, begin: number): { from: number; to: number } {
  let size = 0;
  for (let scale = 1, at = begin; scale <= 2 ** 35; scale *= 128) {
    const byte = data[at++];
    if (byte === undefined) break;
    size += (byte & 127) * scale;
    if (byte < 128) {
      if (at + size > data.length) break;
      return { from: at, to: at + size };
    }
  }
  throw malformed('its end in the middle of the entry');
}

/**
 * Reads a recording. O(bytes); questions, answers and scenes are read when they are asked for.
 *
 * Throws DATA_LOSS with the path of the first entry that is cut short or malformed, such as `entries[12]`, and
 * RESOURCE_EXHAUSTED for more than 2,097,152 entries, or more than 4,194,304 definitions of handles and trackers.
 */
export function readRecording(data: Uint8Array, { keepIntact = false }: ReadOptions = {}): Recording {
  const made = new Recording();
  let index = 0;
  try {
    if (data.length === 0) throw malformed('no bytes');
    for (let at = 0; at < data.length; ++index) {
      if (index === MOST_ENTRIES) throw new CaromError('RESOURCE_EXHAUSTED', '', `more than ${MOST_ENTRIES} entries`);
      const { from, to } = entryAt(data, at);
      made.add(index, data.subarray(from, to));
      at = to;
    }
  } catch (cause) {
    if (!(cause instanceof CaromError)) throw cause;
    const code = cause.code === 'RESOURCE_EXHAUSTED' ? cause.code : 'DATA_LOSS';
    const damage = new CaromError(code, `entries[${index}]`, cause.detail.replace('the server sent', 'has'), { cause });
    if (!keepIntact || index === 0) throw damage;
    made.damage = damage;
  }
  return made;
}
