// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The drawing worker: keeps the polygons, and draws a frame when the view or the scene has changed.
import { edgeLabels } from './edge_labels';
import { MapRenderer } from './map_renderer';
import type { FromWorker, ToWorker } from './messages';
import type { View } from './view';

/** Milliseconds between two paintings of tiles while a scene arrives. */
const ARRIVAL_MS = 300;

let renderer: MapRenderer | null = null;
let view: View | null = null;
let frames = 0;
let requested = false;
let arrived = 0;
let labelled: View | null = null;

function request(): void {
  if (requested || !renderer || !view) return;
  requested = true;
  requestAnimationFrame(draw);
}

function draw(now: number): void {
  requested = false;
  if (!renderer || !view) return;
  const begin = performance.now();
  const report = renderer.draw(view, now);
  frames += 1;
  let labels = null;
  if (!report.busy && labelled !== view) {
    labelled = view;
    labels = edgeLabels(renderer.store, view, renderer.style.hidden);
  }
  const message: FromWorker = {
    kind: 'frame',
    frames,
    milliseconds: performance.now() - begin,
    missing: report.missing,
    labels,
  };
  postMessage(message);
  if (report.busy) request();
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'start') {
    renderer = new MapRenderer(data.canvas, data.pixelRatio);
  } else if (data.kind === 'view') {
    view = data.view;
  } else if (!renderer) {
    return;
  } else if (data.kind === 'style') {
    renderer.style = {
      dark: data.dark,
      classOf: new Map(data.classes.map(({ category, index }) => [category, index])),
      hidden: new Set(data.classes.filter(({ hidden }) => hidden).map(({ category }) => category)),
    };
    renderer.invalidate();
    labelled = null;
  } else if (data.kind === 'clear') {
    renderer.store.clear();
    renderer.reset();
    labelled = null;
  } else {
    for (const id of data.removed) renderer.store.remove(id);
    renderer.store.add(data.packed);
    labelled = null;
    const now = performance.now();
    if (data.last || now - arrived > ARRIVAL_MS) {
      arrived = now;
      renderer.invalidate(data.boxes ?? undefined);
    }
  }
  request();
});
