// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Exact 2D collision queries in this program, by WebAssembly.
 *
 *     import { Scene, load } from '@carom/core';
 *
 *     await load();
 *     using scene = Scene.fromPolygons([[[0, 0], [4, 0], [4, 3], [0, 3]]]);
 *     const hits = scene.cast({ ax: [-2, -2], ay: [1, 9], bx: [6, 6], by: [1, 9] });
 *     hits.hit(0)?.fraction; // 0.25
 *
 * `@carom/core/questions` has what a client of a server needs of this, without WebAssembly.
 */

export { Core, type LoadOptions, type OwnColumn, load } from './core.js';
export type { ModuleSource } from './load.js';
export * from './questions.js';
export { Bodies, type Edits, type InCore, Scene, type SceneOptions, Trackers, digestOf } from './scene.js';
