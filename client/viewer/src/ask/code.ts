// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which program asks the question that is on the screen? Text to copy, in four languages and as JSON.
import { cppText } from './code_cpp';
import { evalLine, groupJson } from './group_json';
import type { Kind, Question, ShapeSpec, Value } from './question';

export type Language = 'json' | 'curl' | 'python' | 'typescript' | 'go' | 'cpp';

export const LANGUAGES: { id: Language; label: string }[] = [
  { id: 'json', label: 'JSON' },
  { id: 'curl', label: 'curl' },
  { id: 'python', label: 'Python' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'go', label: 'Go' },
  { id: 'cpp', label: 'C++' },
];

// `from`, a column of areas, is a reserved word of Python.
const pythonName = (name: string): string => (name === 'from' ? 'from_' : snake(name));
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name: string): string => name[0].toUpperCase() + name.slice(1);
const shown = (value: number): string => (Number.isFinite(value) ? String(value) : value > 0 ? 'inf' : '-inf');

function jsonText(question: Question): string {
  const line = evalLine(question);
  return JSON.stringify(line ?? groupJson(question));
}

function curlText(question: Question, scene: string, server: string): string {
  const body = { frame: { groups: [{ scene, ...groupJson(question) }] } };
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `curl -sS -H 'Content-Type: application/json' \\\n  ${server}/carom.v1.QueryService/Evaluate \\\n  -d '${quoted}'`;
}

// --- Python -----------------------------------------------------------------------------------

// The methods of scenes in Python and, in camel case, in TypeScript.
const METHODS: Record<Kind, string> = {
  segments: 'cast',
  points: 'locate',
  circles: 'overlap_circles',
  polygons: 'overlap',
  rays: 'rays',
  capsules: 'overlap_capsules',
  boxes: 'overlap_boxes',
  distances: 'nearest',
  contacts: 'contacts',
  sweeps: 'sweep',
  arcs: 'arcs',
  sights: 'sights',
  fans: 'fans',
  slides: 'slide',
  bounces: 'bounce',
  rayBounces: 'bounce_rays',
  areas: 'areas',
};

function pythonValue(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function pythonShape(shape: ShapeSpec): string {
  if (shape.kind === 'polygon') return `[[${shape.points.map(([x, y]) => `(${x}, ${y})`).join(', ')}]]`;
  const { ax, ay, bx, by, radius } = shape;
  return `capsule(${[ax, ay, bx, by, radius].join(', ')})`;
}

function pythonText({ kind, given, shape }: Question, scene: string, grpc: string): string {
  const members = Object.entries(given).map(([name, value]) => `    ${pythonName(name)}=${pythonValue(value)},`);
  if (shape) members.unshift(`    shapes=${pythonShape(shape)},`);
  return [
    'import carom',
    ...(shape?.kind === 'capsule' ? ['from carom.local import capsule'] : []),
    '',
    `client = carom.Client(${JSON.stringify(grpc)})`,
    `answer = client.scene(${JSON.stringify(scene)}).${METHODS[kind]}(`,
    ...members,
    ')',
    'print(answer)',
  ].join('\n');
}

// --- TypeScript -------------------------------------------------------------------------------

// What reads the answers to the first item.
const READERS: Record<Kind, string> = {
  segments: 'hits',
  points: 'polygons',
  circles: 'polygons',
  polygons: 'polygons',
  rays: 'hits',
  capsules: 'polygons',
  boxes: 'polygons',
  distances: 'polygons',
  contacts: 'contacts',
  sweeps: 'hits',
  arcs: 'hits',
  sights: 'isVisible',
  fans: 'beams',
  slides: 'path',
  bounces: 'path',
  rayBounces: 'path',
  areas: 'pieces',
};

function typeScriptValue(value: Value): string {
  if (Array.isArray(value)) return `[${value.map((entry) => (Number.isFinite(entry) ? entry : 'Infinity')).join(', ')}]`;
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function typeScriptShape(shape: ShapeSpec): string {
  if (shape.kind === 'polygon') return `[[${shape.points.map(([x, y]) => `[${x}, ${y}]`).join(', ')}]]`;
  const { ax, ay, bx, by, radius } = shape;
  return `capsule(${[ax, ay, bx, by, radius].join(', ')})`;
}

function typeScriptText({ kind, given, shape }: Question, scene: string, grpc: string): string {
  const members = Object.entries(given).map(([name, value]) => `  ${name}: ${typeScriptValue(value)},`);
  if (shape) members.unshift(`  shapes: ${typeScriptShape(shape)},`);
  const method = METHODS[kind].replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [
    "import { connect } from '@carom/client';",
    ...(shape?.kind === 'capsule' ? ["import { capsule } from '@carom/core/questions';"] : []),
    '',
    `const client = connect('${grpc}');`,
    `const answer = await client.scene('${scene}').${method}({`,
    ...members,
    '});',
    `console.log(answer.${READERS[kind]}(0));`,
    'client.close();',
  ].join('\n');
}

// --- Go, by the code that protoc makes --------------------------------------------------------

const ENUMS: Record<string, string> = { mode: 'CastMode', insidePolicy: 'InsidePolicy', detail: 'OverlapDetail' };

const GO_TYPES: Record<string, string> = {
  segments: 'SegmentCasts',
  points: 'PointLocations',
  circles: 'CircleOverlaps',
  polygons: 'PolygonOverlaps',
  rays: 'RayCasts',
  capsules: 'CapsuleOverlaps',
  boxes: 'BoxOverlaps',
  distances: 'DistanceQueries',
  contacts: 'ContactQueries',
  sweeps: 'Sweeps',
  arcs: 'ArcCasts',
  sights: 'Sights',
  fans: 'Fans',
  slides: 'Slides',
  bounces: 'Bounces',
  rayBounces: 'RayBounces',
  areas: 'Areas',
};

function goList(values: readonly number[], type = 'float64'): string {
  return `[]${type}{${values.map((value) => (Number.isFinite(value) ? value : 'math.Inf(1)')).join(', ')}}`;
}

function goValue(kind: string, name: string, value: Value): string {
  if (Array.isArray(value)) {
    return goList(value, name === 'beams' || (name === 'maxBounces' && kind === 'rayBounces') ? 'uint32' : 'float64');
  }
  if (typeof value === 'string') {
    const type = kind === 'distances' && name === 'mode' ? 'DistanceMode' : ENUMS[name];
    return `pb.${type}_${snake(type).slice(1).toUpperCase()}_${value.toUpperCase()}`;
  }
  return String(value);
}

function goShape(shape: ShapeSpec): string {
  if (shape.kind === 'polygon') {
    const ring = `{X: ${goList(shape.points.map(([x]) => x))}, Y: ${goList(shape.points.map(([, y]) => y))}}`;
    return `&pb.Polygon{Rings: []*pb.Ring{${ring}}}`;
  }
  const { ax, ay, bx, by, radius } = shape;
  return `&pb.Capsule{Ax: ${ax}, Ay: ${ay}, Bx: ${bx}, By: ${by}, Radius: ${radius}}`;
}

function goText(question: Question, scene: string, grpc: string): string {
  const members: string[] = [];
  const placed: string[] = [];
  for (const [name, value] of Object.entries(question.given)) {
    const isPlace = question.shape && question.kind !== 'polygons' && ['x', 'y'].includes(name);
    (isPlace ? placed : members).push(`${pascal(name)}: ${goValue(question.kind, name, value)}`);
  }
  if (question.shape && question.kind === 'polygons') {
    members.unshift(`Shapes: []*pb.Polygon{${goShape(question.shape)}}`);
  } else if (question.shape) {
    const kind = question.shape.kind === 'polygon' ? 'Polygon' : 'Capsule';
    const one = `{Kind: &pb.Shape_${kind}{${kind}: ${goShape(question.shape)}}}`;
    members.unshift(`Movers: &pb.PlacedShapes{Shapes: []*pb.Shape{${one}}, ${placed.join(', ')}}`);
  }
  return [
    `conn, err := grpc.NewClient("${grpc}", grpc.WithTransportCredentials(insecure.NewCredentials()))`,
    'if err != nil {',
    '\tlog.Fatal(err)',
    '}',
    'answer, err := pb.NewQueryServiceClient(conn).Evaluate(ctx, &pb.EvaluateRequest{Frame: &pb.Frame{',
    '\tGroups: []*pb.Group{{',
    `\t\tTarget: &pb.Group_Scene{Scene: ${JSON.stringify(scene)}},`,
    `\t\t${pascal(question.kind)}: &pb.${GO_TYPES[question.kind]}{`,
    ...members.map((line) => `\t\t\t${line},`),
    '\t\t},',
    '\t}},',
    '}})',
  ].join('\n');
}

/** The program text that asks the question of the scene; `server` is the address of the page, `grpc` that for gRPC. */
export function codeFor(
  language: Language,
  question: Question,
  scene: string,
  server: string,
): string {
  const grpc = `${server.replace(/^https?:\/\//, '').replace(/:\d+$/, '')}:7420`;
  switch (language) {
    case 'json':
      return jsonText(question);
    case 'curl':
      return curlText(question, scene, server);
    case 'python':
      return pythonText(question, scene, grpc);
    case 'typescript':
      return typeScriptText(question, scene, grpc);
    case 'go':
      return goText(question, scene, grpc);
    case 'cpp':
      return cppText(question, scene, grpc);
  }
}
