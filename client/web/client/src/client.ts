// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program ask a server? `Client` is the same for Node.js and browsers, which give it their transports.

import { create, toBinary } from '@bufbuild/protobuf';
import {
  type Answers,
  AsyncAsker,
  CaromError,
  Polygons,
  type PolygonOptions,
  type PolygonsLike,
  Question,
  refuse,
} from '@carom/core/questions';
import type { Bodies } from './bodies.js';
import { Caller, type Deadline, parse } from './calls.js';
import { ask, Frame, FrameAnswer, type GroupAnswer } from './codec/frames.js';
import { read } from './codec/messages.js';
import { Joiner, polygonMessages } from './codec/polygons.js';
import * as pb from './generated/carom/v1/scene_service_pb.js';
import { type Edits, editsOf } from './scenes/edits.js';
import { ForkLog } from './scenes/forks.js';
import { watch, type WatchOptions } from './scenes/watch.js';
import { recordEdits, type StreamOptions } from './stream/flow.js';
import { Stream } from './stream/stream.js';
import { type CallOptions, Servers, type Transport } from './transport.js';
import {
  concatenate,
  integer,
  long,
  newEditId,
  type SceneLike,
  type SceneSummary,
  type SceneUpdate,
  type SceneVersion,
  sceneName,
  summaryOf,
  timeOf,
} from './values.js';

const LARGEST_PAGE = 1000;
const MOST_BUDGET_MS = 60_000;
/** The part of a deadline for which a server may wait for a version. */
const WAITING = 0.8;

export interface VersionOptions extends Deadline {
  /** 0: the current one. */
  version?: number | bigint;
}

export interface ForkOptions extends VersionOptions {
  /** Of the fork; chosen if absent. */
  name?: SceneLike;
  /** Without use, after which the server deletes the fork, at least 1; 60 if absent. */
  leaseSeconds?: number;
}

export interface SceneOptions extends VersionOptions {
  /** The least version that is asked; the server waits for it, for up to 0.8 of the deadline. */
  minVersion?: number | bigint;
}

/**
 * A client of one server, or of several that have the same scenes; it uses one of them at a time: a call that cannot
 * reach its server makes later calls go to the next one. All failures are CaromErrors.
 */
export class Client {
  protected readonly caller: Caller;
  private readonly forks = new ForkLog();
  private readonly streams = new Set<Stream>();

  /** Made by `connect`. */
  constructor(
    private readonly transport: Transport,
    private readonly deadlineMs: number | null,
  ) {
    this.caller = new Caller(transport, new Servers(transport.addresses.length), deadlineMs);
  }

  // --- Scenes -------------------------------------------------------------------------------------

  /** Returns a scene to ask. No call is made. */
  scene(name: SceneLike, options: SceneOptions = {}): RemoteScene {
    return new RemoteScene(this, sceneName(name), { deadlineMs: this.deadlineMs, ...options }, null);
  }

  /** Registers a scene. Throws ALREADY_EXISTS, and INVALID_ARGUMENT with a path such as `polygons[3].rings[0].x[7]`. */
  async createScene(
    name: SceneLike,
    polygons: PolygonsLike,
    options: PolygonOptions & Deadline = {},
  ): Promise<SceneSummary> {
    const { deadlineMs, signal, ...rest } = options;
    const made = polygonMessages(new Polygons(polygons, rest));
    const { scene } = await this.caller.call(
      'CreateScene',
      [pb.CreateSceneRequestSchema, pb.CreateSceneResponseSchema],
      { name: sceneName(name), polygons: made },
      deadlineOf({ deadlineMs, signal }),
      false,
    );
    return summaryOf(scene);
  }

  /** Returns the summary of a version of a scene. Throws NOT_FOUND, OUT_OF_RANGE. */
  async getScene(name: SceneLike, options: VersionOptions = {}): Promise<SceneSummary> {
    const request = { name: sceneName(name), version: long(options.version ?? 0, 'version') };
    const data = toBinary(pb.GetSceneRequestSchema, create(pb.GetSceneRequestSchema, request));
    const get = (call: CallOptions) => this.transport.unary('SceneService', 'GetScene', data, call);
    return summaryOf(parse(pb.GetSceneResponseSchema, await this.attemptOn([request.name], options, true, get)).scene);
  }

  /** Returns the current versions of all scenes, by ascending name. */
  async listScenes(options: Deadline = {}): Promise<SceneSummary[]> {
    const types = [pb.ListScenesRequestSchema, pb.ListScenesResponseSchema] as const;
    const made: SceneSummary[] = [];
    for (let pageToken = ''; ; ) {
      const page = await this.caller.call('ListScenes', types, { pageSize: LARGEST_PAGE, pageToken }, options, true);
      made.push(...page.scenes.map(summaryOf));
      if (page.nextPageToken === '' || page.nextPageToken === pageToken) return made;
      pageToken = page.nextPageToken;
    }
  }

  /** Deletes a scene with all its versions. version: ABORTED if another one is current; 0: any */
  async deleteScene(name: SceneLike, options: VersionOptions = {}): Promise<void> {
    const request = { name: sceneName(name), version: long(options.version ?? 0, 'version') };
    const types = [pb.DeleteSceneRequestSchema, pb.DeleteSceneResponseSchema] as const;
    try {
      await this.caller.call('DeleteScene', types, request, options, false);
    } catch (error) {
      if (error instanceof CaromError && error.code === 'NOT_FOUND') this.forks.remove(request.name);
      throw error;
    }
    this.forks.remove(request.name);
  }

  /**
   * Edits a scene. A commit with an `editId` that the history has changes nothing and returns its version, so a commit
   * that is sent again happens once.
   *
   * Throws ALREADY_EXISTS, NOT_FOUND, ABORTED (`baseVersion`), and INVALID_ARGUMENT with the path `edits[i]`, where i
   * counts added, then replaced, then removed polygons.
   */
  async commit(name: SceneLike, edits: Edits, options: Deadline = {}): Promise<SceneSummary> {
    const made = editsOf(edits);
    const { editId = newEditId(), baseVersion = 0 } = edits;
    const request = { name: sceneName(name), baseVersion: long(baseVersion, 'baseVersion'), edits: made, editId };
    const data = toBinary(pb.CommitEditsRequestSchema, create(pb.CommitEditsRequestSchema, request));
    let server = 0;
    const send = (call: CallOptions) => {
      server = call.address;
      return this.transport.unary('SceneService', 'CommitEdits', data, call);
    };
    // Only a commit with an id has the effect of one when it is made again.
    const [scenes, repeats] = editId === '' ? [[], false] : [[request.name], true];
    const response = await this.attemptOn(scenes, options, repeats, send);
    const summary = summaryOf(parse(pb.CommitEditsResponseSchema, response).scene);
    this.forks.record(request.name, made, summary.version, server);
    return summary;
  }

  /** Returns the history of a scene as far as the server keeps it, ascending; the last version is current. */
  async versions(name: SceneLike, options: Deadline = {}): Promise<SceneVersion[]> {
    const types = [pb.ListSceneVersionsRequestSchema, pb.ListSceneVersionsResponseSchema] as const;
    const { versions } = await this.caller.call('ListSceneVersions', types, { name: sceneName(name) }, options, true);
    return versions.map(({ scene, editId, createdUs }) => ({
      scene: summaryOf(scene),
      editId,
      created: timeOf(createdUs),
    }));
  }

  /** Makes a version with the polygons of an older one. Throws OUT_OF_RANGE if the server has them no more. */
  async rollback(
    name: SceneLike,
    version: number | bigint,
    options: Deadline & { baseVersion?: number | bigint } = {},
  ): Promise<SceneSummary> {
    const request = {
      name: sceneName(name),
      version: long(version, 'version', 1n),
      baseVersion: long(options.baseVersion ?? 0, 'baseVersion'),
    };
    const types = [pb.RollbackSceneRequestSchema, pb.RollbackSceneResponseSchema] as const;
    const summary = summaryOf((await this.caller.call('RollbackScene', types, request, options, false)).scene);
    this.forks.remove(request.name); // the log of forks has no rollbacks
    return summary;
  }

  /**
   * Makes a fork: a scene that begins as a version of another one, and is edited independently. It exists on one server,
   * until `deleteScene` or the end of its lease; if a server loses it, streams of this client make it again.
   */
  async fork(base: SceneLike, options: ForkOptions = {}): Promise<SceneSummary> {
    const own = options.name === undefined;
    const name = own ? `scenes/fork-${newEditId()}` : sceneName(options.name!);
    const lease = options.leaseSeconds === undefined ? 0 : integer(options.leaseSeconds, 'leaseSeconds', 1, 2 ** 31);
    const version = long(options.version ?? 0, 'version');
    const request = { base: sceneName(base, 'base'), version, name, leaseSeconds: BigInt(lease) };
    const types = [pb.ForkSceneRequestSchema, pb.ForkSceneResponseSchema] as const;
    let server = 0;
    const answered = (address: number) => (server = address);
    const call = () => this.caller.call('ForkScene', types, request, options, false, undefined, answered);
    try {
      const { scene, leaseSeconds } = await call().catch((error: unknown) => {
        // Nobody else has a name that is chosen here.
        if (own && error instanceof CaromError && error.code === 'UNAVAILABLE') return call();
        throw error;
      });
      const made = summaryOf(scene);
      this.forks.add(made, leaseSeconds, server);
      return made;
    } catch (error) {
      if (!own || !(error instanceof CaromError) || error.code !== 'ALREADY_EXISTS') throw error;
      const gets = [pb.GetSceneRequestSchema, pb.GetSceneResponseSchema] as const;
      const found = await this.caller.call('GetScene', gets, { name }, options, true, undefined, answered);
      const made = summaryOf(found.scene); // the first call made it
      this.forks.add(made, BigInt(lease), server);
      return made;
    }
  }

  /** Returns the polygons of a version of a scene, in ascending order of their ids, with its summary. */
  async exportScene(
    name: SceneLike,
    options: VersionOptions = {},
  ): Promise<{ scene: SceneSummary; polygons: Polygons }> {
    const version = long(options.version ?? 0, 'version');
    let joiner = new Joiner();
    const begin = () => (joiner = new Joiner());
    const scene = await this.export({ name: sceneName(name), version }, options, begin, (chunk) => joiner.add(chunk));
    return { scene, polygons: joiner.finish() };
  }

  /**
   * Returns a version of a scene as a bundle (docs/bundle.md), which `Scene.fromBundle` of @carom/core opens without
   * building its index anew. Throws RESOURCE_EXHAUSTED if the server has no memory for it.
   */
  async exportBundle(
    name: SceneLike,
    options: VersionOptions = {},
  ): Promise<{ scene: SceneSummary; bundle: Uint8Array }> {
    const version = long(options.version ?? 0, 'version');
    let parts: Uint8Array[] = [];
    const begin = () => (parts = []);
    const take = (chunk: pb.ExportSceneResponse) => parts.push(chunk.bundle);
    const scene = await this.export({ name: sceneName(name), version, bundle: true }, options, begin, take);
    return { scene, bundle: concatenate(parts) };
  }

  /** Makes attempts of ExportScene, and returns the summary of what it sends. begin: called before each attempt */
  private async export(
    request: { name: string; version: bigint; bundle?: boolean },
    options: Deadline,
    begin: () => unknown,
    take: (chunk: pb.ExportSceneResponse) => unknown,
  ): Promise<SceneSummary> {
    const data = toBinary(pb.ExportSceneRequestSchema, create(pb.ExportSceneRequestSchema, request));
    return this.attemptOn([request.name], options, true, async (call) => {
      let summary: SceneSummary | undefined;
      begin();
      for await (const message of this.transport.serverStream('ExportScene', data, call)) {
        const chunk = parse(pb.ExportSceneResponseSchema, message);
        summary ??= summaryOf(chunk.scene);
        take(chunk);
      }
      return summary ?? summaryOf(undefined);
    });
  }

  /**
   * Makes attempts of a call about scenes, which waits while a stream of this client makes a fork among them again on the
   * server: none is about a part of its edits. The effect of several attempts must be that of one.
   */
  private attemptOn<T>(
    scenes: readonly string[],
    options: Deadline,
    repeats: boolean,
    make: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    return this.caller.attempt(options, () => repeats, (given) => this.forks.whole(scenes, given, make));
  }

  /** Yields the versions of a scene, each once, as they are made: `for await (const update of client.watchScene(...))`. */
  watchScene(name: SceneLike, options: WatchOptions = {}): AsyncGenerator<SceneUpdate> {
    return watch(this.caller, this.forks, sceneName(name), options);
  }

  // --- Frames -------------------------------------------------------------------------------------

  /**
   * Answers a frame. Throws the error of a frame that the server refuses as a whole; `get` throws those of groups. Waits
   * while a stream of this client makes a fork of the frame again on the server: no answer is about a part of its edits.
   */
  async evaluate(frame: Frame, options: Deadline = {}): Promise<FrameAnswer> {
    if (!(frame instanceof Frame)) throw refuse('frame', 'is no Frame');
    const asked = ask(frame);
    const scenes = asked.groups.map(({ scene }) => scene);
    let server = 0;
    // Questions have no effect, and edits have ids.
    const response = await this.attemptOn(scenes, options, true, (call) => {
      server = call.address;
      return this.transport.unary('QueryService', 'Evaluate', asked.data, call);
    });
    const answer = new FrameAnswer(asked, read('StreamResponse', response).bytes(1)).check();
    recordEdits(this.forks, asked.groups, answer, server);
    return answer;
  }

  /** Opens a stream of frames. */
  stream(options: StreamOptions = {}): Stream {
    const forget = (stream: Stream) => this.streams.delete(stream);
    const made = new Stream(this.transport, this.caller.servers, this.forks, options, forget);
    this.streams.add(made);
    return made;
  }

  /** Ends streams and connections: calls in progress are CANCELLED, later ones FAILED_PRECONDITION. */
  close(): void {
    for (const stream of this.streams) stream.cancel();
    this.transport.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The deadline among other options. */
export function deadlineOf(given: { deadlineMs?: number | null | undefined; signal?: AbortSignal | undefined }): Deadline {
  return {
    ...(given.deadlineMs === undefined ? {} : { deadlineMs: given.deadlineMs }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  };
}

/**
 * A scene of a server: answers the questions that a `Scene` of @carom/core answers, with the same answers. A question
 * is one call, within the limits of a frame.
 */
export class RemoteScene extends AsyncAsker<Deadline> {
  constructor(
    private readonly client: Client,
    /** `scenes/{scene}`. */
    readonly name: string,
    private readonly options: SceneOptions,
    private readonly bodies: Bodies | null,
  ) {
    super();
  }

  /** The same scene, with bodies, which each question sends as they are then. */
  withBodies(bodies: Bodies): RemoteScene {
    return new RemoteScene(this.client, this.name, this.options, bodies);
  }

  /** Answers a question that a function of `@carom/core/questions` made. */
  async ask<A extends Answers>(question: Question<A>, options: Deadline = {}): Promise<A> {
    return (await this.askAll([question as unknown as Question], options)).get(question);
  }

  /** Answers questions of different kinds, at most one of each, by one call, about one version. */
  async evaluate<Q extends readonly Question[]>(
    ...asked: Q
  ): Promise<{ [I in keyof Q]: Q[I] extends Question<infer A> ? A : never }> {
    const answer = await this.askAll(asked, {});
    return asked.map((question) => answer.get(question)) as never;
  }

  private async askAll(questions: readonly Question[], options: Deadline): Promise<GroupAnswer> {
    const { version = 0, minVersion = 0, deadlineMs = null } = this.options;
    const isWaiting = BigInt(minVersion) > 0n && BigInt(version) === 0n;
    const deadline: Deadline = { deadlineMs, ...options };
    const limit = deadline.deadlineMs ?? Infinity;
    const frame = new Frame(isWaiting ? { budgetMs: Math.min(WAITING * limit, MOST_BUDGET_MS) } : {});
    const group = frame.group(this.name, {
      version,
      ...(isWaiting ? { minVersion } : {}),
      ...(this.bodies === null ? {} : { bodies: this.bodies }),
    });
    for (const question of questions) group.ask(question);
    const [answer] = (await this.client.evaluate(frame, deadline)).groups;
    return answer!;
  }

  /** Returns the summary of the scene. */
  summary(options: Deadline = {}): Promise<SceneSummary> {
    return this.client.getScene(this.name, { ...this.options, ...options });
  }
}
