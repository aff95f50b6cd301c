// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which calls does the page make about scenes? Each is one function, with plain values.
import type { Packed, Shape } from '../scene/packed';
import type { SceneSummary } from '../state/state';
import { call, type Json, stream } from './connect';
import { PolygonCollector, polygonJson, type PolygonJson } from './polygons_json';

export interface VersionInfo {
  summary: SceneSummary;
  editId: string;
  created: Date;
}

/** One version as a watch reports it. */
export interface VersionUpdate {
  summary: SceneSummary;
  /** 0n: the update has the whole scene. */
  baseVersion: bigint;
  editId: string;
  created: Date;
  changed: Packed;
  removed: bigint[];
  added: bigint[];
  /** minX, minY, maxX and maxY of each changed polygon, before and after. */
  boxes: Float64Array;
}

export type EditInfo = { add: Shape } | { replace: Shape } | { remove: bigint };

function summaryOf(json: unknown): SceneSummary {
  const scene = (json ?? {}) as Record<string, string>;
  return {
    name: scene.name ?? '',
    version: BigInt(scene.version ?? 0),
    polygonCount: Number(scene.polygonCount ?? 0),
    vertexCount: Number(scene.vertexCount ?? 0),
    base: scene.base ?? '',
    baseVersion: BigInt(scene.baseVersion ?? 0),
  };
}

const created = (json: Json): Date => new Date(Number(json.createdUs ?? 0) / 1000);

export async function listScenes(signal?: AbortSignal): Promise<SceneSummary[]> {
  const scenes: SceneSummary[] = [];
  let pageToken = '';
  do {
    const page = await call('SceneService/ListScenes', { pageSize: 1000, pageToken }, signal);
    scenes.push(...((page.scenes as Json[]) ?? []).map(summaryOf));
    pageToken = (page.nextPageToken as string) ?? '';
  } while (pageToken && scenes.length < 100000);
  return scenes;
}

export async function getScene(name: string, signal?: AbortSignal): Promise<SceneSummary> {
  return summaryOf((await call('SceneService/GetScene', { name }, signal)).scene);
}

/** Fetches the polygons of a version, 0n: the current one, in parts. Returns the summary. */
export async function exportScene(
  name: string,
  version: bigint,
  userData: Map<bigint, string>,
  part: (packed: Packed, summary: SceneSummary, vertices: number) => void,
  signal: AbortSignal,
): Promise<SceneSummary> {
  const collector = new PolygonCollector(userData);
  let summary: SceneSummary | null = null;
  let waiting = 0;
  for await (const chunk of stream('SceneService/ExportScene', { name, version: String(version) }, signal)) {
    if (chunk.scene) summary = summaryOf(chunk.scene);
    collector.add((chunk.polygons as PolygonJson[]) ?? [], chunk.continues === true);
    waiting += 1;
    if (waiting < 8 || !summary) continue;
    waiting = 0;
    part(collector.take(), summary, collector.vertices);
  }
  summary ??= summaryOf(null);
  part(collector.take(), summary, collector.vertices);
  return summary;
}

/** Reports each version after `from` until `signal` is aborted. */
export async function watchScene(
  name: string,
  from: bigint,
  userData: Map<bigint, string>,
  report: (update: VersionUpdate) => void,
  signal: AbortSignal,
): Promise<void> {
  const request = { name, fromVersion: String(from), polygons: true };
  let head: Json = {};
  let rows: { id: bigint; change: string; box: number[] }[] = [];
  const collector = new PolygonCollector(userData);
  for await (const chunk of stream('SceneService/WatchScene', request, signal)) {
    if (chunk.scene) {
      head = chunk;
      rows = [];
    }
    const column = (key: string): unknown[] => (chunk[key] as unknown[]) ?? [];
    column('polygonId').forEach((id, i) => {
      const box = ['minX', 'minY', 'maxX', 'maxY'].map((side) => Number(column(side)[i] ?? 0));
      rows.push({ id: BigInt(id as string), change: String(column('change')[i] ?? ''), box });
    });
    collector.add((chunk.polygons as PolygonJson[]) ?? [], chunk.continues === true);
    if (chunk.more) continue;
    const of = (change: string): bigint[] => rows.filter((row) => row.change === change).map(({ id }) => id);
    report({
      summary: summaryOf(head.scene),
      baseVersion: BigInt((head.baseVersion as string) ?? 0),
      editId: (head.editId as string) ?? '',
      created: created(head),
      changed: collector.take(),
      removed: of('POLYGON_CHANGE_REMOVED'),
      added: of('POLYGON_CHANGE_ADDED'),
      boxes: Float64Array.from(rows.flatMap(({ box }) => box)),
    });
  }
}

export async function listVersions(name: string): Promise<VersionInfo[]> {
  const { versions } = await call('SceneService/ListSceneVersions', { name });
  return ((versions as Json[]) ?? []).map((version) => ({
    summary: summaryOf(version.scene),
    editId: (version.editId as string) ?? '',
    created: created(version),
  }));
}

/** Makes the edits as one version after `base`, 0n: after any. */
export async function commitEdits(
  name: string,
  base: bigint,
  edits: readonly EditInfo[],
  userData: Map<bigint, string>,
): Promise<SceneSummary> {
  const made = edits.map((edit) => {
    if ('add' in edit) return { add: polygonJson(edit.add, userData.get(edit.add.id)) };
    if ('replace' in edit) return { replace: polygonJson(edit.replace, userData.get(edit.replace.id)) };
    return { remove: String(edit.remove) };
  });
  const editId = `viewer-${crypto.randomUUID()}`;
  const answer = await call('SceneService/CommitEdits', { name, baseVersion: String(base), edits: made, editId });
  return summaryOf(answer.scene);
}

export async function rollbackScene(name: string, version: bigint, base: bigint): Promise<SceneSummary> {
  const request = { name, version: String(version), baseVersion: String(base) };
  return summaryOf((await call('SceneService/RollbackScene', request)).scene);
}

export async function forkScene(base: string, version: bigint, name: string): Promise<SceneSummary> {
  return summaryOf((await call('SceneService/ForkScene', { base, version: String(version), name })).scene);
}
