// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which questions can one ask with the mouse? One table: what the points that one drags mean, which options a question
// has, and which question they make.
import { type Point, shortened } from '../draw/view';
import type { Box } from '../scene/store';
import type { Question, ShapeSpec, Value } from './question';
import { shapeOf } from './shapes';

export interface OptionSpec {
  name: string;
  label: string;
  /** Words to choose from, or a range of numbers. */
  choices?: readonly string[];
  min?: number;
  max?: number;
  integer?: boolean;
  value: Value;
}

export interface Tool {
  id: string;
  label: string;
  /** The key that chooses the tool. */
  key: string;
  hint: string;
  /** Names of the points, for screen readers. */
  points: readonly string[];
  options: readonly OptionSpec[];
  /** Where the points are at first, in a part of the scene. */
  start(box: Box): Point[];
  /** Points that move along when point i is dragged. */
  along?: (i: number) => readonly number[];
  ask(points: readonly Point[], option: (name: string) => Value): Question;
}

const SHAPES = ['disc', 'box', 'triangle', 'hexagon', 'capsule'] as const;
const INSIDE = ['report_start', 'ignore', 'exit'] as const;
const BLOCKING = ['blocking', 'blocking_leave', 'report_start', 'ignore', 'exit'] as const;

/** The point at the fractions (u, v) of the box. */
function at(box: Box, u: number, v: number): Point {
  return { x: rounded(box, box.minX + (box.maxX - box.minX) * u), y: rounded(box, box.minY + (box.maxY - box.minY) * v) };
}

/** Rounds to about a thousandth of the box, so that the first numbers are short. */
function rounded(box: Box, x: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(box.maxX - box.minX, 1e-300) / 500));
  return shortened(Math.round(x / step) * step, step / 1000);
}

function placed(points: readonly Point[], option: (name: string) => Value): { shape: ShapeSpec; x: number[]; y: number[] } {
  const [center, rim] = points;
  return {
    shape: shapeOf(option('shape') as string, rim.x - center.x, rim.y - center.y),
    x: [center.x],
    y: [center.y],
  };
}

const shapeOption = (value: string): OptionSpec => ({ name: 'shape', label: 'Shape', choices: SHAPES, value });
const shapeStart = (box: Box): Point[] => {
  const size = Math.min(box.maxX - box.minX, box.maxY - box.minY) * 0.045;
  const center = at(box, 0.27, 0.53);
  return [center, { x: rounded(box, center.x + size), y: rounded(box, center.y + size * 0.5) }];
};
const shapeAlong = (i: number): readonly number[] => (i === 0 ? [1] : []);
const line = (box: Box): Point[] => [at(box, 0.2, 0.4), at(box, 0.8, 0.6)];

export const TOOLS: readonly Tool[] = [
  {
    id: 'point',
    label: 'Point',
    key: '1',
    hint: 'Which polygons hold the point, inside or on the boundary?',
    points: ['point'],
    options: [],
    start: (box) => [at(box, 0.4, 0.5)],
    ask: ([p]) => ({ kind: 'points', given: { x: [p.x], y: [p.y] } }),
  },
  {
    id: 'bullet',
    label: 'Bullet',
    key: '2',
    hint: 'What does a segment hit, and where does it leave? Every hit in order.',
    points: ['start', 'end'],
    options: [
      { name: 'mode', label: 'Hits', choices: ['all_passages', 'all', 'closest'], value: 'all_passages' },
      { name: 'insidePolicy', label: 'Start inside', choices: INSIDE, value: 'report_start' },
    ],
    start: line,
    ask: ([a, b], option) => ({
      kind: 'segments',
      given: {
        ax: [a.x],
        ay: [a.y],
        bx: [b.x],
        by: [b.y],
        mode: option('mode'),
        insidePolicy: option('insidePolicy'),
      },
    }),
  },
  {
    id: 'ray',
    label: 'Ray with bounces',
    key: '3',
    hint: 'Where does a ray go that walls reflect?',
    points: ['origin', 'direction'],
    options: [{ name: 'maxBounces', label: 'Bounces', min: 1, max: 16, integer: true, value: 4 }],
    start: line,
    ask: ([p, q], option) => ({
      kind: 'rayBounces',
      given: { x: [p.x], y: [p.y], dx: [q.x - p.x], dy: [q.y - p.y], maxBounces: [option('maxBounces') as number] },
    }),
  },
  {
    id: 'arc',
    label: 'Arc',
    key: '4',
    hint: 'What does a point hit that falls? Drag its velocity.',
    points: ['start', 'velocity'],
    options: [
      { name: 'fall', label: 'Fall, in lengths of the velocity', min: 0, max: 10, value: 1 },
      { name: 'duration', label: 'Duration', min: 0, max: 100, value: 3 },
      { name: 'mode', label: 'Hits', choices: ['all', 'closest'], value: 'all' },
      { name: 'insidePolicy', label: 'Start inside', choices: INSIDE, value: 'report_start' },
    ],
    start: (box) => [at(box, 0.2, 0.4), at(box, 0.4, 0.65)],
    along: shapeAlong,
    ask: ([p, q], option) => ({
      kind: 'arcs',
      given: {
        x: [p.x],
        y: [p.y],
        vx: [q.x - p.x],
        vy: [q.y - p.y],
        ax: [0],
        ay: [-Math.hypot(q.x - p.x, q.y - p.y) * (option('fall') as number) + 0],
        duration: [option('duration') as number],
        mode: option('mode'),
        insidePolicy: option('insidePolicy'),
      },
    }),
  },
  {
    id: 'fan',
    label: 'Fan',
    key: '5',
    hint: 'How far does each beam of a lidar reach?',
    points: ['origin', 'middle of the range'],
    options: [
      { name: 'beams', label: 'Beams', min: 1, max: 720, integer: true, value: 91 },
      { name: 'degrees', label: 'Angle in degrees', min: 0, max: 360, value: 120 },
      { name: 'insidePolicy', label: 'Start inside', choices: INSIDE, value: 'report_start' },
    ],
    start: line,
    along: shapeAlong,
    ask: ([p, q], option) => {
      const beams = option('beams') as number;
      const width = ((option('degrees') as number) * Math.PI) / 180;
      return {
        kind: 'fans',
        given: {
          x: [p.x],
          y: [p.y],
          angle: [Math.atan2(q.y - p.y, q.x - p.x) - width / 2],
          step: [width / Math.max(beams - 1, 1)],
          range: [Math.hypot(q.x - p.x, q.y - p.y)],
          beams: [beams],
          insidePolicy: option('insidePolicy'),
        },
      };
    },
  },
  {
    id: 'sight',
    label: 'Sight',
    key: '6',
    hint: 'Do two points see each other?',
    points: ['viewer', 'target'],
    options: [],
    start: line,
    ask: ([a, b]) => ({ kind: 'sights', given: { ax: [a.x], ay: [a.y], bx: [b.x], by: [b.y] } }),
  },
  {
    id: 'area',
    label: 'Area of sight',
    key: 'o',
    hint: 'Which area is visible from a point?',
    points: ['eye', 'middle of the range'],
    options: [
      { name: 'degrees', label: 'Angle in degrees', min: 1, max: 360, value: 360 },
      { name: 'insidePolicy', label: 'Start inside', choices: ['report_start', 'ignore'], value: 'ignore' },
    ],
    start: (box) => [at(box, 0.35, 0.45), at(box, 0.65, 0.55)],
    along: shapeAlong,
    ask: ([p, q], option) => {
      const width = ((option('degrees') as number) * Math.PI) / 180;
      const from = Math.atan2(q.y - p.y, q.x - p.x) - width / 2;
      return {
        kind: 'areas',
        given: {
          x: [p.x],
          y: [p.y],
          range: [Math.hypot(q.x - p.x, q.y - p.y)],
          ...(width < 2 * Math.PI ? { from: [from], to: [from + width] } : {}),
          insidePolicy: option('insidePolicy'),
        },
      };
    },
  },
  {
    id: 'circle',
    label: 'Circle',
    key: '7',
    hint: 'Which polygons, and which of their edges, does a disc touch?',
    points: ['centre', 'rim'],
    options: [],
    start: shapeStart,
    along: shapeAlong,
    ask: ([p, q]) => ({
      kind: 'circles',
      given: { x: [p.x], y: [p.y], radius: [Math.hypot(q.x - p.x, q.y - p.y)], detail: 'edges' },
    }),
  },
  {
    id: 'capsule',
    label: 'Capsule',
    key: '8',
    hint: 'Which polygons, and which of their edges, does a capsule touch?',
    points: ['first end', 'second end', 'rim'],
    options: [],
    start: (box) => {
      const [a, b] = [at(box, 0.3, 0.4), at(box, 0.5, 0.5)];
      return [a, b, { x: a.x, y: rounded(box, a.y + (box.maxY - box.minY) * 0.06) }];
    },
    along: (i) => (i === 0 ? [2] : []),
    ask: ([a, b, rim]) => ({
      kind: 'capsules',
      given: {
        ax: [a.x],
        ay: [a.y],
        bx: [b.x],
        by: [b.y],
        radius: [Math.hypot(rim.x - a.x, rim.y - a.y)],
        detail: 'edges',
      },
    }),
  },
  {
    id: 'box',
    label: 'Box',
    key: '9',
    hint: 'Which polygons, and which of their edges, does a box touch?',
    points: ['corner', 'opposite corner'],
    options: [],
    start: (box) => [at(box, 0.3, 0.35), at(box, 0.5, 0.5)],
    ask: ([a, b]) => ({
      kind: 'boxes',
      given: {
        minX: [Math.min(a.x, b.x)],
        minY: [Math.min(a.y, b.y)],
        maxX: [Math.max(a.x, b.x)],
        maxY: [Math.max(a.y, b.y)],
        detail: 'edges',
      },
    }),
  },
  {
    id: 'polygon',
    label: 'Polygon',
    key: '0',
    hint: 'Which polygons, and which of their edges, does a polygon touch?',
    points: ['first vertex', 'second vertex', 'third vertex', 'fourth vertex'],
    options: [],
    start: (box) => [at(box, 0.3, 0.35), at(box, 0.5, 0.4), at(box, 0.45, 0.6), at(box, 0.35, 0.55)],
    ask: (points) => ({
      kind: 'polygons',
      given: { x: [0], y: [0], detail: 'edges' },
      shape: { kind: 'polygon', points: points.map(({ x, y }) => [x, y]) },
    }),
  },
  {
    id: 'nearest',
    label: 'Nearest',
    key: 'n',
    hint: 'How far is a shape from the nearest polygon, and where?',
    points: ['position', 'size'],
    options: [shapeOption('hexagon')],
    start: shapeStart,
    along: shapeAlong,
    ask: (points, option) => {
      const { shape, x, y } = placed(points, option);
      return { kind: 'distances', given: { x, y }, shape };
    },
  },
  {
    id: 'contact',
    label: 'Contact',
    key: 'c',
    hint: 'Which minimum translation takes a shape out of each polygon that it touches?',
    points: ['position', 'size'],
    options: [shapeOption('hexagon')],
    start: shapeStart,
    along: shapeAlong,
    ask: (points, option) => {
      const { shape, x, y } = placed(points, option);
      return { kind: 'contacts', given: { x, y }, shape };
    },
  },
  {
    id: 'sweep',
    label: 'Sweep',
    key: 'w',
    hint: 'What does a shape hit on its way? Blocking: where can it stop safely?',
    points: ['position', 'size', 'end'],
    options: [
      shapeOption('box'),
      { name: 'insidePolicy', label: 'Policy', choices: BLOCKING, value: 'blocking' },
      { name: 'mode', label: 'Hits', choices: ['closest', 'all'], value: 'closest' },
      { name: 'skin', label: 'Skin', min: 0, max: 1e9, value: 0 },
    ],
    start: (box) => [...shapeStart(box), at(box, 0.8, 0.65)],
    along: shapeAlong,
    ask: (points, option) => {
      const { shape, x, y } = placed(points, option);
      const [p, , to] = points;
      const policy = option('insidePolicy') as string;
      return {
        kind: 'sweeps',
        given: {
          x,
          y,
          dx: [to.x - p.x],
          dy: [to.y - p.y],
          insidePolicy: policy,
          mode: option('mode'),
          ...(policy.startsWith('blocking') ? { skin: [option('skin') as number] } : {}),
        },
        shape,
      };
    },
  },
  {
    id: 'slide',
    label: 'Slide',
    key: 's',
    hint: 'Where does a shape get to that slides along walls?',
    points: ['position', 'size', 'end of the push'],
    options: [
      shapeOption('disc'),
      { name: 'maxContacts', label: 'Contacts', min: 1, max: 8, integer: true, value: 4 },
      { name: 'skin', label: 'Skin', min: 0, max: 1e9, value: 0 },
    ],
    start: (box) => [...shapeStart(box), at(box, 0.8, 0.65)],
    along: shapeAlong,
    ask: (points, option) => {
      const { shape, x, y } = placed(points, option);
      const [p, , to] = points;
      return {
        kind: 'slides',
        given: {
          x,
          y,
          dx: [to.x - p.x],
          dy: [to.y - p.y],
          maxContacts: option('maxContacts'),
          skin: [option('skin') as number],
        },
        shape,
      };
    },
  },
  {
    id: 'tracker',
    label: 'Tracker',
    key: 'k',
    hint: 'What does a shape touch that moves a little at a time, and what does the server remember of it?',
    points: ['position', 'size'],
    options: [shapeOption('disc')],
    start: shapeStart,
    along: shapeAlong,
    // What a tracker touches is what its shape overlaps; its memory changes no answer.
    ask: (points, option): Question => {
      const { shape, x, y } = placed(points, option);
      if (shape.kind === 'polygon') return { kind: 'polygons', given: { x, y, detail: 'edges' }, shape };
      return {
        kind: 'capsules',
        given: {
          ax: [shape.ax + x[0]],
          ay: [shape.ay + y[0]],
          bx: [shape.bx + x[0]],
          by: [shape.by + y[0]],
          radius: [shape.radius],
          detail: 'edges',
        },
      };
    },
  },
  {
    id: 'lint',
    label: 'Findings',
    key: 'l',
    hint: 'Which gaps are too narrow for a disc, and which places can it not reach?',
    points: ['start of the disc', 'rim'],
    options: [],
    // A disc that most gaps let pass.
    start: (box) => {
      const center = at(box, 0.27, 0.53);
      const radius = Math.min(box.maxX - box.minX, box.maxY - box.minY) * 0.01;
      return [center, { x: shortened(center.x + radius, radius / 1000), y: center.y }];
    },
    along: shapeAlong,
    // Whether the disc starts in a polygon.
    ask: ([p]) => ({ kind: 'points', given: { x: [p.x], y: [p.y] } }),
  },
];

export const toolOf = (id: string): Tool | undefined => TOOLS.find((tool) => tool.id === id);

/** The value of an option: the chosen one if it is legal, else that of the table. */
export function optionValue(tool: Tool, chosen: Record<string, Value> | undefined, name: string): Value {
  const spec = tool.options.find((option) => option.name === name);
  if (!spec) return 0;
  const value = chosen?.[name];
  if (spec.choices) return typeof value === 'string' && spec.choices.includes(value) ? value : spec.value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return spec.value;
  const limited = Math.min(Math.max(value, spec.min ?? -Infinity), spec.max ?? Infinity);
  return spec.integer ? Math.round(limited) : limited;
}
