// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a scene get on the screen, and stay as the server has it? One session a scene: its polygons are fetched once,
// then each version that is made arrives as a difference.
import { CaromError } from '@carom/core/questions';
import { batch } from '@preact/signals';
import { clearMap, putOnMap } from '../draw/map_worker';
import { OTHER } from '../draw/palette';
import { fitted } from '../draw/view';
import { closeCore, openCore, readBundle, updateCore } from '../ask/core_link';
import { type Packed, pack, type Shape } from '../scene/packed';
import { SceneStore } from '../scene/store';
import { fetchBytes } from '../server/connection';
import { exportScene, getScene, listScenes, type VersionUpdate, watchScene } from '../server/scene_calls';
import {
  classes,
  fileReport,
  flashes,
  loading,
  online,
  pinned,
  revision,
  scene,
  scenes,
  scenesLoaded,
  selected,
  stored,
  trouble,
  type Trouble,
  view,
  watchCount,
} from './state';

/** User data of polygons, by id. */
export const userData = new Map<bigint, Uint8Array>();

const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const MAX_FLASHES = 40;

let current: AbortController | null = null;

export function troubleOf(error: unknown): Trouble {
  const code = error instanceof CaromError ? error.code : '';
  const message = error instanceof CaromError ? error.detail : String(error);
  // A browser does not say why it has no connection; the client calls that UNKNOWN.
  if (code === 'UNAVAILABLE' || code === 'UNKNOWN') return { kind: 'no_server', message };
  if (code === 'DEADLINE_EXCEEDED') return { kind: 'stalled', message };
  if (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED') return { kind: 'no_right', message };
  if (code === 'NOT_FOUND' || code === 'OUT_OF_RANGE') return { kind: 'gone', message };
  return { kind: 'other', message };
}

/** Fetches the list of scenes. Returns whether the server answered. */
export async function refreshScenes(): Promise<boolean> {
  try {
    scenes.value = await listScenes();
    scenesLoaded.value = true;
    online.value = true;
    if (trouble.value && trouble.value.kind !== 'gone') trouble.value = null;
    return true;
  } catch (error) {
    online.value = false;
    trouble.value = troubleOf(error);
    return false;
  }
}

/** Assigns a colour to each category: the most frequent ones get colours of their own, in the order of the numbers. */
function refreshClasses(): void {
  const counts = stored.scene?.categoryCounts() ?? new Map<bigint, number>();
  const hidden = new Set(classes.value.filter((entry) => entry.hidden).map((entry) => entry.category));
  const own = new Set([...counts].sort((a, b) => b[1] - a[1]).slice(0, OTHER).map(([category]) => category));
  const sorted = [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  let next = 0;
  classes.value = sorted.map(([category, count]) => ({
    category,
    index: own.has(category) ? next++ : OTHER,
    count,
    hidden: hidden.has(category),
  }));
}

export function fitView(): void {
  const bounds = stored.scene?.bounds();
  if (bounds) view.value = fitted(view.value, bounds);
}

function addPart(packed: Packed): void {
  stored.scene?.add(packed);
  putOnMap(packed, [], null, false);
}

/** Shows the polygons of a store that is complete. */
function complete(): void {
  putOnMap(pack([]), [], null, true);
  refreshClasses();
  loading.value = null;
  revision.value += 1;
}

function clear(): void {
  batch(() => {
    stored.scene = new SceneStore();
    userData.clear();
    flashes.value = [];
    selected.value = null;
    classes.value = [];
    watchCount.value = 0;
    revision.value += 1;
  });
  clearMap();
}

/** Opens a scene at a version, 0n: the current one, which the page then follows. `fit`: the view shows all of it. */
export async function openScene(name: string, version: bigint, fit: boolean): Promise<void> {
  current?.abort();
  closeCore();
  const control = new AbortController();
  current = control;
  pinned.value = version;
  for (let attempt = 0; !control.signal.aborted; ++attempt) {
    try {
      await load(name, version, fit, control.signal);
      trouble.value = null;
      online.value = true;
      attempt = 0;
      fit = false;
      if (version !== 0n) return;
      await follow(name, control.signal);
    } catch (error) {
      if (control.signal.aborted) return;
      const found = troubleOf(error);
      trouble.value = found;
      loading.value = null;
      online.value = found.kind !== 'no_server' && found.kind !== 'stalled';
      if (found.kind === 'gone' || found.kind === 'no_right') return;
    }
    await wait(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], control.signal);
  }
}

async function load(name: string, version: bigint, fit: boolean, signal: AbortSignal): Promise<void> {
  // A small call first: it fails soon where the server is stalled, and says how much is to come.
  const head = await getScene(name, signal);
  loading.value = { vertices: 0, of: head.vertexCount };
  const data: typeof userData = new Map();
  // The last picture stays until the next one is there.
  const { summary, packed } = await exportScene(name, version, data, signal);
  if (signal.aborted) throw new CaromError('CANCELLED', '', 'another scene was opened');
  clear();
  for (const [id, bytes] of data) userData.set(id, bytes);
  scene.value = summary;
  addPart(packed);
  complete();
  if (fit) fitView();
  if (stored.scene) openCore(stored.scene, summary.version);
}

/** Applies each version that the server makes; tries again where the stream ends. */
async function follow(name: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; ++attempt) {
    try {
      const from = scene.value?.version ?? 0n;
      const apply = (update: VersionUpdate): void => {
        attempt = 0;
        online.value = true;
        trouble.value = null;
        applyUpdate(update);
      };
      // A watch reports nothing until the next version, so a call shows that the server answers.
      const summary = await getScene(name, signal);
      if (summary.version < from) throw new CaromError('NOT_FOUND', '', 'the scene was made again');
      online.value = true;
      trouble.value = null;
      await watchScene(name, from, userData, apply, signal);
    } catch (error) {
      if (signal.aborted) return;
      const found = troubleOf(error);
      online.value = found.kind !== 'no_server' && found.kind !== 'stalled';
      trouble.value = found;
      if (found.kind === 'gone') {
        const code = error instanceof CaromError ? error.code : '';
        // The version that the page has is no longer kept, or another server has the scene: fetched again.
        if (code === 'OUT_OF_RANGE' || /made again/.test(found.message)) throw error;
        return;
      }
      if (found.kind === 'no_right') return;
    }
    await wait(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], signal);
    if (signal.aborted) return;
  }
}

function applyUpdate(update: VersionUpdate): void {
  const store = stored.scene;
  if (!store) return;
  const gone = update.removed.map((id) => store.shape(id)).filter((shape): shape is Shape => shape !== null);
  for (const id of update.removed) store.remove(id);
  store.add(update.changed);
  putOnMap(update.changed, update.removed, update.boxes, true);
  updateCore(update.changed, update.added, update.removed, update.summary.version);
  const shown = [...update.changed.ids]
    .slice(0, 200)
    .map((id) => store.shape(id))
    .filter((shape): shape is Shape => shape !== null);
  const at = performance.now();
  batch(() => {
    scene.value = update.summary;
    watchCount.value += 1;
    revision.value += 1;
    refreshClassesSoon();
    flashes.value = [
      ...flashes.value.slice(-MAX_FLASHES),
      { at, shapes: shown, removed: false },
      { at, shapes: gone.slice(0, 200), removed: true },
    ];
  });
}

let classesTimer = 0;
function refreshClassesSoon(): void {
  if (classesTimer) return;
  classesTimer = setTimeout(() => {
    classesTimer = 0;
    const before = classes.value.map(({ category, count }) => `${category}:${count}`).join();
    const counts = stored.scene?.categoryCounts() ?? new Map<bigint, number>();
    const after = [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([category, n]) => `${category}:${n}`).join();
    if (before !== after) refreshClasses();
  }, 300) as unknown as number;
}

type Report = { mapping?: { format?: unknown }; skipped?: { what?: unknown; why?: unknown; option?: unknown }[] };

/** Reads what `carom view` says of the import. A page that has no report shows the scene alone. */
async function readReport(): Promise<void> {
  try {
    const report = JSON.parse(new TextDecoder().decode(await fetchBytes('/local/scene.json'))) as Report;
    fileReport.value = {
      format: String(report.mapping?.format ?? ''),
      skipped: (report.skipped ?? []).map(({ what, why, option }) => ({
        what: String(what ?? ''),
        why: String(why ?? ''),
        option: String(option ?? ''),
      })),
    };
  } catch {
    fileReport.value = { format: '', skipped: [] };
  }
}

/** Shows the scene that `carom view` serves, without a server. */
export async function openFile(name: string): Promise<void> {
  try {
    const bytes = await fetchBytes('/local/scene.carom');
    const packed = await readBundle(bytes);
    if (!packed) throw new CaromError('INVALID_ARGUMENT', '', `${name} is no bundle`);
    showFile(name, packed);
    await readReport();
  } catch (error) {
    trouble.value = troubleOf(error);
  }
}

/** Puts polygons of a file on the screen, without a server. `fit`: the view shows all of them. */
export function showFile(name: string, packed: Packed, version = 1n, fit = true): void {
  current?.abort();
  clear();
  addPart(packed);
  scene.value = {
    name,
    version,
    polygonCount: packed.ids.length,
    vertexCount: packed.xy.length / 2,
    base: '',
    baseVersion: 0n,
  };
  complete();
  if (fit) fitView();
  if (stored.scene) openCore(stored.scene, version);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
