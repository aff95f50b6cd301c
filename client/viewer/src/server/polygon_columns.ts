// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the polygons of @carom/client become those of the page, and the other way round?
import { Polygons } from '@carom/core/questions';
import { HOLLOW, NON_ZERO, type Packed, type Shape } from '../scene/packed';

const RULE_NON_ZERO = 2;
const SOLIDITY_BOUNDARY = 2;

/** Columns of the polygons; their user data goes to the map, by id. */
export function packPolygons(polygons: Polygons, userData: Map<bigint, Uint8Array>): Packed {
  const { x, y, id, category, fillRule, solidity, open, userDataSize } = polygons;
  const count = polygons.length;
  const ids = id.length > 0 ? id.slice() : BigUint64Array.from({ length: count }, (_, i) => BigInt(i));
  const xy = new Float64Array(x.length * 2);
  for (let i = 0; i < x.length; ++i) {
    xy[i * 2] = x[i];
    xy[i * 2 + 1] = y[i];
  }
  const flags = new Uint8Array(count);
  for (let i = 0; i < count; ++i) {
    flags[i] = (fillRule[i] === RULE_NON_ZERO ? NON_ZERO : 0) | (solidity[i] === SOLIDITY_BOUNDARY ? HOLLOW : 0);
  }
  let at = 0;
  for (let i = 0; i < count; ++i) {
    const size = userDataSize[i] ?? 0;
    if (size > 0) userData.set(ids[i], polygons.userData.slice(at, at + size));
    else userData.delete(ids[i]);
    at += size;
  }
  return {
    ids,
    categories: category.length > 0 ? category.slice() : new BigUint64Array(count).fill(1n),
    flags,
    rings: polygons.ringCount.slice(),
    lengths: polygons.ringSize.slice(),
    open: open.length > 0 ? open.slice() : new Uint8Array(polygons.ringSize.length),
    xy,
  };
}

/** The polygons of columns, with user data where the map has some. */
export function unpackPolygons(packed: Packed, userData?: Map<bigint, Uint8Array>): Polygons {
  const count = packed.xy.length / 2;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    x[i] = packed.xy[i * 2];
    y[i] = packed.xy[i * 2 + 1];
  }
  return new Polygons(
    { x, y, ringSize: packed.lengths, ringCount: packed.rings },
    {
      ids: packed.ids,
      categories: packed.categories,
      fillRule: Array.from(packed.flags, (flag) => ((flag & NON_ZERO) !== 0 ? 'non_zero' : 'even_odd')),
      solidity: Array.from(packed.flags, (flag) => ((flag & HOLLOW) !== 0 ? 'boundary' : 'solid')),
      open: packed.open,
      ...(userData ? { userData: Array.from(packed.ids, (id) => userData.get(id) ?? new Uint8Array(0)) } : {}),
    },
  );
}

/** A polygon as `carom scene import` reads it: a line of a map. */
export function mapLine(shape: Shape, userData?: Uint8Array): string {
  const rings = shape.rings.map(({ xy, open }) => {
    const points = Array.from({ length: xy.length / 2 }, (_, i) => [xy[i * 2], xy[i * 2 + 1]]);
    return open ? { points, open: true } : points;
  });
  const members = [
    `"id":${shape.id}`,
    `"rings":${JSON.stringify(rings)}`,
    ...(shape.nonZero ? ['"fill":"nonzero"'] : []),
    ...(shape.hollow ? ['"solidity":"boundary"'] : []),
    ...(shape.category !== 1n ? [`"category":${shape.category}`] : []),
    ...(userData ? [`"user_data":${JSON.stringify(toBase64(userData))}`] : []),
  ];
  return `{${members.join(',')}}`;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
