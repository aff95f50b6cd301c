// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

//! Box2D v3: the polygons are shapes of one static body, so that its transform stays in the cache,
//! in a static tree that is rebuilt once, which is the best that Box2D has.

use std::hint::black_box;
use std::os::raw::c_void;

use boxdd_sys::ffi::*;

use crate::{Placement, Polygons, Segment, Sweep, Walker};

pub struct World {
    id: b2WorldId,
    // By shape index, which Box2D counts from 1: a copy that a user keeps beside the world spares
    // the checked and copying b2Shape_GetPolygon.
    polygons: Vec<b2Polygon>,
    movers: Vec<b2Polygon>,
    bounds: b2AABB,
    // Kinematic bodies of a circle each.
    discs: Vec<b2BodyId>,
}

fn polygon(ring: &[[f32; 2]]) -> b2Polygon {
    // Not by b2ComputeHull, which welds vertices and would drop slender pieces.
    let mut points = [b2Vec2 { x: 0.0, y: 0.0 }; 8];
    for (point, [x, y]) in points.iter_mut().zip(ring) {
        *point = b2Vec2 { x: *x, y: *y };
    }
    let hull = b2Hull {
        points,
        count: ring.len() as i32,
    };
    unsafe { b2MakePolygon(&hull, 0.0) }
}

/// # Safety
/// `polygons` and `movers` are valid; the result is freed by `carom_box2d_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_new(polygons: &Polygons, movers: &Polygons) -> *mut World {
    unsafe {
        let mut definition = b2DefaultWorldDef();
        definition.workerCount = 1;
        let id = b2CreateWorld(&definition);
        let body = b2CreateBody(id, &b2DefaultBodyDef());
        let mut shape = b2DefaultShapeDef();
        shape.updateBodyMass = false;
        shape.invokeContactCreation = false;
        shape.enableSensorEvents = false;
        shape.enableContactEvents = false;
        let polygons: Vec<_> = polygons.rings().map(polygon).collect();
        for (i, polygon) in polygons.iter().enumerate() {
            let made = b2CreatePolygonShape(body, &shape, polygon);
            assert_eq!(made.index1 as usize, i + 1);
        }
        b2World_RebuildStaticTree(id);
        let movers = movers.rings().map(polygon).collect();
        let bounds = bounds_of(polygons.iter().flat_map(|p| &p.vertices[..p.count as usize]));
        Box::into_raw(Box::new(World {
            id,
            polygons,
            movers,
            bounds,
            discs: Vec::new(),
        }))
    }
}

/// # Safety
/// `world` comes from `carom_box2d_new` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_free(world: *mut World) {
    unsafe {
        b2DestroyWorld((*world).id);
        drop(Box::from_raw(world));
    }
}

/// Nearest hits with normals.
///
/// # Safety
/// `segments` holds `count` segments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_cast(
    world: &World,
    segments: *const Segment,
    count: usize,
) -> u64 {
    let mut hits = 0;
    let filter = unsafe { b2DefaultQueryFilter() };
    for segment in unsafe { std::slice::from_raw_parts(segments, count) } {
        let [x, y] = segment.a;
        let translation = b2Vec2 {
            x: segment.b[0] - x,
            y: segment.b[1] - y,
        };
        let hit = unsafe { b2World_CastRayClosest(world.id, b2Pos { x, y }, translation, filter) };
        hits += u64::from(black_box(hit).hit);
    }
    hits
}

/// Moves the first `count` discs, which are made at the first call.
///
/// # Safety
/// `placements` holds `count` placements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_move_discs(
    world: &mut World,
    placements: *const Placement,
    count: usize,
    radius: f32,
) {
    let placements = unsafe { std::slice::from_raw_parts(placements, count) };
    for (i, placement) in placements.iter().enumerate() {
        let [x, y] = placement.position;
        let position = b2Pos { x, y };
        if i == world.discs.len() {
            unsafe {
                let mut definition = b2DefaultBodyDef();
                definition.type_ = b2BodyType_b2_kinematicBody;
                definition.position = position;
                let body = b2CreateBody(world.id, &definition);
                let circle = b2Circle {
                    center: b2Vec2 { x: 0.0, y: 0.0 },
                    radius,
                };
                b2CreateCircleShape(body, &b2DefaultShapeDef(), &circle);
                world.discs.push(body);
            }
            continue;
        }
        unsafe { b2Body_SetTransform(world.discs[i], position, b2Rot { c: 1.0, s: 0.0 }) };
    }
}

struct Overlap<'a> {
    polygons: &'a [b2Polygon],
    mover: b2Polygon,
    contacts: u64,
}

unsafe extern "C" fn collide(shape: b2ShapeId, context: *mut c_void) -> bool {
    unsafe {
        let overlap = &mut *context.cast::<Overlap>();
        let identity = b2Transform {
            p: b2Vec2 { x: 0.0, y: 0.0 },
            q: b2Rot { c: 1.0, s: 0.0 },
        };
        let fixed = &overlap.polygons[shape.index1 as usize - 1];
        let manifold = black_box(b2CollidePolygons(fixed, &overlap.mover, identity));
        // A manifold also reports shapes that are near.
        let touches = manifold.points[..manifold.pointCount as usize]
            .iter()
            .any(|point| point.separation <= 0.0);
        overlap.contacts += u64::from(touches);
    }
    true
}

fn bounds_of<'a>(points: impl Iterator<Item = &'a b2Vec2>) -> b2AABB {
    let mut bounds = b2AABB {
        lowerBound: b2Vec2 {
            x: f32::MAX,
            y: f32::MAX,
        },
        upperBound: b2Vec2 {
            x: f32::MIN,
            y: f32::MIN,
        },
    };
    for p in points {
        bounds.lowerBound.x = bounds.lowerBound.x.min(p.x);
        bounds.lowerBound.y = bounds.lowerBound.y.min(p.y);
        bounds.upperBound.x = bounds.upperBound.x.max(p.x);
        bounds.upperBound.y = bounds.upperBound.y.max(p.y);
    }
    bounds
}

fn placed(mover: &b2Polygon, placement: &Placement) -> (b2Polygon, b2AABB) {
    let mut result = *mover;
    let [x, y] = placement.position;
    let [c, s] = placement.rotation;
    let mut low = b2Vec2 {
        x: f32::MAX,
        y: f32::MAX,
    };
    let mut high = b2Vec2 {
        x: f32::MIN,
        y: f32::MIN,
    };
    for i in 0..mover.count as usize {
        let (v, n) = (mover.vertices[i], mover.normals[i]);
        let p = b2Vec2 {
            x: c * v.x - s * v.y + x,
            y: s * v.x + c * v.y + y,
        };
        result.vertices[i] = p;
        result.normals[i] = b2Vec2 {
            x: c * n.x - s * n.y,
            y: s * n.x + c * n.y,
        };
        low = b2Vec2 {
            x: low.x.min(p.x),
            y: low.y.min(p.y),
        };
        high = b2Vec2 {
            x: high.x.max(p.x),
            y: high.y.max(p.y),
        };
    }
    (
        result,
        b2AABB {
            lowerBound: low,
            upperBound: high,
        },
    )
}

/// Contacts of placed movers. `query(mover, its box, context)` calls `collide` for candidates.
unsafe fn contacts_by(
    world: &World,
    placements: *const Placement,
    count: usize,
    query: impl Fn(&b2Polygon, b2AABB, *mut c_void),
) -> u64 {
    let mut contacts = 0;
    for placement in unsafe { std::slice::from_raw_parts(placements, count) } {
        let (mover, bounds) = placed(&world.movers[placement.mover as usize], placement);
        let mut overlap = Overlap {
            polygons: &world.polygons,
            mover,
            contacts: 0,
        };
        query(&mover, bounds, (&raw mut overlap).cast());
        contacts += overlap.contacts;
    }
    contacts
}

/// The candidates of the tree, and the manifold of each.
///
/// # Safety
/// `placements` holds `count` placements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_overlap(
    world: &World,
    placements: *const Placement,
    count: usize,
) -> u64 {
    let filter = unsafe { b2DefaultQueryFilter() };
    let origin = b2Pos { x: 0.0, y: 0.0 };
    unsafe {
        contacts_by(world, placements, count, |_, bounds, context| {
            b2World_OverlapAABB(world.id, origin, bounds, filter, Some(collide), context);
        })
    }
}

/// The shapes that overlap the mover, and the manifold of each.
///
/// # Safety
/// `placements` holds `count` placements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_overlap_shape(
    world: &World,
    placements: *const Placement,
    count: usize,
) -> u64 {
    let filter = unsafe { b2DefaultQueryFilter() };
    let origin = b2Pos { x: 0.0, y: 0.0 };
    unsafe {
        contacts_by(world, placements, count, |mover, _, context| {
            let proxy = b2MakeProxy(mover.vertices.as_ptr(), mover.count, 0.0);
            b2World_OverlapShape(world.id, origin, &proxy, filter, Some(collide), context);
        })
    }
}

/// As `collide`, until there is one.
unsafe extern "C" fn collide_once(shape: b2ShapeId, context: *mut c_void) -> bool {
    unsafe {
        collide(shape, context);
        (*context.cast::<Overlap>()).contacts == 0
    }
}

/// Placements of all movers together that touch something. `reach` bounds their distance from the
/// reference point: far from all, a box decides.
///
/// # Safety
/// `placements` holds `count` placements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_touch(
    world: &World,
    placements: *const Placement,
    count: usize,
    reach: f32,
) -> u64 {
    let mut touches = 0;
    let filter = unsafe { b2DefaultQueryFilter() };
    let origin = b2Pos { x: 0.0, y: 0.0 };
    let all = &world.bounds;
    for placement in unsafe { std::slice::from_raw_parts(placements, count) } {
        let [x, y] = placement.position;
        if x + reach < all.lowerBound.x
            || y + reach < all.lowerBound.y
            || x - reach > all.upperBound.x
            || y - reach > all.upperBound.y
        {
            continue;
        }
        for mover in &world.movers {
            let (mover, bounds) = placed(mover, placement);
            let mut overlap = Overlap {
                polygons: &world.polygons,
                mover,
                contacts: 0,
            };
            let context = (&raw mut overlap).cast();
            unsafe {
                b2World_OverlapAABB(world.id, origin, bounds, filter, Some(collide_once), context)
            };
            if overlap.contacts > 0 {
                touches += 1;
                break;
            }
        }
    }
    touches
}

fn turned(points: &[[f32; 2]], sweep: &Sweep) -> [b2Vec2; 8] {
    let [c, s] = sweep.rotation;
    let mut result = [b2Vec2 { x: 0.0, y: 0.0 }; 8];
    for (to, [x, y]) in result.iter_mut().zip(points) {
        *to = b2Vec2 {
            x: c * x - s * y,
            y: s * x + c * y,
        };
    }
    result
}

struct Nearest {
    fraction: f32,
    point: b2Pos,
    normal: b2Vec2,
}

/// Keeps a hit, and cuts the rest of the way off.
unsafe extern "C" fn keep(
    _: b2ShapeId,
    point: b2Pos,
    normal: b2Vec2,
    fraction: f32,
    context: *mut c_void,
) -> f32 {
    unsafe {
        *context.cast::<Nearest>() = Nearest {
            fraction,
            point,
            normal,
        };
    }
    fraction
}

/// First hits of shapes, by points and a radius about them, at most 8 points. Box2D has them stop
/// short of touching by its slop of 0.005: whoever asks makes the shape larger or smaller by it.
///
/// # Safety
/// `sweeps` holds `count` sweeps, and `points` as many points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_sweep(
    world: &World,
    sweeps: *const Sweep,
    count: usize,
    points: *const [f32; 2],
    point_count: usize,
    radius: f32,
) -> u64 {
    let points = unsafe { std::slice::from_raw_parts(points, point_count) };
    let filter = unsafe { b2DefaultQueryFilter() };
    let mut hits = 0;
    for sweep in unsafe { std::slice::from_raw_parts(sweeps, count) } {
        let proxy = b2ShapeProxy {
            points: turned(points, sweep),
            count: point_count as i32,
            radius,
        };
        let [x, y] = sweep.position;
        let [dx, dy] = sweep.translation;
        let mut nearest = Nearest {
            fraction: 2.0,
            point: b2Pos { x: 0.0, y: 0.0 },
            normal: b2Vec2 { x: 0.0, y: 0.0 },
        };
        let context = (&raw mut nearest).cast();
        let way = b2Vec2 { x: dx, y: dy };
        unsafe {
            b2World_CastShape(
                world.id,
                b2Pos { x, y },
                &proxy,
                way,
                filter,
                Some(keep),
                context,
            )
        };
        let nearest = black_box(nearest);
        black_box((nearest.point, nearest.normal));
        hits += u64::from(nearest.fraction <= 1.0);
    }
    hits
}

/// First hits of capsules as `b2World_CastMover` has them: the fraction alone.
///
/// # Safety
/// `sweeps` holds `count` sweeps, and `points` two points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_sweep_mover(
    world: &World,
    sweeps: *const Sweep,
    count: usize,
    points: *const [f32; 2],
    radius: f32,
) -> u64 {
    let points = unsafe { std::slice::from_raw_parts(points, 2) };
    let filter = unsafe { b2DefaultQueryFilter() };
    let mut hits = 0;
    for sweep in unsafe { std::slice::from_raw_parts(sweeps, count) } {
        let turned = turned(points, sweep);
        let mover = b2Capsule {
            center1: turned[0],
            center2: turned[1],
            radius,
        };
        let [x, y] = sweep.position;
        let [dx, dy] = sweep.translation;
        let way = b2Vec2 { x: dx, y: dy };
        let fraction =
            unsafe { b2World_CastMover(world.id, b2Pos { x, y }, &mover, way, filter) };
        hits += u64::from(black_box(fraction) < 1.0);
    }
    hits
}

struct Planes {
    planes: [b2CollisionPlane; 8],
    count: usize,
}

/// Keeps a plane, as long as there is room; those of a mover are few.
unsafe extern "C" fn keep_plane(
    _: b2ShapeId,
    result: *const b2PlaneResult,
    context: *mut c_void,
) -> bool {
    let (result, kept) = unsafe { (&*result, &mut *context.cast::<Planes>()) };
    if result.hit && kept.count < kept.planes.len() {
        kept.planes[kept.count].plane = result.plane;
        kept.count += 1;
    }
    true
}

/// One tick of players that walk: each is pushed once, and left where it comes to. As Box2D's own
/// example of a character has it: planes near by, what they leave of the push, a cast along that,
/// up to five times.
///
/// # Safety
/// `positions` and `pushes` hold `count` vectors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_box2d_walk(
    world: &World,
    walker: &Walker,
    positions: *mut [f32; 2],
    pushes: *const [f32; 2],
    count: usize,
) {
    const TOLERANCE: f32 = 0.01;
    let filter = unsafe { b2DefaultQueryFilter() };
    let mover = b2Capsule {
        center1: b2Vec2 {
            x: walker.a[0],
            y: walker.a[1],
        },
        center2: b2Vec2 {
            x: walker.b[0],
            y: walker.b[1],
        },
        radius: walker.radius,
    };
    let positions = unsafe { std::slice::from_raw_parts_mut(positions, count) };
    let pushes = unsafe { std::slice::from_raw_parts(pushes, count) };
    for (position, push) in positions.iter_mut().zip(pushes) {
        let target = [position[0] + push[0], position[1] + push[1]];
        for _ in 0..5 {
            let origin = b2Pos {
                x: position[0],
                y: position[1],
            };
            let none = b2CollisionPlane {
                plane: b2Plane {
                    normal: b2Vec2 { x: 0.0, y: 0.0 },
                    offset: 0.0,
                },
                pushLimit: f32::MAX,
                push: 0.0,
                clipVelocity: true,
            };
            let mut kept = Planes {
                planes: [none; 8],
                count: 0,
            };
            let context = (&raw mut kept).cast();
            let rest = b2Vec2 {
                x: target[0] - origin.x,
                y: target[1] - origin.y,
            };
            let step = unsafe {
                b2World_CollideMover(world.id, origin, &mover, filter, Some(keep_plane), context);
                b2SolvePlanes(rest, kept.planes.as_mut_ptr(), kept.count as i32).translation
            };
            let fraction = unsafe { b2World_CastMover(world.id, origin, &mover, step, filter) };
            let (dx, dy) = (fraction * step.x, fraction * step.y);
            *position = [origin.x + dx, origin.y + dy];
            if dx * dx + dy * dy < TOLERANCE * TOLERANCE {
                break;
            }
        }
    }
}
