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
import { exportScene, listScenes, listVersions, type VersionUpdate, wait, watchScene } from '../server/scene_calls';
import {
  classes,
  fileReport,
  flashes,
  loading,
  online,
  panel,
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
/** Milliseconds of a watch after which its end is no sign of a trouble. */
const QUIET_MS = 2000;

/** The session of the scene that is shown. */
let current: AbortController | null = null;
/** The session that is to be shown as soon as its scene is there. */
let opening: AbortController | null = null;
/** What was to be opened last. */
let wanted: { name: string; version: bigint; fit: boolean } | null = null;
/** When the version that is shown was made; null: unknown. A scene that is made again may have the same version. */
let madeAt: number | null = null;
/** Ends the watch, which is then made again after a look at the scene. */
let watchAgain = (): void => undefined;

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

const isSilent = ({ kind }: Trouble): boolean => kind === 'no_server' || kind === 'stalled';

/** Says that the server answered. `over`: a trouble that is over by that. */
export function serverAnswered(over: Trouble | null = null): void {
  online.value = true;
  const found = trouble.peek();
  if (found && (isSilent(found) || found === over)) trouble.value = null;
}

/** Says what keeps the server from an answer. */
export function serverFailed(error: unknown): Trouble {
  const found = troubleOf(error);
  online.value = !isSilent(found);
  trouble.value = found;
  return found;
}

let listTrouble: Trouble | null = null;

/** Fetches the list of scenes. Returns whether the server answered. */
export async function refreshScenes(): Promise<boolean> {
  try {
    scenes.value = await listScenes();
    scenesLoaded.value = true;
    serverAnswered(listTrouble);
    return true;
  } catch (error) {
    listTrouble = serverFailed(error);
    return false;
  }
}

/**
 * Makes small calls: a watch says nothing until the next version, also where the server answers no more, or where the
 * browser has connected it to a server that was started anew.
 */
export async function checkServer(): Promise<void> {
  // An export may leave no room for a small call; it looks by itself.
  if (loading.peek()) return;
  const [shown, since, before] = [scene.peek(), madeAt, trouble.peek()];
  if (!shown || panel.peek() === 'scenes') {
    if (!(await refreshScenes()) || !shown) return;
  }
  try {
    const versions = await listVersions(shown.name);
    serverAnswered();
    const created = versions.find(({ summary }) => summary.version === shown.version)?.created.getTime();
    const isOther = created === undefined ? (versions.at(-1)?.summary.version ?? 0n) < shown.version : created !== since;
    if (isOther || (before && isSilent(before))) watchAgain();
  } catch (error) {
    if (isSilent(troubleOf(error))) serverFailed(error);
    else serverAnswered();
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

/**
 * Opens a scene at a version, 0n: the current one, which the page then follows. `fit`: the view shows all of it. The scene
 * before stays, and is followed, until the other one is there.
 */
export async function openScene(name: string, version: bigint, fit: boolean): Promise<void> {
  opening?.abort();
  const control = new AbortController();
  const { signal } = control;
  opening = control;
  wanted = { name, version, fit };
  for (let attempt = 0; !signal.aborted; ++attempt) {
    try {
      await load(name, version, fit, control);
      trouble.value = null;
      online.value = true;
      attempt = 0;
      fit = false;
      if (version !== 0n) return;
      await follow(name, signal);
    } catch (error) {
      if (signal.aborted) return;
      loading.value = null;
      const found = serverFailed(error);
      if (found.kind === 'gone') trouble.value = { ...found, scene: name, version };
      if (found.kind === 'no_right') wanted = { name, version, fit };
      if (found.kind === 'gone' || found.kind === 'no_right') {
        if (opening === control) opening = null;
        return;
      }
    }
    await wait(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], signal);
  }
}

/** Opens what was to be opened last, such as with a token that it needs. */
export function openAgain(): void {
  if (wanted) void openScene(wanted.name, wanted.version, wanted.fit);
}

async function load(name: string, version: bigint, fit: boolean, control: AbortController): Promise<void> {
  const { signal } = control;
  // A small call first: it fails soon where the server is stalled, and says how much is to come.
  const versions = await listVersions(name, signal);
  const of = (sought: bigint) => versions.find(({ summary }) => summary.version === sought);
  const head = version === 0n ? versions.at(-1) : of(version);
  loading.value = { vertices: 0, of: head?.summary.vertexCount ?? 0 };
  const data: typeof userData = new Map();
  const { summary, packed } = await exportScene(name, version, data, signal);
  if (signal.aborted) throw new CaromError('CANCELLED', '', 'another scene was opened');
  if (current !== control) current?.abort();
  current = control;
  if (opening === control) opening = null;
  closeCore();
  clear();
  for (const [id, bytes] of data) userData.set(id, bytes);
  madeAt = of(summary.version)?.created.getTime() ?? null;
  batch(() => {
    pinned.value = version;
    scene.value = summary;
  });
  addPart(packed);
  complete();
  if (fit) fitView();
  if (stored.scene) openCore(stored.scene, summary.version);
}

/** Whether the server has the version that is shown, and not another scene with its name and number. */
async function isSame(name: string, version: bigint, signal: AbortSignal): Promise<boolean> {
  const created = (await listVersions(name, signal)).find(({ summary }) => summary.version === version)?.created.getTime();
  madeAt ??= created ?? null;
  return created !== undefined && created === madeAt;
}

/** Applies each version that the server makes; tries again where the stream ends. Returns if the scene must be fetched. */
async function follow(name: string, signal: AbortSignal): Promise<void> {
  let failed: Trouble | null = null;
  const apply = (update: VersionUpdate): void => {
    serverAnswered(failed);
    applyUpdate(update);
  };
  for (let attempt = 0; !signal.aborted; ++attempt) {
    const begin = performance.now();
    const watch = new AbortController();
    const stop = (): void => watch.abort();
    signal.addEventListener('abort', stop);
    watchAgain = stop;
    try {
      const from = scene.peek()?.version ?? 0n;
      // Also shows that the server answers: a watch reports nothing until the next version.
      if (!(await isSame(name, from, signal))) return;
      serverAnswered(failed);
      await watchScene(name, from, userData, apply, watch.signal);
      attempt = -1;
      continue;
    } catch (error) {
      if (signal.aborted) return;
      // A watch that ended after a while is made again without a word.
      if (performance.now() - begin > QUIET_MS) attempt = 0;
      const found = troubleOf(error);
      // The version is no longer kept, the scene was deleted, or the server wants another token.
      if (found.kind === 'gone' || found.kind === 'no_right') return;
      if (attempt > 0 || found.kind !== 'no_server') failed = serverFailed(error);
    } finally {
      signal.removeEventListener('abort', stop);
    }
    await wait(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], signal);
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
  madeAt = update.created.getTime();
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

/** Ends all sessions with the server. */
function leaveServer(): void {
  current?.abort();
  opening?.abort();
  [current, opening, wanted] = [null, null, null];
  loading.value = null;
  pinned.value = 0n;
}

/** Puts polygons of a file on the screen, without a server. `fit`: the view shows all of them. */
export function showFile(name: string, packed: Packed, version = 1n, fit = true): void {
  leaveServer();
  closeCore();
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

/** Shows no scene. */
export function showNothing(): void {
  leaveServer();
  closeCore();
  clear();
  scene.value = null;
}
