// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where the bytes of a module come from, in a browser, in a worker, in Node.js and in what is like it.

import { shown } from './columns.js';
import { CaromError, refuse } from './errors.js';

/** What a module is made from: its bytes, their address, or what was compiled from them. */
export type ModuleSource = WebAssembly.Module | BufferSource | Response | PromiseLike<Response> | URL | string;

// The least module that has an instruction of vectors: a function that returns i32x4.splat(0), lane 0.
// prettier-ignore
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0,
  10, 11, 1, 9, 0, 65, 0, 253, 17, 253, 27, 0, 11,
);

/** Whether the engine has the vectors of WebAssembly. */
export function hasSimd(): boolean {
  return WebAssembly.validate(SIMD_PROBE);
}

/** Compiles a module. Throws UNAVAILABLE if its file cannot be read, INVALID_ARGUMENT if it is no module. */
export async function compile(source: ModuleSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return compileBytes(source);
  if (typeof source === 'string' || source instanceof URL) return compileFrom(new URL(source, import.meta.url));
  if (typeof source !== 'object' || source === null) throw refuse('module', `is ${shown(source)}`);
  return compileResponse(await source);
}

async function compileBytes(bytes: BufferSource): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new CaromError('INVALID_ARGUMENT', 'module', 'is no module of WebAssembly', { cause });
  }
}

async function compileFrom(url: URL): Promise<WebAssembly.Module> {
  let bytes: BufferSource;
  try {
    if (url.protocol !== 'file:') return await compileResponse(await fetch(url));
    // Not a literal, so that bundlers for browsers leave it alone.
    const name = 'node:fs/promises';
    const files = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
    bytes = await files.readFile(url);
  } catch (cause) {
    if (cause instanceof CaromError) throw cause;
    throw new CaromError('UNAVAILABLE', 'module', `cannot be read from ${url.pathname}`, { cause });
  }
  return compileBytes(bytes);
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new CaromError('UNAVAILABLE', 'module', `answered with the status ${response.status}`);
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (cause) {
      throw new CaromError('INVALID_ARGUMENT', 'module', 'is no module of WebAssembly', { cause });
    }
  }
  return compileBytes(await response.arrayBuffer());
}
