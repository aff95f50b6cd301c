// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is the minimum translation out of an overlap, and where do the shapes touch?
//
// `Collide` gives the contact of two shapes: the minimum translation that parts them and up to two
// points with stable features; `FindContacts` does so for moving shapes against a scene. Start with
// the first. For distances between shapes apart see carom/distance.h; to move a shape out of
// everything, carom/depenetrate.h.
//
//   const Shape wall = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
//   const Shape ball = Shape::Create(Capsule{{{2, 1.5}, {2, 1.5}}, 1}).value();
//   const std::optional<Contact> contact = Collide(wall, ball);
//   // contact: normal (0, 1), depth 0.5, one point (2, 0.75)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: the unit normal is
// from the fixed shape to the mover. Error: depths within 4 ulp, points within 8 ulp; see the
// members. Cost: `Collide` as it says; `FindContacts` O(log n) an item and that for each polygon
// whose box it meets, n the polygons of the scene. Thread-safe. Cheaper: carom/overlap.h; richer:
// carom/depenetrate.h; for shapes apart carom/distance.h.
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

// CONVEX: both shapes are convex (a capsule; one closed ring turning one way once, collinear
// vertices and zero area allowed), and the contact is the minimum translation of their hulls.
// FEATURE: one is not, and the contact is the deepest of these: each vertex of the mover in the
// fixed polygon with the nearest point of its boundary that leads out, and each vertex of the fixed
// polygon in the mover likewise; where no vertex is deeper than its boundary, each pair of edges
// that meet (or come within the radius) with its own minimum translation. Of equally deep ones the
// first: vertices of the mover, of the fixed polygon, pairs of edges. It is a push that helps, not
// one that suffices, and its depth does not separate touching from overlapping: it is 0 where all
// vertices of each lie outside the other or on its boundary and no two edges cross, although the
// shapes may share an area, and above 0 where a vertex touches the apex of a narrow notch.
enum class ContactKind : uint8_t { kConvex, kFeature };

// One point where the shapes touch or overlap.
//
// Under CONVEX, on the line along the normal through the point, the normal being up, the mover's
// lowest point is `depth` below the highest of the fixed shape, and the point is midway between the
// two. Both are on the surfaces of the shapes themselves: of an oblique capsule on its straight
// side or its cap, not on its axis moved along the normal. Two points are where the line passes
// through the ends of what the two facing edges (of a capsule, its axis) share along the one that
// gives the normal.
struct ContactPoint {
  Vec2 point;  // within 8 ulp of the largest coordinate or radius
  // >= 0. Within 4 ulp of itself, and where there are radii 2^-92 of the largest coordinate or
  // radius more; so the deepest of two may differ from the contact's depth by as much, and only the
  // contact's, under CONVEX, separates touching (0) from overlapping exactly.
  double depth = 0;
  // What meets there: 2 i for vertex i and 2 i + 1 for edge i, counted over all rings of the shape
  // as given (an end of a capsule's axis is vertex 0 or 1, its sides are edges 0 and 1). The pair
  // is the same from call to call while the same features meet.
  uint32_t polygon_feature = 0;
  uint32_t mover_feature = 0;

  friend bool operator==(const ContactPoint&, const ContactPoint&) = default;
};

// The contact of a fixed shape and a mover that share a point.
//
// Least translations are compared exactly. Ties: the edge of the fixed shape that comes first, then
// that of the mover (of collinear edges in a row the first counts for all); of the two sides of a
// segment the one from the fixed shape's centre towards the mover's (the exact mean of the placed
// vertices), then the normal with x > 0, or x = 0 and y > 0. Two cores that are one and the same
// point part along (1, 0).
struct Contact {
  ContactKind kind = ContactKind::kConvex;
  // Unit, from the fixed shape to the mover; each component within 1 ulp. CONVEX: moving the mover
  // by the exact normal * depth leaves distance and depth 0; by the rounded one, a gap or depth of
  // at most 8 ulp of the largest coordinate, or where there is a radius, 16 ulp of the largest
  // coordinate or radius; or 2^-139, since placing reads magnitudes below 2^-140 as 0.
  Vec2 normal;
  // >= 0; CONVEX: 0 exactly where they only touch. Within 4 ulp of itself, and 2^-96 of the radii
  // more where there are any; under FEATURE which of nearly equal ways is taken is rounded.
  double depth = 0;
  // 1, or 2 in the order of the normal turned counter-clockwise by a right angle; 1 under FEATURE
  // but for a pair of edges. Where they meet at a vertex alone there is one.
  uint32_t point_count = 0;
  std::array<ContactPoint, 2> points;
};

// Nothing where they share no point (exact), or where one is hollow (BOUNDARY). `fixed` counts as
// the lower polygon id. Antisymmetric wherever one axis and sign is least. Cost for a convex pair:
// O(n log n) for the hulls and O(n + m) for the contact, O(n m) where capsules come near without
// their axes meeting the other; else O(n m) at worst.
std::optional<Contact> Collide(const Shape& fixed, const Shape& mover);

// A translation of the mover by normal * depth, split between two bodies: each moves in proportion
// to the other's mass. Masses are above 0, one of them may be infinite (it then stays).
struct SplitTranslation {
  Vec2 fixed;
  Vec2 mover;
};
SplitTranslation SplitByMass(const Contact& contact, double fixed_mass, double mover_mass);

struct ContactOptions {
  uint64_t mask = kEveryCategory;
};

// Moving shapes, and on request the masses for a split: both columns or none. A mass is above 0;
// +inf does not move, and one of a pair at most is infinite.
struct ContactColumns {
  ShapeColumns movers;  // with the scope of the batch
  std::span<const double> mass, polygon_mass;

  size_t size() const { return movers.size(); }
};

struct ContactAnswers {
  std::vector<uint32_t> counts;       // polygons in contact with item i
  std::vector<uint64_t> polygon_ids;  // item after item, ascending, bodies after the polygons
  // Beside polygon_ids where bodies are considered, else empty: 1 where it is the index of a body.
  std::vector<uint8_t> is_body;
  std::vector<Contact> contacts;         // beside polygon_ids
  std::vector<SplitTranslation> splits;  // beside polygon_ids where masses were given, else empty
  std::vector<ItemError> errors;         // ascending by index

  void Clear();
};

// Returns false if `meter` stopped the work; `out` is then meaningless. A convex polygon of the
// scene costs O(n) a contact; its hull is found when the scene is made, but for small ones.
// Thread-safe.
bool FindContacts(const World& world, const ContactColumns& columns, const ContactOptions& options,
                  ContactAnswers& out, WorkMeter& meter);

// Bodies that are asked what they touch of those with a lower index: with `body` 0, 1, 2 and so on
// every pair of bodies, each once. `mass`, empty or one for each body of the world, is for a split:
// above 0, +inf does not move.
struct BodyContactColumns {
  std::span<const uint32_t> body;
  std::span<const double> mass = {};

  size_t size() const { return body.size(); }
};

// As `FindContacts` with body[i] as the mover of item i and the bodies before it as what it meets,
// each the fixed shape of its contact: `is_body` is 1 throughout, and `polygon_ids` are the lower
// indices. The mask is compared with their categories. Item errors: UNKNOWN_BODY; NOT_A_MASS where
// a mass of the body is not above 0. A pair of which both masses are infinite splits to nothing,
// and one whose other mass is not above 0 as if that were infinite. Cost O(log n) a body, n the
// bodies, and that of a contact for each other whose box it meets.
bool FindBodyContacts(const World& world, const BodyContactColumns& columns,
                      const ContactOptions& options, ContactAnswers& out, WorkMeter& meter);

}  // namespace carom
