// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program follow the versions of a scene, also over calls that break?

import { create, toBinary } from '@bufbuild/protobuf';
import { CaromError } from '@carom/core/questions';
import { type Caller, parse } from '../calls.js';
import { Joiner } from '../codec/polygons.js';
import {
  ListSceneVersionsRequestSchema,
  ListSceneVersionsResponseSchema,
  WatchSceneRequestSchema,
  type WatchSceneResponse,
  WatchSceneResponseSchema,
} from '../generated/carom/v1/scene_service_pb.js';
import type { ForkLog } from './forks.js';
import { asCaromError, sleep } from '../transport.js';
import { concatenate, long, milliseconds, type PolygonChange, type SceneUpdate, summaryOf, timeOf } from '../values.js';

// Between calls that fail one after the other.
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 2000;
const HISTORY_MS = 5000;
const CHANGES = [undefined, 'added', 'replaced', 'removed'] as const;

export interface WatchOptions {
  /** The version that the caller has, after which the watch begins; 0: with the current one. */
  fromVersion?: number | bigint;
  /** Whether updates have the added and replaced polygons. */
  polygons?: boolean;
  /** Whether an update of the whole scene has a bundle (docs/bundle.md) in place of its polygons. */
  bundle?: boolean;
  /** For which a broken call is made again; 30,000 if absent. */
  reconnectTimeoutMs?: number;
  /** Ends the watch, without an error. */
  signal?: AbortSignal;
}

/** The version that the messages so far are about. */
class Update {
  private head: WatchSceneResponse | null = null;
  private readonly changes: PolygonChange[] = [];
  private readonly joiner = new Joiner();
  private readonly parts: Uint8Array[] = []; // of the bundle

  /** Takes a message; returns the update that it completes. */
  take(chunk: WatchSceneResponse, hasPolygons: boolean): SceneUpdate | null {
    this.head ??= chunk;
    chunk.polygonId.forEach((id, i) => {
      const change = CHANGES[chunk.change[i] ?? 0];
      const [minX, minY, maxX, maxY] = [chunk.minX[i], chunk.minY[i], chunk.maxX[i], chunk.maxY[i]];
      if (change === undefined || minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) {
        throw new CaromError('INTERNAL', '', 'the server sent an update with columns that do not fit together');
      }
      this.changes.push({ id, change, minX, minY, maxX, maxY });
    });
    this.joiner.add(chunk);
    if (chunk.bundle.length > 0) this.parts.push(chunk.bundle);
    if (chunk.more) return null;
    const polygons = this.joiner.finish();
    const bundle = this.parts.length > 0 ? concatenate(this.parts) : null;
    return {
      scene: summaryOf(this.head.scene),
      baseVersion: this.head.baseVersion,
      editId: this.head.editId,
      created: timeOf(this.head.createdUs),
      changes: this.changes,
      polygons: hasPolygons && bundle === null ? polygons : null,
      bundle,
    };
  }
}

/** Whether a server has a version that was made at a time: else its versions have other polygons. */
async function hasVersion(caller: Caller, address: number, name: string, { scene, created }: SceneUpdate): Promise<boolean> {
  const data = toBinary(ListSceneVersionsRequestSchema, create(ListSceneVersionsRequestSchema, { name }));
  const options = { address, timeoutMs: HISTORY_MS };
  const response = await caller.transport.unary('SceneService', 'ListSceneVersions', data, options);
  return parse(ListSceneVersionsResponseSchema, response).versions.some(
    (each) => each.scene?.version === scene.version && timeOf(each.createdUs).getTime() === created.getTime(),
  );
}

/**
 * Yields the versions of a scene, in order, each once and without gaps. After a broken call, a server may have another
 * history of the scene: it was restarted and keeps nothing, or a fork of the client was made again. The watch then
 * begins anew, with an update whose `baseVersion` is 0.
 *
 * Throws NOT_FOUND (no such scene, or it was deleted), OUT_OF_RANGE (the server keeps the next version no more: begin
 * another watch), RESOURCE_EXHAUSTED (the updates were read too slowly), UNAVAILABLE (no server for the timeout).
 */
export async function* watch(
  caller: Caller,
  forks: ForkLog,
  name: string,
  options: WatchOptions,
): AsyncGenerator<SceneUpdate> {
  const { polygons = false, bundle = false, signal } = options;
  const timeoutMs = milliseconds(options.reconnectTimeoutMs ?? 30_000, 'reconnectTimeoutMs');
  let version = long(options.fromVersion ?? 0, 'fromVersion');
  let pause = FIRST_PAUSE_MS;
  let giveUp = Infinity;
  let last: SceneUpdate | null = null;
  for (let calls = 0; ; ++calls) {
    if (signal?.aborted) return;
    const address = caller.servers.current;
    const opened = performance.now();
    let update = new Update();
    let why: CaromError;
    try {
      if (calls > 0 && !forks.isEmpty) await forks.restore(caller.transport, address, () => signal?.aborted === true);
      if (last !== null && !(await hasVersion(caller, address, name, last))) version = 0n;
      const request = create(WatchSceneRequestSchema, { name, fromVersion: version, polygons, bundle });
      const data = toBinary(WatchSceneRequestSchema, request);
      for await (const message of caller.transport.serverStream('WatchScene', data, { address, signal })) {
        const made = update.take(parse(WatchSceneResponseSchema, message), polygons);
        if (made === null) continue;
        if (made.baseVersion !== version || made.scene.version <= version) {
          throw new CaromError('INTERNAL', '', 'the server sent an update that does not follow the version before it');
        }
        version = made.scene.version;
        last = { ...made, changes: [], polygons: null, bundle: null };
        update = new Update();
        [pause, giveUp] = [FIRST_PAUSE_MS, Infinity];
        yield made;
      }
      why = new CaromError('UNAVAILABLE', '', 'the server ended the watch');
    } catch (error) {
      why = asCaromError(error);
    }
    if (signal?.aborted) return;
    if (why.code === 'NOT_FOUND' && calls > 0) forks.removeMissing(name, address); // it cannot be made again
    if (why.code === 'UNAVAILABLE') caller.servers.failOver(address);
    else if (why.retryAfter === undefined) throw why;
    const now = performance.now();
    // A call that was accepted, and broke later, begins the pauses anew.
    if (now - opened > 2 * pause) [pause, giveUp] = [FIRST_PAUSE_MS, Infinity];
    giveUp = Math.min(giveUp, now + timeoutMs);
    const wait = Math.max(pause, (why.retryAfter ?? 0) * 1000);
    pause = Math.min(2 * pause, LAST_PAUSE_MS);
    if (now + wait >= giveUp) throw why;
    await sleep(wait, signal);
  }
}
