// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

//! Parry 2D: its `Bvh` over convex polygons, searched best first (`Bvh::find_best`, what its own
//! composite shapes use). Each polygon is kept about its first vertex, as a collider with a pose
//! would be, since Parry's ray cast is an iteration in floats that suffers far from the origin.

use std::hint::black_box;

use parry2d::bounding_volume::Aabb;
use parry2d::math::Vector;
use parry2d::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use parry2d::query::{Ray, RayCast};
use parry2d::shape::ConvexPolygon;

use crate::{Polygons, Segment};

pub struct Scene {
    tree: Bvh,
    polygons: Vec<(Vector, ConvexPolygon)>,
}

/// # Safety
/// `polygons` is valid; the result is freed by `carom_parry_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_parry_new(polygons: &Polygons) -> *mut Scene {
    let mut boxes = Vec::new();
    let mut shapes = Vec::new();
    for ring in unsafe { polygons.rings() } {
        let points: Vec<_> = ring.iter().map(|[x, y]| Vector::new(*x, *y)).collect();
        let origin = points[0];
        let local: Vec<_> = points.iter().map(|point| *point - origin).collect();
        let shape = ConvexPolygon::from_convex_polyline_unmodified(local).expect("three vertices");
        boxes.push(Aabb::from_points(points));
        shapes.push((origin, shape));
    }
    Box::into_raw(Box::new(Scene {
        tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
        polygons: shapes,
    }))
}

/// # Safety
/// `scene` comes from `carom_parry_new` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_parry_free(scene: *mut Scene) {
    drop(unsafe { Box::from_raw(scene) });
}

/// Nearest hits with normals.
///
/// # Safety
/// `segments` holds `count` segments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_parry_cast(
    scene: &Scene,
    segments: *const Segment,
    count: usize,
) -> u64 {
    let mut hits = 0;
    for segment in unsafe { std::slice::from_raw_parts(segments, count) } {
        let origin = Vector::from(segment.a);
        let ray = Ray::new(origin, Vector::from(segment.b) - origin);
        let best = scene.tree.find_best(
            1.0,
            |node: &BvhNode, best| node.cast_ray(&ray, best),
            |leaf, best| {
                let (place, shape) = &scene.polygons[leaf as usize];
                let local = Ray::new(ray.origin - *place, ray.dir);
                shape
                    .cast_local_ray_and_get_normal(&local, best, true)
                    .map(|hit| (hit.time_of_impact, hit.normal))
            },
        );
        hits += u64::from(black_box(best).is_some());
    }
    hits
}
