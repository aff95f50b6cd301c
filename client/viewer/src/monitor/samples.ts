// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the server? Samples of its metrics, once a second while the panel is open, and of the round trip of a call.
import { CaromError } from '@carom/core/questions';
import { effect, signal } from '@preact/signals';
import { offline } from '../ask/asker';
import { callJson } from '../server/connection';
import { getScene } from '../server/scene_calls';
import { online, panel, scene } from '../state/state';

/** Values of metrics by name, and by name and labels, such as `carom_streams` and `carom_refusals_total{limit="frame"}`. */
export type Metrics = ReadonlyMap<string, number>;

export interface Sample {
  /** In seconds since 1970. */
  at: number;
  roundTripMs: number | null;
  metrics: Metrics | null;
}

const MOST = 180;
const EVERY_MS = 1000;

export const samples = signal<Sample[]>([]);
/** Whether the server has metrics for the client. */
export const hasMetrics = signal<boolean | null>(null);

/** Reads the text format of Prometheus; lines that it does not have are ignored. */
export function parseMetrics(text: string): Metrics {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = /^([a-z_][a-z0-9_]*)(\{[^}]*\})? (\S+)/i.exec(line);
    if (!found) continue;
    const value = Number(found[3]);
    if (!Number.isFinite(value)) continue;
    values.set(`${found[1]}${found[2] ?? ''}`, value);
    if (found[2]) values.set(found[1], (values.get(found[1]) ?? 0) + value);
  }
  return values;
}

/** The rate of a counter per second between two samples. */
export function rate(before: Sample | undefined, after: Sample, name: string): number | null {
  const [a, b] = [before?.metrics?.get(name), after.metrics?.get(name)];
  if (a === undefined || b === undefined || !before || b < a) return null;
  return (b - a) / Math.max(after.at - before.at, 1e-3);
}

/** The q-quantile of a histogram between two samples, in seconds: the bound of the bucket that holds it. */
export function quantile(before: Sample | undefined, after: Sample, name: string, q: number): number | null {
  const buckets: [number, number][] = [];
  for (const [key, value] of after.metrics ?? []) {
    const found = key.startsWith(`${name}_bucket{`) ? /le="([^"]+)"/.exec(key) : null;
    if (!found) continue;
    const bound = found[1] === '+Inf' ? Infinity : Number(found[1]);
    buckets.push([bound, value - (before?.metrics?.get(key) ?? 0)]);
  }
  buckets.sort((a, b) => a[0] - b[0]);
  const total = buckets[buckets.length - 1]?.[1] ?? 0;
  if (!(total > 0)) return null;
  const found = buckets.find(([, count]) => count >= q * total);
  return found && Number.isFinite(found[0]) ? found[0] : null;
}

/** The metrics of the server; null if it has none for this client. */
async function readMetrics(): Promise<Metrics | null> {
  try {
    const { text } = await callJson('SceneService/GetMetrics', {});
    return parseMetrics(String(text ?? ''));
  } catch (error) {
    const code = error instanceof CaromError ? error.code : '';
    if (code === 'UNIMPLEMENTED' || code === 'PERMISSION_DENIED') return null;
    throw error;
  }
}

async function sample(): Promise<void> {
  const begin = performance.now();
  let roundTripMs: number | null = null;
  let metrics: Metrics | null = null;
  try {
    const name = scene.peek()?.name;
    if (name) {
      await getScene(name);
      roundTripMs = performance.now() - begin;
      online.value = true;
    }
    if (hasMetrics.peek() !== false) {
      metrics = await readMetrics();
      hasMetrics.value = metrics !== null;
    }
  } catch {
    // A sample without values is a gap in the charts.
  }
  samples.value = [...samples.peek().slice(1 - MOST), { at: Date.now() / 1000, roundTripMs, metrics }];
}

export function startMonitor(): void {
  let timer = 0;
  let running = false;
  const step = async (): Promise<void> => {
    if (!running) return;
    await sample();
    timer = setTimeout(() => void step(), EVERY_MS) as unknown as number;
  };
  effect(() => {
    const open = panel.value === 'server' && !offline.value;
    if (open === running) return;
    running = open;
    clearTimeout(timer);
    if (open) queueMicrotask(() => void step());
  });
}
