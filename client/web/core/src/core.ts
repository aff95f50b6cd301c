// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { AnswerPool } from './answer_pool.js';
import { type Column, type ElementType, MAX_LENGTH, type TypedArray, type TypedArrayOf, elementBytes, toInteger } from './columns.js';
import { CaromError, codeName } from './errors.js';
import { FUNCTIONS, STRUCTS } from './generated/layout.js';
import { DISPOSE, Handle } from './handle.js';
import { type ModuleSource, compile, hasSimd } from './load.js';
import { Memory } from './memory.js';
import { Packer } from './packer.js';

type Function = (...parameters: (number | bigint)[]) => number | bigint;

export interface LoadOptions {
  /** Whether to use vectors; absent: if the engine has them. */
  simd?: boolean | undefined;
  /** The module, its bytes, or where they are; absent: the file of this package. */
  module?: ModuleSource | undefined;
  /** [bytes] What the module may take at most, in [4 MiB, 4 GiB); absent: 4 GiB. */
  maxMemory?: number | undefined;
}

const PAGE = 65536;
const LEAST_PAGES = 64; // as in native/build.py
const MOST_PAGES = 65535;
const BAD_FILE = 8; // of WASI

/** The columns of arrays that a program may have alone: memory is in use as long as its array. */
const columnOf = new WeakMap<TypedArray, object>();

/** Memory of a module as a column. */
class CoreColumn<T extends ElementType> implements Column<TypedArrayOf<T>> {
  readonly length: number;
  private readonly memory: Memory;
  private readonly handle: Handle;
  private readonly type: T;
  private view: TypedArrayOf<T> | undefined;

  constructor(memory: Memory, handle: Handle, type: T, length: number) {
    this.memory = memory;
    this.handle = handle;
    this.type = type;
    this.length = length;
  }

  get array(): TypedArrayOf<T> {
    const address = this.handle.address;
    if (this.view === undefined || this.view.buffer !== this.memory.buffer) {
      this.view = this.memory.array(this.type, address, this.length);
      columnOf.set(this.view, this);
    }
    return this.view;
  }

  dispose(): void {
    this.handle.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }
}

/** A column in the memory of a module, which is freed by `dispose` or `using`. */
export type OwnColumn<T extends ElementType> = Column<TypedArrayOf<T>> & Disposable & { dispose(): void };

/**
 * One instance of the module, with a memory of its own. Most programs have one, that of `load`.
 *
 * After an error every object is as before, and the module can be used. Should the module stop, because of a fault of
 * its own or since the stack of the engine is used up, every later call throws INTERNAL, and `load` makes another one.
 */
export class Core {
  private static current: Core | undefined;

  /** Whether it uses vectors. */
  readonly simd: boolean;
  /** For the files of this package. */
  readonly memory: Memory;
  readonly packer: Packer;
  readonly answers: AnswerPool;
  private readonly functions: Record<string, Function>;
  private readonly status: number;
  private readonly out: number;
  /** Where the struct `carom_world` of a call is. */
  readonly worldAddress: number;
  private stopped: unknown;

  private constructor(instance: WebAssembly.Instance, memory: Memory, simd: boolean) {
    this.simd = simd;
    this.memory = memory;
    this.functions = {};
    for (const name of [...FUNCTIONS, 'malloc', 'free']) {
      const found = instance.exports[name];
      if (typeof found !== 'function') throw new CaromError('INVALID_ARGUMENT', 'module', `has no function ${name}`);
      this.functions[name] = found as Function;
    }
    this.status = this.allocate(STRUCTS.carom_status.size);
    this.memory.u32[this.status >>> 2] = STRUCTS.carom_status.size;
    this.out = this.allocate(8);
    this.worldAddress = this.allocate(STRUCTS.carom_world.size);
    this.packer = new Packer(this);
    this.answers = new AnswerPool(this);
  }

  /** Makes an instance. Throws UNAVAILABLE if the file cannot be read. */
  static async load(options: LoadOptions = {}): Promise<Core> {
    const simd = options.simd ?? (options.module === undefined && hasSimd());
    const file = new URL(simd ? './carom-simd.wasm' : './carom.wasm', import.meta.url);
    const module = await compile(options.module ?? file);
    const most = options.maxMemory ?? MOST_PAGES * PAGE;
    const pages = toInteger(Math.floor(most / PAGE), 'maxMemory', LEAST_PAGES, MOST_PAGES);
    try {
      const memory = new WebAssembly.Memory({ initial: LEAST_PAGES, maximum: pages });
      // No file is open, which is what the three functions say; the library of C refers to them.
      const closed = (): number => BAD_FILE;
      const wasi = { fd_close: closed, fd_seek: closed, fd_write: closed };
      const instance = await WebAssembly.instantiate(module, { env: { memory }, wasi_snapshot_preview1: wasi });
      (instance.exports['_initialize'] as (() => void) | undefined)?.();
      return new Core(instance, new Memory(memory), simd);
    } catch (cause) {
      if (cause instanceof CaromError) throw cause;
      if (cause instanceof WebAssembly.LinkError) {
        throw new CaromError('INVALID_ARGUMENT', 'module', 'is not that of this package', { cause });
      }
      throw new CaromError('RESOURCE_EXHAUSTED', 'maxMemory', 'is more than the engine has', { cause });
    }
  }

  /** The instance that `load` made first, or that `use` was called with. */
  static get default(): Core {
    if (Core.current === undefined) throw new CaromError('FAILED_PRECONDITION', 'core', 'is not loaded: await load()');
    return Core.current;
  }

  /** Makes this the default. */
  use(): this {
    Core.current = this;
    return this;
  }

  /** Whether there is a default that has not stopped. */
  static get isLoaded(): boolean {
    return Core.current !== undefined && Core.current.stopped === undefined;
  }

  /** [bytes] The size of the module's memory, which never shrinks. */
  get memoryBytes(): number {
    return this.memory.buffer.byteLength;
  }

  /** Allocates a column that questions read without a copy. Its entries are 0. */
  column(length: number): OwnColumn<'f64'>;
  column<T extends ElementType>(length: number, type: T): OwnColumn<T>;
  column<T extends ElementType>(length: number, type: T = 'f64' as T): OwnColumn<T> {
    const bytes = toInteger(length, 'length', 0, MAX_LENGTH) * elementBytes(type);
    const address = this.allocate(Math.max(bytes, 8));
    this.memory.u8.fill(0, address, address + bytes);
    return new CoreColumn(this.memory, new Handle(address, 'column', (pointer) => this.free(pointer)), type, length);
  }

  // --- For the files of this package ------------------------------------------------------------

  /** Calls a function of carom.h. */
  call(name: string, ...parameters: (number | bigint)[]): number | bigint {
    if (this.stopped !== undefined) throw this.stopError();
    try {
      return (this.functions[name] as Function)(...parameters);
    } catch (cause) {
      this.stopped = cause;
      throw this.stopError();
    }
  }

  private stopError(): CaromError {
    const cause = this.stopped;
    return new CaromError('INTERNAL', 'core', 'the module stopped: load another one', { cause });
  }

  /** Calls a function that returns a code, with the status as its last parameter. */
  check(name: string, ...parameters: (number | bigint)[]): void {
    const code = this.call(name, ...parameters, this.status) as number;
    if (code !== 0) throw this.statusError(code);
  }

  /** Returns the function of a name, for a caller that calls it often, by `checked`. */
  function(name: string): Function {
    return this.functions[name] as Function;
  }

  /** As `check`, for four parameters and with less work. */
  ask(ask: Function, world: number, question: number, answers: number): void {
    if (this.stopped !== undefined) throw this.stopError();
    let code: number;
    try {
      code = ask(world, question, answers, this.status) as number;
    } catch (cause) {
      this.stopped = cause;
      throw this.stopError();
    }
    if (code !== 0) throw this.statusError(code);
  }

  private statusError(code: number): CaromError {
    const at = STRUCTS.carom_status.at;
    const field = this.memory.text(this.status + at.field).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return new CaromError(codeName(code), field, this.memory.text(this.status + at.message));
  }

  /** Calls a function that makes an object: its last parameters are where the address goes, and the status. */
  create(name: string, ...parameters: (number | bigint)[]): number {
    this.check(name, ...parameters, this.out);
    return this.memory.u32[this.out >>> 2] as number;
  }

  /** As `create`, with a handle, which the core must not refer to: it would keep the core for ever. */
  make(name: string, what: string, destroy: string, ...parameters: (number | bigint)[]): Handle {
    const pointer = this.create(name, ...parameters);
    return new Handle(pointer, what, (address) => {
      if (this.stopped === undefined) this.call(destroy, address);
    });
  }

  allocate(bytes: number): number {
    const address = bytes < 2 ** 32 - PAGE ? (this.call('malloc', bytes) as number) >>> 0 : 0;
    if (address === 0) throw new CaromError('RESOURCE_EXHAUSTED', '', `out of memory: ${bytes} bytes are not free`);
    return address;
  }

  free(address: number): void {
    if (this.stopped === undefined) this.call('free', address);
  }
}

/** Makes an instance, which is the default for scenes if it is the first, or the one before has stopped. */
export async function load(options: LoadOptions = {}): Promise<Core> {
  const core = await Core.load(options);
  return Core.isLoaded ? core : core.use();
}
