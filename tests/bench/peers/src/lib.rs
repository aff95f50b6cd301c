// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

//! Box2D v3, Parry 2D and Rapier 2D as the benchmarks ask them; the C side is `peers/peers.h`.
//!
//! Every function answers a whole range of queries in one call, so that the language boundary costs
//! the peers nothing, and returns how many of them hit.

mod box2d;
mod parry;
mod rapier;

/// Convex polygons in columns: polygon `i` has the vertices `starts[i]..starts[i + 1]`, turning
/// counter-clockwise, at most 8.
#[repr(C)]
pub struct Polygons {
    xy: *const f32,
    starts: *const u32,
    count: usize,
}

impl Polygons {
    /// The vertices of each polygon.
    ///
    /// # Safety
    /// The pointers hold as many numbers as `count` says.
    unsafe fn rings(&self) -> impl Iterator<Item = &[[f32; 2]]> {
        let starts = unsafe { std::slice::from_raw_parts(self.starts, self.count + 1) };
        let total = starts[self.count] as usize;
        let all = unsafe { std::slice::from_raw_parts(self.xy.cast::<[f32; 2]>(), total) };
        starts
            .windows(2)
            .map(move |ends| &all[ends[0] as usize..ends[1] as usize])
    }
}

/// One segment, from `a` to `b`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Segment {
    a: [f32; 2],
    b: [f32; 2],
}

/// One placed polygon: which mover, where, and its rotation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Placement {
    mover: u32,
    position: [f32; 2],
    rotation: [f32; 2],
}

/// A shape on its way: where it starts, its rotation, and how far it goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sweep {
    position: [f32; 2],
    rotation: [f32; 2],
    translation: [f32; 2],
}

/// A capsule that walks: the ends of its axis, from its position, and its radius.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Walker {
    a: [f32; 2],
    b: [f32; 2],
    radius: f32,
}
