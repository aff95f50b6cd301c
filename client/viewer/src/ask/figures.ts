// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are a question and its answer drawn? One function for each kind, from the columns of the answer.
import { Pen } from '../draw/pen';
import type { Point } from '../draw/view';
import { outlineOf } from './outline';
import { type Answer, ids, type Kind, numbers, PIECE_EDGE, type Question, type ShapeSpec } from './question';

type Draw = (pen: Pen, question: Question, answer: Answer | null) => void;

const one = (question: Question, name: string): number => {
  const value = question.given[name];
  return Array.isArray(value) ? value[0] : (value as number);
};

/** Draws the shape at a position. */
export function drawShape(pen: Pen, shape: ShapeSpec, x: number, y: number, colour: string, dash: number[] = []): void {
  if (shape.kind === 'capsule') {
    pen.capsule(shape.ax + x, shape.ay + y, shape.bx + x, shape.by + y, shape.radius, colour, dash);
  } else {
    pen.area(shape.points.map(([u, v]) => ({ x: u + x, y: v + y })), colour, dash);
  }
}

/** Hits of a path: passages as thick lines, points, normals and numbers of the order. */
function drawHits(pen: Pen, answer: Answer, at: (t: number) => Point): void {
  const fraction = numbers(answer, 'fraction');
  const exit = numbers(answer, 'exitFraction');
  const [x, y] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [nx, ny] = [numbers(answer, 'normalX'), numbers(answer, 'normalY')];
  const [ex, ey] = [numbers(answer, 'exitNormalX'), numbers(answer, 'exitNormalY')];
  const endsInside = numbers(answer, 'endsInside');
  fraction.forEach((t, i) => {
    if (exit[i] === undefined || !(exit[i] >= t)) return;
    const [from, to] = [at(t), at(exit[i])];
    pen.line(from.x, from.y, to.x, to.y, pen.ink.hit, 4.5);
  });
  fraction.forEach((_, i) => {
    pen.arrow(x[i], y[i], nx[i], ny[i], pen.ink.normal);
    if (exit[i] !== undefined && !endsInside[i]) {
      const out = at(exit[i]);
      pen.arrow(out.x, out.y, ex[i], ey[i], pen.ink.normal, 22);
      pen.dot(out.x, out.y, pen.ink.paper, 3.5);
    }
    pen.dot(x[i], y[i], pen.ink.hit);
    pen.label(x[i], y[i], `${i + 1}`);
  });
}

const segments: Draw = (pen, question, answer) => {
  const [ax, ay, bx, by] = ['ax', 'ay', 'bx', 'by'].map((name) => one(question, name));
  pen.line(ax, ay, bx, by, pen.ink.ask, 2);
  pen.arrow(bx, by, bx - ax, by - ay, pen.ink.ask, 1);
  if (answer) drawHits(pen, answer, (t) => ({ x: ax + (bx - ax) * t, y: ay + (by - ay) * t }));
};

const points: Draw = (pen, question, answer) => {
  const inside = answer && numbers(answer, 'location').length > 0;
  pen.dot(one(question, 'x'), one(question, 'y'), inside ? pen.ink.hit : pen.ink.free, 5);
};

/** Legs of a path that bounces: each from its start to its hit, or to its end. */
const rayBounces: Draw = (pen, question, answer) => {
  const { cx, cy, scale, width, height } = pen.view;
  const far = (width + height) / scale + Math.hypot(one(question, 'x') - cx, one(question, 'y') - cy);
  if (!answer) return;
  const [x, y] = [numbers(answer, 'x'), numbers(answer, 'y')];
  const [dx, dy] = [numbers(answer, 'dx'), numbers(answer, 'dy')];
  const hit = numbers(answer, 'hasHit');
  const [px, py] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [nx, ny] = [numbers(answer, 'normalX'), numbers(answer, 'normalY')];
  x.forEach((_, i) => {
    const reach = (far * 2) / Math.hypot(dx[i], dy[i]);
    const end = hit[i] ? { x: px[i], y: py[i] } : { x: x[i] + dx[i] * reach, y: y[i] + dy[i] * reach };
    pen.line(x[i], y[i], end.x, end.y, pen.ink.ask, 2, hit[i] ? [] : [7, 5]);
  });
  x.forEach((_, i) => {
    if (!hit[i]) return;
    pen.arrow(px[i], py[i], nx[i], ny[i], pen.ink.normal);
    pen.dot(px[i], py[i], pen.ink.hit);
    pen.label(px[i], py[i], `${i + 1}`);
  });
};

const arcs: Draw = (pen, question, answer) => {
  const [x, y, vx, vy, ax, ay, duration] = ['x', 'y', 'vx', 'vy', 'ax', 'ay', 'duration'].map((name) =>
    one(question, name),
  );
  const at = (t: number): Point => ({ x: x + vx * t + (ax * t * t) / 2, y: y + vy * t + (ay * t * t) / 2 });
  const curve = Array.from({ length: 97 }, (_, i) => at((duration * i) / 96));
  pen.chain(curve, pen.ink.ask, 2);
  if (!answer) return;
  const [px, py] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [nx, ny] = [numbers(answer, 'normalX'), numbers(answer, 'normalY')];
  px.forEach((_, i) => {
    pen.arrow(px[i], py[i], nx[i], ny[i], pen.ink.normal);
    pen.dot(px[i], py[i], pen.ink.hit);
    pen.label(px[i], py[i], `${i + 1}`);
  });
};

const fans: Draw = (pen, question, answer) => {
  const [x, y, angle, step] = ['x', 'y', 'angle', 'step'].map((name) => one(question, name));
  if (!answer) return;
  const hit = numbers(answer, 'hits');
  numbers(answer, 'distances').forEach((distance, k) => {
    const a = angle + k * step;
    const [ex, ey] = [x + distance * Math.cos(a), y + distance * Math.sin(a)];
    pen.line(x, y, ex, ey, hit[k] ? pen.ink.ask : pen.ink.free, 1);
    if (hit[k]) pen.dot(ex, ey, pen.ink.hit, 2.75);
  });
};

const sights: Draw = (pen, question, answer) => {
  const [ax, ay, bx, by] = ['ax', 'ay', 'bx', 'by'].map((name) => one(question, name));
  const visible = answer && numbers(answer, 'visible')[0];
  pen.line(ax, ay, bx, by, visible ? pen.ink.free : pen.ink.hit, 2.5, visible ? [] : [8, 6]);
};

const areas: Draw = (pen, question, answer) => {
  const eye = { x: one(question, 'x'), y: one(question, 'y') };
  if (answer) {
    const [x, y, kind] = ['startX', 'startY', 'kind'].map((name) => numbers(answer, name));
    const starts = x.map((value, i) => ({ x: value, y: y[i] }));
    pen.area(outlineOf(eye, one(question, 'range'), starts, kind), pen.ink.normal, [], 0.2);
    starts.forEach((start, i) => {
      if (kind[i] !== PIECE_EDGE) return;
      const end = starts[(i + 1) % starts.length];
      pen.line(start.x, start.y, end.x, end.y, pen.ink.hit, 3);
    });
  }
  pen.dot(eye.x, eye.y, pen.ink.ask, 5);
};

const found = (pen: Pen, answer: Answer | null): string => (answer && ids(answer).length > 0 ? pen.ink.hit : pen.ink.free);

const circles: Draw = (pen, question, answer) => {
  const [x, y, r] = ['x', 'y', 'radius'].map((name) => one(question, name));
  pen.capsule(x, y, x, y, r, found(pen, answer));
};

const capsules: Draw = (pen, question, answer) => {
  const [ax, ay, bx, by, r] = ['ax', 'ay', 'bx', 'by', 'radius'].map((name) => one(question, name));
  pen.capsule(ax, ay, bx, by, r, found(pen, answer));
};

const boxes: Draw = (pen, question, answer) => {
  const [x0, y0, x1, y1] = ['minX', 'minY', 'maxX', 'maxY'].map((name) => one(question, name));
  const corners = [
    { x: x0, y: y0 },
    { x: x1, y: y0 },
    { x: x1, y: y1 },
    { x: x0, y: y1 },
  ];
  pen.area(corners, found(pen, answer));
};

const polygons: Draw = (pen, question, answer) => {
  drawShape(pen, question.shape as ShapeSpec, one(question, 'x'), one(question, 'y'), found(pen, answer));
};

const distances: Draw = (pen, question, answer) => {
  drawShape(pen, question.shape as ShapeSpec, one(question, 'x'), one(question, 'y'), pen.ink.ask);
  if (!answer) return;
  const [x, y] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [mx, my] = [numbers(answer, 'moverPointX'), numbers(answer, 'moverPointY')];
  numbers(answer, 'distance').forEach((distance, i) => {
    pen.line(x[i], y[i], mx[i], my[i], pen.ink.hit, 2, [5, 4]);
    pen.dot(x[i], y[i], pen.ink.hit);
    pen.dot(mx[i], my[i], pen.ink.hit);
    pen.label((x[i] + mx[i]) / 2, (y[i] + my[i]) / 2, short(distance));
  });
};

const contacts: Draw = (pen, question, answer) => {
  const [x, y] = [one(question, 'x'), one(question, 'y')];
  const shape = question.shape as ShapeSpec;
  drawShape(pen, shape, x, y, found(pen, answer));
  if (!answer) return;
  const [nx, ny, depth] = ['normalX', 'normalY', 'depth'].map((name) => numbers(answer, name));
  const count = numbers(answer, 'pointCounts');
  const first = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const second = [numbers(answer, 'secondPointX'), numbers(answer, 'secondPointY')];
  depth.forEach((d, i) => {
    drawShape(pen, shape, x + nx[i] * d, y + ny[i] * d, pen.ink.free, [6, 5]);
    pen.line(x, y, x + nx[i] * d, y + ny[i] * d, pen.ink.normal, 2.5);
    pen.arrow(x + nx[i] * d, y + ny[i] * d, nx[i], ny[i], pen.ink.normal, 12);
    pen.label(x + nx[i] * d, y + ny[i] * d, short(d));
    pen.dot(first[0][i], first[1][i], pen.ink.hit);
    if (count[i] > 1) pen.dot(second[0][i], second[1][i], pen.ink.hit);
  });
};

const sweeps: Draw = (pen, question, answer) => {
  const [x, y, dx, dy] = ['x', 'y', 'dx', 'dy'].map((name) => one(question, name));
  const shape = question.shape as ShapeSpec;
  drawShape(pen, shape, x, y, pen.ink.ask);
  pen.line(x, y, x + dx, y + dy, pen.ink.ask, 2);
  drawShape(pen, shape, x + dx, y + dy, pen.ink.ask, [3, 5]);
  if (!answer) return;
  const fraction = numbers(answer, 'fraction');
  const [px, py] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [nx, ny] = [numbers(answer, 'normalX'), numbers(answer, 'normalY')];
  const safe = [numbers(answer, 'safeX')[0], numbers(answer, 'safeY')[0]];
  if (safe[0] !== undefined) drawShape(pen, shape, safe[0], safe[1], pen.ink.free);
  fraction.forEach((t, i) => {
    if (safe[0] === undefined) drawShape(pen, shape, x + dx * t, y + dy * t, pen.ink.hit);
    pen.arrow(px[i], py[i], nx[i], ny[i], pen.ink.normal);
    pen.dot(px[i], py[i], pen.ink.hit);
    pen.label(px[i], py[i], `${i + 1}`);
  });
};

const slides: Draw = (pen, question, answer) => {
  const [x, y, dx, dy] = ['x', 'y', 'dx', 'dy'].map((name) => one(question, name));
  const shape = question.shape as ShapeSpec;
  drawShape(pen, shape, x, y, pen.ink.ask);
  pen.line(x, y, x + dx, y + dy, pen.ink.ask, 1.5, [3, 5]);
  if (!answer || answer.error) return;
  const [endX, endY] = [numbers(answer, 'x')[0], numbers(answer, 'y')[0]];
  const [legX, legY] = [numbers(answer, 'legX'), numbers(answer, 'legY')];
  const way = legX.map((value, i) => ({ x: value, y: legY[i] }));
  pen.chain([...way, { x: endX, y: endY }], pen.ink.free, 3);
  for (const leg of way.slice(1)) drawShape(pen, shape, leg.x, leg.y, pen.ink.hit, [3, 4]);
  drawShape(pen, shape, endX, endY, pen.ink.free);
  const hit = numbers(answer, 'hasHit');
  const [px, py] = [numbers(answer, 'pointX'), numbers(answer, 'pointY')];
  const [nx, ny] = [numbers(answer, 'normalX'), numbers(answer, 'normalY')];
  hit.forEach((isHit, i) => {
    if (!isHit) return;
    pen.arrow(px[i], py[i], nx[i], ny[i], pen.ink.normal);
    pen.dot(px[i], py[i], pen.ink.hit);
    pen.label(px[i], py[i], `${i + 1}`);
  });
};

const FIGURES: Partial<Record<Kind, Draw>> = {
  segments,
  points,
  rayBounces,
  areas,
  arcs,
  fans,
  sights,
  circles,
  capsules,
  boxes,
  polygons,
  distances,
  contacts,
  sweeps,
  slides,
};

/** A length as text of a few digits. */
export function short(x: number): string {
  if (x === 0) return '0';
  const magnitude = Math.abs(x);
  return magnitude >= 1e6 || magnitude < 1e-3 ? x.toExponential(3) : String(Number(x.toPrecision(5)));
}

export function drawQuestion(pen: Pen, question: Question, answer: Answer | null): void {
  FIGURES[question.kind]?.(pen, question, answer?.error ? null : answer);
}
