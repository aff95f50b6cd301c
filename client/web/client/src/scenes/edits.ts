// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edits turn one version of a scene into the next one?

import { create } from '@bufbuild/protobuf';
import { checkAttached, Polygons, type PolygonsLike, refuse } from '@carom/core/questions';
import { polygonMessages } from '../codec/polygons.js';
import { type Edit, EditSchema } from '../generated/carom/v1/scene_service_pb.js';
import { checkOptions, long } from '../values.js';

/** Edits of a scene: all of them are made, as one version, or none. */
export interface Edits {
  /** Polygons with ids of their own: `new Polygons(..., { ids })`. */
  add?: PolygonsLike;
  /** Polygons in place of those with their ids. */
  replace?: PolygonsLike;
  /** Ids; one or some. */
  remove?: number | bigint | Iterable<number | bigint>;
  /** At most 64 bytes; edits that are sent twice with one id are made once; chosen if absent. */
  editId?: string;
  /** The version that the edits were made for, ABORTED if another one is current; 0: any. */
  baseVersion?: number | bigint;
}

/** Returns edits in the order of field paths: added, then replaced, then removed polygons. */
export function editsOf(edits: Edits): Edit[] {
  checkOptions(edits, ['add', 'replace', 'remove', 'editId', 'baseVersion']);
  const { editId } = edits;
  if (editId !== undefined && typeof editId !== 'string') throw refuse('editId', 'is no text');
  const made: Edit[] = [];
  for (const name of ['add', 'replace'] as const) {
    const given = edits[name];
    if (given === undefined) continue;
    const polygons = given instanceof Polygons ? given : new Polygons(given);
    for (const value of polygonMessages(polygons)) made.push(create(EditSchema, { edit: { case: name, value } }));
  }
  const remove = edits.remove ?? [];
  checkAttached(remove, 'remove');
  for (const id of typeof remove === 'object' ? remove : [remove]) {
    made.push(create(EditSchema, { edit: { case: 'remove', value: long(id, 'remove') } }));
  }
  return made;
}

/** The id of the polygon that an edit adds, replaces or removes. */
export function idOf({ edit }: Edit): bigint {
  return edit.case === 'remove' ? edit.value : (edit.value?.id ?? 0n);
}
