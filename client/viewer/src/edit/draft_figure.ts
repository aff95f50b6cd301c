// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the polygon drawn that is being edited?
import type { Pen } from '../draw/pen';

export function drawDraft(pen: Pen): void {
  void pen;
}
