// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page's side of the drawing worker.
import { effect } from '@preact/signals';
import { copyOf, buffersOf, type Packed } from '../scene/packed';
import { classes, frameStats, isDark, labels, trouble, view } from '../state/state';
import type { FromWorker, ToWorker } from './messages';

let worker: Worker | null = null;

function send(message: ToWorker, transfer: Transferable[] = []): void {
  worker?.postMessage(message, transfer);
}

/** Gives the canvas to the worker, and keeps view and style of the worker as the page has them. */
export function startMapWorker(canvas: HTMLCanvasElement): void {
  worker = new Worker('worker.js', { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    frameStats.value = { frames: data.frames, milliseconds: data.milliseconds, missing: data.missing };
    if (data.labels) labels.value = data.labels;
  });
  worker.addEventListener('error', ({ message }) => {
    trouble.value = { kind: 'other', message: `The map cannot be drawn: ${message}` };
  });
  const offscreen = canvas.transferControlToOffscreen();
  send({ kind: 'start', canvas: offscreen, pixelRatio: Math.min(devicePixelRatio || 1, 2) }, [offscreen]);
  effect(() => {
    const list = classes.value.map(({ category, index, hidden }) => ({ category, index, hidden }));
    send({ kind: 'style', dark: isDark.value, classes: list });
  });
  effect(() => send({ kind: 'view', view: view.value }));
}

export function clearMap(): void {
  send({ kind: 'clear' });
}

/** Adds or replaces polygons, and removes others. Without boxes, the whole map is painted again. */
export function putOnMap(packed: Packed, removed: bigint[], boxes: Float64Array | null, last: boolean): void {
  const copy = copyOf(packed);
  send({ kind: 'polygons', packed: copy, removed: BigUint64Array.from(removed), boxes, last }, buffersOf(copy));
}
