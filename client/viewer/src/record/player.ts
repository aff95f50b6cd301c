// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which recording does the page show, and which tick of it? The worker reads; this file chooses, plays and compares.
import { computed, effect, signal } from '@preact/signals';
import { offline } from '../ask/asker';
import { fitted } from '../draw/view';
import { openFile, openScene, showFile, showNothing } from '../state/scene_session';
import { panel, pinned, say, scene, type SceneSummary, trouble, view } from '../state/state';
import { boxOf } from './marks';
import type { Packed } from '../scene/packed';
import type { Comparison, FromRecord, Summary, Tick, ToRecord } from './messages';

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 16] as const;
const MOST_WAIT_MS = 2000;

export const summary = signal<Summary | null>(null);
export const tick = signal<Tick | null>(null);
/** The index of the frame that is wanted; `tick` follows. */
export const wanted = signal(0);
export const shownScene = signal('');
export const playing = signal(false);
export const speed = signal(1);
export const recordError = signal('');
export const opening = signal(false);
/** Frames compared so far; null: no comparison goes on. */
export const comparing = signal<number | null>(null);
export const comparison = signal<Comparison | null>(null);
/** Why the map of the tick is not drawn; empty: it is. */
export const noMap = signal('');
/** What the address of the page names: a tick, and the file that must be opened for it. */
export const named = signal<{ index: number; name: string } | null>(null);

export const frameCount = computed(() => summary.value?.frames ?? 0);

let worker: Worker | null = null;
let isBusy = false; // a tick is being read
/** What was on the screen before the recording; null: no recording is open. */
let before: { name: string; version: bigint; isFile: boolean; at: typeof view.value } | null = null;
let isFirst = false; // the view shows all of the next scene
let ours: SceneSummary | null | undefined; // the scene of the recording that is on the screen; null: it has none
let loaded = ''; // the version of the scene that is on the screen, or is on its way

function post(message: ToRecord): void {
  worker?.postMessage(message);
}

function receive(message: FromRecord): void {
  if (message.kind === 'opened') begin(message.summary);
  else if (message.kind === 'failed') fail(message.message);
  else if (message.kind === 'tick') showTick(message.tick);
  else if (message.kind === 'progress') comparing.value = message.frames;
  else if (message.kind === 'compared') finish(message.result);
  else if (summary.value !== null && `${message.version} ${message.name}` === loaded) {
    if (message.packed === null) showNoMap(message.name, message.version);
    else showMap(message.name, message.version, message.packed);
  }
}

function showMap(name: string, version: bigint, packed: Packed): void {
  ours = undefined;
  showFile(name, packed, version, isFirst);
  ours = scene.peek();
  isFirst = false;
  noMap.value = '';
}

/** Draws the tick alone, where the recording has no map of it. */
function showNoMap(name: string, version: bigint): void {
  ours = undefined;
  showNothing();
  ours = null;
  noMap.value =
    version === 0n
      ? `No tick so far read a version of ${name}.`
      : `The recording does not have version ${version} of ${name}. A recording that a client wrote has no maps.`;
  const box = boxOf(tick.peek()?.marks ?? []);
  if (!isFirst || box === null) return;
  view.value = fitted(view.value, box);
  isFirst = false;
}

function begin(made: Summary): void {
  summary.value = made;
  opening.value = false;
  before ??= {
    name: scene.peek()?.name ?? '',
    version: pinned.peek(),
    isFile: offline.value,
    at: view.peek(),
  };
  offline.value = true;
  trouble.value = null;
  isFirst = true;
  ours = undefined;
  loaded = '';
  shownScene.value = made.scenes[0] ?? '';
  const goal = named.value?.name === made.name ? named.value.index : 0;
  named.value = null;
  isBusy = false;
  show(goal);
  requestTick();
}

function fail(message: string): void {
  opening.value = false;
  comparing.value = null;
  isBusy = false;
  recordError.value = message;
  if (summary.peek() === null) goBack();
}

function showTick(made: Tick): void {
  isBusy = false;
  tick.value = made;
  const key = `${made.version} ${made.scene}`;
  if (key !== loaded) {
    loaded = key;
    if (made.version === 0n) showNoMap(made.scene, 0n);
    else post({ kind: 'scene', name: made.scene, version: made.version });
  }
  if (made.index !== wanted.value || made.scene !== shownScene.value) requestTick();
}

function requestTick(): void {
  if (isBusy || frameCount.value === 0) return;
  isBusy = true;
  post({ kind: 'tick', index: wanted.value, scene: shownScene.value });
}

/** Opens a file of the reader's machine, which is not sent anywhere. */
export function openRecording(file: File): void {
  forget();
  recordError.value = '';
  opening.value = true;
  panel.value = 'record';
  worker = new Worker('record.js', { type: 'module' });
  const own = worker;
  own.addEventListener('message', ({ data }: MessageEvent<FromRecord>) => {
    if (worker === own) receive(data);
  });
  own.addEventListener('error', () => fail('The file could not be read.'));
  post({ kind: 'open', file });
}

/** Forgets the recording, and shows what was there before it. */
export function closeRecording(): void {
  forget();
  goBack();
}

/** Shows what was there before the recording. */
function goBack(): void {
  if (before === null) return;
  const { name, version, isFile, at } = before;
  before = null;
  offline.value = isFile;
  const { width, height } = view.peek();
  showNothing();
  view.value = { ...at, width, height };
  if (name === '') return;
  if (isFile) void openFile(name);
  else void openScene(name, version, false);
}

function forget(): void {
  worker?.terminate();
  worker = null;
  summary.value = null;
  tick.value = null;
  comparing.value = null;
  comparison.value = null;
  playing.value = false;
  ours = undefined;
  loaded = '';
  noMap.value = '';
}

/** Shows a tick by its index. */
export function show(index: number): void {
  if (frameCount.value === 0) return;
  wanted.value = Math.min(Math.max(Math.round(index), 0), frameCount.value - 1);
  requestTick();
}

export function showScene(name: string): void {
  shownScene.value = name;
  isFirst = true;
  requestTick();
}

/** Plays or pauses; from the begin if the end is shown. */
export function togglePlaying(): void {
  if (frameCount.value === 0) return;
  if (!playing.value && wanted.value === frameCount.value - 1) show(0);
  playing.value = !playing.value;
}

export function step(by: number): void {
  playing.value = false;
  show(wanted.value + by);
}

export function changeSpeed(by: number): void {
  const at = SPEEDS.indexOf(speed.value as (typeof SPEEDS)[number]);
  speed.value = SPEEDS[Math.min(Math.max(at + by, 0), SPEEDS.length - 1)];
  say(`Speed ${speed.value}`);
}

export function compareAll(): void {
  if (frameCount.value === 0 || comparing.value !== null) return;
  playing.value = false;
  comparison.value = null;
  comparing.value = 0;
  post({ kind: 'compare' });
}

export function stopComparing(): void {
  post({ kind: 'stop' });
}

function finish(result: Comparison): void {
  comparing.value = null;
  comparison.value = result;
  if (result.difference === null) return;
  shownScene.value = result.difference.scene;
  show(result.difference.frame);
}

/** Plays with the times of the recording; and ends the recording where the reader opens a scene of the server. */
export function startPlayer(): void {
  effect(() => {
    const at = tick.value;
    if (!playing.value || at === null || at.index !== wanted.value) return;
    if (at.index >= frameCount.value - 1) {
      playing.value = false;
      return;
    }
    const wait = Math.min((at.nextUs - at.atUs) / 1000 / speed.value, MOST_WAIT_MS);
    const timer = setTimeout(() => show(at.index + 1), wait);
    return () => clearTimeout(timer);
  });
  effect(() => {
    const shown = scene.value;
    if (ours === undefined || shown === ours) return;
    forget();
    offline.value = before?.isFile ?? false;
    before = null;
  });
  document.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    openRecording(file);
  });
}
