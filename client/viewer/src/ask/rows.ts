// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does an answer say, line by line? Text for people, with the polygons and edges that each line names.
import { short } from './figures';
import { type Answer, ids, type Kind, numbers, PIECE_ARC, PIECE_EDGE, type Question } from './question';

export interface Row {
  /** What the line is about: a polygon, or a part of the answer. */
  name: string;
  /** The edge, or how the polygon is met. */
  where: string;
  /** Numbers with all their digits. */
  text: string;
  ids: bigint[];
  edges: { id: bigint; ring: number; edge: number }[];
}

interface Said {
  summary: string;
  rows: Row[];
}

const plain = (name: string, text: string): Row => ({ name, where: '', text, ids: [], edges: [] });

/** An entry that names a polygon, and the edge of the polygon where there is one. */
function named(answer: Answer, i: number, text: string, hasEdge = true): Row {
  const id = ids(answer)[i];
  const [ring, edge] = [numbers(answer, 'ring')[i], numbers(answer, 'edge')[i]];
  const withEdge = hasEdge && ring !== undefined;
  return {
    name: `polygon ${id}`,
    where: withEdge ? `ring ${ring}, edge ${edge}` : '',
    text,
    ids: [id],
    edges: withEdge ? [{ id, ring, edge }] : [],
  };
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

function casts(answer: Answer): Said {
  const fraction = numbers(answer, 'fraction');
  const [exit, starts, ends] = ['exitFraction', 'startsInside', 'endsInside'].map((name) => numbers(answer, name));
  const feature = numbers(answer, 'feature');
  const rows = fraction.map((t, i) =>
    named(
      answer,
      i,
      `${starts[i] ? 'starts inside' : `enters at ${t}`}, ${ends[i] ? 'ends inside' : `leaves at ${exit[i]}`}`,
      feature[i] !== 0,
    ),
  );
  return { summary: rows.length > 0 ? count(rows.length, 'hit') : 'No hit', rows };
}

function paths(answer: Answer): Said {
  const hit = numbers(answer, 'hasHit');
  const fraction = numbers(answer, 'fraction');
  const rows = hit.map((isHit, i) =>
    isHit ? named(answer, i, `leg ${i + 1}, at ${fraction[i]}`) : plain('free', `leg ${i + 1}`),
  );
  const hits = hit.filter(Boolean).length;
  const stuck = (answer.columns.stuck ?? []).length > 0 ? ', then stuck' : '';
  return { summary: `${count(hit.length, 'leg')}, ${count(hits, 'hit')}${stuck}`, rows };
}

function arcs(answer: Answer): Said {
  const hasEdge = numbers(answer, 'hasEdge');
  const starts = numbers(answer, 'startsInside');
  const rows = numbers(answer, 'time').map((time, i) =>
    named(answer, i, starts[i] ? 'starts inside' : `time ${time}`, Boolean(hasEdge[i])),
  );
  return { summary: rows.length > 0 ? count(rows.length, 'hit') : 'No hit', rows };
}

function fans(answer: Answer): Said {
  const hit = numbers(answer, 'hits');
  const distances = numbers(answer, 'distances');
  const hits = hit.filter(Boolean).length;
  const least = distances.reduce((a, b) => Math.min(a, b), Infinity);
  const rows = distances
    .map((distance, k) =>
      hit[k]
        ? { ...plain(`polygon ${ids(answer)[k]}`, `beam ${k}, at ${distance}`), ids: [ids(answer)[k]] }
        : plain('free', `beam ${k}`),
    )
    .slice(0, 200);
  return { summary: `${count(distances.length, 'beam')}, ${count(hits, 'hit')}, nearest ${short(least)}`, rows };
}

function overlaps(answer: Answer): Said {
  const touching = numbers(answer, 'touching');
  const counts = numbers(answer, 'edgeCounts');
  const [ring, edge] = [numbers(answer, 'ring'), numbers(answer, 'edge')];
  let at = 0;
  const rows = ids(answer).map((id, i): Row => {
    const edges = [];
    for (let k = 0; k < (counts[i] ?? 0); ++k, ++at) edges.push({ id, ring: ring[at], edge: edge[at] });
    const names = edges.slice(0, 8).map((e) => `${e.ring}.${e.edge}`);
    const more = edges.length > 8 ? ` and ${edges.length - 8} more` : '';
    const text = edges.length > 0 ? `edges ${names.join(', ')}${more}` : 'strictly inside';
    return { name: `polygon ${id}`, where: touching[i] ? 'touches' : '', text, ids: [id], edges };
  });
  return { summary: rows.length > 0 ? count(rows.length, 'polygon') : 'Touches nothing', rows };
}

function points(answer: Answer): Said {
  const location = numbers(answer, 'location');
  const rows = ids(answer).map(
    (id, i): Row => ({ ...plain(`polygon ${id}`, location[i] === 2 ? 'inside' : 'on the boundary'), ids: [id] }),
  );
  return { summary: rows.length > 0 ? `In ${count(rows.length, 'polygon')}` : 'In no polygon', rows };
}

function distances(answer: Answer): Said {
  const hasEdge = numbers(answer, 'hasEdge');
  const rows = numbers(answer, 'distance').map((distance, i) =>
    named(answer, i, `distance ${distance}`, Boolean(hasEdge[i])),
  );
  return { summary: rows.length > 0 ? `Nearest: ${count(rows.length, 'polygon')}` : 'The scene is empty', rows };
}

function contacts(answer: Answer): Said {
  const [nx, ny, depth] = ['normalX', 'normalY', 'depth'].map((name) => numbers(answer, name));
  const kind = numbers(answer, 'kind');
  const rows = depth.map((d, i): Row => {
    const id = ids(answer)[i];
    const sure = kind[i] === 1 ? 'feature contact' : 'minimum translation';
    return { name: `polygon ${id}`, where: sure, text: `depth ${d}, normal (${nx[i]}, ${ny[i]})`, ids: [id], edges: [] };
  });
  return { summary: rows.length > 0 ? count(rows.length, 'contact') : 'No contact', rows };
}

function sweeps(answer: Answer): Said {
  const hasEdge = numbers(answer, 'hasEdge');
  const starts = numbers(answer, 'startsInside');
  const rows = numbers(answer, 'fraction').map((t, i) =>
    named(answer, i, starts[i] ? 'overlaps at the start' : `at ${t}`, Boolean(hasEdge[i])),
  );
  const [x, y] = [numbers(answer, 'safeX')[0], numbers(answer, 'safeY')[0]];
  if (x !== undefined) rows.push(plain('safe pose', `(${x}, ${y})`));
  const hits = ids(answer).length;
  return { summary: hits > 0 ? count(hits, 'hit') : 'Free', rows };
}

function slides(answer: Answer): Said {
  const said = paths(answer);
  const [x, y, leftX, leftY] = ['x', 'y', 'leftX', 'leftY'].map((name) => numbers(answer, name)[0]);
  said.rows.push(plain('rests', `at (${x}, ${y})`), plain('left of the push', `(${leftX}, ${leftY})`));
  return said;
}

function sights(answer: Answer): Said {
  return { summary: numbers(answer, 'visible')[0] ? 'Visible' : 'Blocked', rows: [] };
}

function areas(answer: Answer): Said {
  const kind = numbers(answer, 'kind');
  const [x, y] = [numbers(answer, 'startX'), numbers(answer, 'startY')];
  const rows = kind.map((piece, i) => {
    const start = `from (${x[i]}, ${y[i]})`;
    if (piece === PIECE_EDGE) return named(answer, i, start);
    return plain(piece === PIECE_ARC ? 'the range' : 'a line of sight', start);
  });
  const inside = numbers(answer, 'startsInside')[0] ? ', starts inside' : '';
  return { summary: `Area ${short(numbers(answer, 'areas')[0])}, ${count(kind.length, 'piece')}${inside}`, rows };
}

const SAYS: Partial<Record<Kind, (answer: Answer) => Said>> = {
  segments: casts,
  rays: casts,
  rayBounces: paths,
  areas,
  bounces: paths,
  arcs,
  fans,
  circles: overlaps,
  capsules: overlaps,
  boxes: overlaps,
  polygons: overlaps,
  points,
  distances,
  contacts,
  sweeps,
  slides,
  sights,
};

export function describe(question: Question, answer: Answer): Said {
  if (answer.error) return { summary: 'Not answered', rows: [plain(answer.error.field, answer.error.message)] };
  return SAYS[question.kind]?.(answer) ?? { summary: '', rows: [] };
}
