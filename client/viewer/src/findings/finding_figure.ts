// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are findings drawn on the map?
import type { Pen } from '../draw/pen';

export function drawFindings(pen: Pen): void {
  void pen;
}
