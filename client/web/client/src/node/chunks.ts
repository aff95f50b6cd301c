// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are scenes sent that are larger than a message? In chunks of about 1 MiB, and a polygon that is larger than a chunk
// in pieces: the first ring of a piece continues the last ring of the piece before it. Coordinates are copied from the
// columns of `Polygons`, which is some ten times as fast as lists of numbers.

import type { Polygons } from '@carom/core/questions';
import { Writer } from '../codec/writer.js';

const CHUNK_VERTICES = 2 ** 16;

/** A part of a ring: vertices [begin, end) of the columns. */
interface RingPart {
  begin: number;
  end: number;
  isOpen: boolean;
}

/** A polygon, or a piece of one; only the first piece has more than an id and rings. */
interface Piece {
  index: number;
  isFirst: boolean;
  rings: RingPart[];
  /** User data: bytes [begin, end) of the column. */
  bytes: readonly [number, number];
}

/** Splits each polygon into pieces that fit into a chunk. */
function* piecesOf(polygons: Polygons): Generator<{ piece: Piece; isLast: boolean }> {
  let [ring, at, byte] = [0, 0, 0];
  for (let index = 0; index < polygons.length; ++index) {
    const size = polygons.userDataSize[index] ?? 0;
    let piece: Piece = { index, isFirst: true, rings: [], bytes: [byte, byte + size] };
    byte += size;
    let room = CHUNK_VERTICES;
    for (const last = ring + polygons.ringCount[index]!; ring < last; ++ring) {
      const end = at + polygons.ringSize[ring]!;
      for (let begins = true; begins || at < end; begins = false) {
        if (room < 2) {
          yield { piece, isLast: false };
          // A ring that ends with its piece is continued by an empty one.
          const rings = begins ? [{ begin: at, end: at, isOpen: false }] : [];
          piece = { index, isFirst: false, rings, bytes: [0, 0] };
          room = CHUNK_VERTICES;
        }
        const stop = Math.min(at + room - 1, end);
        piece.rings.push({ begin: at, end: stop, isOpen: begins && polygons.open[ring] === 1 });
        room -= stop - at + 1;
        at = stop;
      }
    }
    yield { piece, isLast: true };
  }
}

function verticesOf({ rings, bytes }: Piece): number {
  return rings.reduce((sum, { begin, end }) => sum + end - begin + 1, (bytes[1] - bytes[0]) / 16);
}

/** Writes the fields of a message Polygon, by descending number. */
function putPiece(writer: Writer, polygons: Polygons, { index, isFirst, rings, bytes }: Piece): void {
  if (isFirst) {
    const data = polygons.userData.subarray(...bytes);
    const category = polygons.category[index] ?? 1n;
    if (data.length > 0) writer.bytes(6, data);
    if (category !== 1n) writer.word(5, category);
    if (polygons.solidity[index]) writer.number(4, polygons.solidity[index]!);
    if (polygons.fillRule[index]) writer.number(3, polygons.fillRule[index]!);
  }
  for (const { begin, end, isOpen } of rings.toReversed()) {
    const mark = writer.mark;
    if (isOpen) writer.number(3, 1);
    writer.fixed(2, polygons.y.subarray(begin, end));
    writer.fixed(1, polygons.x.subarray(begin, end));
    writer.head(2, mark);
  }
  const id = polygons.id.length > 0 ? polygons.id[index]! : BigInt(index);
  if (id !== 0n) writer.big(1, id);
}

/** Makes the messages ImportSceneRequest of an import. */
export function* importRequests(name: string, mode: number, polygons: Polygons): Generator<Uint8Array> {
  let isFirst = true;
  const message = (pieces: readonly Piece[], continues: boolean): Uint8Array => {
    const writer = new Writer(2 ** 20);
    if (continues) writer.number(4, 1);
    for (const piece of pieces.toReversed()) {
      const mark = writer.mark;
      putPiece(writer, polygons, piece);
      writer.head(3, mark);
    }
    if (isFirst) {
      writer.number(2, mode);
      writer.text(1, name);
    }
    isFirst = false;
    return writer.finish();
  };
  let pieces: Piece[] = [];
  let size = 0;
  for (const { piece, isLast } of piecesOf(polygons)) {
    const vertices = verticesOf(piece);
    if (pieces.length > 0 && size + vertices > CHUNK_VERTICES) {
      yield message(pieces, false); // a further piece follows an empty list
      [pieces, size] = [[], 0];
    }
    pieces.push(piece);
    size += vertices;
    if (!isLast) {
      yield message(pieces, true);
      [pieces, size] = [[], 0];
    }
  }
  if (pieces.length > 0 || isFirst) yield message(pieces, false);
}
