// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Chooses a tool: its points begin in the part of the scene that is on the screen.
import { toolOf } from '../ask/tools';
import { visibleBox } from '../draw/view';
import { focusedHandle } from '../map/pointer';
import { handles, panel, tool, view } from './state';

/** Tools that belong to a panel of their own. */
export const PANEL_TOOLS = ['tracker', 'lint'];

const ASKING: ReadonlySet<string> = new Set(['ask', 'why']);

export function chooseTool(id: string): void {
  tool.value = id;
  focusedHandle.value = -1;
  const chosen = toolOf(id);
  if (chosen) {
    if (id === 'tracker') panel.value = 'why';
    else if (id === 'lint') panel.value = 'findings';
    else if (!ASKING.has(panel.value)) panel.value = 'ask';
    if (!handles.value[id]) placeHandles(id);
  }
  if (id === 'edit') panel.value = 'edit';
}

/** Puts the points of the tool to where they are on the screen. */
export function placeHandles(id: string): void {
  const chosen = toolOf(id);
  if (chosen) handles.value = { ...handles.value, [id]: chosen.start(visibleBox(view.value)) };
}
