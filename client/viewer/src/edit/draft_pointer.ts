// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the mouse do while polygons are edited?
import type { Point } from '../draw/view';

export const isEditing = (): boolean => false;
export const draftDown = (at: Point, event: PointerEvent): boolean => {
  void [at, event];
  return false;
};
export const draftMove = (at: Point, event: PointerEvent, dragging: boolean): void => {
  void [at, event, dragging];
};
export const draftUp = (at: Point): void => {
  void at;
};
