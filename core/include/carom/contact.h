// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is the minimum translation out of an overlap, and where do the shapes touch?
//
// `Collide` returns the contact of two shapes: the minimum translation that separates them and up
// to two points with stable features. `FindContacts` does so for moving shapes against a scene.
// Start with `Collide`. For distances between shapes that are apart see carom/distance.h; to move a
// shape out of all polygons that it overlaps, carom/depenetrate.h.
//
//   const Shape wall = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
//   const Shape ball = Shape::Create(Capsule{{{2, 1.5}, {2, 1.5}}, 1}).value();
//   const std::optional<Contact> contact = Collide(wall, ball);
//   // contact: normal (0, 1), depth 0.5, one point (2, 0.75)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as contact. The unit normal
// points from the fixed shape to the mover. Error: depths are within 4 ulp, points within 8 ulp;
// see the members. Cost: see `Collide`; `FindContacts` costs O(log n) for each item plus one
// contact for each polygon with a box that meets the box of the mover, n the polygons of the scene.
// Thread-safe. Cheaper alternative: carom/overlap.h. More powerful: carom/depenetrate.h; for shapes
// apart carom/distance.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

// How a contact was found.
//
// CONVEX: both shapes are convex (a capsule; or one closed ring that turns one way, once, where
// collinear vertices and zero area are allowed). The contact is the minimum translation of their
// hulls.
//
// FEATURE: at least one of the shapes is not convex. The contact is the deepest of these
// candidates: each vertex of the mover in the fixed polygon with the nearest boundary point that
// leads out; each vertex of the fixed polygon in the mover with the nearest boundary point that
// leads out; and, if no vertex is deeper than the boundary, each pair of edges that meet (or come
// within the radius) with its own minimum translation. Of equally deep candidates, the first kind
// in this list is taken. A FEATURE contact is a push that helps, not one that suffices, and its
// depth does not separate touching from overlapping: the depth is 0 if all vertices of each shape
// lie outside the other shape or on its boundary and no two edges cross, although the shapes may
// share an area; and the depth is above 0 if a vertex touches the apex of a narrow notch.
enum class ContactKind : uint8_t { kConvex, kFeature };

// One point where the shapes touch or overlap.
//
// Under CONVEX, consider the line along the normal through the point, with the normal pointing up:
// on this line, the lowest point of the mover is `depth` below the highest point of the fixed
// shape, and the contact point is midway between the two. The two points are on the surfaces of the
// shapes themselves: for an oblique capsule on its straight side or its cap, not on its axis moved
// along the normal. If there are two contact points, their lines pass through the ends of the
// common part of the two facing edges (for a capsule, of its axis), along the edge that gives the
// normal.
struct ContactPoint {
  Vec2 point;  // errs by at most 8 ulp of the largest coordinate or radius
  // >= 0. Within 4 ulp of its exact value, and with radii 2^-92 of the largest coordinate or radius
  // more. The depth of the deeper point may therefore differ by as much from the depth of the
  // contact; only the depth of the contact, under CONVEX, separates touching (0) from overlapping
  // exactly.
  double depth = 0;
  // The features that meet at the point: 2 i for vertex i and 2 i + 1 for edge i, counted over all
  // rings of the shape as given. The ends of a capsule's axis are vertices 0 and 1, its sides are
  // edges 0 and 1. The pair is stable from call to call while these features meet.
  uint32_t polygon_feature = 0;
  uint32_t mover_feature = 0;

  friend bool operator==(const ContactPoint&, const ContactPoint&) = default;
};

// The contact of a fixed shape and a mover that share a point.
//
// Translations are compared exactly, and the least one is taken. Ties: the first edge of the fixed
// shape, then the first edge of the mover (of collinear edges in a row the first counts for all);
// then, of the two sides of a segment, the side in the direction from the centre of the fixed shape
// to the centre of the mover (the exact means of the placed vertices); then the normal with x > 0,
// or x = 0 and y > 0. Two cores (a capsule's axis is its core) that are one and the same point
// separate along (1, 0).
struct Contact {
  ContactKind kind = ContactKind::kConvex;
  // Unit, from the fixed shape to the mover; each component within 1 ulp. Under CONVEX, moving the
  // mover by the exact normal * depth leaves distance 0 and depth 0. Moving the mover by the
  // rounded normal * depth leaves a gap or depth of at most 8 ulp of the largest coordinate; with a
  // radius, 16 ulp of the largest coordinate or radius; or 2^-139, since placing reads magnitudes
  // below 2^-140 as 0.
  Vec2 normal;
  // >= 0; under CONVEX, 0 exactly if the shapes only touch. Within 4 ulp of its exact value, and
  // with radii 2^-96 of the radii more. Under FEATURE, rounding decides which of several nearly
  // equal translations is taken.
  double depth = 0;
  // 1, or 2 in the order of the normal turned counter-clockwise by a right angle. Under FEATURE 1,
  // except for a pair of edges. 1 if the shapes meet at a vertex alone.
  uint32_t point_count = 0;
  std::array<ContactPoint, 2> points;
};

// Returns the contact of two shapes; nothing if they share no point (exact), or if one of them is
// hollow (BOUNDARY). In ties, `fixed` counts as the shape with the lower id. Exchanging the shapes
// negates the normal wherever a single axis and sign gives the least translation. Cost for a convex
// pair of n and m vertices: O(n log n) for the hulls and O(n + m) for the contact; O(n m) if
// capsules come near without their axes meeting the other shape. For other pairs, O(n m) at worst.
std::optional<Contact> Collide(const Shape& fixed, const Shape& mover);

// The translation of the mover by normal * depth, split between the two bodies: each moves in
// proportion to the mass of the other body. Masses are above 0; one of them may be infinite, and a
// body with an infinite mass stays.
struct SplitTranslation {
  Vec2 fixed;
  Vec2 mover;
};
SplitTranslation SplitByMass(const Contact& contact, double fixed_mass, double mover_mass);

struct ContactOptions {
  uint64_t mask = kEveryCategory;
};

// Moving shapes in columns, and optionally the masses for a split: both columns or none. A mass is
// above 0; a body with mass +inf does not move, and at most one mass of a pair is infinite.
struct ContactColumns {
  ShapeColumns movers;  // movers.scope is the scope of the batch
  std::span<const double> mass, polygon_mass;

  size_t size() const { return movers.size(); }
};

struct ContactAnswers {
  std::vector<uint32_t> counts;       // number of polygons in contact with item i
  std::vector<uint64_t> polygon_ids;  // for each item in turn: ascending, bodies after polygons
  // One entry per polygon id if bodies are considered, else empty: 1 if the id is the index of a
  // body.
  std::vector<uint8_t> is_body;
  std::vector<Contact> contacts;         // one per polygon id
  std::vector<SplitTranslation> splits;  // one per polygon id if masses are given, else empty
  std::vector<ItemError> errors;         // items in error, ascending by index

  void Clear();
};

// Finds the contacts of each mover and replaces the contents of `out`. Returns false if `meter`
// stopped the work; `out` is then meaningless. A contact with a convex polygon of the scene costs
// O(n) for its n vertices: the hull is computed when the scene is created, except for small
// polygons. Thread-safe.
bool FindContacts(const World& world, const ContactColumns& columns, const ContactOptions& options,
                  ContactAnswers& out, WorkMeter& meter);

// Bodies in columns: item i asks which bodies of a lower index body[i] touches. With `body` 0, 1, 2
// and so on, every pair of bodies is tested once. `mass` is for a split: empty, or one mass for
// each body of the world, above 0; a body with mass +inf does not move.
struct BodyContactColumns {
  std::span<const uint32_t> body;
  std::span<const double> mass = {};

  size_t size() const { return body.size(); }
};

// Works like `FindContacts`, with body[i] as the mover of item i and each body of a lower index as
// the fixed shape of its contact: `is_body` is 1 throughout, and `polygon_ids` are the lower
// indices. The mask is compared with the categories of the bodies of a lower index. Item errors:
// UNKNOWN_BODY; NOT_A_MASS if the mass of body[i] is not above 0. If both masses of a pair are
// infinite, its split moves neither body; a fixed body with a mass that is not above 0 counts as
// infinitely heavy. Cost: O(log n) for each item, n the bodies, plus one contact for each body of a
// lower index with a box that meets the box of body[i].
bool FindBodyContacts(const World& world, const BodyContactColumns& columns,
                      const ContactOptions& options, ContactAnswers& out, WorkMeter& meter);

}  // namespace carom
