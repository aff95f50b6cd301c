// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client show at once what a server will answer later? `followScene` keeps a scene of @carom/core at the
// version of the server, and `predict` asks it. The core of a server and that of a browser give the same bits, so the
// server's answer about the same version is equal: nothing needs to be corrected.

import {
  type Answers,
  Bodies as LocalBodies,
  CaromError,
  Polygons,
  type Question,
  refuse,
  Scene,
  type TypedArray,
} from '@carom/core';
import type { Bodies } from '../bodies.js';
import type { Client } from '../client.js';
import { Frame } from '../codec/frames.js';
import type { Stream } from '../stream/stream.js';
import { type SceneLike, type SceneUpdate, sceneName } from '../values.js';

export interface FollowOptions {
  /**
   * Receives a DATA_LOSS error that names the column, such as `segments.fraction`: the server's answer is not the
   * predicted one, so the local scene is not the server's. It has other polygons, by a bundle that was changed.
   */
  onMismatch: (error: CaromError) => void;
  /**
   * Receives the error that ended the following, such as NOT_FOUND for a scene that was deleted; and that of a stream of
   * predictions, whose outcomes are then unknown: the next prediction opens another stream.
   */
  onError?: (error: CaromError) => void;
  /** Receives each version that the local scene has reached. */
  onVersion?: (update: SceneUpdate) => void;
  /** A bundle of the scene, of `FollowedScene.toBundle`: only what is newer is downloaded. */
  bundle?: Uint8Array;
  /** For which the following, and a stream of predictions, go on without a server; 30,000 if absent. */
  reconnectTimeoutMs?: number;
}

export interface PredictOptions {
  /** Shapes that exist for this question alone. */
  bodies?: Bodies;
}

/** What the server has answered: the same, something else, or nothing (it keeps the version no more, or is gone). */
export type Outcome = 'equal' | 'different' | 'unknown';

export interface Prediction<A extends Answers> {
  /** Of the local scene; the version is `answers.version`. */
  readonly answers: A;
  /** Rejected only if `onMismatch` throws. */
  readonly outcome: Promise<Outcome>;
}

/** A scene of @carom/core that is kept at the version of a server. Made by `followScene`. */
export class FollowedScene {
  /** Predictions by what the server answered. */
  readonly counts: Record<Outcome, number> = { equal: 0, different: 0, unknown: 0 };
  private local: Scene | null = null;
  private error: CaromError | null = null;
  private readonly stop = new AbortController();
  private stream: Stream | null = null;

  constructor(
    private readonly client: Client,
    /** `scenes/{scene}`. */
    readonly name: string,
    private readonly options: FollowOptions,
  ) {}

  /** The scene of @carom/core; another object after each version. Throws why there is none. */
  get scene(): Scene {
    if (this.local === null) throw this.error ?? new CaromError('FAILED_PRECONDITION', 'scene', 'is disposed');
    return this.local;
  }

  /** The version of the server that the local scene has. */
  get version(): bigint {
    return this.scene.version;
  }

  /** The bytes of a bundle (docs/bundle.md), by which a later `followScene` begins. */
  toBundle(): Uint8Array {
    return this.scene.toBundle();
  }

  /** Ends the following, and frees the local scene. */
  dispose(): void {
    this.stop.abort();
    this.stream?.cancel();
    this.replace(null);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  private replace(scene: Scene | null): void {
    this.local?.dispose();
    this.local = scene;
  }

  /** Begins to follow; returns when the local scene has a version of the server. */
  async begin(): Promise<this> {
    const { bundle } = this.options;
    if (bundle !== undefined) this.replace(Scene.fromBundle(bundle));
    await new Promise<void>((resolve, reject) => {
      this.follow(resolve).catch((error: unknown) => {
        this.error = error as CaromError;
        this.dispose();
        reject(this.error);
        this.options.onError?.(this.error);
      });
      if (bundle !== undefined) resolve();
    });
    return this;
  }

  private async follow(ready: () => void): Promise<void> {
    const { signal } = this.stop;
    const options = { polygons: true, bundle: true, signal, ...this.timeout };
    let begun = 0n;
    for (let fromVersion = this.local?.version ?? 0n; ; ) {
      try {
        begun = fromVersion;
        for await (const update of this.client.watchScene(this.name, { ...options, fromVersion })) {
          fromVersion = update.scene.version;
          this.take(update);
          ready();
          this.options.onVersion?.(update);
        }
        return;
      } catch (error) {
        // The server keeps the next version no more: the scene is downloaded as a whole.
        const code = error instanceof CaromError ? error.code : '';
        if (code === 'OUT_OF_RANGE' && fromVersion > 0n) fromVersion = 0n;
        // Updates were read too slowly, which the next watch begins after.
        else if (code !== 'RESOURCE_EXHAUSTED' || fromVersion === begun) throw error;
      }
    }
  }

  /** Makes the local scene one version newer. */
  private take({ scene, baseVersion, changes, polygons, bundle }: SceneUpdate): void {
    const { version } = scene;
    const sent = polygons ?? new Polygons([]);
    if (baseVersion === 0n) {
      // A server that has no bundles sends polygons.
      const whole = bundle === null ? Scene.fromPolygons(sent, { version }) : Scene.fromBundle(bundle, { version });
      return this.replace(whole);
    }
    const ids = (of: string) => changes.filter(({ change }) => change === of).map(({ id }) => id);
    const [added, replaced] = [ids('added'), ids('replaced')].map((each) => pick(sent, new Set(each)));
    this.replace(
      this.scene.commit({
        version,
        ...(added!.length > 0 ? { add: added } : {}),
        ...(replaced!.length > 0 ? { replace: replaced } : {}),
        remove: BigUint64Array.from(ids('removed')),
      }),
    );
  }

  /** Answers a question at once, and asks the server about the same version. */
  predict<A extends Answers>(question: Question<A>, { bodies }: PredictOptions = {}): Prediction<A> {
    if (question.kind.name === 'moves') throw refuse('question', 'moves trackers, which are not predicted');
    const answers = this.ask(question, bodies);
    const columns = columnsOf(answers); // the caller may dispose of the answers
    const frame = new Frame();
    const { version } = answers;
    const asked = frame.ask(this.name, question, bodies === undefined ? { version } : { version, bodies });
    const stream = (this.stream ??= this.client.stream({ maxInFlight: 64, ...this.timeout }));
    const outcome = stream
      .ask(frame)
      .catch((error: CaromError) => {
        this.lose(stream, error);
        throw error;
      })
      .then((answer) => answer.get(asked))
      .catch(() => null)
      .then((decided) => {
        const made = decided === null ? 'unknown' : this.compare(question, columns, decided);
        ++this.counts[made];
        return made;
      });
    return { answers, outcome };
  }

  private get timeout(): { reconnectTimeoutMs?: number } {
    const { reconnectTimeoutMs } = this.options;
    return reconnectTimeoutMs === undefined ? {} : { reconnectTimeoutMs };
  }

  /** Reports once why a stream has ended; the next prediction opens another one. */
  private lose(stream: Stream, error: CaromError): void {
    if (!stream.isEnded || this.stream !== stream) return;
    this.stream = null;
    if (error.code !== 'CANCELLED') this.options.onError?.(error);
  }

  private ask<A extends Answers>(question: Question<A>, bodies: Bodies | undefined): A {
    if (bodies === undefined) return this.scene.ask(question);
    const { shapes, x, y } = bodies;
    const given: ConstructorParameters<typeof LocalBodies>[0] = { shapes, x, y };
    for (const name of ['shape', 'c', 's', 'angle', 'category', 'owner'] as const) {
      const column = bodies[name];
      if (column !== null) Object.assign(given, { [name]: column });
    }
    const local = new LocalBodies(given, { core: this.scene.core });
    try {
      return this.scene.withBodies(local).ask(question);
    } finally {
      local.dispose();
    }
  }

  private compare<A extends Answers>(question: Question<A>, local: readonly TypedArray[], answers: A): Outcome {
    const differing = columnsOf(answers).findIndex((column, i) => !isEqual(column, local[i]!));
    if (differing < 0) return 'equal';
    const { name } = answers['specs'][differing]!;
    const error = new CaromError(
      'DATA_LOSS',
      `${question.kind.name}.${name}`,
      `differs from the answer of the server about version ${answers.version}: the local scene has other polygons`,
    );
    this.options.onMismatch(error);
    return 'different';
  }
}

/** All columns of answers. */
function columnsOf(answers: Answers): TypedArray[] {
  return answers['specs'].map((_, i) => answers['column'](i));
}

/** Whether two columns have the same bits; a -0 is not a 0. */
function isEqual(a: TypedArray, b: TypedArray): boolean {
  if (a.length !== b.length) return false;
  const [left, right] = [a, b].map((each) => new Uint8Array(each.buffer, each.byteOffset, each.byteLength));
  return left!.every((byte, i) => byte === right![i]);
}

/** The polygons with some ids. */
function pick(polygons: Polygons, ids: ReadonlySet<bigint>): Polygons {
  const { id, ringCount, ringSize } = polygons;
  const kept: number[] = [];
  id.forEach((each, i) => {
    if (ids.has(each)) kept.push(i);
  });
  if (kept.length === id.length) return polygons;
  const rings = starts(ringCount);
  const vertices = starts(ringSize);
  const bytes = starts(polygons.userDataSize);
  const keptRings = kept.flatMap((i) => Array.from({ length: ringCount[i]! }, (_, j) => rings[i]! + j));
  const part = <T>(column: ArrayLike<T>, which: readonly number[]) => which.map((i) => column[i]!);
  const coordinates = (of: Float64Array) =>
    Float64Array.from(keptRings.flatMap((ring) => [...of.subarray(vertices[ring], vertices[ring + 1])]));
  const option = <K extends string>(name: K, column: ArrayLike<unknown>, which: readonly number[]) =>
    column.length === 0 ? {} : { [name]: part(column, which) };
  return new Polygons(
    {
      x: coordinates(polygons.x),
      y: coordinates(polygons.y),
      ringSize: Uint32Array.from(part(ringSize, keptRings)),
      ringCount: Uint32Array.from(part(ringCount, kept)),
    },
    {
      ids: BigUint64Array.from(part(id, kept)),
      ...option('categories', polygons.category, kept),
      ...option('open', polygons.open, keptRings),
      ...option('solidity', polygons.solidity, kept),
      ...option('fillRule', polygons.fillRule, kept),
      ...(bytes.length > 1
        ? { userData: kept.map((i) => polygons.userData.slice(bytes[i], bytes[i + 1])) }
        : {}),
    },
  );
}

/** Where parts begin that have some sizes, and where the last one ends. */
function starts(sizes: Uint32Array): number[] {
  let at = 0;
  return [0, ...Array.from(sizes, (size) => (at += size))];
}

/**
 * Makes a scene of @carom/core that has the polygons and the version of a scene of a server, a fork or not, and keeps it
 * there: every version that the server makes is applied, as soon as it arrives. `load` of @carom/core must have ended.
 *
 * Throws NOT_FOUND, and what `Client.watchScene` throws.
 */
export function followScene(client: Client, scene: SceneLike, options: FollowOptions): Promise<FollowedScene> {
  if (typeof options?.onMismatch !== 'function') throw refuse('onMismatch', 'is no function');
  return new FollowedScene(client, sceneName(scene), options).begin();
}

/** Answers a question at once from a local scene; the answer of the server is compared when it arrives. */
export function predict<A extends Answers>(
  scene: FollowedScene,
  question: Question<A>,
  options: PredictOptions = {},
): Prediction<A> {
  return scene.predict(question, options);
}
