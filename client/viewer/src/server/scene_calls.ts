// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which calls does the page make about scenes? Each is one function, with the values of the page.
import { type Packed, pack, type Shape } from '../scene/packed';
import type { SceneSummary } from '../state/state';
import { client, LONG_MS, SHORT_MS } from './connection';
import { packPolygons, unpackPolygons } from './polygon_columns';

export interface VersionInfo {
  summary: SceneSummary;
  editId: string;
  created: Date;
}

/** One version as a watch reports it. */
export interface VersionUpdate {
  summary: SceneSummary;
  created: Date;
  changed: Packed;
  removed: bigint[];
  added: bigint[];
  /** minX, minY, maxX and maxY of each changed polygon, before and after. */
  boxes: Float64Array;
}

export type EditInfo = { add: Shape } | { replace: Shape } | { remove: bigint };
export type UserData = Map<bigint, Uint8Array>;


export async function listScenes(): Promise<SceneSummary[]> {
  return client().listScenes({ deadlineMs: SHORT_MS });
}

export async function getScene(name: string, signal?: AbortSignal): Promise<SceneSummary> {
  return client().getScene(name, { deadlineMs: SHORT_MS, ...(signal ? { signal } : {}) });
}

/** Fails if a scene's server stops to answer small calls before `done` is aborted. */
async function answersUntil(name: string, done: AbortSignal): Promise<void> {
  for (;;) {
    await wait(SHORT_MS, done);
    if (done.aborted) return;
    await client().getScene(name, { deadlineMs: LONG_MS, signal: done });
  }
}

/** Waits, at most until `signal` is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Fetches the polygons of a version, 0n: the current one. Takes any time while the server answers small calls. */
export async function exportScene(
  name: string,
  version: bigint,
  userData: UserData,
  signal?: AbortSignal,
): Promise<{ summary: SceneSummary; packed: Packed }> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  signal?.addEventListener('abort', stop);
  const made = client().exportScene(name, { version, deadlineMs: null, signal: done.signal });
  try {
    await Promise.race([made, answersUntil(name, done.signal)]);
    const { scene, polygons } = await made;
    return { summary: scene, packed: packPolygons(polygons, userData) };
  } finally {
    stop();
    signal?.removeEventListener('abort', stop);
    made.catch(() => undefined);
  }
}

/**
 * Reports each version after `from` until `signal` is aborted. Throws where the connection breaks: the caller must look
 * whether the scene is still the same one.
 */
export async function watchScene(
  name: string,
  from: bigint,
  userData: UserData,
  report: (update: VersionUpdate) => void,
  signal: AbortSignal,
): Promise<void> {
  const watch = client().watchScene(name, { fromVersion: from, polygons: true, reconnectTimeoutMs: 0, signal });
  for await (const { scene, created, changes, polygons } of watch) {
    if (signal.aborted) return;
    const of = (kind: string): bigint[] => changes.filter(({ change }) => change === kind).map(({ id }) => id);
    report({
      summary: scene,
      created,
      changed: polygons ? packPolygons(polygons, userData) : pack([]),
      removed: of('removed'),
      added: of('added'),
      boxes: Float64Array.from(changes.flatMap(({ minX, minY, maxX, maxY }) => [minX, minY, maxX, maxY])),
    });
  }
}

/** The versions that the server knows, the current one last. */
export async function listVersions(name: string, signal?: AbortSignal): Promise<VersionInfo[]> {
  const versions = await client().versions(name, { deadlineMs: SHORT_MS, ...(signal ? { signal } : {}) });
  return versions.map(({ scene, editId, created }) => ({ summary: scene, editId, created }));
}

/** Makes the edits as one version after `base`, 0n: after any. */
export async function commitEdits(
  name: string,
  base: bigint,
  edits: readonly EditInfo[],
  userData: UserData,
): Promise<SceneSummary> {
  const add = edits.flatMap((edit) => ('add' in edit ? [edit.add] : []));
  const replace = edits.flatMap((edit) => ('replace' in edit ? [edit.replace] : []));
  const remove = edits.flatMap((edit) => ('remove' in edit ? [edit.remove] : []));
  return client().commit(name, {
    baseVersion: base,
    ...(add.length > 0 ? { add: unpackPolygons(pack(add), userData) } : {}),
    ...(replace.length > 0 ? { replace: unpackPolygons(pack(replace), userData) } : {}),
    remove,
  });
}

export async function rollbackScene(name: string, version: bigint, base: bigint): Promise<SceneSummary> {
  return client().rollback(name, version, { baseVersion: base });
}

export async function forkScene(base: string, version: bigint, name: string, leaseSeconds: number): Promise<SceneSummary> {
  return client().fork(base, { version, name, leaseSeconds });
}
