// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import type { Answers } from './answers.js';
import type { CoreSource, Lease } from './answer_pool.js';
import { checkAttached, type Integers, isDetached, type Longs, ownList, shown, toLong } from './columns.js';
import { Core } from './core.js';
import { CaromError, refuse } from './errors.js';
import { Asker } from './generated/asking.js';
import { BODIES, type BodiesArguments, STRUCTS, TRACKERS, type TrackersArguments } from './generated/layout.js';
import type { MovesArguments } from './generated/questions.js';
import type { Moves } from './generated/answers.js';
import { DISPOSE, type Handle } from './handle.js';
import { type PolygonOptions, Polygons, type PolygonsLike } from './polygons.js';
import { Arguments, Question } from './question.js';
import { readPolygons } from './read_polygons.js';

/** Where an object is made; absent: the instance of `load`. */
export interface InCore {
  core?: Core | undefined;
}

export interface SceneOptions extends InCore {
  /** The number of the scene, which answers have; 1 if absent. */
  version?: number | bigint | undefined;
}

export interface Edits {
  /** New polygons; give them ids, by `new Polygons(..., { ids })`. */
  add?: PolygonsLike | undefined;
  /** Polygons in place of those with their ids. */
  replace?: PolygonsLike | undefined;
  /** Ids. */
  remove?: Longs | undefined;
  /** Of the new scene; the next number if absent. */
  version?: number | bigint | undefined;
}

/** An object of a module. */
abstract class Owner {
  /** The instance that it is in. */
  readonly core: Core;
  protected readonly handle: Handle;

  constructor(core: Core, handle: Handle) {
    this.core = core;
    this.handle = handle;
  }

  /** Frees its memory. Later calls throw FAILED_PRECONDITION. */
  dispose(): void {
    this.handle.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  /** For the files of this package: the address in an instance. */
  addressIn(core: Core): number {
    if (core !== this.core) throw refuse('core', 'is not the same for the scene, the bodies and the trackers');
    return this.handle.address;
  }
}

/**
 * Shapes that questions may hit beside the polygons of a scene: the players of a tick, doors.
 *
 * At most 4,096 bodies with 65,536 vertices in all, else RESOURCE_EXHAUSTED.
 */
export class Bodies extends Owner {
  private count: number;

  constructor(given: BodiesArguments, { core = Core.default }: InCore = {}) {
    const asked = new Arguments(BODIES, given);
    const block = core.packer.packOne(asked);
    super(core, core.make('carom_bodies_create', 'bodies', 'carom_bodies_destroy', block));
    this.count = asked.items;
  }

  /** Replaces all bodies, for the next tick. After an error, the bodies are as before. */
  place(given: BodiesArguments): void {
    const asked = new Arguments(BODIES, given);
    const block = this.core.packer.packOne(asked);
    this.core.check('carom_bodies_place', this.handle.address, block);
    this.count = asked.items;
  }

  /** The number of bodies. */
  get length(): number {
    return this.count;
  }
}

/**
 * Shapes with a memory of what is near them, so that a small move costs next to nothing. The memory never changes an
 * answer.
 */
export class Trackers extends Owner {
  /** Handles are below `maxTrackers`, at most 2^24; `maxBytes` is for all shapes and memories. */
  constructor(options: InCore & { maxTrackers?: number; maxBytes?: number } = {}) {
    const { core = Core.default, maxTrackers = 65536, maxBytes = 2 ** 26 } = options;
    const limits = [toLong(maxTrackers, 'maxTrackers', 1n), toLong(maxBytes, 'maxBytes', 1n)];
    super(core, core.make('carom_trackers_create', 'trackers', 'carom_trackers_destroy', ...limits));
  }

  /** Defines trackers: item i is the tracker tracker[i] with the shape shape[i]. `remove` are handles freed before. */
  define(given: TrackersArguments & { remove?: Integers }): void {
    const { remove = [], ...rest } = given;
    const removed = ownList(remove, 'u32', 'remove'); // an allocation would detach it
    this.change(removed, this.core.packer.packOne(new Arguments(TRACKERS, rest)));
  }

  /** Removes trackers by their handles, defined or not. */
  remove(tracker: Integers): void {
    this.change(ownList(tracker, 'u32', 'remove'), 0);
  }

  private change(array: Uint32Array, definitions: number): void {
    const { core } = this;
    // A struct that is passed by value is passed by its address in WebAssembly.
    const block = core.allocate(16 + array.byteLength);
    try {
      core.memory.u32.set([block + 16, array.length, 1], block >>> 2);
      core.memory.u32.set(array, (block + 16) >>> 2);
      core.check('carom_trackers_define', this.handle.address, block, definitions);
    } finally {
      core.free(block);
    }
  }

  /** Moves trackers through a scene: `scene.withTrackers(trackers).move(...)`. */
  move(scene: Scene, given: MovesArguments, out?: Moves): Moves {
    return scene.askWith(this, given, out);
  }

  /** Drops all memories: no answer changes, but the next moves take longer. */
  forget(): void {
    this.core.check('carom_trackers_forget', this.handle.address);
  }

  /** [bytes] What the table takes, with all shapes and memories. */
  get bytes(): number {
    return this.core.call('carom_trackers_bytes', this.handle.address) as number;
  }
}

/** An immutable set of polygons with an index. */
export class Scene extends Asker {
  readonly core: Core;
  private readonly handle: Handle;
  private readonly bodies: Bodies | null;
  private readonly trackers: Trackers | null;

  private constructor(core: Core, handle: Handle, bodies: Bodies | null = null, trackers: Trackers | null = null) {
    super();
    this.core = core;
    this.handle = handle;
    this.bodies = bodies;
    this.trackers = trackers;
  }

  // --- Making -----------------------------------------------------------------------------------

  /**
   * Makes a scene of what `Polygons` accepts, with its options. O(n log n) for n polygons.
   *
   * Throws INVALID_ARGUMENT with a path such as `polygons[3].rings[0].x[7]` for a NaN or an id that occurs twice, and
   * RESOURCE_EXHAUSTED above 4,194,304 polygons or 16,777,216 vertices.
   */
  static fromPolygons(polygons: PolygonsLike, options: SceneOptions & PolygonOptions = {}): Scene {
    const { core = Core.default, version = 1, ...rest } = options;
    const number = toLong(version, 'version');
    const set = core.packer.polygonSet(new Polygons(polygons, rest));
    try {
      return new Scene(core, core.make('carom_scene_create', 'scene', 'carom_scene_destroy', set.address, number, 0));
    } finally {
      set.dispose();
    }
  }

  /**
   * Makes a scene of the bytes of a bundle (docs/bundle.md).
   *
   * Throws INVALID_ARGUMENT for bytes that are no bundle, and DATA_LOSS for a damaged one.
   */
  static fromBundle(bytes: Uint8Array | ArrayBuffer, options: SceneOptions = {}): Scene {
    const { core = Core.default, version } = options;
    const number = version === undefined ? null : toLong(version, 'version');
    if (!(bytes instanceof Uint8Array) && !(bytes instanceof ArrayBuffer)) {
      throw refuse('bundle', `is ${shown(bytes)}; a Uint8Array is accepted`);
    }
    if (isDetached(bytes instanceof ArrayBuffer ? bytes : bytes.buffer)) throw refuse('bundle', 'has a detached buffer');
    const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
    const copy = core.allocate(Math.max(view.length, 8));
    try {
      checkAttached(view, 'bundle'); // it may be in the memory of the module, which has grown
      core.memory.u8.set(view, copy);
      const made = core.make('carom_scene_from_bundle', 'scene', 'carom_scene_destroy', copy, view.length, 0);
      const scene = new Scene(core, made);
      if (number === null) return scene;
      try {
        return scene.withVersion(number);
      } finally {
        scene.dispose();
      }
    } finally {
      core.free(copy);
    }
  }

  /** Returns the scene as the bytes of a bundle. */
  toBundle(): Uint8Array<ArrayBuffer> {
    return this.written((buffer) => this.core.check('carom_scene_to_bundle', this.handle.address, buffer));
  }

  private written(write: (buffer: number) => void): Uint8Array<ArrayBuffer> {
    const { core } = this;
    const buffer = core.make('carom_buffer_create', 'buffer', 'carom_buffer_destroy');
    try {
      write(buffer.address);
      const data = core.call('carom_buffer_data', buffer.address) as number;
      const size = core.call('carom_buffer_size', buffer.address) as number;
      return core.memory.u8.slice(data >>> 0, (data >>> 0) + (size >>> 0)) as Uint8Array<ArrayBuffer>;
    } finally {
      buffer.dispose();
    }
  }

  /**
   * Makes the scene after edits; this one stays as it is, and both share what does not change.
   *
   * Throws ALREADY_EXISTS and NOT_FOUND with the path `edits[i]`.
   */
  commit(edits: Edits): Scene {
    const { core } = this;
    if (typeof edits !== 'object' || edits === null) throw refuse('edits', `is ${shown(edits)}; an object is accepted`);
    const version = edits.version === undefined ? this.version + 1n : toLong(edits.version, 'version');
    const removed = ownList(edits.remove ?? [], 'u64', 'remove'); // an allocation would detach it
    const sets: Handle[] = [];
    const numbers: Record<string, number> = {};
    try {
      for (const [name, polygons] of [['added', edits.add], ['replaced', edits.replace]] as const) {
        if (polygons === undefined) continue;
        const set = core.packer.polygonSet(polygons instanceof Polygons ? polygons : new Polygons(polygons));
        sets.push(set);
        numbers[name] = set.address;
      }
      const block = core.packer.packStruct('carom_edits', { removed }, numbers);
      core.memory.u64[(block + STRUCTS.carom_edits.at.version) >>> 3] = version;
      const made = core.make('carom_scene_commit', 'scene', 'carom_scene_destroy', this.handle.address, block, 0);
      return new Scene(core, made, this.bodies, this.trackers);
    } finally {
      for (const set of sets) set.dispose();
    }
  }

  /**
   * Returns the same scene, whose questions may ask bodies: `against: 'both'` or `'bodies'`. One `dispose` frees both;
   * the bodies stay.
   */
  withBodies(bodies: Bodies): Scene {
    if (!(bodies instanceof Bodies)) throw refuse('bodies', `is ${shown(bodies)}; Bodies are accepted`);
    bodies.addressIn(this.core);
    return new Scene(this.core, this.handle, bodies, this.trackers);
  }

  /** Returns the same scene, which answers `move`. One `dispose` frees both; the trackers stay. */
  withTrackers(trackers: Trackers): Scene {
    if (!(trackers instanceof Trackers)) throw refuse('trackers', `is ${shown(trackers)}; Trackers are accepted`);
    trackers.addressIn(this.core);
    return new Scene(this.core, this.handle, this.bodies, trackers);
  }

  /** Returns the same scene with another number. */
  withVersion(version: number | bigint): Scene {
    const number = toLong(version, 'version');
    const made = this.core.make('carom_scene_with_version', 'scene', 'carom_scene_destroy', this.handle.address, number);
    return new Scene(this.core, made, this.bodies, this.trackers);
  }

  // --- Asking -----------------------------------------------------------------------------------

  override ask<A extends Answers>(question: Question<A>, out?: A): A {
    return this.answer(question, this.trackers, out);
  }

  /** For `Trackers.move`. */
  askWith(trackers: Trackers, given: MovesArguments, out?: Moves): Moves {
    return this.withTrackers(trackers).move(given, out);
  }

  private answer<A extends Answers>(question: Question<A>, trackers: Trackers | null, out?: A): A {
    const { core } = this;
    if (!(question instanceof Question)) {
      throw refuse('question', `is ${shown(question)}; a question of @carom/core/questions is accepted`);
    }
    if (out !== undefined) {
      if (!(out instanceof question.kind.answers)) {
        throw refuse('out', `has answers of another kind; those of ${question.kind.name} are accepted`);
      }
    }
    const scene = this.handle.address;
    const block = core.packer.packOne(question);
    const lease = core.answers.take();
    try {
      const world = this.world(scene, trackers);
      core.ask(core.function(question.kind.function), world, block, lease.pointer);
    } catch (error) {
      core.answers.end(lease);
      throw error;
    }
    return finish(question, lease.source(question), out);
  }

  /** Answers questions of different kinds, at most one of each, by one call. */
  evaluate<Q extends readonly Question[]>(...asked: Q): { [I in keyof Q]: Q[I] extends Question<infer A> ? A : never } {
    const { core } = this;
    const kinds = new Set<string>();
    for (const question of asked) {
      if (!(question instanceof Question)) throw refuse('question', `is ${shown(question)}; a question is accepted`);
      if (kinds.has(question.kind.name)) throw refuse('questions', `has two of the kind ${question.kind.name}`);
      kinds.add(question.kind.name);
    }
    const scene = this.handle.address;
    const shapes = asked.map((each) => (each.shapes === null ? 0 : core.packer.shapesHandle(each.shapes)));
    const size = STRUCTS.carom_batch.size;
    const batches = core.allocate(Math.max(size * asked.length, 8));
    let lease: Lease;
    try {
      core.packer.start(asked.reduce((bytes, each) => bytes + core.packer.bytesOf(each), 0));
      asked.forEach((each, i) => {
        const block = core.packer.pack(each, shapes[i] as number);
        core.memory.u32.set([each.kind.number, 0, block], (batches + i * size) >>> 2);
      });
      lease = core.answers.take();
      try {
        const world = this.world(scene, this.trackers);
        core.check('carom_evaluate', world, batches, asked.length, lease.pointer);
      } catch (error) {
        core.answers.end(lease);
        throw error;
      }
    } finally {
      core.free(batches);
    }
    return asked.map((each) => finish(each, lease.source(each))) as never;
  }

  /** Writes the struct `carom_world`. */
  private world(scene: number, trackers: Trackers | null): number {
    const { core } = this;
    const at = core.worldAddress;
    const words = core.memory.u32;
    words[at >>> 2] = STRUCTS.carom_world.size;
    words[(at >>> 2) + 1] = 0;
    words[(at >>> 2) + 2] = scene;
    words[(at >>> 2) + 3] = this.bodies === null ? 0 : this.bodies.addressIn(core);
    words[(at >>> 2) + 4] = trackers === null ? 0 : trackers.addressIn(core);
    return at;
  }

  // --- What is in it ----------------------------------------------------------------------------

  /** The number that the maker of the scene chose. */
  get version(): bigint {
    return BigInt.asUintN(64, this.core.call('carom_scene_version', this.handle.address) as bigint);
  }

  /** The number of polygons. */
  get length(): number {
    return this.core.call('carom_scene_polygon_count', this.handle.address) as number;
  }

  /** The number of vertices of all polygons. */
  get vertexCount(): number {
    return this.core.call('carom_scene_vertex_count', this.handle.address) as number;
  }

  /** The least box that contains all polygons; minX > maxX if there is none. */
  get bounds(): { minX: number; minY: number; maxX: number; maxY: number } {
    const { core } = this;
    const address = core.packer.packStruct('carom_box', {});
    core.check('carom_scene_bounds', this.handle.address, address);
    const [minX, minY, maxX, maxY] = core.memory.array('f64', address, 4) as unknown as [number, number, number, number];
    return { minX, minY, maxX, maxY };
  }

  /** Returns the polygons of the scene, in ascending order of their ids. */
  polygons(): Polygons {
    return readPolygons(this.core, this.handle.address, this.length);
  }

  /** Returns a drawing of the polygons, and of the bodies, as an SVG document. */
  toSvg(): string {
    const { core } = this;
    const bytes = this.written((buffer) => {
      core.check('carom_write_svg', this.world(this.handle.address, this.trackers), 0, buffer);
    });
    return new TextDecoder().decode(bytes);
  }

  /** Frees the scene. Later calls throw FAILED_PRECONDITION. */
  dispose(): void {
    this.handle.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }
}

function finish<A extends Answers>(question: Question<A>, source: CoreSource, out?: A): A {
  if (out === undefined) return new question.kind.answers(question, source);
  out.dispose();
  out.reset(question, source);
  return out;
}

/**
 * A number made from all entries of all answers of the call, equal on every machine and in every language (FNV-1a, 64
 * bits): `carom_answers_digest` of carom.h. For answers of a `Scene` of this package.
 */
export function digestOf(answers: Answers): bigint {
  const source = answers.from as Partial<CoreSource>;
  if (typeof source.digest !== 'function') throw new CaromError('UNIMPLEMENTED', 'answers', 'are not of this package');
  return source.digest();
}
