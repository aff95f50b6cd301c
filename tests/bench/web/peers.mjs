// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Peers: each is built from convex pieces, and returns a function that casts one segment and returns whether it hits.

import Matter from 'matter-js';
import * as planck from 'planck';
import Rapier from '@dimforge/rapier2d-simd-compat';
import VisibilityPolygon from 'visibility-polygon';

function planckOf(pieces) {
  const world = new planck.World();
  const body = world.createBody();
  for (const piece of pieces) body.createFixture(new planck.Polygon(piece.map(([x, y]) => new planck.Vec2(x, y))));
  const [a, b] = [new planck.Vec2(0, 0), new planck.Vec2(0, 0)];
  return (ax, ay, bx, by) => {
    let nearest = 2;
    a.set(ax, ay);
    b.set(bx, by);
    world.rayCast(a, b, (_fixture, _point, _normal, fraction) => (nearest = fraction));
    return nearest <= 1;
  };
}

function matterOf(pieces) {
  const bodies = pieces.map((piece) => {
    const vertices = piece.map(([x, y]) => ({ x, y }));
    return Matter.Body.create({ position: Matter.Vertices.centre(vertices), vertices, isStatic: true });
  });
  // Its query has no nearest hit: all bodies that a thin box about the segment touches.
  return (ax, ay, bx, by) => Matter.Query.ray(bodies, { x: ax, y: ay }, { x: bx, y: by }, 1e-9).length > 0;
}

async function rapierOf(pieces) {
  await Rapier.init();
  const world = new Rapier.World({ x: 0, y: 0 });
  for (const piece of pieces) {
    const shape = Rapier.ColliderDesc.convexHull(new Float32Array(piece.flat()));
    if (shape !== null) world.createCollider(shape);
  }
  world.step();
  const ray = new Rapier.Ray({ x: 0, y: 0 }, { x: 0, y: 0 });
  return (ax, ay, bx, by) => {
    ray.origin.x = ax;
    ray.origin.y = ay;
    ray.dir.x = bx - ax;
    ray.dir.y = by - ay;
    return world.castRay(ray, 1, true) !== null;
  };
}

/** The peers with their goals: how many times as long as Carom they must take at least. */
export const PEERS = [
  { name: 'planck', goal: 10, make: planckOf, share: 1 },
  { name: 'matter', goal: 20, make: matterOf, share: 1 / 500 },
  { name: 'rapier', goal: 3, make: rapierOf, share: 1 },
];

/** Returns a function that returns the size of the area that a point sees, by the package visibility-polygon. */
export function visibilityOf(polygons) {
  const { breakIntersections, compute, convertToSegments } = VisibilityPolygon;
  const edges = breakIntersections(convertToSegments(polygons));
  return (x, y) => {
    const corners = compute([x, y], edges);
    let twice = 0;
    corners.forEach(([ax, ay], i) => {
      const [bx, by] = corners[(i + 1) % corners.length];
      twice += ax * by - ay * bx;
    });
    return Math.abs(twice) / 2;
  };
}
