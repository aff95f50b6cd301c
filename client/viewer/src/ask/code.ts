// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which program asks the question that is on the screen? Text to copy, in four languages and as JSON.
import { cppText } from './code_cpp';
import { goText } from './code_go';
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
const number = (value: number, infinity: string): string =>
  Number.isFinite(value) ? String(value) : `${value < 0 ? '-' : ''}${infinity}`;
/** A string of TypeScript in single quotes. */
const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

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
  if (Array.isArray(value)) return `[${value.map((entry) => number(entry, 'float("inf")')).join(', ')}]`;
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
    `# ${NOTE}`,
    `ADDRESS = ${JSON.stringify(grpc)}`,
    '',
    'client = carom.Client(ADDRESS)',
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
  if (Array.isArray(value)) return `[${value.map((entry) => number(entry, 'Infinity')).join(', ')}]`;
  return typeof value === 'string' ? quoted(value) : String(value);
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
    `// ${NOTE}`,
    `const ADDRESS = ${quoted(grpc)};`,
    '',
    'const client = connect(ADDRESS);',
    `const answer = await client.scene(${quoted(scene)}).${method}({`,
    ...members,
    '});',
    `console.log(answer.${READERS[kind]}(0));`,
    'client.close();',
  ].join('\n');
}

/** What the line with the address says: the page knows the port that serves it, not the one for gRPC. */
const NOTE = "The address of caromd's gRPC port, which it prints at its start: `caromd listening on HOST:PORT`.";

/** The program text that asks the question of the scene; `server` is the address of the page. */
export function codeFor(
  language: Language,
  question: Question,
  scene: string,
  server: string,
): string {
  const grpc = `${server.replace(/^https?:\/\//, '').replace(/:\d+$/, '')}:PORT`;
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
      return goText(question, scene, grpc, NOTE);
    case 'cpp':
      return cppText(question, scene, grpc, NOTE);
  }
}
