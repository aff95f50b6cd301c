// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client make a fork again that its server has lost? A fork, an editable copy of a scene, exists on one
// server. `ForkLog` has the base of each fork that a client made, and the net effect of the edits that the client made to
// it, polygon by polygon: O(edited polygons), not O(edits). Another server gets the base's fork and these edits.

import { create, toBinary } from '@bufbuild/protobuf';
import { CaromError } from '@carom/core/questions';
import { parse } from '../calls.js';
import type { Polygon } from '../generated/carom/v1/geometry_pb.js';
import {
  CommitEditsRequestSchema,
  DeleteSceneRequestSchema,
  type Edit,
  EditSchema,
  ForkSceneRequestSchema,
  GetSceneRequestSchema,
  GetSceneResponseSchema,
} from '../generated/carom/v1/scene_service_pb.js';
import { type CallOptions, type Calls, sleep } from '../transport.js';
import { newEditId, type SceneSummary } from '../values.js';
import { idOf } from './edits.js';

const REPLAYED_BYTES = 2 ** 20; // of edits in one request
const CALL_MS = 5000;
const REMOVAL_MS = 1000;
const LONGEST_SLEEP_MS = 2 ** 31 - 1; // of a timer
const PERMANENT = new Set(['NOT_FOUND', 'OUT_OF_RANGE', 'DATA_LOSS', 'INVALID_ARGUMENT']);

/**
 * The order of edits: a term, in the bits above 64, and the version that the edit made, which orders the edits of one
 * term. A term begins when the fork is found or made on a server that numbers its versions anew: another one, or one that
 * has lost the fork.
 */
type Order = bigint;

/** The net effect of all edits of one polygon. */
interface Edited {
  isInBase: boolean;
  first: Order; // of the first edit, which decides `isInBase`
  last: Order;
  polygon: Polygon | null; // after the last edit; null: removed
}

/** A fork that the client made. */
class Fork {
  private readonly edited = new Map<bigint, Edited>();
  // The latest term of each server on which the fork was found or made; that of `address` is the greatest. The others
  // may have the fork as it was when the client went on with another server.
  private readonly terms: Map<number, bigint>;

  /** address: the server on which it was last found or made; version: the greatest one there that the client knows */
  constructor(
    readonly base: string,
    readonly baseVersion: bigint,
    readonly leaseSeconds: bigint,
    public address: number,
    public version: bigint,
  ) {
    this.terms = new Map([[address, 1n]]);
  }

  private get term(): bigint {
    return this.terms.get(this.address)!;
  }

  /** Takes the version of the fork on a server that has it with all edits. known: `version` before the server was asked */
  takeServer(address: number, known: bigint, version: bigint): void {
    if (address === this.address && version >= known) {
      if (version > this.version) this.version = version;
      return;
    }
    this.terms.set(address, this.term + 1n);
    this.address = address;
    this.version = version;
  }

  /** Whether a server that has the fork has it without the edits made on others since. */
  isStaleOn(address: number): boolean {
    return address !== this.address && this.terms.has(address);
  }

  /** Takes edits. A late answer of a server that the client has left is older than the edits made since. */
  record(edits: readonly Edit[], version: bigint, address: number): void {
    if (address === this.address && version > this.version) this.version = version;
    const order = ((this.terms.get(address) ?? this.term) << 64n) | version;
    for (const edit of edits) this.recordOne(edit, order);
  }

  /** Takes one edit. Answers of several streams arrive in any order; `order` is that of the edits. */
  private recordOne(edit: Edit, order: Order): void {
    const id = idOf(edit);
    let found = this.edited.get(id);
    if (found === undefined) {
      found = { isInBase: edit.edit.case !== 'add', first: order, last: 0n, polygon: null };
      this.edited.set(id, found);
    } else if (order < found.first) {
      found.isInBase = edit.edit.case !== 'add';
      found.first = order;
    }
    if (order > found.last) {
      found.last = order;
      found.polygon = edit.edit.case === 'remove' ? null : (edit.edit.value ?? null);
    }
  }

  /** The edits that turn the base into the fork, in parts of bounded size. */
  parts(): Edit[][] {
    const made: Edit[][] = [];
    let size = REPLAYED_BYTES;
    for (const [id, { polygon, isInBase }] of [...this.edited].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      if (polygon === null && !isInBase) continue;
      const edit = create(EditSchema, {
        edit:
          polygon === null
            ? { case: 'remove', value: id }
            : { case: isInBase ? 'replace' : 'add', value: polygon },
      });
      const bytes = toBinary(EditSchema, edit).length;
      if (size + bytes > REPLAYED_BYTES) {
        made.push([]);
        size = 0;
      }
      size += bytes;
      made[made.length - 1]!.push(edit);
    }
    return made;
  }
}

/** The forks of a client. */
export class ForkLog {
  private readonly forks = new Map<string, Fork>();
  private readonly restoring = new Map<number, { done: Promise<void>; abandoned: (() => boolean)[] }>();
  private attempts = 0; // of `restore`, on any server

  get isEmpty(): boolean {
    return this.forks.size === 0;
  }

  /** Records a fork that was made on a server. */
  add(fork: SceneSummary, leaseSeconds: bigint, address: number): void {
    this.forks.set(fork.name, new Fork(fork.base, fork.baseVersion, leaseSeconds, address, fork.version));
  }

  /** Forgets a scene, which is not made again. */
  remove(name: string): void {
    this.forks.delete(name);
  }

  /** Forgets a fork that a server does not have, unless `restore` has yet to make it there. */
  removeMissing(name: string, address: number): void {
    if (this.forks.get(name)?.address === address) this.forks.delete(name);
  }

  /** Records edits that made a version of a scene on a server; does nothing if it is no fork of the client. */
  record(name: string, edits: readonly Edit[], version: bigint, address: number): void {
    this.forks.get(name)?.record(edits, version, address);
  }

  /**
   * Makes, on one server, each fork that it does not have, or has as it was when the client left the server. Skips those
   * whose base the server does not have.
   *
   * Throws the error of a server that does not answer, or refuses a call over a limit; a fork that did not get all of
   * its edits is then deleted. Callers at the same time share one attempt, so that none finds a fork without its edits;
   * it stops early after `isAbandoned` of each of them has returned true.
   */
  restore(calls: Calls, address: number, isAbandoned: () => boolean): Promise<void> {
    const running = this.restoring.get(address);
    if (running !== undefined) {
      running.abandoned.push(isAbandoned);
      return running.done;
    }
    const abandoned = [isAbandoned];
    ++this.attempts;
    const done = this.restoreAll(calls, address, () => abandoned.every((each) => each()));
    this.restoring.set(address, { done, abandoned });
    return done;
  }

  /**
   * Makes a call about scenes so that it finds no fork among them which `restore` has made but not edited yet: the call
   * waits for the attempt on its server, and is made again if one has begun meanwhile. Its effect must be that of one.
   */
  async whole<T>(scenes: readonly string[], given: CallOptions, make: (options: CallOptions) => Promise<T>): Promise<T> {
    const { address, timeoutMs = Infinity, signal } = given;
    const end = performance.now() + timeoutMs;
    for (;;) {
      const areForks = scenes.some((name) => this.forks.has(name));
      if (areForks) await this.settled(address, end, signal);
      const before = this.attempts;
      const left = end - performance.now();
      const made = await make(left === Infinity ? given : { ...given, timeoutMs: Math.max(left, 0) });
      if (!areForks || before === this.attempts) return made;
    }
  }

  /** Waits until no attempt is made on a server. Throws CANCELLED and DEADLINE_EXCEEDED. */
  private async settled(address: number, end: number, signal: AbortSignal | undefined): Promise<void> {
    for (let running = this.restoring.get(address); running !== undefined; running = this.restoring.get(address)) {
      const over = new AbortController();
      const stop = () => over.abort();
      signal?.addEventListener('abort', stop);
      // An attempt that fails is an error of its streams alone.
      running.done.then(stop, stop);
      await sleep(Math.min(Math.max(end - performance.now(), 0), LONGEST_SLEEP_MS), over.signal);
      signal?.removeEventListener('abort', stop);
      if (signal?.aborted === true) throw new CaromError('CANCELLED', '', 'the call is cancelled');
      if (performance.now() >= end) {
        throw new CaromError('DEADLINE_EXCEEDED', '', 'the deadline passed while a fork was made again');
      }
    }
  }

  private async restoreAll(calls: Calls, address: number, isAbandoned: () => boolean): Promise<void> {
    await Promise.resolve(); // `restoring` has the attempt first
    try {
      for (const [name, fork] of this.forks) {
        if (isAbandoned()) return;
        const known = fork.version;
        try {
          fork.takeServer(address, known, await restoreOne(calls, address, name, fork));
        } catch (error) {
          // Groups that query a fork without base get NOT_FOUND.
          if (!(error instanceof CaromError && PERMANENT.has(error.code))) throw error;
        }
      }
    } finally {
      this.restoring.delete(address);
    }
  }
}

async function call(
  calls: Calls,
  address: number,
  method: string,
  request: Uint8Array,
  timeoutMs = CALL_MS,
): Promise<Uint8Array> {
  try {
    return await calls.unary('SceneService', method, request, { address, timeoutMs });
  } catch (error) {
    if (!(error instanceof CaromError) || error.code !== 'DEADLINE_EXCEEDED') throw error;
    throw new CaromError('UNAVAILABLE', '', 'the server did not answer in time while a fork was made again');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof CaromError && error.code === code;
}

/** The version of the scene in a response, whose field `scene` has the number 1 in all of them. */
function versionIn(response: Uint8Array): bigint {
  return parse(GetSceneResponseSchema, response).scene?.version ?? 0n;
}

/**
 * Makes one fork, and returns its version. Leaves one that the server has, unless it is stale: the server did not lose
 * it, or another client made it again.
 */
async function restoreOne(calls: Calls, address: number, name: string, fork: Fork): Promise<bigint> {
  const get = toBinary(GetSceneRequestSchema, create(GetSceneRequestSchema, { name }));
  const removal = toBinary(DeleteSceneRequestSchema, create(DeleteSceneRequestSchema, { name }));
  try {
    const found = await call(calls, address, 'GetScene', get);
    if (!fork.isStaleOn(address)) return versionIn(found);
    await call(calls, address, 'DeleteScene', removal);
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error;
  }
  const { base, baseVersion: version, leaseSeconds } = fork;
  const request = create(ForkSceneRequestSchema, { base, version, name, leaseSeconds });
  let made: Uint8Array;
  try {
    made = await call(calls, address, 'ForkScene', toBinary(ForkSceneRequestSchema, request));
  } catch (error) {
    if (hasCode(error, 'ALREADY_EXISTS')) return versionIn(await call(calls, address, 'GetScene', get));
    throw error;
  }
  try {
    for (const edits of fork.parts()) {
      const commit = create(CommitEditsRequestSchema, { name, edits, editId: newEditId() });
      made = await call(calls, address, 'CommitEdits', toBinary(CommitEditsRequestSchema, commit));
    }
  } catch (error) {
    // Others would take the incomplete fork for a complete one.
    await call(calls, address, 'DeleteScene', removal, REMOVAL_MS).catch(() => undefined);
    throw error;
  }
  return versionIn(made);
}
