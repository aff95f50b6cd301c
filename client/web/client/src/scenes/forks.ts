// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client make a fork again that its server has lost? A fork, an editable copy of a scene, exists on one
// server. `ForkLog` has the base of each fork that a client made, and the net effect of the edits that the client made to
// it, polygon by polygon: O(edited polygons), not O(edits). Another server gets the base's fork and these edits.

import { create, toBinary } from '@bufbuild/protobuf';
import { CaromError } from '@carom/core/questions';
import type { Polygon } from '../generated/carom/v1/geometry_pb.js';
import {
  CommitEditsRequestSchema,
  DeleteSceneRequestSchema,
  type Edit,
  EditSchema,
  ForkSceneRequestSchema,
  GetSceneRequestSchema,
} from '../generated/carom/v1/scene_service_pb.js';
import type { Calls } from '../transport.js';
import { newEditId, type SceneSummary } from '../values.js';
import { idOf } from './edits.js';

const REPLAYED_BYTES = 2 ** 20; // of edits in one request
const CALL_MS = 5000;
const REMOVAL_MS = 1000;
const PERMANENT = new Set(['NOT_FOUND', 'OUT_OF_RANGE', 'DATA_LOSS', 'INVALID_ARGUMENT']);

/** The net effect of all edits of one polygon. */
interface Edited {
  isInBase: boolean;
  firstVersion: bigint; // that the first edit made; this edit decides `isInBase`
  version: bigint; // that the last edit made
  polygon: Polygon | null; // after the last edit; null: removed
}

/** A fork that the client made. */
class Fork {
  private readonly edited = new Map<bigint, Edited>();

  constructor(
    readonly base: string,
    readonly baseVersion: bigint,
    readonly leaseSeconds: bigint,
  ) {}

  /** Takes one edit. Answers of several streams arrive in any order; the versions order the edits. */
  record(edit: Edit, version: bigint): void {
    const id = idOf(edit);
    let found = this.edited.get(id);
    if (found === undefined) {
      found = { isInBase: edit.edit.case !== 'add', firstVersion: version, version: 0n, polygon: null };
      this.edited.set(id, found);
    } else if (version < found.firstVersion) {
      found.isInBase = edit.edit.case !== 'add';
      found.firstVersion = version;
    }
    if (version > found.version) {
      found.version = version;
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

  get isEmpty(): boolean {
    return this.forks.size === 0;
  }

  add(fork: SceneSummary, leaseSeconds: bigint): void {
    this.forks.set(fork.name, new Fork(fork.base, fork.baseVersion, leaseSeconds));
  }

  /** Forgets a scene, which is not made again. */
  remove(name: string): void {
    this.forks.delete(name);
  }

  /** Records edits that made a version of a scene; does nothing for a scene that is no fork of the client. */
  record(name: string, edits: readonly Edit[], version: bigint): void {
    const fork = this.forks.get(name);
    if (fork !== undefined) for (const edit of edits) fork.record(edit, version);
  }

  /**
   * Makes, on one server, each fork that it does not have. Skips those whose base it does not have.
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
    const done = this.restoreAll(calls, address, () => abandoned.every((each) => each()));
    this.restoring.set(address, { done, abandoned });
    return done;
  }

  private async restoreAll(calls: Calls, address: number, isAbandoned: () => boolean): Promise<void> {
    await Promise.resolve(); // `restoring` has the attempt first
    try {
      for (const [name, fork] of this.forks) {
        if (isAbandoned()) return;
        try {
          await restoreOne(calls, address, name, fork);
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
): Promise<void> {
  try {
    await calls.unary('SceneService', method, request, { address, timeoutMs });
  } catch (error) {
    if (!(error instanceof CaromError) || error.code !== 'DEADLINE_EXCEEDED') throw error;
    throw new CaromError('UNAVAILABLE', '', 'the server did not answer in time while a fork was made again');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof CaromError && error.code === code;
}

/** Makes one fork. Leaves one that the server has: it did not lose the fork, or another client made it again. */
async function restoreOne(calls: Calls, address: number, name: string, fork: Fork): Promise<void> {
  try {
    return await call(calls, address, 'GetScene', toBinary(GetSceneRequestSchema, create(GetSceneRequestSchema, { name })));
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error;
  }
  const { base, baseVersion: version, leaseSeconds } = fork;
  const request = create(ForkSceneRequestSchema, { base, version, name, leaseSeconds });
  try {
    await call(calls, address, 'ForkScene', toBinary(ForkSceneRequestSchema, request));
  } catch (error) {
    if (hasCode(error, 'ALREADY_EXISTS')) return;
    throw error;
  }
  try {
    for (const edits of fork.parts()) {
      const commit = create(CommitEditsRequestSchema, { name, edits, editId: newEditId() });
      await call(calls, address, 'CommitEdits', toBinary(CommitEditsRequestSchema, commit));
    }
  } catch (error) {
    // Others would take the incomplete fork for a complete one.
    const removal = toBinary(DeleteSceneRequestSchema, create(DeleteSceneRequestSchema, { name }));
    await call(calls, address, 'DeleteScene', removal, REMOVAL_MS).catch(() => undefined);
    throw error;
  }
}
