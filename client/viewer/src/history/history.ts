// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which versions has a scene, and how does one differ from another?
import { signal } from '@preact/signals';
import { sameShape } from '../edit/draft';
import { type Packed, type Shape } from '../scene/packed';
import { SceneStore } from '../scene/store';
import { exportScene, listVersions, type VersionInfo } from '../server/scene_calls';
import { scene } from '../state/state';

export interface Difference {
  from: bigint;
  to: bigint;
  changes: { id: bigint; before: Shape | null; after: Shape | null }[];
}

export const versions = signal<VersionInfo[]>([]);
export const difference = signal<Difference | null>(null);
export const historyError = signal('');

const MOST_CHANGES = 5000;
let asked = 0;

export async function refreshHistory(): Promise<void> {
  const name = scene.peek()?.name;
  if (!name) return;
  try {
    versions.value = await listVersions(name);
    historyError.value = '';
  } catch (error) {
    historyError.value = error instanceof Error ? error.message : String(error);
  }
}

function storeOf(packed: Packed): SceneStore {
  const store = new SceneStore();
  store.add(packed);
  return store;
}

function compare(before: SceneStore, after: SceneStore): Difference['changes'] {
  const changes: Difference['changes'] = [];
  for (const id of before.allIds()) {
    const [a, b] = [before.shape(id), after.shape(id)];
    if (!sameShape(a, b)) changes.push({ id, before: a, after: b });
    if (changes.length >= MOST_CHANGES) return changes;
  }
  for (const id of after.allIds()) {
    if (before.slot(id) === undefined) changes.push({ id, before: null, after: after.shape(id) });
    if (changes.length >= MOST_CHANGES) return changes;
  }
  return changes;
}

/** Compares two versions of the scene that is shown. */
export async function showDifference(from: bigint, to: bigint): Promise<void> {
  const name = scene.peek()?.name;
  asked += 1;
  const mine = asked;
  if (!name) return;
  try {
    const fetch = async (version: bigint): Promise<SceneStore> =>
      storeOf((await exportScene(name, version, new Map())).packed);
    const [before, after] = await Promise.all([fetch(from), fetch(to)]);
    if (mine !== asked) return;
    difference.value = { from, to, changes: compare(before, after) };
    historyError.value = '';
  } catch (error) {
    if (mine !== asked) return;
    difference.value = null;
    historyError.value = error instanceof Error ? error.message : String(error);
  }
}

export function hideDifference(): void {
  asked += 1;
  difference.value = null;
}
