// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which recording does the page show, and which tick of it? The worker reads; this file chooses, plays and compares.
import { computed, effect, signal } from '@preact/signals';
import { offline } from '../ask/asker';
import { showFile } from '../state/scene_session';
import { panel, say, scene, type SceneSummary, trouble } from '../state/state';
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
/** What the address of the page names: a tick, and the file that must be opened for it. */
export const named = signal<{ index: number; name: string } | null>(null);

export const frameCount = computed(() => summary.value?.frames ?? 0);

let worker: Worker | null = null;
let isBusy = false; // a tick is being read
let wasOffline = false;
let isFirst = false; // the view shows all of the next scene
let ours: SceneSummary | null = null; // the scene of the recording that is on the screen
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
  else if (message.packed !== null && summary.value !== null && `${message.version} ${message.name}` === loaded) {
    ours = null;
    showFile(message.name, message.packed, message.version, isFirst);
    ours = scene.peek();
    isFirst = false;
  }
}

function begin(made: Summary): void {
  summary.value = made;
  opening.value = false;
  wasOffline = offline.value;
  offline.value = true;
  trouble.value = null;
  isFirst = true;
  ours = null;
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
}

function showTick(made: Tick): void {
  isBusy = false;
  tick.value = made;
  const key = `${made.version} ${made.scene}`;
  if (made.version !== 0n && key !== loaded) {
    loaded = key;
    post({ kind: 'scene', name: made.scene, version: made.version });
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
  closeRecording();
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

/** Forgets the recording. The scene stays until another one is opened. */
export function closeRecording(): void {
  worker?.terminate();
  worker = null;
  if (summary.value !== null) offline.value = wasOffline;
  summary.value = null;
  tick.value = null;
  comparing.value = null;
  comparison.value = null;
  playing.value = false;
  ours = null;
  loaded = '';
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
    if (ours !== null && scene.value !== ours) closeRecording();
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
