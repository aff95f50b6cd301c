// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are the answers that a server recorded those of @carom/core? Is one bit that differs found at its place, and are files
// that are cut short or changed errors that name the entry?

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sizeDelimitedEncode } from '@bufbuild/protobuf/wire';
import { fromBinary } from '@bufbuild/protobuf';
import { readRecording, Replay } from '@carom/client/recording';
import { load } from '@carom/core';
import { RecordingEntrySchema } from './gen/carom/v1/recording_pb.js';
import { play, random, recordingIn } from './client_recordings.mjs';
import { caromd, folderOf } from './servers.mjs';

const LONG = process.env.CAROM_LONG === '1';
const FRAMES = LONG ? 200 : 24;
const KINDS = 22;
const ANSWERS = {
  segments: 'fraction', points: 'location', circles: 'polygonId', polygons: 'counts', rays: 'polygonId', capsules: 'counts',
  boxes: 'polygonId', distances: 'distance', contacts: 'depth', depenetrations: 'x', sweeps: 'fraction',
  rotatingSweeps: 'low', arcs: 'time', sights: 'visible', fans: 'distances', moves: 'polygonId', slides: 'legDx',
  bounces: 'bx', bodyContacts: 'normalX', rayBounces: 'tMax', areas: 'startX', sees: 'seen',
}; // prettier-ignore

await load();

/** The entries as messages. */
function entriesOf(bytes) {
  const entries = [];
  for (let at = 0; at < bytes.length;) {
    let [size, shift] = [0, 0];
    for (let byte = 128; byte >= 128; shift += 7) size += ((byte = bytes[at++]) & 127) << shift;
    entries.push(fromBinary(RecordingEntrySchema, bytes.subarray(at, at + size)));
    at += size;
  }
  return entries;
}

function bytesOf(entries) {
  return new Uint8Array(Buffer.concat(entries.map((entry) => sizeDelimitedEncode(RecordingEntrySchema, entry))));
}

/** Compares all frames; returns the first difference and the counts. */
function replayed(bytes, order = (frames) => frames) {
  const recording = readRecording(bytes);
  const replay = new Replay(recording);
  try {
    for (const { index } of order(recording.frames)) {
      const difference = replay.compare(index);
      if (difference !== null) return { difference, counts: replay.counts };
    }
    return { difference: null, counts: replay.counts };
  } finally {
    replay.dispose();
  }
}

describe('a recording', () => {
  let bytes;

  before(async () => {
    const t = { after };
    const folder = folderOf(t);
    const records = join(folder, 'records');
    const server = await caromd(t, `--record=${records}`);
    await play(server.address, FRAMES);
    bytes = await recordingIn(records);
  });

  test('has what the stream had', () => {
    const recording = readRecording(bytes);
    assert.equal(recording.frames.length, FRAMES + 1);
    assert.equal(recording.end, 'stream_ended');
    assert.equal(recording.damage, null);
    assert.match(recording.serverVersion, /^\d+\.\d+/);
    assert.ok(Math.abs(recording.begin - Date.now()) < 600_000);
    assert.deepEqual([...new Set(recording.scenes.map(({ name }) => name))].toSorted(), [
      'scenes/arena',
      'scenes/match',
    ]);
    const [arena, match] = recording.frames[3].groups();
    assert.deepEqual([arena.scene, match.scene, match.hasEdits], ['scenes/arena', 'scenes/match', true]);
    assert.equal(arena.questions.length, KINDS);
    assert.equal(arena.bodies().length, 4);
    assert.equal(recording.tracker(2, 3).mask, 3n);
    assert.equal(recording.tracker(9, 3), null);
    assert.equal(recording.frames.at(-1).error.code, 'INVALID_ARGUMENT');
    assert.ok(recording.frames.every(({ receivedUs }, i, all) => i === 0 || receivedUs >= all[i - 1].receivedUs));
  });

  test('has the answers of @carom/core, bit for bit, in any order of the frames', () => {
    const orders = [(frames) => frames, (frames) => frames.toReversed(), (frames) => [...frames, ...frames]];
    for (const [i, order] of orders.entries()) {
      const { difference, counts } = replayed(bytes, order);
      assert.equal(difference, null);
      const times = i === 2 ? 2 : 1;
      assert.equal(counts.frames, times * (FRAMES + 1));
      assert.equal(counts.questions, times * FRAMES * (KINDS + 2));
      assert.deepEqual([...counts.notCompared].toSorted(), [
        ['the server did not answer the group: NOT_FOUND', times],
        ['the server refused the frame: INVALID_ARGUMENT', times],
      ]);
    }
  });

  test('is compared where numbers are sent as floats', () => {
    const entries = entriesOf(bytes);
    let changed = 0;
    for (const { entry } of entries) {
      for (const group of entry.case === 'frame' ? entry.value.frame.groups : []) {
        for (const [asked, names] of [
          [group.segments, ['ax', 'ay', 'bx', 'by']],
          [group.moves, ['x', 'y']],
        ]) {
          if (!asked) continue;
          const type = names.length === 4 ? 'FloatSegments' : 'FloatPoses';
          asked.floats = { $typeName: `carom.v1.${type}`, c: [], s: [], angle: [] };
          for (const name of names) [asked.floats[name], asked[name]] = [asked[name], []];
          ++changed;
        }
      }
    }
    assert.equal(changed, FRAMES * 3);
    const { difference, counts } = replayed(bytesOf(entries));
    assert.equal(difference, null);
    assert.equal(counts.questions, FRAMES * (KINDS + 2));
  });

  test('differs where one bit of an answer was changed, in each kind', () => {
    for (const [kind, column] of Object.entries(ANSWERS)) {
      const entries = entriesOf(bytes);
      const frames = entries.filter(({ entry }) => entry.case === 'frame').map(({ entry }) => entry.value);
      const of = (answer) => answer[kind]?.[{ legDx: 'dx', distances: 'distance' }[column] ?? column];
      const frame = frames.findLastIndex(
        ({ answer }) => answer.groups.length > 0 && (of(answer.groups[0]) ?? []).slice(-1).some((last) => column !== 'seen' || last > 0n),
      );
      assert.ok(frame >= 0, `${kind}.${column} has no entry`);
      const values = of(frames[frame].answer.groups[0]);
      const entry = values.length - 1;
      const before = values[entry];
      if (column === 'seen') values[entry] <<= 8n; // as many bodies, and others
      else if (typeof before === 'bigint') values[entry] ^= 1n << 40n;
      else if (typeof before === 'boolean') values[entry] = !before;
      else if (column === 'location') values[entry] = 3 - before;
      else if (column === 'counts') values[entry] += 1;
      else {
        const bits = new BigUint64Array(Float64Array.of(before).buffer);
        bits[0] ^= 1n;
        values[entry] = new Float64Array(bits.buffer)[0];
      }
      const { difference } = replayed(bytesOf(entries), (all) => all.slice(Math.max(0, frame - 2)));
      const place = `${kind}.${column} of frame ${frame}`;
      assert.ok(difference !== null, `${place} is not found`);
      const found = [difference.frame, difference.group, difference.scene, difference.kind, difference.column];
      assert.deepEqual(found, [frame, 0, 'scenes/arena', kind, column], place);
      if (column === 'counts') continue; // counts that do not fit their rows are malformed as a whole
      assert.equal(difference.entry, entry, place);
      assert.ok(difference.item >= 0, place);
      assert.notEqual(difference.recorded, difference.computed, place);
    }
  });

  test('differs where a scene was changed', () => {
    const entries = entriesOf(bytes);
    const scenes = entries.filter(({ entry }) => entry.case === 'scene').map(({ entry }) => entry.value);
    const [first, ...others] = scenes.filter(({ name }) => name === 'scenes/match');
    for (const other of others) other.bundle = first.bundle;
    const { difference } = replayed(bytesOf(entries));
    assert.equal(difference.scene, 'scenes/match');
    assert.ok(difference.version > first.version);
  });

  test('counts what cannot be compared, by reason', () => {
    const entries = entriesOf(bytes).filter(
      ({ entry }) => entry.case !== 'scene' || entry.value.name !== 'scenes/arena',
    );
    const frames = entries.filter(({ entry }) => entry.case === 'frame').map(({ entry }) => entry.value);
    frames[1].frame.groups[1].segments.mask = 0n;
    const { difference, counts } = replayed(bytesOf(entries));
    assert.equal(difference, null);
    const reasons = Object.fromEntries(counts.notCompared);
    assert.equal(reasons['the recording does not have the version of the scene'], FRAMES * KINDS);
    assert.equal(reasons['segments.mask: is 0, which meets nothing; here it would meet all'], 1);
    assert.equal(counts.questions, FRAMES * 2 - 1);
  });

  test('that is cut short is an error that names the entry', () => {
    const whole = readRecording(bytes);
    const entries = entriesOf(bytes).length;
    const next = random(3);
    const ends = Array.from({ length: LONG ? 2000 : 60 }, () => Math.floor(next() * bytes.length));
    for (const end of [0, 1, 2, bytes.length - 1, ...ends]) {
      const cut = bytes.subarray(0, end);
      let error = null;
      try {
        readRecording(cut);
      } catch (thrown) {
        error = thrown;
      }
      if (error === null) {
        assert.equal(readRecording(cut).end, null, `${end} bytes`); // between two entries
        continue;
      }
      assert.equal(error.code, 'DATA_LOSS', `${end} bytes`);
      const index = Number(/^entries\[(\d+)\]$/.exec(error.field)[1]);
      assert.ok(index < entries);
      if (index === 0) continue;
      const kept = readRecording(cut, { keepIntact: true });
      assert.equal(kept.damage.field, error.field);
      assert.equal(kept.scenes.length + kept.frames.length + 1, index);
      assert.ok(kept.frames.length <= whole.frames.length);
    }
  });

  test('with hostile bytes is read or refused, and never more', () => {
    const next = random(11);
    const rounds = LONG ? 3000 : 40;
    for (let round = 0; round < rounds; ++round) {
      const changed = bytes.slice(0, round % 2 ? bytes.length : 60_000);
      for (let i = 0; i <= round % 4; ++i) changed[Math.floor(next() * changed.length)] = Math.floor(next() * 256);
      let recording;
      try {
        recording = readRecording(changed, { keepIntact: true });
      } catch (error) {
        assert.equal(error.name, 'CaromError', `round ${round}: ${error.stack}`);
        continue;
      }
      const replay = new Replay(recording);
      for (const { index } of recording.frames.slice(0, 3)) {
        try {
          replay.compare(index);
        } catch (error) {
          assert.equal(error.name, 'CaromError', `round ${round}: ${error.stack}`);
        }
      }
      replay.dispose();
    }
  });

  test('with a size beyond the file, no header, or two, is refused', () => {
    const refused = (data, entry, detail) =>
      assert.throws(() => readRecording(Uint8Array.from(data)), {
        code: 'DATA_LOSS',
        field: `entries[${entry}]`,
        message: detail,
      });
    refused([255, 255, 255, 255, 127, 1], 0, /its end in the middle/);
    refused([255, 255, 255, 255, 255, 255, 255, 255, 255, 1], 0, /its end in the middle/);
    refused([], 0, /no bytes/);
    refused([0], 0, /no header/);
    refused([2, 10, 0, 2, 10, 0], 1, /a second header/);
    refused([2, 10, 0, 0], 1, /without content/);
    refused([12, 10, 10, 16, 255, 255, 255, 255, 255, 255, 255, 255, 127], 0, /beyond all dates/);
    refused([2, 10, 0, 2, 34, 0, 2, 26, 0], 2, /after its end/);
  });
});
