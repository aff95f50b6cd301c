// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The question that is on the screen as C++, by the client library.
import type { Question, ShapeSpec, Value } from './question';

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : 'std::numeric_limits<double>::infinity()';

// Where the options of a kind are in carom::Group, and the types of their words.
const OPTIONS: Record<string, string> = {
  segments: 'cast_options',
  circles: 'circle_options',
  polygons: 'polygon_options',
  capsules: 'capsule_options',
  boxes: 'box_options',
  distances: 'distance_options',
  contacts: 'contact_options',
  sweeps: 'sweep_options',
  arcs: 'arc_options',
  fans: 'fan_options',
  slides: 'slide_options',
  bounces: 'bounce_options',
  areas: 'area_options',
};
const TYPES: Record<string, string> = { mode: 'CastMode', insidePolicy: 'InsidePolicy', detail: 'OverlapDetail' };

function word(kind: string, name: string, value: string): string {
  const type = kind === 'distances' && name === 'mode' ? 'DistanceMode' : TYPES[name];
  const camel = value.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `carom::${type}::k${camel}`;
}

function shapeText(shape: ShapeSpec): string[] {
  if (shape.kind === 'capsule') {
    const { ax, ay, bx, by, radius } = shape;
    return [
      'const carom::Shape shape =',
      `    carom::Shape::Create(carom::Capsule{{{${ax}, ${ay}}, {${bx}, ${by}}}, ${radius}}).value();`,
    ];
  }
  const points = shape.points.map(([x, y]) => `{${x}, ${y}}`).join(', ');
  return [
    'carom::PolygonSpec spec;',
    `spec.rings = {{{${points}}}};`,
    'const carom::Shape shape = carom::Polygon::Create(spec).value();',
  ];
}

/** A string of C++, which has no escapes \\u for control characters. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/\\(?:u00([\da-f]{2})|.)/g, (escape, code?: string) =>
    code ? `\\${parseInt(code, 16).toString(8).padStart(3, '0')}` : escape,
  );

export function cppText(question: Question, scene: string, address: string, note: string): string {
  const { kind, given, shape } = question;
  const columns: string[] = [];
  const members: string[] = [];
  const movers: string[] = [];
  const settings: string[] = [];
  for (const [name, value] of Object.entries(given) as [string, Value][]) {
    if (Array.isArray(value)) {
      const whole = name === 'beams' || (name === 'maxBounces' && kind === 'rayBounces');
      columns.push(`const std::vector<${whole ? 'uint32_t' : 'double'}> ${snake(name)} = {${value.map(number).join(', ')}};`);
      const placed = shape && ['x', 'y'].includes(name);
      (placed ? movers : members).push(`.${snake(name)} = ${snake(name)}`);
    } else {
      const text = typeof value === 'string' ? word(kind, name, value) : String(value);
      settings.push(`group.group.${OPTIONS[kind]}.${snake(name)} = ${text};`);
    }
  }
  if (shape) {
    const list = 'std::span(&shape, 1)';
    if (kind === 'polygons') members.unshift('.shapes = std::span(&polygon, 1)', ...movers);
    else members.unshift(`.movers = {.shapes = ${list}, ${movers.join(', ')}}`);
  }
  const described =
    shape && kind === 'polygons'
      ? [...shapeText(shape).slice(0, 2), 'const carom::Polygon polygon = carom::Polygon::Create(spec).value();']
      : shape
        ? shapeText(shape)
        : [];
  return [
    `// ${note}`,
    `constexpr char kAddress[] = ${quoted(address)};`,
    'const auto client = carom::Client::Connect(kAddress).value();',
    ...described,
    ...columns,
    'carom::FrameGroup group;',
    `group.scene = ${quoted(scene)};`,
    `group.group.${snake(kind)} = {${members.join(', ')}};`,
    ...settings,
    'carom::Frame frame;',
    'frame.groups.push_back(group);',
    'const absl::StatusOr<carom::FrameAnswer> answer = client->Evaluate(frame);',
  ].join('\n');
}
