// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is probably a mistake in the scene? The findings of LintScene, for a disc that one drags on the map.
import { CaromError } from '@carom/core/questions';
import { computed, effect, signal } from '@preact/signals';
import { offline } from '../ask/asker';
import { fitted, type Point } from '../draw/view';
import { callJson } from '../server/connection';
import { handles, highlighted, panel, pinned, scene, view } from '../state/state';

export interface Finding {
  kind: string;
  id: bigint;
  ring: number;
  edge: number;
  otherId: bigint;
  otherRing: number;
  otherEdge: number;
  at: Point;
  other: Point;
  measure: number;
  advice: string;
  outline: Point[];
}

export const KINDS: readonly { id: string; label: string }[] = [
  { id: 'GAP', label: 'Gap' },
  { id: 'POCKET', label: 'Pocket' },
  { id: 'CROSSING', label: 'Crossing' },
  { id: 'OVERLAP', label: 'Overlap of edges' },
  { id: 'NEAR_JUNCTION', label: 'Ends that nearly meet' },
  { id: 'DUPLICATE_VERTEX', label: 'Duplicate vertex' },
  { id: 'NEAR_VERTEX', label: 'Nearly equal vertices' },
  { id: 'SPIKE', label: 'Spike' },
  { id: 'ZERO_AREA', label: 'Ring without area' },
  { id: 'WINDING', label: 'Wrong winding' },
  { id: 'INSIDE', label: 'Inside of another' },
  { id: 'DUPLICATE_POLYGON', label: 'Duplicate polygon' },
  { id: 'OFF_LATTICE', label: 'Off the lattice' },
];

export const findings = signal<
  | { state: 'idle' | 'waiting' | 'none' }
  | { state: 'failed'; reason: string }
  | { state: 'ready'; list: Finding[]; counts: Map<string, number>; truncated: boolean; version: bigint }
>({ state: 'idle' });
/** Kinds that are not listed. */
export const hiddenKinds = signal<ReadonlySet<string>>(new Set());
/** Index in `listed` of the finding that is shown; -1: none. */
export const shownFinding = signal(-1);

/** The findings of the kinds that are chosen. */
export const listed = computed(() => {
  const made = findings.value;
  return made.state === 'ready' ? made.list.filter(({ kind }) => !hiddenKinds.value.has(kind)) : [];
});

/** Start and radius of the disc that one drags. */
export function mover(): { from: Point; radius: number } | null {
  const [from, rim] = handles.value.lint ?? [];
  return from && rim ? { from, radius: Math.hypot(rim.x - from.x, rim.y - from.y) } : null;
}

type Json = Record<string, unknown>;

function findingOf(json: Json): Finding {
  const number = (name: string): number => Number(json[name] ?? 0);
  const outline = (json.outline ?? {}) as { x?: number[]; y?: number[] };
  return {
    kind: String(json.kind ?? '').replace('LINT_KIND_', ''),
    id: BigInt((json.polygonId as string) ?? 0),
    ring: number('ring'),
    edge: number('edge'),
    otherId: BigInt((json.otherPolygonId as string) ?? 0),
    otherRing: number('otherRing'),
    otherEdge: number('otherEdge'),
    at: { x: number('x'), y: number('y') },
    other: { x: number('otherX'), y: number('otherY') },
    measure: number('measure'),
    advice: String(json.description ?? ''),
    outline: (outline.x ?? []).map((x, i) => ({ x, y: outline.y?.[i] ?? 0 })),
  };
}

let busy = false;
let again = false;

async function run(): Promise<void> {
  again = true;
  if (busy) return;
  busy = true;
  while (again) {
    again = false;
    const name = scene.peek()?.name;
    const disc = mover();
    if (!name || panel.peek() !== 'findings' || offline.value) break;
    try {
      const answer = await callJson('SceneService/LintScene', {
        name,
        ...(pinned.peek() !== 0n ? { version: String(pinned.peek()) } : {}),
        ...(disc ? { gapRadius: disc.radius, moverRadius: disc.radius, fromX: [disc.from.x], fromY: [disc.from.y] } : {}),
        maxFindings: 5000,
      });
      const counts = ((answer.counts as Json[]) ?? []).map((entry): [string, number] => [
        String(entry.kind).replace('LINT_KIND_', ''),
        Number(entry.count),
      ]);
      findings.value = {
        state: 'ready',
        list: ((answer.findings as Json[]) ?? []).map(findingOf),
        counts: new Map(counts),
        truncated: answer.truncated === true,
        version: BigInt((answer.version as string) ?? 0),
      };
      if (shownFinding.peek() >= listed.peek().length) shownFinding.value = -1;
    } catch (error) {
      if (error instanceof CaromError && error.code === 'UNIMPLEMENTED') {
        findings.value = { state: 'none' };
        break;
      }
      findings.value = { state: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  }
  busy = false;
}

/** Searches whenever the disc or the scene changes while the panel is open. */
export function startFindings(): void {
  let timer = 0;
  effect(() => {
    if (panel.value !== 'findings' || !scene.value) return;
    void [handles.value.lint, scene.value.version];
    if (findings.peek().state === 'idle') findings.value = { state: 'waiting' };
    clearTimeout(timer);
    timer = setTimeout(() => void run(), 60) as unknown as number;
  });
}

/** Shows a finding on the map; the view moves there. */
export function show(index: number): void {
  const list = listed.value;
  if (list.length === 0) return;
  const at = (index + list.length) % list.length;
  const found = list[at];
  shownFinding.value = at;
  const points = found.outline.length > 0 ? found.outline : [found.at, found.other];
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), (mover()?.radius ?? 0) * 2);
  const pad = size > 0 ? size * 2 : 100 / view.value.scale;
  view.value = fitted(view.value, {
    minX: Math.min(...xs) - pad,
    minY: Math.min(...ys) - pad,
    maxX: Math.max(...xs) + pad,
    maxY: Math.max(...ys) + pad,
  });
  const edges = [
    { id: found.id, ring: found.ring, edge: found.edge },
    { id: found.otherId, ring: found.otherRing, edge: found.otherEdge },
  ];
  highlighted.value = { ids: [...new Set([found.id, found.otherId])], edges };
}
