// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What in this scene is probably a mistake?
//
// `Lint` finds crossings, overlaps, duplicates, spikes, wrong windings, narrow gaps, ends that
// nearly meet, vertices off the lattice and places that a disc cannot reach. All of them are legal.
// `LintEdits` proposes edits that repair some of them. Start with `Lint`.
//
//   LintOptions options;
//   options.gap_radius = 0.5;  // a disc of radius 0.5 passes a gap of width 1, and no narrower gap
//   WorkMeter meter;
//   const absl::StatusOr<LintReport> report = Lint(*scene, options, meter);
//   // report->findings: by polygon, ring and edge
//
// Words. An edge is proper if its ends differ. A place is a point that is a vertex of the scene;
// its name is the least (polygon id, ring, vertex) of the vertices there. Vertex i of a ring is
// named like the edge i, which begins there (no edge begins at the last vertex of an open chain of
// two vertices or more). A point is solid if a SOLID polygon fills it, and
// free if it is not solid and on no edge.
//
// Lengths are in the unit of the caller's coordinates. Error: each verdict is that of exact
// arithmetic on the vertices; a coordinate of a finding is the double nearest to the exact
// coordinate; for measures see `LintFinding`. Cost: O(n log n) for n edges and findings in maps
// whose edges are short compared with the map; O(n^2) at most, which the meter bounds. Memory:
// up to 200 bytes for a vertex, with pockets 350 to 1,000. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// What a finding is about. The kinds up to kNearVertex compare vertices and edges of one polygon.
enum class LintKind : uint8_t {
  // Two proper edges of a polygon share exactly one point, which is not an end of both. (x, y): the
  // point. An end of one edge on the other edge counts. No measure.
  kCrossing,
  // Two proper edges of a polygon, not consecutive in a ring, share more than one point. (x, y),
  // (other_x, other_y): the ends of the common segment. Measure: its length.
  kOverlap,
  // Vertex `edge` of a ring equals the next vertex, so that the edge is not proper. A ring of one
  // vertex has no next vertex. No measure.
  kDuplicateVertex,
  // Vertex `edge` of a ring and the next vertex have a distance in (0, near_distance]. (other_x,
  // other_y): the next vertex. Measure: the distance.
  kNearVertex,
  // A ring of three vertices or more turns back at vertex `edge`: the preceding and the following
  // vertex that differ from the vertex are on one ray from it. Of equal consecutive vertices only
  // the first counts; the ends of an open chain do not count. (other_x, other_y): the nearer of the
  // two vertices. Measure: the distance to it.
  kSpike,
  // A ring of a SOLID polygon has the signed area 0. (x, y): its first vertex. No measure.
  kZeroArea,
  // A ring of a SOLID polygon has a signed area of the wrong sign, given `LintOptions::winding`.
  // (x, y): its first vertex. Measure: the absolute area, correctly rounded.
  kWinding,
  // Every point of the polygon is a point that the SOLID polygon `other` fills, and is on no edge
  // of `other`. Polygons that touch from inside do not count. No measure.
  kInside,
  // The polygon has the same edges (whatever their order and direction), solidity, fill rule and
  // category as the polygon `other`, which has the least id of all such polygons. No measure.
  kDuplicatePolygon,
  // A gap of a width below 2 * gap_radius: the segment from a place v to the nearest point q != v
  // of an edge `other`. The open disc about the middle of v and q, through both, meets no edge, and
  // its points are free. So nothing lies between v and q, and a disc of a radius above half of the
  // width cannot pass between them. A gap between two places counts once, and is named by the
  // places, the lesser name first. (other_x, other_y): q. Measure: the width, |vq|.
  kGap,
  // A place v has a distance in (0, near_distance] from a proper edge `other`, and no edge joins v
  // to an end of that edge. (other_x, other_y): the nearest point q of the edge. Between two places
  // it counts once, and is named by the places, the lesser name first. Measure: |vq|.
  kNearJunction,
  // A vertex is not on the lattice that most vertices are on (see `LintOptions::lattice_pitch`).
  // (other_x, other_y): the nearest point of the lattice. Measure: the greater of the distances
  // along x and along y.
  kOffLattice,
  // A bounded region of free points that a disc of radius `mover_radius`, which starts with its
  // center at one of the points `from`, cannot reach with its center; see `LintOptions::from`.
  // Named by the least name of an edge along the loop around the region, or of a place on it; the
  // outline begins there. Measure: its area, rounded.
  kPocket,
};
inline constexpr size_t kLintKinds = 13;

// Returns the name of a kind as programs write it, such as "near-vertex".
std::string_view LintName(LintKind kind);

// Returns one sentence of advice: what a person does about a finding of the kind.
std::string_view LintAdvice(LintKind kind);

// Which sense of rotation the rings of SOLID polygons have. A ring is outer if an even number of
// other rings of its polygon wind around its first vertex that is on no other ring (each ring an
// odd number of times); otherwise it is a hole. A ring without such a vertex is not checked.
enum class LintWinding : uint8_t {
  kAny,               // no finding
  kCounterClockwise,  // outer rings have positive areas (counter-clockwise), holes negative areas
  kClockwise,         // the reverse
};

struct LintOptions {
  // Bit k selects the kind with the number k. Default: all kinds.
  uint32_t kinds = (1U << kLintKinds) - 1;
  // In [0, 2^50]. 0 finds no gap.
  double gap_radius = 0;
  // The mover of the kind kPocket: its radius in [0, 2^50], and the points at which it starts.
  // Without points there are no pockets. The plane without the edges and without all gaps of a
  // width below 2 * mover_radius falls into regions. Two positions of the disc in which no edge
  // meets its interior are joined by a path of such positions if, and only if, they are in one
  // region (docs/adr/0035-lint.md has the proof). A pocket is a bounded region of free points that
  // contains no point of `from`; it may be too small for the disc. A point of `from` on an edge or
  // a gap, or in a solid, is in no region of free points.
  double mover_radius = 0;
  std::vector<Vec2> from = {};
  LintWinding winding = LintWinding::kAny;
  // 0 or in [2^-60, 2^53]. A coordinate x is on the lattice of pitch h if |x - k h| <= ulp(x) / 2 +
  // |k| u for an integer k, or |x| >= 2^53 h. ulp(x) is the distance from |x| to the next greater
  // double; u is ulp(h) / 2, or 0 if the significand of h has at most 32 bits. So 0.3 is on the
  // lattice of pitch 0.1, although it is not the double nearest to 3 h: x and h may both be
  // rounded. A pitch such as 0.25 is exact, and a coordinate that misses its lattice by an ulp is
  // off it.
  //
  // 0: the pitch is the greatest power of two from 2^-20 to 2^20 for which at least nine of ten
  // vertices are on the lattice; without such a power, there is no finding.
  double lattice_pitch = 0;
  // In [0, 2^53]. 0: the greatest magnitude of a coordinate of the scene times 2^-44, which is a
  // few hundred steps of double precision.
  double near_distance = 0;
  // The number of findings that the report keeps: the first ones, in its order.
  size_t max_findings = 1000;
  // The number of vertices that outlines of pockets have in all; later outlines are empty.
  size_t max_outline_vertices = 65536;
  // Called when a check begins, with how many are done, and of how many; empty: nothing is called.
  // Checks take very different times. A server does not see it.
  std::function<void(size_t done, size_t total)> progress = {};
};

// One finding. `measure` is rounded: lengths are square roots, correctly rounded, of the double
// nearest to the exact square. The area of a pocket is computed in doubles from rounded corners: an
// estimate. 0 where the kind has no measure.
struct LintFinding {
  LintKind kind = LintKind::kCrossing;
  uint64_t polygon_id = 0;
  EdgeRef at = {};
  // The other polygon and edge; of the kinds with one edge, equal to `polygon_id` and `at`. Of
  // kInside and kDuplicatePolygon, `other` is edge 0 of ring 0.
  uint64_t other_polygon_id = 0;
  EdgeRef other = {};
  Vec2 point;        // where; of a vertex, exact
  Vec2 other_point;  // the second point, or `point`
  double measure = 0;
  // Of a pocket, the corners of the loop of edges and gaps around it, counter-clockwise, rounded;
  // islands within the pocket are not listed.
  std::vector<Vec2> outline = {};
};

// Findings by ascending (polygon id, ring, edge, kind, other polygon id, other ring, other edge,
// x, y). The order of polygons in the scene's making does not matter.
struct LintReport {
  std::vector<LintFinding> findings;
  std::array<uint64_t, kLintKinds> counts = {};  // of all findings, also of those not kept
  bool truncated = false;                        // there are more findings than `findings`
  double near_distance = 0;                      // as used
  double lattice_pitch = 0;                      // as used; 0: there is no lattice
};

// Returns the findings of `options.kinds` in `scene`. Counts work on `meter`.
//
// Errors: INVALID_ARGUMENT naming a field of `options` that is out of range, or a point of `from`
// that is not accepted; RESOURCE_EXHAUSTED if the meter stopped the work, or if pockets are
// searched and edges cross more often than twice their number and 4,096.
absl::StatusOr<LintReport> Lint(const Scene& scene, const LintOptions& options, WorkMeter& meter);

// Returns edits, by ascending id, that repair some of the findings of `report`, which `Lint`
// returned for `scene`: a proposal, which a person looks at before committing it.
//
//   * Of duplicate polygons, the one with the greater id is removed.
//   * Duplicate vertices and the tips of spikes are dropped from their rings, and so are nearly
//     equal vertices with a distance of at most `epsilon`.
//   * Rings with the wrong winding are reversed; the first vertex of a closed ring stays the first.
//   * Vertices off the lattice move to the lattice, and places that nearly meet an edge move to the
//     nearest point (which is inserted into the edge, so that they meet exactly), if their distance
//     is at most `epsilon`.
//
// A ring keeps at least one vertex. Repairs may cause findings of other kinds.
std::vector<SceneEdit> LintEdits(const Scene& scene, const LintReport& report, double epsilon);

}  // namespace carom
