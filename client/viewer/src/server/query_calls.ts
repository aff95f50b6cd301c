// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which questions does the page ask the server? The same as it asks its own core, with answers in the same columns.
import { groupJson } from '../ask/group_json';
import type { Answer, Column, Kind, Question } from '../ask/question';
import { call, type Json, ServerError } from './connect';

const LONGS = new Set(['polygonId', 'clear', 'touchId']);
const ENUMS: Record<string, number> = {
  LOCATION_BOUNDARY: 1,
  LOCATION_INSIDE: 2,
  FEATURE_UNSPECIFIED: 0,
  FEATURE_EDGE: 1,
  FEATURE_VERTEX: 2,
  FEATURE_COLLINEAR: 3,
  CONTACT_KIND_CONVEX: 0,
  CONTACT_KIND_FEATURE: 1,
};
// Names of columns in messages, where @carom/core has another one.
const NAMES: Partial<Record<Kind, Record<string, string>>> = {
  fans: { hit: 'hits', distance: 'distances' },
  slides: { counts: 'legs', fromX: 'legX', fromY: 'legY', dx: 'legDx', dy: 'legDy' },
};
const POINTS = ['pointX', 'pointY', 'pointDepth', 'polygonFeature', 'moverFeature'];

function columnOf(name: string, values: readonly unknown[]): Column {
  if (LONGS.has(name)) return values.map((value) => BigInt(value as string));
  return values.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'string') return ENUMS[value] ?? Number(value);
    return value as number;
  });
}

/** One entry per row in place of one per contact point. */
function splitPoints(columns: Record<string, Column>): void {
  const counts = (columns.pointCounts ?? []) as number[];
  for (const name of POINTS) {
    const flat = (columns[name] ?? []) as number[];
    const second = `second${name[0].toUpperCase()}${name.slice(1)}`;
    let at = 0;
    const firsts: number[] = [];
    const seconds: number[] = [];
    for (const count of counts) {
      firsts.push(flat[at]);
      seconds.push(count > 1 ? flat[at + 1] : 0);
      at += count;
    }
    columns[name] = firsts;
    columns[second] = seconds;
  }
}

/** The columns of an answer in a message. */
export function answerOf(kind: Kind, group: Json): Answer {
  const version = BigInt((group.version as string) ?? 0);
  const members = (group[kind] ?? {}) as Record<string, unknown>;
  const columns: Record<string, Column> = {};
  for (const [name, values] of Object.entries(members)) {
    if (name === 'errors' || !Array.isArray(values)) continue;
    const own = NAMES[kind]?.[name] ?? name;
    columns[own] = columnOf(own, values);
  }
  if (kind === 'contacts') splitPoints(columns);
  const [error] = (members.errors as { field?: string; message?: string }[]) ?? [];
  return { version, columns, error: error ? { field: error.field ?? '', message: error.message ?? '' } : null };
}

interface StatusJson {
  code?: number;
  message?: string;
  violations?: { field?: string; description?: string }[];
}

// Codes of google.rpc.Code that a group may have, as in Connect.
const CODES: Record<number, string> = {
  3: 'invalid_argument',
  4: 'deadline_exceeded',
  5: 'not_found',
  7: 'permission_denied',
  8: 'resource_exhausted',
  11: 'out_of_range',
  14: 'unavailable',
};

/** Asks a version of a scene, 0n: the current one. */
export async function askServer(scene: string, version: bigint, question: Question): Promise<Answer> {
  const group = { scene, ...(version !== 0n ? { version: String(version) } : {}), ...groupJson(question) };
  const { answer } = await call('QueryService/Evaluate', { frame: { groups: [group] } });
  const [made] = ((answer as Json).groups as Json[]) ?? [];
  const status = made?.status as StatusJson | undefined;
  if (!status) return answerOf(question.kind, made ?? {});
  const code = CODES[status.code ?? 0] ?? 'unknown';
  if (code !== 'invalid_argument') throw new ServerError(code, status.message ?? '');
  const [violation] = status.violations ?? [];
  return {
    version: 0n,
    columns: {},
    error: { field: violation?.field ?? '', message: violation?.description ?? status.message ?? '' },
  };
}

export interface Explanation {
  text: string;
  svg: string;
}

export async function explain(scene: string, question: Question): Promise<Explanation> {
  const answer = await call('QueryService/Explain', { scene, group: groupJson(question) });
  return { text: (answer.text as string) ?? '', svg: (answer.svg as string) ?? '' };
}
