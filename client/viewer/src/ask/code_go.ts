// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The question that is on the screen as a program in Go, by the module in client/go.
import type { Kind, Question, ShapeSpec, Value } from './question';

const pascal = (name: string): string => name[0].toUpperCase() + name.slice(1);

// The parameters of the method Add of each kind, and the method of the answers that returns rows.
const ADDED: Record<Kind, { names: string; rows: string }> = {
  segments: { names: 'ax ay bx by', rows: 'Hits' },
  points: { names: 'x y', rows: 'Polygons' },
  circles: { names: 'x y radius', rows: 'Polygons' },
  polygons: { names: 'shape x y', rows: 'Polygons' },
  rays: { names: 'x y dx dy', rows: 'Hits' },
  capsules: { names: 'ax ay bx by radius', rows: 'Polygons' },
  boxes: { names: 'minX minY maxX maxY', rows: 'Polygons' },
  distances: { names: 'shape x y', rows: 'Polygons' },
  contacts: { names: 'shape x y', rows: 'Contacts' },
  sweeps: { names: 'shape x y dx dy', rows: 'Hits' },
  arcs: { names: 'x y vx vy ax ay duration', rows: 'Hits' },
  sights: { names: 'ax ay bx by', rows: 'Visible' },
  fans: { names: 'x y angle step range beams', rows: 'Beams' },
  slides: { names: 'shape x y dx dy', rows: 'Legs' },
  bounces: { names: 'ax ay bx by', rows: 'Legs' },
  rayBounces: { names: 'x y dx dy', rows: 'Legs' },
  areas: { names: 'x y range', rows: 'Pieces' },
};

const ENUMS: Record<string, string> = { mode: 'CastMode', insidePolicy: 'InsidePolicy', detail: 'OverlapDetail' };

function number(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return `math.Inf(${value > 0 ? 1 : -1})`;
}

function optionText(kind: Kind, name: string, value: Value): string {
  if (Array.isArray(value)) {
    const type = name === 'maxBounces' ? 'uint32' : 'float64';
    return `[]${type}{${value.map(number).join(', ')}}`;
  }
  if (typeof value !== 'string') return String(value);
  const type = kind === 'distances' && name === 'mode' ? 'DistanceMode' : ENUMS[name];
  return `carom.${type}${value.split('_').map(pascal).join('')}`;
}

function shapeText(shape: ShapeSpec): string {
  if (shape.kind === 'capsule') {
    const { ax, ay, bx, by, radius } = shape;
    return `carom.CapsuleShape(${[ax, ay, bx, by, radius].map(number).join(', ')})`;
  }
  const column = (axis: 0 | 1): string => `[]float64{${shape.points.map((point) => number(point[axis])).join(', ')}}`;
  return `carom.PolygonShape(carom.Polygon{Rings: []carom.Ring{{X: ${column(0)}, Y: ${column(1)}}}})`;
}

export function goText({ kind, given, shape }: Question, scene: string, address: string, note: string): string {
  const field = `group.${pascal(kind)}`;
  const { names, rows } = ADDED[kind];
  const parameters = names.split(' ');
  const added = parameters.map((name) => {
    const value = given[name];
    if (name === 'shape') return `${field}${kind === 'polygons' ? '' : '.Movers'}.AddShape(shape)`;
    return number(Array.isArray(value) ? value[0] : (value as number));
  });
  const options = Object.entries(given).filter(([name]) => !parameters.includes(name));
  const body = [
    ...(shape ? [`shape := ${shapeText(shape)}`] : []),
    'frame := new(carom.Frame)',
    `group := frame.Group(${JSON.stringify(scene)})`,
    `${field}.Add(${added.join(', ')})`,
    ...options.map(([name, value]) => `${field}.${pascal(name)} = ${optionText(kind, name, value)}`),
  ];
  const imports = ['context', 'fmt', 'log', ...(body.some((line) => line.includes('math.')) ? ['math'] : [])];
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    '',
    '\t"carom"',
    ')',
    '',
    `// ${note}`,
    `const address = ${JSON.stringify(address)}`,
    '',
    'func main() {',
    '\tctx := context.Background()',
    '\tclient, err := carom.Dial(ctx, address)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tdefer client.Close()',
    ...body.map((line) => `\t${line}`),
    '\tanswer, err := client.Evaluate(ctx, frame)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    `\tfmt.Println(answer.Group(0).${pascal(kind)}.${rows}(0))`,
    '}',
    '',
  ].join('\n');
}
