// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers of a module, as a source of columns.
//
// Each call needs a `carom_answers`, whose columns grow with use, so a few of them are kept for later calls. One that
// a program did not dispose of is taken back some time after nothing refers to it. A program that neither disposes of
// answers nor ends its turn keeps all of them: the oldest beyond LEASES are copied out of the module, and theirs used
// again.

import type { Source } from './answers.js';
import type { TypedArray } from './columns.js';
import type { Core } from './core.js';
import { CaromError } from './errors.js';
import type { ColumnSpec, Question } from './question.js';

const LEASES = 64;

/** The answers of one call, which one source for each of its questions reads. */
export class Lease {
  readonly pool: AnswerPool;
  readonly sources: CoreSource[] = [];
  pointer: number;
  open = 0;

  constructor(pool: AnswerPool, pointer: number) {
    this.pool = pool;
    this.pointer = pointer;
  }

  source(question: Question): CoreSource {
    const source = new CoreSource(this, question);
    this.sources.push(source);
    this.open += 1;
    return source;
  }
}

export class AnswerPool {
  readonly core: Core;
  private readonly free: number[] = [];
  private readonly leased = new Map<number, WeakRef<Lease>>();
  private readonly net: FinalizationRegistry<number>;

  constructor(core: Core) {
    this.core = core;
    this.net = new FinalizationRegistry((pointer) => this.giveBack(pointer));
  }

  /** Takes a `carom_answers` for one call. */
  take(): Lease {
    if (this.free.length === 0 && this.leased.size >= LEASES) this.takeOldest();
    const pointer = this.free.pop() ?? this.create();
    const lease = new Lease(this, pointer);
    this.leased.set(pointer, new WeakRef(lease));
    this.net.register(lease, pointer, lease);
    return lease;
  }

  /** Ends a lease. */
  end(lease: Lease): void {
    if (lease.pointer === 0) return;
    this.net.unregister(lease);
    this.giveBack(lease.pointer);
    lease.pointer = 0;
  }

  private giveBack(pointer: number): void {
    this.leased.delete(pointer);
    this.free.push(pointer);
  }

  private takeOldest(): void {
    for (const [pointer, reference] of this.leased) {
      const lease = reference.deref();
      if (lease === undefined) continue; // the net gives it back soon
      for (const source of lease.sources) source.keep();
      this.end(lease);
      if (pointer !== 0) return;
    }
  }

  private create(): number {
    return this.core.create('carom_answers_create', 0); // which ends with the memory of the module
  }

  private structs = 0;

  /** Reads the struct of answers of a question. Returns its address, valid until the next call. */
  read(pointer: number, question: Question): number {
    const { core } = this;
    if (this.structs === 0) this.structs = core.allocate(1024);
    core.memory.u32[this.structs >>> 2] = question.kind.struct.size;
    core.check('carom_answers_read', pointer, question.kind.number, this.structs);
    return this.structs;
  }

  private readonly texts = new Map<string, string>();

  text(name: string, number: number): string {
    const key = `${name} ${number}`;
    let found = this.texts.get(key);
    if (found === undefined) {
      const address = this.core.call(name, number) as number;
      found = address === 0 ? '' : this.core.memory.text(address);
      this.texts.set(key, found);
    }
    return found;
  }
}

/** The answers to one question. */
export class CoreSource implements Source {
  private readonly lease: Lease;
  private readonly question: Question;
  private kept: Map<string, TypedArray> | undefined;
  private keptNumbers: Map<string, bigint> | undefined;
  private keptVersion = 0n;
  private keptDigest = 0n;
  private isDisposed = false;

  constructor(lease: Lease, question: Question) {
    this.lease = lease;
    this.question = question;
  }

  private pointer(): number {
    if (this.isDisposed) throw new CaromError('FAILED_PRECONDITION', 'answers', 'are disposed');
    return this.lease.pointer;
  }

  get version(): bigint {
    const pointer = this.pointer();
    if (pointer === 0) return this.keptVersion;
    return BigInt.asUintN(64, this.lease.pool.core.call('carom_answers_version', pointer) as bigint);
  }

  /** The digest of all answers of the call. */
  digest(): bigint {
    const pointer = this.pointer();
    if (pointer === 0) return this.keptDigest;
    return BigInt.asUintN(64, this.lease.pool.core.call('carom_answers_digest', pointer) as bigint);
  }

  column(spec: ColumnSpec): TypedArray {
    const pointer = this.pointer();
    if (pointer === 0) return this.kept?.get(spec.path) as TypedArray;
    const struct = this.lease.pool.read(pointer, this.question);
    return this.lease.pool.core.memory.copyColumn(spec.type, struct + spec.offset);
  }

  number(name: string): bigint {
    const pointer = this.pointer();
    if (pointer === 0) return this.keptNumbers?.get(name) ?? 0n;
    const struct = this.lease.pool.read(pointer, this.question);
    const { numbers } = this.question.kind.struct;
    return this.lease.pool.core.memory.u64[(struct + (numbers[name] as number)) >>> 3] as bigint;
  }

  describe(column: number, fault: number): { column: string; fault: string } {
    const { pool } = this.lease;
    return {
      column: pool.text('carom_item_column_name', column),
      fault: pool.text('carom_item_fault_description', fault),
    };
  }

  /** Copies everything out of the module. */
  keep(): void {
    if (this.isDisposed) return;
    const { columns, numbers } = this.question.kind.struct;
    this.keptVersion = this.version;
    this.keptDigest = this.digest();
    this.kept = new Map(columns.map((spec) => [spec.path, this.column(spec)]));
    this.keptNumbers = new Map(Object.keys(numbers).map((each) => [each, this.number(each)]));
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.lease.open -= 1;
    if (this.lease.open === 0) this.lease.pool.end(this.lease);
  }
}
