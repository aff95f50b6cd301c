// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers questions by @carom/core, beside the page's thread. Messages are handled in their order.
import { CaromError, load, Scene } from '@carom/core';
import { type Packed } from '../scene/packed';
import { packPolygons, unpackPolygons } from '../server/polygon_columns';
import type { CoreAnswer, FromCore, ToCore } from './core_messages';
import { coreQuestion, plainAnswer, refusedAnswer } from './core_question';
import type { Question } from './question';

const send = (message: FromCore): void => postMessage(message);
const ready = load({ module: new URL('carom-simd.wasm', import.meta.url) });

let parts: Packed[] = [];
let scene: Scene | null = null;

function replace(next: Scene | null): void {
  scene?.dispose();
  scene = next;
}

/** The columns of all parts, one after the other. */
function joined(list: readonly Packed[]): Packed {
  const names = ['ids', 'categories', 'flags', 'rings', 'lengths', 'open', 'xy'] as const;
  const columns = names.map((name) => {
    const all = list.map((part) => part[name]);
    const length = all.reduce((sum, column) => sum + column.length, 0);
    const Type = (all[0]?.constructor ?? Uint8Array) as new (length: number) => Uint8Array;
    const whole = new Type(length);
    let at = 0;
    for (const column of all) {
      whole.set(column as never, at);
      at += column.length;
    }
    return [name, whole];
  });
  return Object.fromEntries(columns) as unknown as Packed;
}

/** The polygons of `packed` whose ids are, or are not, among `ids`. */
function picked(packed: Packed, ids: ReadonlySet<bigint>, wanted: boolean): Packed {
  const made: { -readonly [K in keyof Packed]: number[] | bigint[] } = {
    ids: [],
    categories: [],
    flags: [],
    rings: [],
    lengths: [],
    open: [],
    xy: [],
  };
  let [ring, vertex] = [0, 0];
  for (let i = 0; i < packed.ids.length; ++i) {
    const take = ids.has(packed.ids[i]) === wanted;
    if (take) {
      (made.ids as bigint[]).push(packed.ids[i]);
      (made.categories as bigint[]).push(packed.categories[i]);
      (made.flags as number[]).push(packed.flags[i]);
      (made.rings as number[]).push(packed.rings[i]);
    }
    for (let k = 0; k < packed.rings[i]; ++k, ++ring) {
      const length = packed.lengths[ring];
      if (take) {
        (made.lengths as number[]).push(length);
        (made.open as number[]).push(packed.open[ring]);
        for (let j = vertex * 2; j < (vertex + length) * 2; ++j) (made.xy as number[]).push(packed.xy[j]);
      }
      vertex += length;
    }
  }
  return {
    ids: BigUint64Array.from(made.ids as bigint[]),
    categories: BigUint64Array.from(made.categories as bigint[]),
    flags: Uint8Array.from(made.flags as number[]),
    rings: Uint32Array.from(made.rings as number[]),
    lengths: Uint32Array.from(made.lengths as number[]),
    open: Uint8Array.from(made.open as number[]),
    xy: Float64Array.from(made.xy as number[]),
  };
}

function open(version: bigint): void {
  const polygons = unpackPolygons(joined(parts.length > 0 ? parts : []));
  parts = [];
  replace(Scene.fromPolygons(polygons, { version }));
  send({ kind: 'state', state: 'ready' });
}

function commit(message: ToCore & { kind: 'commit' }): void {
  if (!scene) return;
  const added = new Set(message.added);
  const [add, changed] = [picked(message.packed, added, true), picked(message.packed, added, false)];
  replace(
    scene.commit({
      ...(add.ids.length > 0 ? { add: unpackPolygons(add) } : {}),
      ...(changed.ids.length > 0 ? { replace: unpackPolygons(changed) } : {}),
      remove: BigUint64Array.from(message.removed),
      version: message.version,
    }),
  );
}

function answer(question: Question): CoreAnswer {
  if (!scene) return null;
  try {
    const answers = scene.ask(coreQuestion(question));
    const made = plainAnswer(answers);
    answers.dispose();
    return made;
  } catch (error) {
    if (error instanceof CaromError && error.code === 'INVALID_ARGUMENT') return refusedAnswer(error);
    throw error;
  }
}

function read(bytes: Uint8Array): Packed {
  const made = Scene.fromBundle(bytes);
  try {
    return packPolygons(made.polygons(), new Map());
  } finally {
    made.dispose();
  }
}

function handle(message: ToCore): void {
  if (message.kind === 'part') parts.push(message.packed);
  else if (message.kind === 'open') open(message.version);
  else if (message.kind === 'commit') commit(message);
  else if (message.kind === 'ask') send({ kind: 'answer', number: message.number, answer: answer(message.question) });
  else if (message.kind === 'read') send({ kind: 'polygons', number: message.number, packed: read(message.bytes) });
  else {
    parts = [];
    replace(null);
  }
}

addEventListener('message', async ({ data }: MessageEvent<ToCore>) => {
  try {
    await ready;
    handle(data);
  } catch (error) {
    // Without a core, or with a scene that the core refuses, the server answers alone.
    console.warn('the core of the page', error);
    if (data.kind === 'read') {
      send({ kind: 'polygons', number: data.number, packed: null });
      return;
    }
    replace(null);
    send({ kind: 'state', state: 'absent' });
    if (data.kind === 'ask') send({ kind: 'answer', number: data.number, answer: null });
  }
});
