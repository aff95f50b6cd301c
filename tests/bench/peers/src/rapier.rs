// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

//! Rapier 2D's character controller among fixed convex colliders, seen from above: no slope is too
//! steep, and there is no ground.

use rapier2d::control::KinematicCharacterController;
use rapier2d::prelude::*;

use crate::{Polygons, Walker};

pub struct Rapier {
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
}

/// # Safety
/// `polygons` is valid; the result is freed by `carom_rapier_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_rapier_new(polygons: &Polygons) -> *mut Rapier {
    let mut world = Rapier {
        bodies: RigidBodySet::new(),
        colliders: ColliderSet::new(),
        broad_phase: BroadPhaseBvh::new(),
        narrow_phase: NarrowPhase::new(),
    };
    for ring in unsafe { polygons.rings() } {
        let points = ring.iter().map(|[x, y]| Vector::new(*x, *y)).collect();
        if let Some(collider) = ColliderBuilder::convex_polyline(points) {
            world.colliders.insert(collider);
        }
    }
    CollisionPipeline::new().step(
        0.0,
        &mut IslandManager::new(),
        &mut world.broad_phase,
        &mut world.narrow_phase,
        &mut world.bodies,
        &mut world.colliders,
        &(),
        &(),
    );
    Box::into_raw(Box::new(world))
}

/// # Safety
/// `world` comes from `carom_rapier_new` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_rapier_free(world: *mut Rapier) {
    drop(unsafe { Box::from_raw(world) });
}

/// One tick of players that walk: each is pushed once, and left where it comes to.
///
/// # Safety
/// `positions` and `pushes` hold `count` vectors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_rapier_walk(
    world: &Rapier,
    walker: &Walker,
    positions: *mut [f32; 2],
    pushes: *const [f32; 2],
    count: usize,
) {
    let [ax, ay] = walker.a;
    let [bx, by] = walker.b;
    let shape = Capsule::new(Vector::new(ax, ay), Vector::new(bx, by), walker.radius);
    let controller = KinematicCharacterController {
        max_slope_climb_angle: std::f32::consts::PI,
        min_slope_slide_angle: 0.0,
        snap_to_ground: None,
        ..Default::default()
    };
    let queries = world.broad_phase.as_query_pipeline(
        world.narrow_phase.query_dispatcher(),
        &world.bodies,
        &world.colliders,
        QueryFilter::default(),
    );
    let positions = unsafe { std::slice::from_raw_parts_mut(positions, count) };
    let pushes = unsafe { std::slice::from_raw_parts(pushes, count) };
    for (position, [dx, dy]) in positions.iter_mut().zip(pushes) {
        let pose = Pose::translation(position[0], position[1]);
        let push = Vector::new(*dx, *dy);
        let moved = controller
            .move_shape(1.0 / 60.0, &queries, &shape, &pose, push, |_| {})
            .translation;
        *position = [position[0] + moved.x, position[1] + moved.y];
    }
}
