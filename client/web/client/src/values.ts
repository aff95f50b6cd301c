// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a client gives to a server, and gets from it, beside questions and answers: plain values.

import { CaromError, type Polygons, refuse } from '@carom/core/questions';
import type { Scene as SceneMessage } from './generated/carom/v1/scene_service_pb.js';

/** A box; world lengths. */
export interface Bounds {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** One version of a scene, without its polygons. */
export interface SceneSummary {
  /** `scenes/{scene}`. */
  readonly name: string;
  /** Grows with every change, by 1 or more. */
  readonly version: bigint;
  readonly polygonCount: number;
  readonly vertexCount: number;
  /** The least box with all vertices; null: the scene has no polygon. */
  readonly bounds: Bounds | null;
  /** Of a fork: the scene that it was made from; else empty. */
  readonly base: string;
  /** Of a fork: the version of the base; else 0. */
  readonly baseVersion: bigint;
}

/** One version in the history of a scene. */
export interface SceneVersion {
  readonly scene: SceneSummary;
  /** Of the commit that made the version; empty: none. */
  readonly editId: string;
  readonly created: Date;
}

/** How a polygon differs between a version and the one before it. */
export interface PolygonChange extends Bounds {
  readonly id: bigint;
  readonly change: 'added' | 'replaced' | 'removed';
}

/** A version of a scene that a watch returns. */
export interface SceneUpdate {
  readonly scene: SceneSummary;
  /** The version before; 0: this update has the whole scene. */
  readonly baseVersion: bigint;
  readonly editId: string;
  readonly created: Date;
  /** The polygons that changed, by ascending id, each with the box of what it was and what it is. */
  readonly changes: readonly PolygonChange[];
  /** Added and replaced ones, all of them if `baseVersion` is 0; null: not asked for, or there is a bundle. */
  readonly polygons: Polygons | null;
  /** The whole scene as a bundle (docs/bundle.md), if `baseVersion` is 0 and one was asked for; else null. */
  readonly bundle: Uint8Array | null;
}

/** What a frame cost. Informative: the numbers differ from run to run, unlike the answers. */
export interface FrameStats {
  readonly elapsedNs: number;
  readonly evaluateNs: number;
  readonly workUnits: number;
  readonly quietMoves: number;
  readonly nearMoves: number;
  readonly refreshedMoves: number;
  readonly coldMoves: number;
  readonly trackerBytes: number;
  readonly shadowMoves: number;
  readonly shadowDifferences: number;
  readonly stalenessUs: number;
  readonly quietEyes: number;
  readonly refreshedEyes: number;
  readonly coldEyes: number;
  readonly shadowEyes: number;
}

/** The limits of a stream, options of the server. */
export interface StreamLimits {
  readonly maxFramesInFlight: number;
  readonly maxFrameBytes: number;
  readonly maxQueriesPerFrame: number;
  readonly maxGroupsPerFrame: number;
  readonly maxAnswerRowsPerFrame: number;
  /** 0: no limit. */
  readonly maxWorkUnitsPerFrame: number;
}

/** A scene of a server: its name, with or without `scenes/`, or what has one. */
export type SceneLike = string | { readonly name: string };

/** Returns `scenes/{scene}`; the server checks the name. */
export function sceneName(scene: SceneLike, field = 'name'): string {
  const name: unknown = typeof scene === 'string' ? scene : scene?.name;
  if (typeof name !== 'string') throw refuse(field, 'is no name of a scene');
  return name.startsWith('scenes/') ? name : `scenes/${name}`;
}

/** Returns an integer in [least, 2^64 - 1]. */
export function long(value: number | bigint, field: string, least = 0n): bigint {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  const made = isInteger ? BigInt(value) : -1n;
  if (made < least || made >= 2n ** 64n) throw refuse(field, `is ${String(value)}; accepted is [${least}, 2^64 - 1]`);
  return made;
}

/** Returns an integer in [least, most]. */
export function integer(value: unknown, field: string, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw refuse(field, `is ${String(value)}; accepted is [${least}, ${most}]`);
}

/** Returns a time in [least, most] milliseconds. */
export function milliseconds(value: unknown, field: string, least = 0, most = 1e9): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw refuse(field, `is ${String(value)}; accepted is [${least}, ${most}] milliseconds`);
}

/** Refuses members that an object of options does not have. */
export function checkOptions(given: object, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw refuse('options', 'is no object');
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other !== undefined) throw refuse(other, `is no option; accepted are ${known.join(', ')}`);
}

/** Returns an id that no other edits have: 128 random bits. */
export function newEditId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the bytes of all parts. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}

/** Returns the summary in a response. */
export function summaryOf(scene: SceneMessage | undefined): SceneSummary {
  if (scene === undefined) throw new CaromError('INTERNAL', '', 'the server sent no summary of the scene');
  const { name, version, base, baseVersion, bounds } = scene;
  return {
    name,
    version,
    polygonCount: Number(scene.polygonCount),
    vertexCount: Number(scene.vertexCount),
    bounds: bounds ? { minX: bounds.minX, minY: bounds.minY, maxX: bounds.maxX, maxY: bounds.maxY } : null,
    base,
    baseVersion,
  };
}

/** Returns the time of a number of microseconds since 1970. */
export function timeOf(microseconds: bigint): Date {
  return new Date(Number(microseconds) / 1000);
}
