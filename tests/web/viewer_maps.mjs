// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A small map of each format that carom reads, by the name of its file.
const stone = { identifier: 'Walls', intGridValues: [{ value: 1, identifier: 'stone' }] };
const grid = {
  __identifier: 'Walls', __type: 'IntGrid', __gridSize: 10, __cWid: 2, __cHei: 2, __pxTotalOffsetX: 0, __pxTotalOffsetY: 0,
  intGridCsv: [1, 1, 1, 0],
}; // prettier-ignore

export const MAPS = {
  'carom.json': JSON.stringify({ polygons: [{ id: 1, rings: [[[0, 0], [4, 0], [0, 3]]] }] }),
  'lines.jsonl': `${JSON.stringify({ id: 'a', polygons: [{ id: 1, rings: [[[0, 0], [4, 0], [0, 3]]] }] })}\n`,
  'square.wkt': 'POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 6 3, 6 6, 3 6, 3 3))',
  'field.geojson': JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [[[0, 0], [9, 0], [9, 9], [0, 0]]] } }],
  }),
  'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50"><rect x="10" y="10" width="20" height="10"/></svg>',
  'grid.map': 'type octile\nheight 4\nwidth 5\nmap\n@@@@@\n@.GS@\n@.TW@\n@@@@@\n',
  'room.tmx':
    '<?xml version="1.0" encoding="UTF-8"?>\n<map version="1.10" orientation="orthogonal" width="4" height="4" tilewidth="32" ' +
    'tileheight="24"><objectgroup id="2" name="objects"><object id="4" x="10" y="20" width="30" height="14"/></objectgroup></map>',
  'world.ldtk': JSON.stringify({
    jsonVersion: '1.5.3',
    worldLayout: 'Free',
    defs: { layers: [stone], entities: [{ identifier: 'Box', renderMode: 'Rectangle', hollow: false }] },
    levels: [{ identifier: 'A', worldX: 0, worldY: 0, pxWid: 20, pxHei: 20, layerInstances: [grid, {
      __identifier: 'Entities', __type: 'Entities', __gridSize: 10, __cWid: 2, __cHei: 2, __pxTotalOffsetX: 0,
      __pxTotalOffsetY: 0, entityInstances: [{ __identifier: 'Box', px: [5, 5], __pivot: [0, 0], width: 8, height: 8, fieldInstances: [] }],
    }] }],
  }), // prettier-ignore
  'scene.tscn':
    '[gd_scene format=3]\n[node name="Root" type="Node2D"]\n[node name="Body" type="StaticBody2D" parent="."]\n' +
    '[node name="Shape" type="CollisionPolygon2D" parent="Body"]\npolygon = PackedVector2Array(0, 0, 40, 0, 40, 30)\n',
  'world.rube.json': JSON.stringify({
    gravity: { x: 0, y: -10 },
    body: [{ type: 0, position: { x: 10, y: -5 }, angle: 0, fixture: [{ polygon: { vertices: { x: [0, 4, 4], y: [0, 0, 3] } } }] }],
  }),
  'inn.dd2vtt': JSON.stringify({
    format: 0.3,
    resolution: { map_origin: { x: 0, y: 0 }, map_size: { x: 4, y: 3 }, pixels_per_grid: 140 },
    line_of_sight: [[{ x: 0, y: 0 }, { x: 3, y: 0 }, { x: 3, y: 2 }]],
    portals: [],
  }),
  'inn.foundry.json': JSON.stringify({ name: 'Inn', walls: [{ c: [0, 0, 100, 0], move: 20, sight: 20 }] }),
};
