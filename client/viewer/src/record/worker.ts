// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads a recording beside the page's thread: its ticks, its scenes, and whether @carom/core answers its frames alike.
// The file stays in the browser.
import { type Difference, readRecording, type Recording, Replay } from '@carom/client/recording';
import { CaromError, load, Scene } from '@carom/core';
import { buffersOf } from '../scene/packed';
import { packPolygons } from '../server/polygon_columns';
import { bodyMarks, drawerOf } from './marks';
import type { Comparison, FromRecord, Tick, ToRecord } from './messages';

const MOST_MARKS = 20000;
const MOST_VERDICTS = 500;
/** Frames at the begin whose scenes are listed, beside those that the recording has. */
const MOST_NAMING = 20000;
/** Milliseconds between messages about the progress. */
const SLICE_MS = 60;

const send = (message: FromRecord, transfer: Transferable[] = []): void => postMessage(message, transfer);
const ready = load({ module: new URL('carom-simd.wasm', import.meta.url) });

let recording: Recording | null = null;
let stopped = false;
/** The last version of each scene at each frame is found from the frame backwards; this remembers where it was found. */
const versions = new Map<string, { frame: number; version: bigint }>();

async function open(file: File): Promise<void> {
  recording = null;
  versions.clear();
  const made = readRecording(new Uint8Array(await file.arrayBuffer()), { keepIntact: true });
  recording = made;
  send({
    kind: 'opened',
    summary: {
      name: file.name,
      serverVersion: made.serverVersion,
      begin: made.begin,
      frames: made.frames.length,
      spanUs: made.frames.at(-1)?.receivedUs ?? 0,
      end: made.end ?? '',
      scenes: scenesOf(made),
      damage: made.damage?.message ?? '',
    },
  });
}

/** The names of the scenes that the recording has, and of those that its frames ask. */
function scenesOf(from: Recording): string[] {
  const names = new Set(from.scenes.map(({ name }) => name));
  for (let i = 0; i < from.frames.length && i < MOST_NAMING; ++i) {
    for (const { scene } of groupsOf(from, i)) if (scene !== '') names.add(scene);
  }
  return [...names];
}

/** The version of a scene that a frame, or the last one before it, read. */
function versionAt(from: Recording, scene: string, index: number): bigint {
  for (let at = index; at >= 0; --at) {
    const known = versions.get(scene);
    if (known !== undefined && known.frame === at) return known.version;
    const group = groupsOf(from, at)
      .reverse()
      .find((each) => each.scene === scene && each.version > 0n);
    if (group !== undefined) {
      versions.set(scene, { frame: at, version: group.version });
      return group.version;
    }
  }
  return 0n;
}

function groupsOf(from: Recording, index: number) {
  try {
    return from.frames[index].groups();
  } catch (error) {
    if (error instanceof CaromError) return [];
    throw error;
  }
}

function tickOf(from: Recording, index: number, scene: string): Tick {
  const frame = from.frames[index];
  const { seq, receivedUs, skipped, error } = frame;
  const problem =
    error !== null
      ? `The server refused the frame: ${error.message}`
      : skipped
        ? 'A later frame superseded this one.'
        : '';
  const version = versionAt(from, scene, index);
  const nextUs = from.frames[index + 1]?.receivedUs ?? receivedUs;
  const tick: Tick = {
    index,
    atUs: receivedUs,
    nextUs,
    seq,
    problem,
    scene,
    version,
    marks: [],
    verdicts: [],
    more: 0,
  };
  groupsOf(from, index).forEach((group, g) => {
    if (group.scene !== scene) return;
    const say = (kind: string, text: string): void =>
      void tick.verdicts.push({ group: g, kind, item: -1, text, at: null });
    if (group.error !== null) say('group', group.error.message);
    else if (group.hasEdits) say('edits', `made version ${group.version}`);
    if (group.error !== null) return;
    try {
      tick.marks.push(...bodyMarks(group));
    } catch (fault) {
      say('bodies', String(fault));
    }
    for (const { kind, question, problem: fault } of group.questions) {
      if (question === null) say(kind, String(fault));
      else addQuestion(from, tick, g, group, question);
    }
  });
  return tick;
}

function addQuestion(
  from: Recording,
  tick: Tick,
  g: number,
  group: ReturnType<typeof groupsOf>[number],
  question: NonNullable<ReturnType<typeof groupsOf>[number]['questions'][number]['question']>,
): void {
  const kind = question.kind.name;
  try {
    const draw = drawerOf(from, tick.index, group, question);
    for (let item = 0; item < question.items; ++item) {
      if (tick.marks.length >= MOST_MARKS || tick.verdicts.length >= MOST_VERDICTS) {
        tick.more += question.items - item;
        return;
      }
      const { marks, text, at } = draw(item);
      tick.marks.push(...marks);
      tick.verdicts.push({ group: g, kind, item, text, at: at && { x: at.x, y: at.y } });
    }
  } catch (fault) {
    tick.verdicts.push({ group: g, kind, item: -1, text: String(fault), at: null });
  }
}

function sendScene(from: Recording, name: string, version: bigint): void {
  const recorded = from.scene(name, version);
  if (recorded === undefined) return send({ kind: 'scene', name, version, packed: null });
  const made = Scene.fromBundle(recorded.bundle);
  try {
    const packed = packPolygons(made.polygons(), new Map());
    send({ kind: 'scene', name, version, packed }, buffersOf(packed));
  } finally {
    made.dispose();
  }
}

function textOf(value: Difference['recorded']): string {
  // A -0 differs from a 0.
  return value === null ? 'no entry' : Object.is(value, -0) ? '-0' : String(value);
}

/** Compares all frames, and stops at the first difference or at a message `stop`. */
async function compare(from: Recording): Promise<void> {
  stopped = false;
  const replay = new Replay(from);
  let difference: Difference | null = null;
  try {
    for (let i = 0, begin = performance.now(); i < from.frames.length && difference === null && !stopped; ++i) {
      difference = replay.compare(i);
      if (performance.now() - begin < SLICE_MS) continue;
      send({ kind: 'progress', frames: i + 1 });
      await new Promise((resolve) => setTimeout(resolve));
      begin = performance.now();
    }
    const { frames, questions, items, notCompared } = replay.counts;
    const result: Comparison = { difference: null, frames, questions, items, notCompared: [...notCompared], stopped };
    if (difference !== null) {
      const { recorded, computed } = difference;
      result.difference = { ...difference, recorded: textOf(recorded), computed: textOf(computed) };
    }
    send({ kind: 'compared', result });
  } finally {
    replay.dispose();
  }
}

addEventListener('message', async ({ data }: MessageEvent<ToRecord>) => {
  if (data.kind === 'stop') {
    stopped = true;
    return;
  }
  try {
    await ready;
    if (data.kind === 'open') await open(data.file);
    else if (recording === null) return;
    else if (data.kind === 'tick') send({ kind: 'tick', tick: tickOf(recording, data.index, data.scene) });
    else if (data.kind === 'scene') sendScene(recording, data.name, data.version);
    else await compare(recording);
  } catch (error) {
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});
