// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a question written as JSON? As the group of a frame, by protobuf's rules, which `curl` sends to
// QueryService/Evaluate and /Explain; and where `carom eval` has the question, as its line.
import type { Question, ShapeSpec, Value } from './question';

// What stands before the words of an option, by the name of the option.
const PREFIXES: Record<string, string> = {
  mode: 'CAST_MODE_',
  insidePolicy: 'INSIDE_POLICY_',
  detail: 'OVERLAP_DETAIL_',
};

/** Members of the placed shapes of a batch. */
const PLACES: ReadonlySet<string> = new Set(['x', 'y', 'c', 's', 'angle']);

export function shapeJson(shape: ShapeSpec): object {
  if (shape.kind === 'capsule') {
    const { ax, ay, bx, by, radius } = shape;
    return { capsule: { ax, ay, bx, by, radius } };
  }
  return {
    polygon: { rings: [{ x: shape.points.map(([x]) => x), y: shape.points.map(([, y]) => y) }] },
  };
}

function jsonValue(kind: string, name: string, value: Value): unknown {
  if (typeof value === 'string' && name in PREFIXES) {
    const prefix = kind === 'distances' ? 'DISTANCE_MODE_' : PREFIXES[name];
    return prefix + value.toUpperCase();
  }
  if (Array.isArray(value)) return value.map((entry) => (Number.isFinite(entry) ? entry : String(entry)));
  return value;
}

/** The member of a Group that asks the question, such as `{segments: {ax: [0], …}}`. */
export function groupJson({ kind, given, shape }: Question): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  const placed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const target = shape && kind !== 'polygons' && PLACES.has(name) ? placed : members;
    target[name] = jsonValue(kind, name, value);
  }
  if (shape && kind === 'polygons') {
    members.shapes = [(shapeJson(shape) as { polygon: object }).polygon];
  } else if (shape) {
    members.movers = { shapes: [shapeJson(shape)], ...placed };
  }
  return { [kind]: members };
}

function first(question: Question, name: string): number {
  const value = question.given[name];
  return Array.isArray(value) ? value[0] : (value as number);
}

// The words of `carom eval` for `inside`.
const INSIDE: Record<string, string> = { report_start: 'report' };

function evalShape(shape: ShapeSpec): object {
  if (shape.kind === 'polygon') return { rings: [shape.points] };
  return { circle: shape.radius };
}

function placedRing(question: Question): [number, number][] {
  const [x, y] = [first(question, 'x'), first(question, 'y')];
  const shape = question.shape as ShapeSpec & { kind: 'polygon' };
  return shape.points.map(([u, v]) => [u + x, v + y]);
}

/** The line of `carom eval` that asks the question, or null where `carom eval` has no such question. */
export function evalLine(question: Question): Record<string, unknown> | null {
  const at = (name: string): number => first(question, name);
  const { given, shape, kind } = question;
  const inside = given.insidePolicy as string | undefined;
  const policy = inside ? { inside: INSIDE[inside] ?? inside } : {};
  const round = shape?.kind === 'capsule' && (shape.ax !== shape.bx || shape.ay !== shape.by);
  switch (kind) {
    case 'points':
      return { op: 'point', p: [at('x'), at('y')] };
    case 'segments':
      return { op: 'segment', a: [at('ax'), at('ay')], b: [at('bx'), at('by')], ...policy };
    case 'bounces':
      return {
        op: 'bounce',
        a: [at('ax'), at('ay')],
        b: [at('bx'), at('by')],
        ...(given.maxBounces ? { max_bounces: given.maxBounces } : {}),
      };
    case 'rayBounces':
      return {
        op: 'ray_bounce',
        p: [at('x'), at('y')],
        d: [at('dx'), at('dy')],
        ...(given.tMax ? { t_max: at('tMax') } : {}),
        ...(given.maxBounces ? { max_bounces: at('maxBounces') } : {}),
      };
    case 'areas':
      return {
        op: 'area',
        p: [at('x'), at('y')],
        r: at('range'),
        ...(given.from ? { cone: [at('from'), at('to')] } : {}),
        ...policy,
      };
    case 'circles':
      return { op: 'circle', c: [at('x'), at('y')], r: at('radius') };
    case 'polygons':
      return { op: 'polygon', rings: [placedRing(question)] };
    case 'distances':
      return shape?.kind === 'polygon' ? { op: 'distance', rings: [placedRing(question)] } : null;
    case 'contacts':
      return shape?.kind === 'polygon' ? { op: 'contact', rings: [placedRing(question)] } : null;
    case 'sweeps':
      if (round) return null;
      return {
        op: 'sweep',
        shape: evalShape(shape as ShapeSpec),
        at: [at('x'), at('y')],
        d: [at('dx'), at('dy')],
        ...policy,
        ...(given.skin ? { skin: at('skin') } : {}),
      };
    case 'slides':
      if (round) return null;
      return {
        op: 'slide',
        shape: evalShape(shape as ShapeSpec),
        at: [at('x'), at('y')],
        d: [[at('dx'), at('dy')]],
        ...(given.maxContacts ? { max_contacts: given.maxContacts } : {}),
        ...(given.skin ? { skin: at('skin') } : {}),
      };
    default:
      return null;
  }
}
