// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene, version, view and question does the address of the page name? A link shows what the sender sees.
//
// The fragment has the members `scene`, `v` (version), `at` (x, y and scale), `tool`, `q` (points of the tool), `o`
// (its options), `panel`, and of a recording that is open `record` (tick and name of the file: 12,stream.carec). Numbers have as many digits as their double needs.
import { effect } from '@preact/signals';
import type { Point } from '../draw/view';
import { offline } from '../ask/asker';
import { summary, wanted } from '../record/player';
import type { Value } from '../ask/question';
import { handles, options, panel, type Panel, pinned, scene, tool, view } from './state';

export interface Address {
  scene: string;
  version: bigint;
  at: { x: number; y: number; scale: number } | null;
  tool: string;
  points: Point[];
  options: Record<string, Value>;
  panel: Panel | '';
  record: { index: number; name: string } | null;
}

const PANELS: ReadonlySet<string> = new Set(['scenes', 'ask', 'why', 'findings', 'edit', 'history', 'record', 'server']);

function finite(text: string | null): number[] {
  if (!text) return [];
  return text.split(',').map(Number);
}

/** Reads the fragment of the address. What is malformed counts as absent. */
export function readAddress(fragment: string): Address {
  const members = new URLSearchParams(fragment.replace(/^#/, ''));
  const [x, y, scale] = finite(members.get('at'));
  const flat = finite(members.get('q'));
  const points: Point[] = [];
  for (let i = 0; i + 1 < flat.length && i < 64; i += 2) {
    if (Number.isFinite(flat[i]) && Number.isFinite(flat[i + 1])) points.push({ x: flat[i], y: flat[i + 1] });
  }
  const version = members.get('v') ?? '';
  const name = members.get('panel') ?? '';
  let chosen: Record<string, Value> = {};
  try {
    const read: unknown = JSON.parse(members.get('o') ?? '{}');
    if (read && typeof read === 'object' && !Array.isArray(read)) {
      chosen = Object.fromEntries(
        Object.entries(read).filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value)),
      ) as Record<string, Value>;
    }
  } catch {
    // Options that are no JSON are left at their defaults.
  }
  const record = /^(\d{1,9}),(.{1,255})$/.exec(members.get('record') ?? '');
  return {
    record: record && { index: Number(record[1]), name: record[2] },
    scene: members.get('scene') ?? '',
    version: /^\d{1,19}$/.test(version) ? BigInt(version) : 0n,
    at: [x, y, scale].every(Number.isFinite) && scale > 0 ? { x, y, scale } : null,
    tool: members.get('tool') ?? '',
    points,
    options: chosen,
    panel: (PANELS.has(name) ? name : '') as Panel | '',
  };
}

/** The fragment that names what is shown. */
export function writeAddress(): string {
  const members = new URLSearchParams();
  const shown = scene.value;
  if (shown && !offline.value) members.set('scene', shown.name);
  if (pinned.value !== 0n) members.set('v', String(pinned.value));
  const { cx, cy, px, py, scale } = view.value;
  members.set('at', [cx - px / scale, cy + py / scale, scale].join(','));
  if (tool.value !== 'pan') {
    members.set('tool', tool.value);
    const points = handles.value[tool.value];
    if (points) members.set('q', points.flatMap((point) => [point.x, point.y]).join(','));
    const chosen = options.value[tool.value];
    if (chosen && Object.keys(chosen).length > 0) members.set('o', JSON.stringify(chosen));
  }
  members.set('panel', panel.value);
  const recording = summary.value;
  if (recording) members.set('record', `${wanted.value},${recording.name}`);
  return `#${members.toString().replaceAll('%2C', ',').replaceAll('%2F', '/')}`;
}

/** Keeps the address equal to what is shown, some times a second, without entries in the history of the browser. */
export function startAddress(): void {
  let timer = 0;
  effect(() => {
    const shown = scene.value !== null;
    const fragment = writeAddress();
    clearTimeout(timer);
    if (shown) timer = setTimeout(() => history.replaceState(null, '', fragment), 250) as unknown as number;
  });
}
