// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { CaromError } from './errors.js';

/** The symbol of `using`, also where the engine does not have it. */
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** An object of the module that is destroyed once: by `dispose`, or some time after nothing refers to it. */
export class Handle {
  private static readonly net = new FinalizationRegistry<() => void>((destroy) => destroy());
  private pointer: number;
  private readonly what: string;
  private readonly destroy: (pointer: number) => void;

  /** `destroy` must not refer to the handle. `what` is its name in errors. */
  constructor(pointer: number, what: string, destroy: (pointer: number) => void) {
    this.pointer = pointer;
    this.what = what;
    this.destroy = destroy;
    Handle.net.register(this, () => destroy(pointer), this);
  }

  /** The address. Throws FAILED_PRECONDITION after `dispose`. */
  get address(): number {
    if (this.pointer === 0) throw new CaromError('FAILED_PRECONDITION', this.what, 'is disposed');
    return this.pointer;
  }

  get isDisposed(): boolean {
    return this.pointer === 0;
  }

  dispose(): void {
    if (this.pointer === 0) return;
    const pointer = this.pointer;
    this.pointer = 0;
    Handle.net.unregister(this);
    this.destroy(pointer);
  }
}
