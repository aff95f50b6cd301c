// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are polygons sent that are larger than a message? In chunks, and a polygon that is larger than a chunk in pieces.

import { create } from '@bufbuild/protobuf';
import { type Polygon, PolygonSchema } from '../generated/carom/v1/geometry_pb.js';
import type { Chunk } from './polygons.js';

const CHUNK_BYTES = 2 ** 20;
const PIECE_VERTICES = CHUNK_BYTES / 16;

function verticesOf(polygon: Polygon): number {
  return polygon.rings.reduce((sum, ring) => sum + ring.x.length + 1, 0);
}

/** Splits polygons into chunks of about 1 MiB; a polygon that needs more is split into pieces. */
export function* chunks(polygons: readonly Polygon[]): Generator<Chunk> {
  let chunk: Polygon[] = [];
  let size = 0;
  for (const polygon of polygons) {
    const pieces = verticesOf(polygon) <= PIECE_VERTICES ? [polygon] : piecesOf(polygon);
    for (const [i, piece] of pieces.entries()) {
      const vertices = verticesOf(piece) + piece.userData.length / 16;
      if (chunk.length > 0 && size + vertices > PIECE_VERTICES) {
        yield { polygons: chunk, continues: i > 0 };
        [chunk, size] = [[], 0];
      }
      chunk.push(piece);
      size += vertices;
      if (i + 1 < pieces.length) {
        yield { polygons: chunk, continues: true };
        [chunk, size] = [[], 0];
      }
    }
  }
  yield { polygons: chunk, continues: false };
}

function piecesOf(polygon: Polygon): Polygon[] {
  const pieces = [create(PolygonSchema, { ...polygon, rings: [] })];
  let room = PIECE_VERTICES;
  const next = () => {
    pieces.push(create(PolygonSchema, { id: polygon.id }));
    room = PIECE_VERTICES;
  };
  for (const ring of polygon.rings) {
    for (let at = 0; at === 0 || at < ring.x.length; ) {
      if (room < 2) {
        next();
        // The first ring of a piece continues the ring before: an empty one ends it.
        if (at === 0) pieces[pieces.length - 1]!.rings.push({ $typeName: 'carom.v1.Ring', x: [], y: [], open: false });
      }
      const end = Math.min(at + room - 1, ring.x.length);
      const open = at === 0 && ring.open;
      pieces[pieces.length - 1]!.rings.push({
        $typeName: 'carom.v1.Ring',
        x: ring.x.slice(at, end),
        y: ring.y.slice(at, end),
        open,
      });
      room -= end - at + 1;
      if (end === at) break;
      at = end;
    }
  }
  return pieces;
}
