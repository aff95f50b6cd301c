// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page's side of the worker that answers by @carom/core.
import { CaromError } from '@carom/core/questions';
import { buffersOf, copyOf, type Packed } from '../scene/packed';
import type { SceneStore } from '../scene/store';
import { coreReady } from '../state/state';
import type { CoreAnswer, FromCore, ToCore } from './core_messages';
import type { Question } from './question';

/** Above so many vertices the page has no scene of its own, and the server answers alone. */
export const MAX_CORE_VERTICES = 3_000_000;
/** Polygons of a message. */
const PART = 20000;

let worker: Worker | null = null;
let number = 0;
const waiting = new Map<number, (answer: CoreAnswer) => void>();
const reading = new Map<number, { done: (packed: Packed | null) => void; fail: (why: CaromError) => void }>();
/** The version of the worker's scene; 0n: it has none. */
let version = 0n;

function send(message: ToCore, transfer: Transferable[] = []): void {
  worker?.postMessage(message, transfer);
}

function start(): void {
  worker = new Worker('core.js', { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<FromCore>) => {
    if (data.kind === 'state') {
      coreReady.value = data.state;
      return;
    }
    if (data.kind === 'polygons') {
      reading.get(data.number)?.done(data.packed);
      reading.delete(data.number);
      return;
    }
    waiting.get(data.number)?.(data.answer);
    waiting.delete(data.number);
  });
  // Its script did not load, or failed where nothing catches. The next scene starts another worker.
  worker.addEventListener('error', () => {
    worker?.terminate();
    worker = null;
    version = 0n;
    coreReady.value = 'absent';
    for (const done of waiting.values()) done(null);
    waiting.clear();
    const why = new CaromError('INTERNAL', '', 'core.js, a part of this page, did not load');
    for (const { fail } of reading.values()) fail(why);
    reading.clear();
  });
}

/** Gives the polygons of the store to the worker. */
export function openCore(store: SceneStore, at: bigint): void {
  if (store.vertexCount > MAX_CORE_VERTICES) {
    coreReady.value = 'too_large';
    return;
  }
  if (!worker) start();
  coreReady.value = 'loading';
  const slots = store.allSlots();
  for (let i = 0; i < slots.length; i += PART) {
    const packed = store.packedSlots(slots.slice(i, i + PART));
    send({ kind: 'part', packed }, buffersOf(packed));
  }
  send({ kind: 'open', version: at });
  version = at;
}

export function updateCore(changed: Packed, added: bigint[], removed: bigint[], at: bigint): void {
  if (version === 0n) return;
  const packed = copyOf(changed);
  send({ kind: 'commit', packed, added, removed, version: at }, buffersOf(packed));
  version = at;
}

export function closeCore(): void {
  version = 0n;
  send({ kind: 'close' });
  coreReady.value = 'loading';
}

/** The polygons of a bundle; null if the bytes are no bundle. Throws a CaromError if the page has no core. */
export function readBundle(bytes: Uint8Array<ArrayBuffer>): Promise<Packed | null> {
  if (!worker) start();
  return new Promise((done, fail) => {
    number += 1;
    reading.set(number, { done, fail });
    send({ kind: 'read', number, bytes }, [bytes.buffer]);
  });
}

/** Asks the worker's scene; null where it has none. */
export function askCore(question: Question): Promise<CoreAnswer> {
  if (version === 0n || !worker || coreReady.value !== 'ready') return Promise.resolve(null);
  return new Promise((resolve) => {
    number += 1;
    waiting.set(number, resolve);
    send({ kind: 'ask', number, question });
  });
}
