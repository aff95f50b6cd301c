// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is drawn of a recorded group? Bodies, trackers, and for each item its question with what the answer found, as plain
// figures, which the page draws.
import type { RecordedGroup, Recording } from '@carom/client/recording';
import { trackersOf } from '@carom/client/recording';
import type { Answers, Question, Seen, Shapes, TypedArray } from '@carom/core/questions';
import { outlineOf } from '../ask/outline';

type InkName = 'ask' | 'hit' | 'normal' | 'free';

export type Mark =
  | { type: 'line'; points: number[]; ink: InkName; width: number; dashed: boolean }
  | { type: 'area'; points: number[]; ink: InkName; dashed: boolean }
  | { type: 'capsule'; ends: [number, number, number, number]; radius: number; ink: InkName; dashed: boolean }
  | { type: 'dot'; x: number; y: number; ink: InkName }
  | { type: 'label'; x: number; y: number; text: string };

/** The least box that contains marks; null: there are none. */
export function boxOf(marks: readonly Mark[]): { minX: number; minY: number; maxX: number; maxY: number } | null {
  let box: ReturnType<typeof boxOf> = null;
  const add = (x: number, y: number, around: number): void => {
    box ??= { minX: x, minY: y, maxX: x, maxY: y };
    box = {
      minX: Math.min(box.minX, x - around),
      minY: Math.min(box.minY, y - around),
      maxX: Math.max(box.maxX, x + around),
      maxY: Math.max(box.maxY, y + around),
    };
  };
  for (const mark of marks) {
    const flat = 'points' in mark ? mark.points : 'ends' in mark ? mark.ends : [mark.x, mark.y];
    for (let i = 0; i + 1 < flat.length; i += 2) add(flat[i], flat[i + 1], 'radius' in mark ? mark.radius : 0);
  }
  return box;
}

/** What an item is drawn as and said of it. */
export interface Drawn {
  marks: Mark[];
  text: string;
  at: { x: number; y: number } | null;
}

interface Pose {
  x: number;
  y: number;
  c: number;
  s: number;
}

/** Points of a curve between its ends. */
const ARC_STEPS = 24;
const SHOWN_IDS = 6;

type Column = ArrayLike<number | bigint>;

/** Columns of a question or of answers, by name; an absent one is empty. */
function columnsOf(question: Question<Answers>, answers: Answers) {
  const asked = new Map<string, TypedArray | null>(
    question.kind.question.columns.map(({ name }, i) => [name, question.array(i)] as const),
  );
  const found = answers as unknown as Record<string, Column | undefined>;
  return {
    given: (name: string, item: number): number => Number(asked.get(name)?.[item] ?? 0),
    has: (name: string): boolean => (asked.get(name)?.length ?? 0) > 0,
    value: (name: string, entry: number): number => Number(found[name]?.[entry] ?? 0),
    id: (entry: number): string =>
      `${found['isBody']?.[entry] ? 'body' : 'polygon'} ${String(found['polygonId']?.[entry] ?? '')}`,
  };
}

type Columns = ReturnType<typeof columnsOf>;

function line(points: number[], ink: InkName, dashed = false, width = 2): Mark {
  return { type: 'line', points, ink, width, dashed };
}

function turned(columns: Columns, item: number, prefix = ''): { c: number; s: number } {
  const name = (short: string): string => (prefix === '' ? short : prefix + short[0].toUpperCase() + short.slice(1));
  if (columns.has(name('angle'))) {
    const angle = columns.given(name('angle'), item);
    return { c: Math.cos(angle), s: Math.sin(angle) };
  }
  if (columns.has(name('c'))) return { c: columns.given(name('c'), item), s: columns.given(name('s'), item) };
  return { c: 1, s: 0 };
}

/** The figures of shape `index` at a pose. */
export function shapeMarks(shapes: Shapes, index: number, { x, y, c, s }: Pose, ink: InkName, dashed = false): Mark[] {
  const place = (px: number, py: number): [number, number] => [x + c * px - s * py, y + s * px + c * py];
  const count = shapes.polygons.length;
  if (index < count) {
    return shapes.polygons
      .rings(index)
      .map((ring) => ({ type: 'area', points: ring.flatMap(([px, py]) => place(px, py)), ink, dashed }));
  }
  const { ax, ay, bx, by, radius } = shapes.capsules;
  const i = index - count;
  if (i >= radius.length) return [];
  return [{ type: 'capsule', ends: [...place(ax[i], ay[i]), ...place(bx[i], by[i])], radius: radius[i], ink, dashed }];
}

/** The bodies of a group, with their numbers. */
export function bodyMarks(group: RecordedGroup): Mark[] {
  const bodies = group.bodies();
  if (bodies === null) return [];
  return Array.from(bodies.x, (x, i): Mark[] => {
    const angle = bodies.angle?.[i];
    const [c, s] = angle === undefined ? [bodies.c?.[i] ?? 1, bodies.s?.[i] ?? 0] : [Math.cos(angle), Math.sin(angle)];
    const shape = bodies.shape?.[i] ?? i;
    return [
      ...shapeMarks(bodies.shapes, shape, { x, y: bodies.y[i], c, s }, 'normal'),
      { type: 'label', x, y: bodies.y[i], text: `body ${i}` },
    ];
  }).flat();
}

/** Polygons and bodies of the entries of an item, as text. */
function named(answers: Answers, columns: Columns, item: number): string {
  const from = answers.offsets[item];
  const count = answers.count(item);
  const names = Array.from({ length: Math.min(count, SHOWN_IDS) }, (_, i) => columns.id(from + i));
  return names.join(', ') + (count > SHOWN_IDS ? ` and ${count - SHOWN_IDS} more` : '');
}

/** A number with six digits. */
function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** A path, as far as its first hit, with its hits. */
function pathMarks(
  answers: Answers,
  columns: Columns,
  item: number,
  time: string,
  at: (t: number) => [number, number],
  steps = 1,
  last = 1,
): Drawn {
  const from = answers.offsets[item];
  // In the mode ANY there are counts and no hits.
  const count = answers.count(item);
  const hasTimes = count > 0 && ((answers as unknown as Record<string, Column | undefined>)[time]?.length ?? 0) > 0;
  const curve = (low: number, high: number): number[] =>
    Array.from({ length: steps + 1 }, (_, i) => at(low + ((high - low) * i) / steps)).flat();
  const first = hasTimes ? columns.value(time, from) : last;
  const marks: Mark[] = [line(curve(0, first), count > 0 ? 'ask' : 'free')];
  if (hasTimes && first < last) marks.push(line(curve(first, last), 'ask', true, 1));
  const end = hasTimes ? from + count : from;
  for (let i = from; i < end; ++i) {
    const [x, y] = at(columns.value(time, i));
    marks.push({ type: 'dot', x, y, ink: 'hit' });
  }
  const [x, y] = at(0);
  const text = !hasTimes ? (count > 0 ? 'hits' : 'free') : `${named(answers, columns, item)} at ${short(first)}`;
  return { marks, text, at: { x, y } };
}

type Draw = (answers: Answers, columns: Columns, item: number, question: Question<Answers>) => Drawn;

const found: Draw = (answers, columns, item) => ({
  marks: [],
  text: answers.count(item) > 0 ? named(answers, columns, item) : 'nothing',
  at: null,
});

const segments: Draw = (answers, columns, item) => {
  const [ax, ay, bx, by] = ['ax', 'ay', 'bx', 'by'].map((name) => columns.given(name, item));
  return pathMarks(answers, columns, item, 'fraction', (t) => [ax + (bx - ax) * t, ay + (by - ay) * t]);
};

const rays: Draw = (answers, columns, item) => {
  const [x, y, dx, dy] = ['x', 'y', 'dx', 'dy'].map((name) => columns.given(name, item));
  const most = columns.has('tMax') ? columns.given('tMax', item) : 1;
  return pathMarks(answers, columns, item, 'fraction', (t) => [x + dx * t, y + dy * t], 1, Math.min(most, 1e6));
};

const arcs: Draw = (answers, columns, item) => {
  const [x, y, vx, vy, ax, ay] = ['x', 'y', 'vx', 'vy', 'ax', 'ay'].map((name) => columns.given(name, item));
  const at = (t: number): [number, number] => [x + vx * t + (ax * t * t) / 2, y + vy * t + (ay * t * t) / 2];
  return pathMarks(answers, columns, item, 'time', at, ARC_STEPS, columns.given('duration', item));
};

const points: Draw = (answers, columns, item) => {
  const [x, y] = [columns.given('x', item), columns.given('y', item)];
  const isIn = answers.count(item) > 0;
  return {
    ...found(answers, columns, item, answers.question),
    marks: [{ type: 'dot', x, y, ink: isIn ? 'hit' : 'free' }],
    at: { x, y },
  };
};

const circles: Draw = (answers, columns, item) => {
  const [x, y] = [columns.given('x', item), columns.given('y', item)];
  const ink = answers.count(item) > 0 ? 'hit' : 'free';
  const mark: Mark = { type: 'capsule', ends: [x, y, x, y], radius: columns.given('radius', item), ink, dashed: false };
  return { ...found(answers, columns, item, answers.question), marks: [mark], at: { x, y } };
};

const capsules: Draw = (answers, columns, item) => {
  const [ax, ay, bx, by] = ['ax', 'ay', 'bx', 'by'].map((name) => columns.given(name, item));
  const ink = answers.count(item) > 0 ? 'hit' : 'free';
  const mark: Mark = {
    type: 'capsule',
    ends: [ax, ay, bx, by],
    radius: columns.given('radius', item),
    ink,
    dashed: false,
  };
  return { ...found(answers, columns, item, answers.question), marks: [mark], at: { x: ax, y: ay } };
};

const boxes: Draw = (answers, columns, item) => {
  const [x, y, u, v] = ['minX', 'minY', 'maxX', 'maxY'].map((name) => columns.given(name, item));
  const ink = answers.count(item) > 0 ? 'hit' : 'free';
  const mark: Mark = { type: 'area', points: [x, y, u, y, u, v, x, v], ink, dashed: false };
  return { ...found(answers, columns, item, answers.question), marks: [mark], at: { x, y } };
};

const sights: Draw = (_, columns, item) => {
  const ends = ['ax', 'ay', 'bx', 'by'].map((name) => columns.given(name, item));
  const visible = columns.value('visible', item) === 1;
  return {
    marks: [line(ends, visible ? 'free' : 'hit', !visible)],
    text: visible ? 'visible' : 'hidden',
    at: { x: ends[0], y: ends[1] },
  };
};

const fans: Draw = (answers, columns, item) => {
  const [x, y, angle, step, range] = ['x', 'y', 'angle', 'step', 'range'].map((name) => columns.given(name, item));
  const from = answers.offsets[item];
  const count = answers.count(item);
  let hits = 0;
  const marks = Array.from({ length: count }, (_, i): Mark => {
    const isHit = columns.value('hits', from + i) === 1;
    hits += isHit ? 1 : 0;
    const reach = isHit ? columns.value('distances', from + i) : range;
    const turn = angle + step * i;
    return line([x, y, x + reach * Math.cos(turn), y + reach * Math.sin(turn)], isHit ? 'hit' : 'free', false, 1);
  });
  return { marks, text: `${hits} of ${count} beams hit`, at: { x, y } };
};

/** The pose and the shape of an item that has a shape. */
function mover(columns: Columns, item: number): { pose: Pose; shape: number } {
  const pose = { x: columns.given('x', item), y: columns.given('y', item), ...turned(columns, item) };
  return { pose, shape: columns.has('shape') ? columns.given('shape', item) : item };
}

const placed: Draw = (answers, columns, item, question) => {
  const { pose, shape } = mover(columns, item);
  const ink = answers.count(item) > 0 ? 'hit' : 'free';
  const made = found(answers, columns, item, question);
  if (question.kind.name === 'distances' && answers.count(item) > 0) {
    made.text += ` at distance ${short(columns.value('distance', answers.offsets[item]))}`;
  }
  if (question.kind.name === 'contacts' && answers.count(item) > 0) {
    const from = answers.offsets[item];
    made.text += `, depth ${short(columns.value('depth', from))}`;
    for (let i = from; i < from + answers.count(item); ++i) {
      made.marks.push({ type: 'dot', x: columns.value('pointX', i), y: columns.value('pointY', i), ink: 'hit' });
    }
  }
  made.marks.push(...shapeMarks(question.shapes!, shape, pose, ink));
  return { ...made, at: pose };
};

const depenetrations: Draw = (_, columns, item, question) => {
  const { pose, shape } = mover(columns, item);
  const end = { ...pose, x: columns.value('x', item), y: columns.value('y', item) };
  const marks = [
    ...shapeMarks(question.shapes!, shape, pose, 'ask', true),
    ...shapeMarks(question.shapes!, shape, end, 'free'),
  ];
  const isFree = columns.value('finished', item) === 1;
  return { marks, text: `${isFree ? 'free' : 'not free'} at ${short(end.x)}, ${short(end.y)}`, at: pose };
};

const sweeps: Draw = (answers, columns, item, question) => {
  const { pose, shape } = mover(columns, item);
  const [dx, dy] = columns.has('dx')
    ? [columns.given('dx', item), columns.given('dy', item)]
    : [columns.given('toX', item) - pose.x, columns.given('toY', item) - pose.y];
  const isTurning = question.kind.name === 'rotatingSweeps';
  const drawn = pathMarks(answers, columns, item, isTurning ? 'low' : 'fraction', (t) => [
    pose.x + dx * t,
    pose.y + dy * t,
  ]);
  const isHit = answers.count(item) > 0;
  const t = isHit ? columns.value(isTurning ? 'low' : 'fraction', answers.offsets[item]) : 1;
  const end = { ...pose, x: pose.x + dx * t, y: pose.y + dy * t };
  drawn.marks.push(...shapeMarks(question.shapes!, shape, pose, 'ask', true));
  // A shape that turns is drawn at its end only where it arrives there.
  if (!isTurning) drawn.marks.push(...shapeMarks(question.shapes!, shape, end, isHit ? 'hit' : 'free'));
  else if (!isHit)
    drawn.marks.push(...shapeMarks(question.shapes!, shape, { ...end, ...turned(columns, item, 'to') }, 'free'));
  return drawn;
};

const slides: Draw = (answers, columns, item, question) => {
  const { pose, shape } = mover(columns, item);
  const end = { ...pose, x: columns.value('x', item), y: columns.value('y', item) };
  const marks = shapeMarks(question.shapes!, shape, pose, 'ask', true);
  const from = answers.offsets[item];
  const count = answers.count(item);
  const hits: string[] = [];
  for (let i = from; i < from + count; ++i) {
    const [x, y] = [columns.value('legX', i), columns.value('legY', i)];
    const next = i + 1 < from + count ? [columns.value('legX', i + 1), columns.value('legY', i + 1)] : [end.x, end.y];
    marks.push(line([x, y, ...next], 'ask', false, 3));
    if (columns.value('hasHit', i) !== 1) continue;
    hits.push(columns.id(i));
    marks.push({ type: 'dot', x: columns.value('pointX', i), y: columns.value('pointY', i), ink: 'hit' });
  }
  marks.push(...shapeMarks(question.shapes!, shape, end, hits.length > 0 ? 'hit' : 'free'));
  const along = hits.length > 0 ? ` along ${[...new Set(hits)].slice(0, SHOWN_IDS).join(', ')}` : '';
  return { marks, text: `to ${short(end.x)}, ${short(end.y)}${along}`, at: pose };
};

const bounces: Draw = (answers, columns, item) => {
  const from = answers.offsets[item];
  const count = answers.count(item);
  const marks: Mark[] = [];
  let hits = 0;
  for (let i = from; i < from + count; ++i) {
    const isHit = columns.value('hasHit', i) === 1;
    const isRay = columns.has('dx');
    const [x, y] = isRay
      ? [columns.value('x', i), columns.value('y', i)]
      : [columns.value('ax', i), columns.value('ay', i)];
    const reach = Math.min(columns.value('tMax', i), 1e6);
    const end = isHit
      ? [columns.value('pointX', i), columns.value('pointY', i)]
      : isRay
        ? [x + columns.value('dx', i) * reach, y + columns.value('dy', i) * reach]
        : [columns.value('bx', i), columns.value('by', i)];
    marks.push(line([x, y, ...end], 'ask'));
    if (isHit) marks.push({ type: 'dot', x: end[0], y: end[1], ink: 'hit' });
    hits += isHit ? 1 : 0;
  }
  const first = marks[0]?.type === 'line' ? marks[0].points : null;
  return { marks, text: `${count} legs, ${hits} hits`, at: first && { x: first[0], y: first[1] } };
};

const areas: Draw = (answers, columns, item) => {
  const eye = { x: columns.given('x', item), y: columns.given('y', item) };
  const from = answers.offsets[item];
  const entries = Array.from({ length: answers.count(item) }, (_, i) => from + i);
  const starts = entries.map((i) => ({ x: columns.value('startX', i), y: columns.value('startY', i) }));
  const kind = entries.map((i) => columns.value('kind', i));
  const outline = outlineOf(eye, columns.given('range', item), starts, kind);
  const marks: Mark[] = [{ type: 'dot', ...eye, ink: 'ask' }];
  if (outline.length > 0) {
    marks.push({ type: 'area', points: outline.flatMap(({ x, y }) => [x, y]), ink: 'normal', dashed: false });
  }
  return { marks, text: `${starts.length} pieces, area ${short(columns.value('areas', item))}`, at: eye };
};

const DRAW: Readonly<Record<string, Draw>> = {
  segments,
  points,
  circles,
  polygons: placed,
  rays,
  capsules,
  boxes,
  distances: placed,
  contacts: placed,
  depenetrations,
  sweeps,
  rotatingSweeps: sweeps,
  arcs,
  sights,
  fans,
  slides,
  bounces,
  rayBounces: bounces,
  areas,
};

/** Observers: how far they look, and lines to the bodies that they see. */
function see(group: RecordedGroup, answers: Answers, columns: Columns, item: number): Drawn {
  const [x, y, range] = ['x', 'y', 'range'].map((name) => columns.given(name, item));
  const marks: Mark[] = [{ type: 'dot', x, y, ink: 'ask' }];
  if (columns.has('from')) {
    const [from, to] = [columns.given('from', item), columns.given('to', item)];
    const rim = Array.from({ length: ARC_STEPS + 1 }, (_, i) => from + ((to - from) * i) / ARC_STEPS);
    const points = rim.flatMap((angle) => [x + range * Math.cos(angle), y + range * Math.sin(angle)]);
    marks.push(line([x, y, ...points, x, y], 'ask', true, 1));
  } else {
    marks.push({ type: 'capsule', ends: [x, y, x, y], radius: range, ink: 'ask', dashed: true });
  }
  const seen = (answers as Seen).bodies(item);
  const bodies = group.bodies();
  for (const body of bodies === null ? [] : seen) marks.push(line([x, y, bodies!.x[body], bodies!.y[body]], 'free'));
  const names = seen.slice(0, SHOWN_IDS).map((body) => `body ${body}`).join(', ');
  const more = seen.length > SHOWN_IDS ? ` and ${seen.length - SHOWN_IDS} more` : '';
  return { marks, text: `sees ${names === '' ? 'nothing' : names + more}`, at: { x, y } };
}

/** Moves of trackers: the shape that the tracker had at the frame. */
function move(
  recording: Recording,
  frame: number,
  answers: Answers,
  columns: Columns,
  item: number,
  handle: number,
): Drawn {
  const tracker = recording.tracker(handle, frame);
  const pose = { x: columns.given('x', item), y: columns.given('y', item), ...turned(columns, item) };
  const touches = answers.count(item);
  const marks = tracker === null ? [] : shapeMarks(tracker.shapes, tracker.shape, pose, touches > 0 ? 'hit' : 'free');
  if (columns.has('fromX'))
    marks.push(line([columns.given('fromX', item), columns.given('fromY', item), pose.x, pose.y], 'ask', true));
  marks.push({ type: 'label', x: pose.x, y: pose.y, text: `tracker ${handle}` });
  const text = `tracker ${handle}: ${touches > 0 ? `touches ${named(answers, columns, item)}` : 'touches nothing'}`;
  return { marks, text, at: pose };
}

/** Returns a function that draws an item of a question. */
export function drawerOf(
  recording: Recording,
  frame: number,
  group: RecordedGroup,
  question: Question<Answers>,
): (item: number) => Drawn {
  const answers = group.answers(question);
  const columns = columnsOf(question, answers);
  const { name } = question.kind;
  const handles = name === 'moves' ? trackersOf(question) : null;
  const draw = DRAW[name] ?? found;
  return (item) => {
    const error = answers.error(item);
    if (error !== null) return { marks: [], text: error.message, at: null };
    if (handles !== null) return move(recording, frame, answers, columns, item, handles[item]);
    return name === 'sees' ? see(group, answers, columns, item) : draw(answers, columns, item, question);
  };
}
