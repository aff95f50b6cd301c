#!/usr/bin/env node
// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes the modules of @carom/core that follow from carom_abi.json, the description of carom.h.
//
//     generate.mjs [carom_abi.json [FOLDER]]
//
// `answers.ts` has a class for each struct of answers, `questions.ts` a function and a description for each kind of
// question, `asking.ts` these functions as methods, of a scene that answers at once and of one that is awaited, and
// `layout.ts` the other structs. What only JavaScript needs, the names of methods and of entries, is in the tables
// KINDS and ANSWERS.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const BANNER =
  '// SPDX-FileCopyrightText: The Carom authors\n// SPDX-License-Identifier: Apache-2.0\n' +
  '// Written by generate.mjs from carom_abi.json.\n';

// The method of a scene, and what it does.
const KINDS = {
  SEGMENTS: ['cast', 'Casts segments from a to b'],
  POINTS: ['locate', 'Finds the polygons that contain points'],
  CIRCLES: ['overlapCircles', 'Finds the polygons that discs touch'],
  POLYGONS: ['overlap', 'Finds the polygons that placed polygons touch'],
  RAYS: ['rays', 'Casts rays from (x, y) in the direction (dx, dy)'],
  CAPSULES: ['overlapCapsules', 'Finds the polygons that capsules touch'],
  BOXES: ['overlapBoxes', 'Finds the polygons that boxes touch'],
  DISTANCES: ['nearest', 'Measures how far shapes are from the nearest polygons'],
  CONTACTS: ['contacts', 'Finds where and how deep shapes and polygons meet'],
  DEPENETRATIONS: ['depenetrate', 'Moves shapes out of the polygons in which they are'],
  SWEEPS: ['sweep', 'Finds what shapes hit that move straight, by (dx, dy) or to (toX, toY)'],
  ROTATING_SWEEPS: ['sweepRotating', 'Finds what shapes hit that turn while they move'],
  ARCS: ['arcs', 'Casts points on parabolas, such as grenades'],
  SIGHTS: ['sights', 'Tests whether the points a and b see each other'],
  FANS: ['fans', 'Casts fans of beams, the scans of a lidar'],
  MOVES: ['move', 'Moves trackers, and finds the polygons that they touch'],
  SLIDES: ['slide', 'Moves shapes that slide along what they meet'],
  BOUNCES: ['bounce', 'Follows segments that are reflected at what they meet'],
  BODY_CONTACTS: ['bodyContacts', 'Finds where and how deep bodies meet each other'],
  RAY_BOUNCES: ['bounceRays', 'Follows rays that are reflected at what they meet'],
  AREAS: ['areas', 'Finds the areas that are visible from points'],
  SEES: ['sees', 'Finds which bodies observers see, behind the polygons of the scene'],
};

// The class of answers, what it is, the type of an entry, and the methods that return all entries of an item and the
// first one. `maybe` matches columns that some questions leave empty.
const ANSWERS = {
  carom_cast_answers: {
    name: 'Hits', doc: 'Hits of segments or rays: one entry a hit', entry: 'Hit', all: 'hits', first: 'hit',
    maybe: /^reflection/,
  },
  carom_locate_answers: {
    name: 'Locations', doc: 'Polygons that contain points: one entry a polygon',
    entry: 'LocatedPolygon', all: 'polygons', first: 'polygon',
  },
  carom_overlap_answers: {
    name: 'Overlaps', doc: 'Polygons that shapes touch: one entry a polygon',
    entry: 'OverlapEntry', all: 'polygons', first: 'polygon', maybe: /^touching/,
  },
  carom_distance_answers: {
    name: 'Distances', doc: 'Polygons near shapes: one entry a polygon',
    entry: 'DistanceEntry', all: 'polygons', first: 'polygon', maybe: /^(distance|point|mover)/,
  },
  carom_contact_answers: {
    name: 'Contacts', doc: 'Contacts of shapes: one entry a polygon or body',
    entry: 'Contact', all: 'contacts', first: 'contact', maybe: /split/,
  },
  carom_depenetrate_answers: {
    name: 'Depenetrations', doc: 'Where shapes are free: one entry an item', entry: 'Depenetration', item: 'end',
  },
  carom_sweep_answers: {
    name: 'SweepHits', doc: 'Hits of shapes that move straight: one entry a hit',
    entry: 'SweepHit', all: 'hits', first: 'hit', itemEntry: 'SafePose', item: 'safe',
  },
  carom_rotating_sweep_answers: {
    name: 'RotatingSweepHits', doc: 'First hits of shapes that turn: one entry a hit',
    entry: 'RotatingSweepHit', all: 'hits', first: 'hit',
  },
  carom_arc_answers: {
    name: 'ArcHits', doc: 'Hits of arcs: one entry a hit', entry: 'ArcHit', all: 'hits', first: 'hit',
  },
  carom_sight_answers: { name: 'Sights', doc: 'Which points see each other: one entry an item' },
  carom_fan_answers: {
    name: 'Scans', doc: 'Distances that beams reach: one entry a beam', entry: 'Beam', all: 'beams', first: 'beam',
  },
  carom_move_answers: {
    name: 'Moves', doc: 'Polygons that trackers touch: one entry a polygon',
    entry: 'MoveOverlap', all: 'polygons', first: 'polygon',
  },
  carom_slide_answers: {
    name: 'Slides', doc: 'Where shapes slide to: one entry a leg in the columns of legs',
    entry: 'SlideLeg', all: 'path', itemEntry: 'SlideEnd', item: 'end',
  },
  carom_bounce_answers: {
    name: 'Bounces', doc: 'Legs of segments that bounce: one entry a leg', entry: 'BounceLeg', all: 'path',
  },
  carom_ray_bounce_answers: {
    name: 'RayBounces', doc: 'Legs of rays that bounce: one entry a leg', entry: 'RayBounceLeg', all: 'path',
  },
  carom_area_answers: {
    name: 'Areas', doc: 'Boundaries of visible areas: one entry a piece', entry: 'AreaPiece', all: 'pieces',
    itemEntry: 'SeenArea', item: 'seen', itemDoc: 'The size of the area of an item, and whether something contains the eye.',
    truncated: 'Whether an item has more pieces than maxRows.',
  },
  carom_see_answers: { name: 'Seen', doc: 'Which bodies observers see: bits of bodies for each item' },
};

// Classes of answers whose bits need more than columns.
const BASES = { carom_move_answers: 'MoveAnswers', carom_see_answers: 'SeeAnswers' };

const ARRAYS = { f64: 'Float64Array', u64: 'BigUint64Array', u32: 'Uint32Array', u8: 'Uint8Array' };
const ACCEPTED = { f64: 'Numbers', u64: 'Longs', u32: 'Integers', u8: 'Flags' };
const SCALARS = { uint32_t: 'u32', uint64_t: 'u64', double: 'f64', size_t: 'u32' };
// What the modules do not export, for lack of room: native/build.py.
const NOT_EXPORTED = 'carom_body_history_';
const FLAG_OPTIONS = new Set(['reflect', 'quiet_radii', 'soft_length']);

const camel = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`_${name.replace(/^carom_/, '')}`);

function fail(message) {
  throw new Error(`generate.mjs: ${message}`);
}

/** A struct, with those inside of it: columns, numbers and pointers with their offsets in wasm32. */
function walk(api, struct, prefix = '', offset = 0) {
  const found = { columns: [], options: [], pointers: [] };
  for (const member of struct.fields) {
    const path = prefix + member.name;
    const at = offset + member.offset32;
    const column = /^carom_(f64|u64|u32|u8)_column$/.exec(member.type);
    const about = { path, name: camel(member.name), offset: at, enum: member.enum || '', doc: member.doc };
    if (column) {
      found.columns.push({ ...about, type: column[1], optional: member.optional, unit: member.unit, where: member.where });
    } else if (api.structOf[member.type]) {
      const inner = walk(api, api.structOf[member.type], `${path}.`, at);
      for (const list of Object.keys(found)) found[list].push(...inner[list]);
    } else if (member.type.endsWith('*')) {
      found.pointers.push(about);
    } else if (SCALARS[member.type]) {
      if (member.name !== 'struct_size' && !member.name.startsWith('reserved')) {
        found.options.push({ ...about, type: SCALARS[member.type] });
      }
    } else if (!member.count) {
      fail(`the type ${member.type} of ${path} is not known`);
    }
  }
  return found;
}

function wordsOf(enumeration) {
  const prefix = `${enumeration.name.toUpperCase()}_`;
  return enumeration.values.map((value) => [value.name.replace(prefix, '').toLowerCase(), value.value]);
}

const unionOf = (enumeration) => wordsOf(enumeration).map(([word]) => `'${word}'`).join(' | ');

/** A comment, in lines of at most 120 characters. */
function comment(text, indent = '') {
  const words = text.trim().split(/\s+/);
  if (text.length + indent.length <= 110) return `${indent}/** ${text.trim()} */\n`;
  let out = `${indent}/**\n`;
  let line = '';
  for (const word of words) {
    if (line.length + word.length + indent.length > 112) {
      out += `${indent} *${line}\n`;
      line = '';
    }
    line += ` ${word}`;
  }
  return `${out}${indent} *${line}\n${indent} */\n`;
}

/** The comment of a member, without what only C needs. */
function tidy(doc) {
  return doc
    .replace(/\ba carom_\w+,? ?/, '')
    .replace(/; 0: (\d+)/, '; absent: $1')
    .replace(/ 0 here: nothing/, '')
    .replace(/1: fills/, 'whether to fill')
    .replace(/\bempty\b/g, 'absent')
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => camel(name))
    .replace(/^[; ]+|[; ]+$/g, '');
}

/** What a row of a column of answers belongs to. */
function levelOf(struct, columns, column) {
  const { path, doc } = column;
  if (path.startsWith('error_') || ['truncated', 'stuck', 'clear'].includes(path)) return 'list';
  if (struct === 'carom_move_answers' && (path === 'counts' || path.startsWith('touch'))) return 'unclear';
  if (struct === 'carom_see_answers' && path === 'seen') return 'word';
  if (['carom_sight_answers', 'carom_depenetrate_answers'].includes(struct) || doc.includes('one an item')) return 'item';
  if (['ring', 'edge'].includes(path) && columns.some((other) => other.path === 'edge_counts')) return 'edge';
  return 'entry';
}

// --- answers.ts -----------------------------------------------------------------------------------

/** The TypeScript of one property of an entry: its type, and the expression that reads it at `k`. */
function property(api, column, about, columns) {
  const array = `this.${column.name}`;
  let type = column.type === 'u64' ? 'bigint' : 'number';
  let read = `${array}[k] as ${type}`;
  if (column.type === 'u8') {
    type = column.enum ? pascal(column.enum) : 'boolean';
    read = column.enum ? `${camel(column.enum.replace(/^carom_/, ''))}Of(${array}[k])` : `${array}[k] === 1`;
  }
  const where = columns.find((other) => other.path === column.where);
  const isSecond = column.path.startsWith('second_'); // the second point of a contact, if it has two
  const nullable = isSecond || where !== undefined || (about.maybe?.test(column.path) ?? false);
  if (isSecond) read = `this.pointCounts[k] === 2 ? (${read}) : null`;
  else if (nullable && where !== undefined) read = `this.${where.name}[k] ? (${read}) : null`;
  else if (nullable) read = `${array}.length > 0 ? (${read}) : null`;
  const unit = column.unit && column.unit !== '1' ? `[${column.unit}] ` : '';
  const none = isSecond ? 'null where pointCounts is 1' : where ? `null where ${where.name} is ${where.enum ? 'none' : 'false'}` : '';
  const doc = [unit + tidy(column.doc), none].filter((part) => part.trim()).join('; ');
  return { name: column.name, type: nullable ? `${type} | null` : type, read, doc };
}

function entryInterface(name, doc, properties) {
  const lines = properties.map((each) => (each.doc ? comment(each.doc, '  ') : '') + `  ${each.name}: ${each.type};\n`);
  return `\n${comment(doc)}export interface ${name} {\n${lines.join('')}}\n`;
}

const literal = (properties) => properties.map((each) => `      ${each.name}: ${each.read},\n`).join('');

function answersClass(api, struct) {
  const about = ANSWERS[struct];
  const { columns, options } = walk(api, api.structOf[struct]);
  const is = (level) => columns.filter((column) => levelOf(struct, columns, column) === level);
  const skip = new Set(['counts', 'edge_counts', 'quiet_radius', 'legs']);
  const make = (list) => list.filter((c) => !skip.has(c.path)).map((c) => property(api, c, about, columns));
  const entries = make(is('entry'));
  if (is('edge').length > 0) {
    entries.push({
      name: 'edges', type: 'EdgeOfPolygon[]', doc: 'with the detail edges only',
      read: 'this.edgesOf(this.edgeCounts, this.ring, this.edge, k)',
    });
  }
  const items = make(is('item'));
  let out = '';
  let body = '';
  if (about.all) {
    out += entryInterface(about.entry, about.doc, entries);
    body += `\n  private entry(k: number): ${about.entry} {\n    return {\n${literal(entries)}    };\n  }\n`;
    body += `\n${comment('The entries of an item.', '  ')}  ${about.all}(item: number): ${about.entry}[] {\n    return this.list(item, (k) => this.entry(k));\n  }\n`;
    if (about.first) {
      body += `\n${comment('The first entry of an item; null if it has none.', '  ')}  ${about.first}(item: number): ${about.entry} | null {\n    return this.first(item, (k) => this.entry(k));\n  }\n`;
    }
  }
  if (about.item) {
    const name = about.itemEntry ?? about.entry;
    out += entryInterface(name, `What ${about.name} have for each item.`, items);
    const empty = about.item === 'safe';
    const guard = empty ? `    if (this.${items[0].name}.length === 0) return null;\n` : '';
    const doc = empty
      ? 'Where a blocked shape stops; null unless the policy is a blocking one.'
      : (about.itemDoc ?? 'The end of an item.');
    body += `\n${comment(doc, '  ')}  ${about.item}(item: number): ${name}${empty ? ' | null' : ''} {\n    this.checkItem(item);\n${guard}    const k = item;\n    return {\n${literal(items)}    };\n  }\n`;
  }
  if (struct === 'carom_sight_answers') {
    body += `\n${comment('Whether the points of an item see each other.', '  ')}  isVisible(item: number): boolean {\n    this.checkItem(item);\n    return this.visible[item] === 1;\n  }\n`;
  }
  for (const [path, method, doc] of [
    ['truncated', 'isTruncated', about.truncated ?? 'Whether an item has more hits than maxHits.'],
    ['stuck', 'isStuck', 'Whether no next leg could start.'],
  ]) {
    if (columns.some((column) => column.path === path)) {
      body += `\n${comment(doc, '  ')}  ${method}(item: number): boolean {\n    return this.lists(this.${path}, item);\n  }\n`;
    }
  }
  if (struct === 'carom_move_answers') {
    const touch = make(is('unclear').filter((column) => column.path.startsWith('touch_')));
    for (const each of touch) {
      each.name = each.name.replace(/^touch(\w)/, (_, letter) => letter.toLowerCase());
      each.type = each.type.replace(/ \| null/, ''); // of the entries, only those with `touches`
      each.read = each.read.replace(/^this\.touches\[k\] \? \((.*)\) : null$/, '$1');
      if (/touchHasEdge\[k\] \?/.test(each.read)) each.type += ' | null';
    }
    out += entryInterface('Touch', 'The first polygon that a sweep of a tracker touches.', touch);
    body += `\n${comment('The first polygon that an item touches on its way; null for none, and without fromX.', '  ')}  touch(item: number): Touch | null {\n    if (this.isClear(item) || this.touches.length === 0) return null;\n    const k = this.place(item);\n    if (this.touches[k] !== 1) return null;\n    return {\n${literal(touch)}    };\n  }\n`;
  }
  const counter = columns.find((column) => ['counts', 'legs'].includes(column.path));
  const base = BASES[struct] ?? 'Answers';
  const index = (path) => columns.findIndex((column) => column.path === path);
  out += `\n${comment(`${about.doc}.`)}export class ${about.name} extends ${base} {\n`;
  out += `  protected override readonly specs = specs.${about.name};\n`;
  out += `  protected override readonly errorColumns = [${['error_index', 'error_column', 'error_fault'].map(index).join(', ')}] as const;\n`;
  if (counter && base !== 'MoveAnswers') {
    out += `\n  protected override entryCounts(): ArrayLike<number> {\n    return this.${counter.name};\n  }\n`;
  }
  columns.forEach((column, i) => {
    if (column.path.startsWith('error_')) return;
    const unit = column.unit && column.unit !== '1' ? `[${column.unit}] ` : '';
    const doc = `${unit}${tidy(column.doc)}${column.where ? `; no meaning where ${camel(column.where)} is 0` : ''}`;
    const text = doc.trim() ? comment(doc.replace(/^; /, ''), '  ') : '';
    out += `\n${text}  get ${column.name}(): ${ARRAYS[column.type]} {\n    return this.column(${i}) as ${ARRAYS[column.type]};\n  }\n`;
  });
  for (const option of options) {
    out += `\n${comment(tidy(option.doc) || 'number of such moves', '  ')}  get ${option.name}(): bigint {\n    return this.number('${option.path}');\n  }\n`;
  }
  return `${out}${body}}\n`;
}

function specs(columns) {
  return columns
    .map((c) => `    { path: '${c.path}', name: '${c.name}', type: '${c.type}', offset: ${c.offset}, optional: ${!!c.optional} },\n`)
    .join('');
}

function answersModule(api) {
  let out = `${BANNER}\nimport { Answers, type EdgeOfPolygon, MoveAnswers, SeeAnswers } from '../answers.js';\nimport type { ColumnSpec } from '../question.js';\n`;
  const used = new Set(Object.keys(ANSWERS).flatMap((name) => walk(api, api.structOf[name]).columns.map((c) => c.enum)));
  for (const enumeration of api.enums.filter((each) => used.has(each.name))) {
    const name = pascal(enumeration.name);
    out += `\n${comment(enumeration.doc.replace(/ ?\(carom\/[^)]*\)/g, ''))}export type ${name} = ${unionOf(enumeration)};\n`;
    const words = wordsOf(enumeration);
    const list = Array.from({ length: Math.max(...words.map(([, v]) => v)) + 1 }, (_, v) => words.find(([, n]) => n === v)?.[0] ?? '');
    const lower = camel(enumeration.name.replace('carom_', ''));
    out += `const ${lower}Words = [${list.map((word) => `'${word}'`).join(', ')}] as const;\n`;
    out += `function ${lower}Of(value: number | undefined): ${name} {\n  return ${lower}Words[value ?? 0] as ${name};\n}\n`;
  }
  out += '\nconst specs = {\n';
  for (const [struct, about] of Object.entries(ANSWERS)) {
    out += `  ${about.name}: [\n${specs(walk(api, api.structOf[struct]).columns)}  ] as readonly ColumnSpec[],\n`;
  }
  out += '};\n\n/** The struct of each class of answers: its size, columns, and where the numbers beside them are, in wasm32. */\n';
  out += 'export const ANSWER_LAYOUTS = {\n';
  for (const [struct, about] of Object.entries(ANSWERS)) {
    const numbers = walk(api, api.structOf[struct]).options.map((o) => `${o.path}: ${o.offset}`).join(', ');
    out += `  ${about.name}: { size: ${api.structOf[struct].size32}, columns: specs.${about.name}, numbers: { ${numbers} } },\n`;
  }
  out += '} as const;\n\n/** The columns of each class of answers, in the order of carom.h. */\nexport const ANSWER_COLUMNS: Readonly<Record<string, readonly ColumnSpec[]>> = specs;\n';
  for (const struct of Object.keys(ANSWERS)) out += answersClass(api, struct);
  return out;
}

// --- questions.ts and asking.ts -------------------------------------------------------------------

function optionSpecs(options) {
  const wordsOfEnum = (name) => (name ? `${camel(name.replace('carom_', ''))}Words` : 'null');
  return options
    .map((o) => `      { path: '${o.path}', name: '${o.name}', type: '${o.type}', offset: ${o.offset}, choices: ${wordsOfEnum(o.enum)} },\n`)
    .join('');
}

const argumentsOf = (kind) => `${pascal(kind.name)}Arguments`;
const constantOf = (kind) => `${kind.name}`;
const classOf = (kind) => ANSWERS[kind.answers].name;

function argumentLines(api, kind, layout) {
  const lines = [];
  const add = (name, optional, type, doc) => {
    const union = optional ? ' | undefined' : '';
    lines.push(`${doc.trim() ? comment(doc, '  ') : ''}  ${name}${optional ? '?' : ''}: ${type}${union};\n`);
  };
  if (layout.shapes >= 0) add('shapes', false, 'ShapesLike', 'the shapes, described about (0, 0)');
  for (const column of layout.columns) {
    const unit = column.unit && column.unit !== '1' ? `[${column.unit}] ` : '';
    const isStep = kind.name === 'FANS' && column.path === 'step';
    add(column.name, column.optional || isStep, ACCEPTED[column.type], isStep ? '[radians] angle from a beam to the next one' : unit + tidy(column.doc));
    if (isStep) add('fov', true, 'Numbers', '[radians] angle from the first beam to the last one, in place of step');
  }
  for (const option of layout.options) {
    if (option.enum) {
      const doc = api.enums.find((each) => each.name === option.enum).doc;
      add(option.name, true, pascal(option.enum), doc.replace(/ ?\(carom\/[^)]*\)/g, '').replace(/ 0: /, ' Absent: '));
    } else if (FLAG_OPTIONS.has(option.path)) {
      add(option.name, true, 'boolean', tidy(option.doc));
    } else {
      const type = option.type === 'u64' ? 'number | bigint' : 'number';
      add(option.name, true, type, tidy(option.doc) || 'polygons with (category & mask) != 0 are considered; absent: all');
    }
  }
  return lines.join('');
}

function layoutOf(api, kind) {
  const made = walk(api, api.structOf[kind.question]);
  const shapes = made.pointers.find((pointer) => pointer.path === 'movers.shapes')?.offset ?? -1;
  return { ...made, shapes, size: api.structOf[kind.question].size32 };
}

function questionsModule(api) {
  const kinds = api.kinds.map((kind) => ({ kind, layout: layoutOf(api, kind) }));
  const enums = new Set(kinds.flatMap(({ layout }) => layout.options.map((option) => option.enum)).filter(Boolean));
  let out = `${BANNER}
import type { Integers, Longs, Numbers } from '../columns.js';
import { type Kind, Question, withSteps } from '../question.js';
import type { ShapesLike } from '../shapes.js';
import * as answers from './answers.js';

export const ABI_VERSION = ${api.abi_version};
`;
  for (const enumeration of api.enums.filter((each) => enums.has(each.name))) {
    const doc = enumeration.doc.replace(/ ?\(carom\/[^)]*\)/g, '').replace(/ 0: /, ' Absent: ');
    out += `\n${comment(doc)}export type ${pascal(enumeration.name)} = ${unionOf(enumeration)};\n`;
    const words = wordsOf(enumeration).map(([word, value]) => `${word}: ${value}`).join(', ');
    out += `const ${camel(enumeration.name.replace('carom_', ''))}Words = { ${words} } as const;\n`;
  }
  for (const { kind, layout } of kinds) {
    const [method, doc] = KINDS[kind.name];
    const options = optionSpecs(layout.options);
    out += `\n${comment(`The arguments of \`${camel(kind.name)}\`.`)}export interface ${argumentsOf(kind)} {\n${argumentLines(api, kind, layout)}}\n`;
    out += `\nexport const ${constantOf(kind)}: Kind<answers.${classOf(kind)}> = {\n  name: '${camel(kind.name)}',\n  number: ${kind.number},\n  method: '${method}',\n  function: '${kind.function}',\n  question: {\n    size: ${layout.size},\n    shapes: ${layout.shapes},\n    columns: [\n${specs(layout.columns).replace(/^/gm, '  ').trimEnd()}\n    ],\n    options: [\n${options}    ],\n  },\n  answers: answers.${classOf(kind)},\n  struct: answers.ANSWER_LAYOUTS.${classOf(kind)},\n};\n`;
    const given = kind.name === 'FANS' ? 'withSteps(given)' : 'given';
    out += `\n${comment(`${doc}. Throws a \`CaromError\` for an argument of a wrong type, of unequal length or out of range.`)}export function ${camel(kind.name)}(given: ${argumentsOf(kind)}): Question<answers.${classOf(kind)}> {\n  return new Question(${constantOf(kind)}, ${given});\n}\n`;
  }
  out += `\n/** All kinds of questions, by their names in carom.h. */\nexport const KINDS = { ${api.kinds.map(constantOf).join(', ')} } as const;\n`;
  return out;
}

function askingModule(api) {
  let out = `${BANNER}\nimport type { Answers } from '../answers.js';\nimport type { Question } from '../question.js';\nimport type * as answers from './answers.js';\nimport * as questions from './questions.js';\n`;
  for (const [name, doc, wrap, generic] of [
    ['Asker', 'Answers questions at once.', (type) => type, 'out?: A'],
    ['AsyncAsker', 'Answers questions that are awaited. `O` are the options of a call.', (type) => `Promise<${type}>`, 'options?: O'],
  ]) {
    const parameters = name === 'Asker' ? '' : '<O = unknown>';
    out += `\n${comment(doc)}export abstract class ${name}${parameters} {\n`;
    const about = name === 'Asker' ? 'Answers a question. `out` are answers of the same class, which are replaced and returned.' : 'Answers a question.';
    out += `${comment(about, '  ')}  abstract ask<A extends Answers>(question: Question<A>, ${generic}): ${wrap('A')};\n`;
    for (const kind of api.kinds) {
      const [method, does] = KINDS[kind.name];
      const type = `answers.${classOf(kind)}`;
      const extra = name === 'Asker' ? `out?: ${type}` : 'options?: O';
      const pass = name === 'Asker' ? 'out' : 'options';
      out += `\n${comment(`${does}.`, '  ')}  ${method}(given: questions.${argumentsOf(kind)}, ${extra}): ${wrap(type)} {\n    return this.ask(questions.${camel(kind.name)}(given), ${pass});\n  }\n`;
    }
    out += '}\n';
  }
  return out;
}

// --- layout.ts ------------------------------------------------------------------------------------

function layoutModule(api) {
  let out = `${BANNER}\nimport type { Integers, Longs, Numbers } from '../columns.js';\nimport type { Description } from '../question.js';\nimport type { ShapesLike } from '../shapes.js';\n\n/** The structs of carom.h that are no questions and no answers, in wasm32: a column or number by its path. */\nexport const STRUCTS = {\n`;
  for (const name of ['carom_status', 'carom_polygons', 'carom_limits', 'carom_capsules', 'carom_edits', 'carom_body_columns', 'carom_tracker_definitions', 'carom_answer_limits', 'carom_batch', 'carom_world', 'carom_picture', 'carom_polygon', 'carom_ring', 'carom_box']) {
    const struct = api.structOf[name];
    const offsets = struct.fields.filter((member) => member.count).map((member) => [member.name, member.offset32]);
    const made = walk(api, struct);
    for (const member of [...made.columns, ...made.options, ...made.pointers]) offsets.push([member.path, member.offset]);
    const text = offsets.map(([path, at]) => `'${path}': ${at}`).join(', ');
    out += `  ${name}: { size: ${struct.size32}, grows: ${struct.grows}, at: { ${text} } },\n`;
  }
  out += `} as const;\n\n/** What bodies and trackers are described by, as the arguments of questions are. */\n`;
  for (const [name, constant, text] of [
    ['carom_body_columns', 'BODIES', 'bodies'],
    ['carom_tracker_definitions', 'TRACKERS', 'trackers'],
  ]) {
    const made = walk(api, api.structOf[name]);
    const shapes = made.pointers.find((pointer) => pointer.path.endsWith('shapes')).offset;
    out += `export const ${constant}: Description = {\n  name: '${text}',\n  question: {\n    size: ${api.structOf[name].size32},\n    shapes: ${shapes},\n    columns: [\n${specs(made.columns).replace(/^/gm, '  ').trimEnd()}\n    ],\n    options: [\n${optionSpecs(made.options)}    ],\n  },\n};\n\n`;
    out += `${comment(`The arguments of ${text}.`)}export interface ${pascal(text)}Arguments {\n${argumentLines(api, { name }, { ...made, shapes })}}\n\n`;
  }
  out += `/** The functions that a module exports. */\nexport const FUNCTIONS = [\n`;
  for (const { name } of api.functions) if (!name.startsWith(NOT_EXPORTED)) out += `  '${name}',\n`;
  return `${out}] as const;\n`;
}

const abi = process.argv[2] ?? join(HERE, '../../core/abi/carom_abi.json');
const folder = process.argv[3] ?? join(HERE, 'core/src/generated');
const api = JSON.parse(readFileSync(abi, 'utf8'));
api.structOf = Object.fromEntries(
  api.structs.filter((struct) => !struct.name.endsWith('_column')).map((struct) => [struct.name, struct]),
);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries({
  'answers.ts': answersModule(api),
  'questions.ts': questionsModule(api),
  'asking.ts': askingModule(api),
  'layout.ts': layoutModule(api),
})) {
  const path = join(folder, name);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}
