// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the page show? One signal for each thing; panels and the map read them and change them.
import { computed, signal } from '@preact/signals';
import type { EdgeLabel } from '../draw/messages';
import type { Point, View } from '../draw/view';
import type { Shape } from '../scene/packed';
import type { SceneStore } from '../scene/store';
import type { Answer, Question, Value } from '../ask/question';

export interface SceneSummary {
  name: string;
  version: bigint;
  polygonCount: number;
  vertexCount: number;
  /** Of a fork: the scene that it was made from; else empty. */
  base: string;
  baseVersion: bigint;
}

/** What keeps the page from its work, as text for people. */
export interface Trouble {
  kind: 'no_server' | 'no_right' | 'gone' | 'stalled' | 'other';
  message: string;
  /** The scene and version that could not be opened, 0n: the current one. */
  scene?: string;
  version?: bigint;
}

export type Panel = 'scenes' | 'ask' | 'why' | 'findings' | 'edit' | 'history' | 'record' | 'server';
export type Theme = 'light' | 'dark';

export const view = signal<View>({ cx: 0, cy: 0, px: 0, py: 0, scale: 1, width: 800, height: 600 });
export const theme = signal<Theme>('light');
export const panel = signal<Panel>('scenes');
export const helpOpen = signal(false);

export const scenes = signal<SceneSummary[]>([]);
export const scenesLoaded = signal(false);
/** The scene that is shown, at the version that is shown. */
export const scene = signal<SceneSummary | null>(null);
/** The version that the address of the page names; 0n: the current one, which the page follows. */
export const pinned = signal(0n);
/** Vertices that arrived while the scene is loaded; null: the scene is complete. */
export const loading = signal<{ vertices: number; of: number } | null>(null);
/** Of a file that `carom view` shows: its format, and what the import left out. */
export const fileReport = signal<{ format: string; skipped: { what: string; why: string; option: string }[] }>({
  format: '',
  skipped: [],
});
export const trouble = signal<Trouble | null>(null);
export const online = signal(false);

/** Grows with every change of the polygons that are shown. */
export const revision = signal(0);
export const classes = signal<{ category: bigint; index: number; count: number; hidden: boolean }[]>([]);

export const tool = signal('pan');
/** The points that one can drag of each tool, by the tool's id. */
export const handles = signal<Record<string, Point[]>>({});
/** The options of each tool, by the tool's id. */
export const options = signal<Record<string, Record<string, Value>>>({});
export const question = signal<Question | null>(null);
export const answer = signal<Answer | null>(null);
/** The question that `answer` is about: during a drag, an older one than `question`. */
export const answered = signal<Question | null>(null);
/** How often the page and the server gave the same answer, and how often another one. */
export const agreement = signal({ same: 0, different: 0, waiting: false });
/** Milliseconds between a question and its answer by the page itself. */
export const answerMs = signal(0);
/** Whether the page answers by itself; if not, the server answers alone. */
export const coreReady = signal<'loading' | 'ready' | 'absent' | 'too_large'>('loading');

/** Polygons that are outlined, such as those that a line of text names. */
export const highlighted = signal<{ ids: bigint[]; edges: { id: bigint; ring: number; edge: number }[] }>({
  ids: [],
  edges: [],
});
export const selected = signal<bigint | null>(null);
export const cursor = signal<Point | null>(null);
export const labels = signal<EdgeLabel[]>([]);
export const frameStats = signal({ frames: 0, milliseconds: 0, missing: 0 });
/** Text for a moment, such as `copied`. */
export const toast = signal('');

/** Changed polygons that fade: outlines and when they changed, by performance.now(). */
export const flashes = signal<{ at: number; shapes: Shape[]; removed: boolean }[]>([]);
export const watchCount = signal(0);

export const isDark = computed(() => theme.value === 'dark');

/** The polygons that are shown. Not a signal: `revision` says when it changed. */
export const stored: { scene: SceneStore | null } = { scene: null };

let toastTimer = 0;
export function say(text: string): void {
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (toast.value = ''), 2600) as unknown as number;
}
