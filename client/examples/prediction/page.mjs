// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page of the game: every tick is shown at once, from a local core, and compared when the server has decided it.
//
// With ?bot the page plays by itself, with ?speed=N at N times the speed, with ?ticks=N for so many ticks.

import { connect } from '@carom/client/web';
import { followScene, predict } from '@carom/client/prediction';
import { load } from '@carom/core';
import { isSame, questionsOf, START, stateAfter, TICKS_PER_SECOND } from './rules.mjs';

const parameters = new URLSearchParams(location.search);
const isBot = parameters.has('bot');
const speed = Number(parameters.get('speed') ?? 1);
const lastTick = Number(parameters.get('ticks') ?? Infinity);
const MOST_SENT = 300; // ticks of one request
const COMPARED = 30; // one tick of so many is compared by `predict`, too
const RETRY_MS = 500; // after a request that failed
const MOST_AHEAD = 3000; // ticks without the server, after which the game waits

const player = crypto.randomUUID();
const canvas = document.querySelector('canvas');
const paint = canvas.getContext('2d');
const counts = { tick: 0, confirmed: 0, corrections: 0, ahead: 0, version: '', hits: 0, equal: 0, different: 0 };
globalThis.counts = counts;

await load({ module: new URL('carom.wasm', location.href) });
const game = await (await fetch('game.json')).json();
const scene = await followScene(connect(game.url), game.scene, {
  onMismatch: (error) => console.error(String(error)),
  onError: (error) => console.error(String(error)),
});

let state = START;
const unsent = [];
const pending = []; // inputs and predicted states that the server has not decided
const keys = new Set();
let mouse = null;

/** A tick of the local core. */
function play(input) {
  const [step, shot] = questionsOf(state, input);
  const isCompared = counts.tick % COMPARED === 0;
  const answers = [step, shot].filter(Boolean).map((question) =>
    isCompared ? predict(scene, question).answers : scene.scene.ask(question),
  ); // prettier-ignore
  state = stateAfter(answers);
  for (const each of answers) each.dispose();
}

/** Compares what the server decided with what was shown; after a difference, the ticks since then are played again. */
function compare(states) {
  const decided = pending.splice(0, states.length);
  counts.confirmed += states.length;
  if (states.every((each, i) => isSame(each, decided[i].state))) return;
  ++counts.corrections;
  state = states.at(-1);
  for (const each of pending) {
    play(each.input);
    each.state = state;
  }
}

/** Sends inputs in their order: one request at a time, with all ticks since the one before. */
let isSending = false;
let again = null; // the inputs of a request that has no answer yet
let sent = 0; // inputs that the server has decided
async function send() {
  if (isSending) return;
  isSending = true;
  try {
    while (unsent.length > 0) {
      again ??= unsent.slice(0, MOST_SENT);
      const inputs = again;
      const response = await fetch('inputs', { method: 'POST', body: JSON.stringify({ player, first: sent, inputs }) });
      if (!response.ok) throw new Error(await response.text());
      const { states } = await response.json();
      again = null;
      unsent.splice(0, inputs.length);
      sent += inputs.length;
      compare(states);
    }
  } catch (error) {
    console.warn(String(error)); // the same inputs are sent again
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  } finally {
    isSending = false;
  }
}

/** Pseudo-random numbers in [0, 1). */
let seed = 7;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

// Where the bot goes, in any order: through the doors as they are, and along the walls.
const TARGETS = [[5, 3], [10.2, 9.5], [8, 18], [16, 3], [13, 17], [21.2, 13.5], [26, 10], [30, 2], [23, 18]]; // prettier-ignore
let target = TARGETS[1];
function inputOfBot() {
  if (random() < 1 / 50) target = TARGETS[Math.floor(random() * TARGETS.length)];
  const aim = random() < 1 / 10 ? { x: random() * 32, y: random() * 20 } : null;
  return { dx: target[0] - state.x, dy: target[1] - state.y, aim };
}

function inputOfPlayer() {
  const axis = (less, more) => Number(keys.has(more)) - Number(keys.has(less));
  return { dx: axis('KeyA', 'KeyD'), dy: axis('KeyS', 'KeyW'), aim: mouse };
}

let shots = [];
function tick() {
  if (counts.tick >= lastTick || pending.length >= MOST_AHEAD) return;
  const input = isBot ? inputOfBot() : inputOfPlayer();
  const { version } = scene;
  const from = state;
  play(input);
  ++counts.tick;
  if (state.hit !== null) ++counts.hits;
  if (input.aim !== null) shots.push({ from, aim: input.aim, hit: state.hit, age: 0 });
  pending.push({ input, state });
  unsent.push({ ...input, version: String(version) });
}

// --- What is shown --------------------------------------------------------------------------------

const SCALE = 30;
const at = (x, y) => [(x + 1) * SCALE, canvas.height - (y + 1) * SCALE];

function draw() {
  paint.clearRect(0, 0, canvas.width, canvas.height);
  const polygons = scene.scene.polygons();
  for (let i = 0; i < polygons.length; ++i) {
    paint.beginPath();
    for (const ring of polygons.rings(i)) ring.forEach(([x, y], j) => paint[j ? 'lineTo' : 'moveTo'](...at(x, y)));
    paint.closePath();
    paint.fillStyle = polygons.id[i] >= 100n ? '#c77d3a' : '#5d6470';
    paint.fill();
  }
  for (const { from, aim, hit } of shots) {
    const [u, v] = [aim.x - from.x, aim.y - from.y];
    const reach = ((hit?.fraction ?? 1) * 30) / (Math.hypot(u, v) || 1);
    paint.beginPath();
    paint.moveTo(...at(from.x, from.y));
    paint.lineTo(...at(from.x + u * reach, from.y + v * reach));
    paint.strokeStyle = hit === null ? '#bbb' : '#d33';
    paint.stroke();
  }
  paint.beginPath();
  paint.arc(...at(state.x, state.y), 0.45 * SCALE, 0, 2 * Math.PI);
  paint.fillStyle = '#2b6cb0';
  paint.fill();
  shots = shots.filter((shot) => ++shot.age < 12);
  Object.assign(counts, { ...scene.counts, ahead: pending.length, version: String(scene.version) });
  for (const [name, value] of Object.entries(counts)) {
    const cell = document.getElementById(name);
    if (cell !== null) cell.textContent = value;
  }
}

addEventListener('keydown', ({ code }) => keys.add(code));
addEventListener('keyup', ({ code }) => keys.delete(code));
canvas.addEventListener('mousemove', ({ offsetX, offsetY, buttons }) => {
  mouse = buttons ? { x: offsetX / SCALE - 1, y: (canvas.height - offsetY) / SCALE - 1 } : null;
});
canvas.addEventListener('mousedown', ({ offsetX, offsetY }) => {
  mouse = { x: offsetX / SCALE - 1, y: (canvas.height - offsetY) / SCALE - 1 };
});
addEventListener('mouseup', () => (mouse = null));

let before = performance.now();
let due = 0;
function frame(now) {
  due = Math.min(due + ((now - before) / 1000) * TICKS_PER_SECOND * speed, 20 * speed);
  before = now;
  for (; due >= 1; --due) tick();
  send();
  draw();
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
