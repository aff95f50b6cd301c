// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the page and the worker that answers by @carom/core send to each other?
import type { Packed } from '../scene/packed';
import type { Answer, Question } from './question';

export type CoreAnswer = Answer | null;

export type ToCore =
  /** Polygons of the scene that `open` makes. */
  | { kind: 'part'; packed: Packed }
  | { kind: 'open'; version: bigint }
  /** The next version: `packed` has polygons to add, listed in `added`, and to replace. */
  | { kind: 'commit'; packed: Packed; added: bigint[]; removed: bigint[]; version: bigint }
  /** Polygons of a bundle. */
  | { kind: 'read'; number: number; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'close' }
  | { kind: 'ask'; number: number; question: Question };

export type FromCore =
  | { kind: 'state'; state: 'loading' | 'ready' | 'absent' }
  | { kind: 'polygons'; number: number; packed: Packed | null }
  | { kind: 'answer'; number: number; answer: CoreAnswer };
