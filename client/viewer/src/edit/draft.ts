// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edits are not committed yet? Polygons as they were and as they are to be, with undo and redo.
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Shape } from '../scene/packed';
import { say, scene, selected, stored } from '../state/state';

/** A polygon that is edited: as it was when its first edit was made, and as it is to be; null: not there. */
export interface Edited {
  before: Shape | null;
  after: Shape | null;
}

export type Draft = ReadonlyMap<bigint, Edited>;

export const draft = signal<Draft>(new Map());
/** The version for which the edits are made; 0n: there are none. */
export const draftBase = signal(0n);
/** What a click on the map does. */
export const editMode = signal<'change' | 'draw'>('change');
/** Vertices of the polygon that is being drawn. */
export const drawn = signal<{ x: number; y: number }[]>([]);
/** The vertex that keys move and delete. */
export const vertex = signal<{ ring: number; index: number } | null>(null);
export const snapping = signal({ vertices: true, grid: true, step: 0 });
/** Category of polygons that are drawn. */
export const newCategory = signal(1n);

const past = signal<Draft[]>([]);
const future = signal<Draft[]>([]);
export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

const MOST_STEPS = 500;

function set(next: Draft): void {
  draft.value = next;
  if (next.size === 0) draftBase.value = 0n;
  else if (draftBase.value === 0n) draftBase.value = scene.peek()?.version ?? 0n;
}

/** The polygon as it is to be. */
export function shapeNow(id: bigint): Shape | null {
  const edited = draft.value.get(id);
  return edited ? edited.after : (stored.scene?.shape(id) ?? null);
}

/**
 * Makes the polygon what `after` is, null: removes it. A `step` can be undone; without it the edit belongs to the last
 * step, as the moves of a drag do.
 */
export function change(id: bigint, after: Shape | null, step: boolean): void {
  const before = draft.value;
  const edited = before.get(id) ?? { before: stored.scene?.shape(id) ?? null, after: null };
  const next = new Map(before);
  if (edited.before === null && after === null) next.delete(id);
  else next.set(id, { before: edited.before, after });
  if (step) {
    past.value = [...past.value.slice(-MOST_STEPS), before];
    future.value = [];
  }
  set(next);
}

/** Begins a step that later changes belong to. */
export function beginStep(): void {
  past.value = [...past.value.slice(-MOST_STEPS), draft.value];
  future.value = [];
}

export function undo(): void {
  const last = past.value[past.value.length - 1];
  if (!last) return;
  past.value = past.value.slice(0, -1);
  future.value = [...future.value, draft.value];
  set(last);
}

export function redo(): void {
  const next = future.value[future.value.length - 1];
  if (!next) return;
  future.value = future.value.slice(0, -1);
  past.value = [...past.value, draft.value];
  set(next);
}

export function discard(): void {
  past.value = [];
  future.value = [];
  drawn.value = [];
  vertex.value = null;
  set(new Map());
}

interface Kept {
  draft: Draft;
  base: bigint;
  past: Draft[];
  future: Draft[];
  drawn: { x: number; y: number }[];
}

/** Edits of scenes that are not open, by the names of the scenes. */
export const keptDrafts = signal<ReadonlyMap<string, Kept>>(new Map());

/** Puts the edits of the scene `name` aside, and takes up those of the scene `next`. */
function exchange(name: string, next: string): void {
  const kept = new Map(keptDrafts.peek());
  const given = { draft: draft.peek(), base: draftBase.peek(), past: past.peek(), future: future.peek(), drawn: drawn.peek() };
  if (name && (given.draft.size > 0 || given.drawn.length > 0)) {
    kept.set(name, given);
    say(`The edits of ${name} are kept; the Edit panel leads back`);
  }
  discard();
  const own = kept.get(next);
  if (own) {
    kept.delete(next);
    draft.value = own.draft;
    draftBase.value = own.base;
    past.value = own.past;
    future.value = own.future;
    drawn.value = own.drawn;
  }
  keptDrafts.value = kept;
}

/** Forgets the edits of a scene that is not open. */
export function dropKept(name: string): void {
  const kept = new Map(keptDrafts.value);
  kept.delete(name);
  keptDrafts.value = kept;
}

/** Keeps the edits of each scene while others are open; the browser asks before it closes a page with edits. */
export function startDraft(): void {
  let name = '';
  effect(() => {
    const next = scene.value?.name ?? '';
    if (next === '' || next === name) return;
    const before = name;
    name = next;
    untracked(() => exchange(before, next));
  });
  window.addEventListener('beforeunload', (event) => {
    if (draft.peek().size > 0 || keptDrafts.peek().size > 0) event.preventDefault();
  });
}

/** An id that no polygon has, and no edited one. */
function newId(): bigint {
  let most = 0n;
  for (const id of stored.scene?.allIds() ?? []) if (id > most) most = id;
  for (const id of draft.value.keys()) if (id > most) most = id;
  return most + 1n;
}

/** Makes a polygon of the vertices that were drawn. */
export function finishDrawing(): void {
  const points = drawn.value;
  drawn.value = [];
  if (points.length < 3) return;
  const id = newId();
  const xy = Float64Array.from(points.flatMap(({ x, y }) => [x, y]));
  change(id, { id, category: newCategory.value, nonZero: false, hollow: false, rings: [{ xy, open: false }] }, true);
  selected.value = id;
  editMode.value = 'change';
}

export function removeSelected(): void {
  const id = selected.value;
  if (id === null) return;
  change(id, null, true);
  vertex.value = null;
  selected.value = null;
}

/** Removes the vertex that has the focus; the last vertex of a ring stays. */
export function removeVertex(): void {
  const id = selected.value;
  const at = vertex.value;
  const shape = id === null ? null : shapeNow(id);
  if (id === null || !at || !shape || shape.rings[at.ring].xy.length <= 2) return;
  const rings = shape.rings.map((ring, k) => {
    if (k !== at.ring) return ring;
    return { ...ring, xy: Float64Array.from([...ring.xy].filter((_, i) => i >> 1 !== at.index)) };
  });
  vertex.value = null;
  change(id, { ...shape, rings }, true);
}

/** Moves a vertex of the polygon that is chosen. */
export function moveVertex(ring: number, index: number, x: number, y: number, step: boolean): void {
  const id = selected.value;
  const shape = id === null ? null : shapeNow(id);
  if (id === null || !shape?.rings[ring]) return;
  const xy = shape.rings[ring].xy.slice();
  xy[index * 2] = x;
  xy[index * 2 + 1] = y;
  change(id, { ...shape, rings: shape.rings.map((one, k) => (k === ring ? { ...one, xy } : one)) }, step);
}

/** Adds a vertex to the polygon that is chosen, after the vertex `index`. */
export function insertVertex(ring: number, index: number, x: number, y: number): void {
  const id = selected.value;
  const shape = id === null ? null : shapeNow(id);
  if (id === null || !shape) return;
  const before = [...shape.rings[ring].xy];
  before.splice((index + 1) * 2, 0, x, y);
  const xy = Float64Array.from(before);
  change(id, { ...shape, rings: shape.rings.map((one, k) => (k === ring ? { ...one, xy } : one)) }, true);
  vertex.value = { ring, index: index + 1 };
}

export function sameShape(a: Shape | null, b: Shape | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.category === b.category &&
    a.nonZero === b.nonZero &&
    a.hollow === b.hollow &&
    a.rings.length === b.rings.length &&
    a.rings.every((ring, k) => {
      const other = b.rings[k];
      return (
        ring.open === other.open &&
        ring.xy.length === other.xy.length &&
        ring.xy.every((value, i) => value === other.xy[i])
      );
    })
  );
}

/** Edited polygons that the server has changed since their first edit. */
export function conflicts(list: Draft): bigint[] {
  return [...list]
    .filter(([id, { before }]) => !sameShape(before, stored.scene?.shape(id) ?? null))
    .map(([id]) => id);
}
