// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which colours does the map have? Page and drawing worker share the tables. Neighbouring colours differ in lightness,
// too, so that they are told apart without the sense of hue.

export interface Colours {
  background: string;
  grid: string;
  axis: string;
  label: string;
  labelHalo: string;
}

interface Hue {
  light: [string, string];
  dark: [string, string];
}

// Fill and line of each class of polygons.
const HUES: Hue[] = [
  { light: ['#5b7fb0', '#2f5586'], dark: ['#4a74ad', '#8fb6ea'] },
  { light: ['#d98a3d', '#99530c'], dark: ['#b3702c', '#f3b36d'] },
  { light: ['#4a9d7c', '#1f6b4d'], dark: ['#35866a', '#7fd1b1'] },
  { light: ['#b25c8a', '#7d2f5b'], dark: ['#9a4a77', '#e59cc3'] },
  { light: ['#8c7cc0', '#55458c'], dark: ['#7565b0', '#bdb0ee'] },
  { light: ['#b9a63c', '#776707'], dark: ['#94832a', '#e6d374'] },
  { light: ['#58a5c0', '#216b85'], dark: ['#3a87a3', '#8fd4ec'] },
  { light: ['#c26055', '#8c2f25'], dark: ['#a64f45', '#f0a096'] },
];
/** Index of the colour of all further categories. */
export const OTHER = HUES.length;
const OTHER_HUE: Hue = { light: ['#8a929c', '#4d555f'], dark: ['#6b737e', '#b9c1cc'] };

export function hue(index: number, dark: boolean): { fill: string; line: string } {
  const [fill, line] = (HUES[index] ?? OTHER_HUE)[dark ? 'dark' : 'light'];
  return { fill, line };
}

export function colours(dark: boolean): Colours {
  return dark
    ? { background: '#15181d', grid: '#22272f', axis: '#39414d', label: '#e8ecf2', labelHalo: '#15181d' }
    : { background: '#f8f9fb', grid: '#e6e9ee', axis: '#c3cad4', label: '#1b222c', labelHalo: '#f8f9fb' };
}

/** Opacity of the filled region of a polygon. */
export const FILL_OPACITY = 0.62;
