// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon is under the mouse? Asked as any other question: of the page's own core, else of the server.
import { askCore } from '../ask/core_link';
import { offline } from '../ask/asker';
import { ids, type Question } from '../ask/question';
import type { Point } from '../draw/view';
import { view } from '../state/state';
import { askServer } from '../server/query_calls';
import { pinned, scene, selected } from '../state/state';

/** Pixels within which a polygon is near enough to be chosen. */
const REACH = 6;

/** Selects the polygon that holds the point, or the nearest one within some pixels; of several, the last. */
export async function pickAt(point: Point): Promise<void> {
  const name = scene.value?.name;
  if (!name) return;
  const asked: Question = {
    kind: 'circles',
    given: { x: [point.x], y: [point.y], radius: [REACH / view.value.scale] },
  };
  try {
    const answer = (await askCore(asked)) ?? (offline.value ? null : await askServer(name, pinned.value, asked));
    const found = answer ? ids(answer) : [];
    selected.value = found.length > 0 ? found[found.length - 1] : null;
  } catch {
    selected.value = null;
  }
}
