// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did the server consider for a question, and why? The messages of QueryService.Explain, and when they are asked for.
//
// Explanations are advice and slower than answers, so they are asked for while the panel is open, one at a time.
import { CaromError } from '@carom/core/questions';
import { effect, signal } from '@preact/signals';
import { groupJson, shapeJson } from '../ask/group_json';
import { offline } from '../ask/asker';
import { type Question, toText } from '../ask/question';
import { callJson } from '../server/connection';
import { panel, pinned, question, scene, tool } from '../state/state';
import { type Move, moves, trackerShape, tiers } from './tracker';

export interface Sign {
  predicate?: string;
  operands?: number[];
  sign?: number;
  exact?: boolean;
}

export interface Edge {
  ring?: number;
  edge?: number;
  meets?: boolean;
  signs?: Sign[];
}

export interface Candidate {
  id?: string;
  isBody?: boolean;
  fate?: string;
  key?: number;
  hasEdge?: boolean;
  ring?: number;
  edge?: number;
  exactProducts?: string;
  nearEdges?: string;
  edges?: Edge[];
  why?: string;
}

export interface Stage {
  question?: string;
  key?: string;
  beyondReach?: string;
  candidates?: Candidate[];
  unlisted?: string;
  decision?: { firstId?: string; firstKey?: number; secondId?: string; secondKey?: number; sign?: Sign };
  outcome?: string;
}

export interface Memory {
  tier?: string;
  moves?: string;
  ballX?: number;
  ballY?: number;
  ballRadius2?: number;
  distance2?: number;
  maskX?: number;
  maskY?: number;
  maskRadius?: number;
  knownRadius?: number;
  neighbors?: string[];
  touched?: string[];
  quietRadius?: number;
  why?: string;
}

export interface Explanation {
  text: string;
  answer: string;
  stages: Stage[];
  memory: Memory | null;
  /** The question that is explained. */
  asked: string;
}

/** What the panel shows. `none`: the server has no explanations; `failed` has the reason. */
export const explained = signal<
  { state: 'idle' | 'waiting' | 'none' } | { state: 'failed'; reason: string } | { state: 'ready'; value: Explanation }
>({ state: 'idle' });

interface ExplainResponse {
  text?: string;
  explanation?: { answer?: string; stages?: Stage[]; memory?: Memory };
}

let busy = false;
let again = false;

function request(asked: Question, path: readonly Move[]): Record<string, unknown> {
  const name = scene.peek()?.name;
  const version = pinned.peek() === 0n ? {} : { version: String(pinned.peek()) };
  if (tool.peek() !== 'tracker') return { scene: name, group: { ...version, ...groupJson(asked) } };
  const group = {
    ...version,
    moves: {
      tracker: path.map(() => 1),
      x: path.map(({ x }) => x),
      y: path.map(({ y }) => y),
      detail: 'OVERLAP_DETAIL_EDGES',
      quietRadii: true,
    },
  };
  return { scene: name, group, trackers: [{ shapes: [shapeJson(trackerShape())], tracker: [1] }] };
}

async function run(): Promise<void> {
  again = true;
  if (busy) return;
  busy = true;
  while (again) {
    again = false;
    const asked = question.peek();
    if (!asked || panel.peek() !== 'why' || offline.value) break;
    try {
      const path = moves.peek();
      const answer = (await callJson('QueryService/Explain', request(asked, path))) as ExplainResponse;
      const memory = answer.explanation?.memory ?? null;
      explained.value = {
        state: 'ready',
        value: {
          text: answer.text ?? '',
          answer: answer.explanation?.answer ?? '',
          stages: answer.explanation?.stages ?? [],
          memory,
          asked: toText(asked),
        },
      };
      if (memory && tool.peek() === 'tracker') tiers.value = [...tiers.peek().slice(-239), memory.tier ?? ''];
    } catch (error) {
      if (error instanceof CaromError && error.code === 'UNIMPLEMENTED') {
        explained.value = { state: 'none' };
        break;
      }
      explained.value = { state: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  }
  busy = false;
}

/** Asks for an explanation whenever the question changes while the panel is open. */
export function startExplaining(): void {
  effect(() => {
    if (panel.value !== 'why') return;
    if (!question.value) {
      explained.value = { state: 'idle' };
      return;
    }
    void scene.value?.version;
    if (explained.peek().state === 'idle') explained.value = { state: 'waiting' };
    queueMicrotask(() => void run());
  });
}
