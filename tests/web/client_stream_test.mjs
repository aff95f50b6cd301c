// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a stream answer every frame once and in order, also when its server is killed, drains or loses connections?

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, Frame } from '@carom/client';
import { disc, moves, points, Polygons, segments } from '@carom/core/questions';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { caromd, cutProxy, fails } from './servers.mjs';

const SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2]]; // prettier-ignore
const LONG = process.env.CAROM_LONG === '1';
const FRAMES = LONG ? 5000 : 500;

/** Pseudo-random numbers in [0, 1), the same in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORLD = new Polygons(
  Array.from({ length: 60 }, (_, i) => {
    const [x, y] = [(i % 10) * 4, Math.floor(i / 10) * 4];
    return [[x, y], [x + 2, y], [x + 2 - (i % 3) / 2, y + 2], [x, y + 1 + (i % 2)]]; // prettier-ignore
  }),
);

/** Makes the scenes of the tests; returns the client. */
async function fill(server) {
  const client = connect(server.address);
  await client.createScene('map', WORLD);
  await client.createScene('other', [SQUARE]);
  client.close();
}

/** A frame that asks a bit of each: casts, and moves of trackers. */
function frameOf(next, i) {
  const frame = new Frame();
  const column = () => Float64Array.from({ length: 20 }, () => next() * 40);
  const [ax, ay, bx, by] = [column(), column(), column(), column()];
  const asked = [frame.ask('map', segments({ ax, ay, bx, by }))];
  if (i % 7 === 0) asked.push(frame.ask('other', points({ x: [1, 3], y: [1, 1] })));
  if (i % 3 === 0) asked.push(frame.groups[0].ask(moves({ tracker: [0, 1, 2], x: column().slice(0, 3), y: [8, 9, 9] })));
  return { frame, asked };
}

const COLUMNS = ['counts', 'polygonId', 'fraction', 'clear'];

/** The columns of answers that no run changes. */
function bitsOf(answers) {
  return COLUMNS.filter((name) => name in answers).map((name) => [...answers[name]].map(String).join());
}

/** The answers that one call a frame has. */
async function expectedOf(server, frames) {
  const client = connect(server.address);
  const made = [];
  for (const { frame, asked } of frames) {
    const own = new Frame();
    own.defineTrackers(disc([1, 2, 3]));
    frame.groups.forEach((group) => group.questions.forEach((question) => own.ask(group.scene, question)));
    const answer = await client.evaluate(own);
    made.push(asked.map((question) => bitsOf(answer.get(question))));
  }
  client.close();
  return made;
}

describe('a stream that does not break', () => {
  test('answers in order, keeps trackers, and has the limits of the server', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const next = random(1);
    const frames = Array.from({ length: 60 }, (_, i) => frameOf(next, i));
    const expected = await expectedOf(server, frames);
    const stream = client.stream({ maxInFlight: 8 });
    const define = new Frame();
    define.defineTrackers(disc([1, 2, 3]));
    assert.equal((await stream.ask(define)).error, null);
    assert.equal(stream.limits.maxFramesInFlight, 16);
    const found = [];
    const reader = (async () => {
      for await (const answer of stream) found.push(answer);
    })();
    for (const { frame } of frames) await stream.send(frame);
    await stream.finish();
    await reader;
    assert.deepEqual(found.map(({ seq }) => seq), frames.map((_, i) => BigInt(i + 2)));
    assert.deepEqual(found.map((answer, i) => frames[i].asked.map((each) => bitsOf(answer.get(each)))), expected);
    assert.equal(found[0].get(frames[0].asked[2]).quietMoves >= 0n, true);
    assert.equal(stream.reconnects, 0);
    await fails(stream.ask(new Frame()), 'FAILED_PRECONDITION', 'stream');
    assert.equal(await stream.receive(), null);
    client.close();
  });

  test('does not let frames that are refused end it', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const stream = client.stream();
    const large = new Frame();
    const tooMany = large.ask('other', points({ x: new Float64Array(70_000), y: new Float64Array(70_000) }));
    const small = new Frame();
    const one = small.ask('other', points({ x: [1], y: [1] }));
    const [refused, answered] = await Promise.all([stream.ask(large), stream.ask(small)]);
    assert.equal(refused.error.code, 'RESOURCE_EXHAUSTED');
    assert.throws(() => refused.get(tooMany), { code: 'RESOURCE_EXHAUSTED' });
    // The first frame would have bound the scene, so the second one did so again.
    assert.deepEqual([...answered.get(one).counts], [1]);
    const twice = new Frame();
    twice.defineTrackers(disc([1, 1]), { tracker: [1, 1] });
    assert.match((await stream.ask(twice)).error.field, /^trackers\[0\]/);
    const absent = new Frame();
    const nowhere = absent.ask('absent', points({ x: [1], y: [1] }));
    const answer = await stream.ask(absent);
    assert.throws(() => answer.get(nowhere), { code: 'NOT_FOUND', field: 'scene', message: 'NOT_FOUND: scene: no scene of this name' });
    assert.deepEqual([...(await stream.ask(small)).get(one).counts], [1]);
    client.close();
  });

  test('takes arrays as they are when a frame is sent', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const stream = client.stream({ maxInFlight: 1 });
    const x = new Float64Array([1]);
    const frame = new Frame();
    const question = frame.ask('other', points({ x, y: [1] }));
    const answers = [stream.ask(frame), stream.ask(frame)]; // the second one waits for the first one
    x[0] = 99;
    for (const answer of answers) assert.deepEqual([...(await answer).get(question).counts], [1]);
    client.close();
  });

  test('waits while maxInFlight frames are unanswered, in turn', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const stream = client.stream({ maxInFlight: 2 });
    let [sent, most] = [0, 0];
    const order = [];
    const all = Array.from({ length: 40 }, async (_, i) => {
      const frame = new Frame({ seq: i });
      await stream.send(frame);
      most = Math.max(most, ++sent - order.length);
    });
    for (let i = 0; i < 40; ++i) order.push(Number((await stream.receive()).seq));
    await Promise.all(all);
    assert.deepEqual(order, Array.from({ length: 40 }, (_, i) => i));
    assert.ok(most <= 4, `${most} frames are ahead`);
    client.close();
  });

  test('sends no more frames ahead than a server takes whose limit is below maxInFlight', async (t) => {
    for (const limit of [1, 3]) {
      const server = await caromd(t, `--max-frames-in-flight=${limit}`);
      await fill(server);
      const client = connect(server.address);
      const stream = client.stream({ maxInFlight: 64 });
      const next = random(limit);
      const frames = Array.from({ length: 200 }, (_, i) => frameOf(next, 3 * i + 1)); // without trackers
      const expected = await expectedOf(server, frames);
      const answers = await Promise.all(frames.map(({ frame }) => stream.ask(frame)));
      assert.deepEqual(answers.map(({ error }) => error), frames.map(() => null));
      assert.deepEqual(answers.map((answer, i) => frames[i].asked.map((each) => bitsOf(answer.get(each)))), expected);
      assert.deepEqual([stream.limits.maxFramesInFlight, stream.reconnects], [limit, 0]);
      client.close();
    }
  });

  test('has a bound of answers that nobody receives, and of frames that wait', async (t) => {
    const server = await caromd(t);
    const client = connect(server.address);
    const stream = client.stream({ maxInFlight: 4 });
    let sent = 0;
    const sending = (async () => {
      for (; sent < 20; ++sent) await stream.send(new Frame());
    })();
    await sleep(300);
    assert.ok(sent >= 4 && sent <= 8, `${sent} frames were sent`);
    for (let i = 0; i < 20; ++i) assert.equal((await stream.receive()).error, null);
    await sending;
    const answers = Array.from({ length: 4200 }, () => stream.ask(new Frame()));
    const results = await Promise.allSettled(answers);
    const refused = results.filter(({ status }) => status === 'rejected');
    assert.ok(refused.length > 0 && refused.length < 200, `${refused.length} frames were refused`);
    assert.ok(refused.every(({ reason }) => reason.code === 'RESOURCE_EXHAUSTED' && reason.field === 'stream'));
    client.close();
  });

  test('binds more scenes than it has handles', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const stream = client.stream();
    const first = new Frame();
    for (let i = 0; i < 600; ++i) first.group(`absent-${i}`);
    const second = new Frame();
    for (let i = 600; i < 1100; ++i) second.group(`absent-${i}`);
    const question = second.ask('other', points({ x: [1], y: [1] }));
    const [a, b] = await Promise.all([stream.ask(first), stream.ask(second)]);
    assert.ok(a.groups.every(({ error }) => error.code === 'NOT_FOUND'));
    assert.deepEqual([...b.get(question).counts], [1]);
    client.close();
  });

  test('skips superseded frames, or answers them', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const stream = client.stream({ maxInFlight: 16 });
    const frames = Array.from({ length: 30 }, () => {
      const frame = new Frame({ supersede: true });
      const question = frame.ask('other', points({ x: new Float64Array(2000).fill(1), y: new Float64Array(2000) }));
      return { frame, question };
    });
    const answers = await Promise.all(frames.map(({ frame }) => stream.ask(frame)));
    answers.forEach((answer, i) => {
      if (answer.skipped) assert.throws(() => answer.get(frames[i].question), /skipped/);
      else assert.equal(answer.get(frames[i].question).polygonId.length, 2000);
    });
    assert.equal(answers.at(-1).skipped, false);
    client.close();
  });
});

describe('ends', () => {
  test('a stream is cancelled, by itself and with its client', async (t) => {
    const server = await caromd(t);
    const client = connect(server.address);
    const stream = client.stream();
    await stream.ask(new Frame());
    const waiting = stream.receive();
    setTimeout(() => stream.cancel(), 20);
    await fails(waiting, 'CANCELLED');
    await fails(stream.ask(new Frame()), 'CANCELLED');
    await fails(stream.receive(), 'CANCELLED');
    const other = client.stream();
    const unused = client.stream();
    await other.ask(new Frame());
    const last = other.receive();
    client.close();
    await fails(last, 'CANCELLED');
    await fails(unused.ask(new Frame()), 'CANCELLED');
    await fails(client.stream().ask(new Frame()), 'FAILED_PRECONDITION', 'client');
  });

  test('a stream without a server ends after its timeout', async () => {
    for (const reconnectTimeoutMs of [0, 300]) {
      const client = connect('127.0.0.1:1');
      const stream = client.stream({ reconnectTimeoutMs });
      const began = performance.now();
      await fails(stream.ask(new Frame()), 'UNAVAILABLE');
      assert.ok(performance.now() - began < reconnectTimeoutMs + 5000);
      await fails(stream.ask(new Frame()), 'UNAVAILABLE');
      client.close();
    }
  });

  test('a server that drains answers, and the stream goes to another one', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const client = connect(servers.map(({ address }) => address));
    const stream = client.stream();
    const frame = new Frame();
    const question = frame.ask('other', points({ x: [1], y: [1] }));
    const end = Date.now() + 20_000;
    for (let i = 0, left = 10; left > 0 && Date.now() < end; ++i) {
      const answer = stream.ask(frame);
      if (i === 10) servers[0].kill('SIGTERM');
      assert.deepEqual([...(await answer).get(question).counts], [1]);
      if (stream.address === servers[1].address) --left;
      await sleep(2);
    }
    assert.equal(stream.address, servers[1].address);
    assert.equal(stream.reconnects, 1);
    client.close();
  });
});

describe('servers that are killed', () => {
  test('no answer is lost or comes twice', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const next = random(31);
    const frames = Array.from({ length: FRAMES }, (_, i) => frameOf(next, i));
    const expected = await expectedOf(servers[0], frames);
    const client = connect(servers.map(({ address }) => address));
    const stream = client.stream({ maxInFlight: 8 });
    const define = new Frame();
    define.defineTrackers(disc([1, 2, 3]));
    await stream.ask(define);
    let kills = 0;
    let isOver = false;
    const killer = (async () => {
      for (let i = 0; ; i = 1 - i) {
        await sleep(60);
        if (isOver) return;
        await servers[i].kill();
        ++kills;
        await servers[i].start();
        await fill(servers[i]);
      }
    })();
    const found = [];
    const reader = (async () => {
      for await (const answer of stream) found.push(answer);
    })();
    // All frames are sent at least once, and again until both servers were killed.
    let sent = 0;
    const end = Date.now() + 60_000;
    const isKilling = () => kills < 2 && Date.now() < end;
    for (; sent < FRAMES || isKilling(); ++sent) {
      await stream.send(frames[sent % FRAMES].frame);
      await sleep(1);
    }
    await stream.finish();
    await reader;
    isOver = true;
    await killer;
    assert.ok(kills > 1 && stream.reconnects > 0, `${kills} kills, ${stream.reconnects} reconnects`);
    assert.equal(found.length, sent);
    let compared = 0;
    found.forEach((answer, i) => {
      if (answer.groups.some(({ error }) => error?.code === 'NOT_FOUND')) return; // of a server that is not filled yet
      const { asked } = frames[i % FRAMES];
      assert.deepEqual(asked.map((each) => bitsOf(answer.get(each))), expected[i % FRAMES], `frame ${i}`);
      ++compared;
    });
    assert.ok(compared > sent / 2, `${compared} frames have answers`);
    client.close();
  });

  test('connections that are cut at any byte lose nothing', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const next = random(77);
    const frames = Array.from({ length: 120 }, (_, i) => frameOf(next, i));
    const expected = await expectedOf(server, frames);
    const sizes = Array.from({ length: 60 }, () => Math.floor(200 + next() * 20_000));
    const proxy = await cutProxy(t, Number(server.address.split(':')[1]), sizes);
    const client = connect(proxy.address);
    const stream = client.stream({ maxInFlight: 5 });
    const define = new Frame();
    define.defineTrackers(disc([1, 2, 3]));
    await stream.ask(define);
    const answers = await Promise.all(frames.map(({ frame }) => stream.ask(frame)));
    assert.ok(proxy.cuts > 3, `${proxy.cuts} cuts`);
    assert.deepEqual(answers.map((answer, i) => frames[i].asked.map((each) => bitsOf(answer.get(each)))), expected);
    client.close();
  });

  test('forks are made again with their edits, also those of frames that were not answered', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const client = connect(servers.map(({ address }) => address));
    const fork = await client.fork('other');
    await client.commit(fork, { add: new Polygons([SQUARE.map(([x, y]) => [x + 10, y])], { ids: [5] }) });
    const stream = client.stream();
    const at = (x) => {
      const frame = new Frame();
      const question = frame.ask(fork, points({ x: [1, 11, 21, 31], y: [1, 1, 1, 1] }), {
        edits: x === null ? undefined : { add: new Polygons([SQUARE.map(([u, v]) => [u + x, v])], { ids: [x] }) },
      });
      return stream.ask(frame).then((answer) => [...answer.get(question).counts]);
    };
    assert.deepEqual(await at(20), [1, 1, 1, 0]);
    const killed = servers[0].kill();
    assert.deepEqual(await at(30), [1, 1, 1, 1]);
    await killed;
    assert.equal(stream.reconnects, 1);
    assert.equal((await client.getScene(fork)).polygonCount, 4);
    await client.commit(fork, { remove: [0, 20] });
    const frame = new Frame();
    const question = frame.ask(fork, points({ x: [1, 11, 21, 31], y: [1, 1, 1, 1] }));
    await servers[0].start();
    await fill(servers[0]);
    await servers[1].kill();
    // A call that reaches a server before a stream has made the fork again does not end the fork.
    const early = await client.evaluate(frame);
    assert.equal(early.groups[0].error?.code, 'NOT_FOUND');
    assert.deepEqual([...(await stream.ask(frame)).get(question).counts], [0, 1, 0, 1]);
    client.close();
  });

  // A server numbers the versions of a fork anew. The log took lower ones for older ones, and the next loss lost the edits.
  test('a fork is made again after each loss', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const client = connect(server.address);
    const fork = await client.fork('other');
    const stream = client.stream();
    const at = (x, id) => new Polygons([SQUARE.map(([u, v]) => [u + x, v])], { ids: [id] });
    const ask = async (edits) => {
      const frame = new Frame();
      const question = frame.ask(fork, points({ x: [1, 11], y: [1, 1] }), { edits });
      return [...(await stream.ask(frame)).get(question).polygonId].map(Number);
    };
    const restart = async () => {
      await server.kill();
      await server.start();
      await fill(server);
    };
    for (let i = 0; i < 20; ++i) assert.deepEqual(await ask({ replace: at(10, 0) }), [0]);
    assert.deepEqual(await ask({ add: at(20, 9) }), [0]);
    for (const [x, expected] of [[0, [9, 0]], [20, [0]], [0, [9, 0]], [20, [0]]]) { // prettier-ignore
      await restart();
      assert.deepEqual(await ask({ replace: at(x, 9) }), expected);
      await restart();
      assert.deepEqual(await ask(), expected);
    }
    assert.equal(stream.reconnects, 8);
    client.close();
  });

  // Streams came back to a server that lives, which had the fork as it was, without the edits made on the other one.
  test('a fork that was left behind on a server is replaced', async (t) => {
    const proxies = [];
    for (let i = 0; i < 2; ++i) {
      const server = await caromd(t);
      await fill(server);
      proxies.push(await cutProxy(t, Number(server.address.split(':')[1]), []));
    }
    const client = connect(proxies.map(({ address }) => address));
    const fork = await client.fork('other');
    const streams = Array.from({ length: 3 }, () => client.stream());
    for (let i = 0; i < 6; ++i) {
      const frames = streams.map((_, k) => {
        const frame = new Frame();
        const edits = { add: new Polygons([SQUARE.map(([x, y]) => [x - 9, y])], { ids: [10 + 3 * i + k] }) };
        return { frame, question: frame.ask(fork, points({ x: [1], y: [1] }), { edits }) };
      });
      const answers = await Promise.all(streams.map((stream, k) => stream.ask(frames[k].frame)));
      answers.forEach((answer, k) => assert.deepEqual([...answer.get(frames[k].question).counts], [1]));
      assert.equal((await client.getScene(fork)).polygonCount, 1 + 3 * (i + 1));
      assert.deepEqual(streams.map(({ reconnects }) => reconnects), [i, i, i]);
      proxies[i % 2].cutAll();
    }
    client.close();
  });

  // The second stream found the fork that the first one had made, before it had its edits.
  test('two streams wait for one fork that is made again', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const client = connect(servers.map(({ address }) => address));
    const fork = await client.fork('other');
    const many = Array.from({ length: 20_000 }, (_, i) => SQUARE.map(([x, y]) => [x + 10 + 3 * i, y]));
    const ids = many.map((_, i) => i + 1);
    await client.commit(fork, { add: new Polygons(many, { ids }) });
    const streams = Array.from({ length: 4 }, () => client.stream());
    const ask = async (stream) => {
      const frame = new Frame();
      const question = frame.ask(fork, points({ x: [1, 11, 10 + 3 * 19_999 + 1], y: [1, 1, 1] }));
      return [...(await stream.ask(frame)).get(question).counts];
    };
    const all = () => Promise.all(streams.map(ask));
    const expected = streams.map(() => [1, 1, 1]);
    assert.deepEqual(await all(), expected);
    await servers[0].kill();
    assert.deepEqual(await all(), expected);
    client.close();
  });

  // A call found the fork that a stream was making again, before it had all of its edits.
  test('a call waits for a fork that a stream makes again', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const client = connect(servers.map(({ address }) => address));
    const fork = await client.fork('other');
    const many = Array.from({ length: 20_000 }, (_, i) => SQUARE.map(([x, y]) => [x + 10 + 3 * i, y]));
    await client.commit(fork, { add: new Polygons(many, { ids: many.map((_, i) => i + 1) }) });
    const stream = client.stream();
    const frameAbout = (edits) => {
      const frame = new Frame();
      const question = frame.ask(fork, points({ x: [1, 11, 10 + 3 * 19_999 + 1], y: [1, 1, 1] }), { edits });
      return { frame, question };
    };
    const { frame, question } = frameAbout();
    const complete = [1, 1, 1];
    assert.deepEqual([...(await stream.ask(frame)).get(question).counts], complete);
    await servers[0].kill();
    const state = { answered: false };
    const again = stream.ask(frame).then((answer) => {
      state.answered = true;
      return [...answer.get(question).counts];
    });
    const seen = [];
    const ask = async () => {
      const [group] = (await client.evaluate(frame)).groups;
      // Before the stream begins, the next server does not have the fork.
      seen.push(group.error === null ? [...group.get(question).counts].join() : group.error.code);
    };
    const { polygonCount } = await client.getScene('other');
    const sizes = [];
    const size = async (call) => sizes.push(await call().catch((error) => error.code));
    const replaced = { replace: new Polygons([many[5]], { ids: [6] }) };
    const calls = [
      () => size(async () => (await client.getScene(fork)).polygonCount),
      () => size(async () => (await client.commit(fork, replaced)).polygonCount),
      () => size(async () => (await client.exportScene(fork)).polygons.length),
      () => size(async () => Number((await client.exportBundle(fork)).scene.polygonCount)),
    ];
    const asking = [];
    for (let i = 0; !state.answered; await sleep(1), ++i) {
      asking.push(ask());
      if (i % 8 === 0) asking.push(calls[(i / 8) % calls.length]());
    }
    await Promise.all(asking);
    assert.deepEqual(new Set(sizes.filter((each) => each !== 'NOT_FOUND')), new Set([polygonCount + many.length]));
    assert.deepEqual(await again, complete);
    t.diagnostic(`${seen.length} calls, ${seen.filter((each) => each === 'NOT_FOUND').length} of them before the fork`);
    assert.deepEqual(seen.filter((each) => each !== 'NOT_FOUND' && each !== complete.join()), []);
    // A signal and a deadline end a call that waits.
    await servers[0].start();
    await fill(servers[0]);
    await servers[1].kill();
    const [back, cancelling] = [stream.ask(frame), new AbortController()];
    let ended = 0;
    for (let i = 0; ended === 0 && i < 10_000; ++i) {
      setTimeout(() => cancelling.abort(), 1);
      const short = client.evaluate(frame, { deadlineMs: 2 }).catch((error) => error.code);
      const aborted = client.evaluate(frame, { signal: cancelling.signal }).catch((error) => error.code);
      const codes = await Promise.all([short, aborted]);
      ended += codes[0] === 'DEADLINE_EXCEEDED' && codes[1] === 'CANCELLED' ? 1 : 0;
    }
    assert.equal(ended, 1);
    assert.deepEqual([...(await back).get(question).counts], complete);
    client.close();
  });

  test('calls go to the next server, and are made again where that changes nothing', async (t) => {
    const servers = [await caromd(t), await caromd(t)];
    for (const server of servers) await fill(server);
    const client = connect(servers.map(({ address }) => address).join());
    await client.listScenes();
    await servers[0].kill();
    assert.equal((await client.listScenes()).length, 2);
    assert.deepEqual([...(await client.scene('other').locate({ x: [1], y: [1] })).counts], [1]);
    await servers[1].kill();
    await fails(client.createScene('x', [SQUARE]), 'UNAVAILABLE');
    const starting = sleep(100).then(() => servers[1].start());
    assert.ok(Array.isArray(await client.listScenes()));
    await starting;
    client.close();
  });

  test('a watch goes on after its server was killed', async (t) => {
    const server = await caromd(t);
    await fill(server);
    const proxy = await cutProxy(t, Number(server.address.split(':')[1]), [3000, 2500, 4000]);
    const client = connect(proxy.address);
    const direct = connect(server.address);
    const seen = [];
    for await (const update of client.watchScene('other', { polygons: true })) {
      seen.push(update.scene.version);
      if (seen.length === 40) break;
      const id = seen.length;
      await direct.commit('other', { add: new Polygons([SQUARE], { ids: [id] }) });
    }
    assert.ok(proxy.cuts >= 2, `${proxy.cuts} cuts`);
    assert.deepEqual(seen, (await direct.versions('other')).map(({ scene }) => scene.version).slice(0, 40));
    client.close();
    direct.close();
  });
});

// --- Servers that break the protocol --------------------------------------------------------------

/** A server whose answer to each frame is the same bytes. */
async function answering(t, data) {
  const bytes = { requestSerialize: (each) => each, requestDeserialize: (each) => each };
  const service = { ...bytes, responseSerialize: (each) => each, responseDeserialize: (each) => each };
  const path = (method) => `/carom.v1.QueryService/${method}`;
  const server = new Server();
  server.addService(
    {
      Evaluate: { ...service, path: path('Evaluate'), requestStream: false, responseStream: false },
      Stream: { ...service, path: path('Stream'), requestStream: true, responseStream: true },
    },
    {
      Evaluate: (_, done) => done(null, data),
      Stream: (call) => call.on('data', () => call.write(data)).on('end', () => call.end()),
    },
  );
  t.after(() => server.forceShutdown());
  const port = await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, made) =>
      error ? reject(error) : resolve(made),
    );
  });
  return `127.0.0.1:${port}`;
}

test('answers that break the protocol end a stream with INTERNAL, and a call', async (t) => {
  const cases = [
    [], // no answer, where one with a group is expected
    [0x0a, 0x05, 0x08], // cut short
    [0x0a, 0x02, 0x08, 0x09], // the answer to the frame 9
    [0x0a, 0x04, 0x08, 0x01, 0x1a, 0x00, 0x0b], // a group without its end
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], // a varint of 12 bytes
  ];
  for (const bytes of cases) {
    const client = connect(await answering(t, Buffer.from(bytes)));
    const frame = new Frame({ seq: 1 });
    const question = frame.ask('arena', points({ x: [1], y: [1] }));
    const get = (answer) => answer.get(question).counts;
    await fails(client.evaluate(frame).then(get), 'INTERNAL');
    const stream = client.stream();
    await fails(stream.ask(frame).then(get), 'INTERNAL');
    await fails(stream.ask(frame), 'INTERNAL');
    client.close();
  }
  // Columns that do not fit the question are errors of their answer.
  const misfit = [0x0a, 0x08, 0x08, 0x01, 0x1a, 0x04, 0x22, 0x02, 0x0a, 0x00];
  const client = connect(await answering(t, Buffer.from(misfit)));
  const frame = new Frame({ seq: 1 });
  const question = frame.ask('arena', points({ x: [1], y: [1] }));
  const answer = await client.stream().ask(frame);
  assert.throws(() => answer.get(question), { code: 'INTERNAL', field: 'points.counts' });
  client.close();
});
