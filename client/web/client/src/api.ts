// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the packages for Node.js and for browsers have in common.

export { Bodies, type BodiesArguments } from './bodies.js';
export type { Deadline } from './calls.js';
export { type Client, type ForkOptions, RemoteScene, type SceneOptions, type VersionOptions } from './client.js';
export type { BodySetOptions, PosesArguments } from './codec/body_sets.js';
export {
  Frame,
  FrameAnswer,
  type FrameOptions,
  Group,
  GroupAnswer,
  type GroupOptions,
  type TrackerOptions,
} from './codec/frames.js';
export type { Edits } from './scenes/edits.js';
export type { WatchOptions } from './scenes/watch.js';
export type { StreamOptions } from './stream/flow.js';
export { Stream } from './stream/stream.js';
export type {
  Bounds,
  FrameStats,
  PolygonChange,
  SceneLike,
  SceneSummary,
  SceneUpdate,
  SceneVersion,
  StreamLimits,
} from './values.js';
export { CaromError } from '@carom/core/questions';
