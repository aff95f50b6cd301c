// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Recordings of streams, which `caromd --record` writes: what was asked, and what was answered.
 *
 *     import { readRecording, Replay } from '@carom/client/recording';
 *     import { load } from '@carom/core';
 *
 *     await load();
 *     const recording = readRecording(await readFile('stream-20260101-120000-000001.carec'));
 *     using replay = new Replay(recording);
 *     for (const frame of recording.frames) {
 *       const difference = replay.compare(frame.index);
 *       if (difference !== null) console.log(difference);
 *     }
 */

export * from './reader.js';
export { type Difference, Replay, type ReplayCounts, type ReplayOptions, trackersOf } from './replay.js';
