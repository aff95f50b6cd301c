// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which columns and options of a group fit together: `CheckGroup`.

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/status.h"

namespace carom {
namespace {

// Compares the columns of one batch with its first column. Paths are put together for offences
// only: `path` is that of the batch and ends in a dot.
class ColumnCheck {
 public:
  ColumnCheck(absl::string_view path, absl::string_view first, size_t size, Refusal& refusal)
      : path_(path), first_(first), size_(size), refusal_(refusal) {}

  // An offence if the column is not as long as the first.
  void Required(absl::string_view column, size_t size) {
    if (size == size_) return;
    Refuse(column, absl::StrCat("must have as many entries as ", path_, first_, ", ", size_));
  }

  // The same for a column that may be left out.
  void Optional(absl::string_view column, size_t size) {
    if (size != 0) Required(column, size);
  }

  // The same for two columns of which neither or both are left out.
  void Pair(absl::string_view column_a, size_t a, absl::string_view column_b, size_t b) {
    if (a == 0 && b == 0) return;
    Required(column_a, a);
    Required(column_b, b);
  }

  // A rotation by cosine and sine, or by an angle, or none.
  void Rotation(absl::string_view c_name, size_t c, absl::string_view s_name, size_t s,
                absl::string_view angle_name, size_t angle) {
    Pair(c_name, c, s_name, s);
    if (angle != 0 && (c != 0 || s != 0)) {
      Refuse(angle_name,
             absl::StrCat("must be absent where ", c_name, " and ", s_name, " are given"));
    } else {
      Optional(angle_name, angle);
    }
  }

  // An option of the batch.
  void InRange(absl::string_view option, uint32_t value, uint32_t max) {
    if (value < 1 || value > max) Refuse(option, absl::StrCat("must be in [1, ", max, "]"));
  }

  void NotAllPassages(CastMode mode) {
    if (mode == CastMode::kAllPassages) Refuse("mode", "must not be ALL_PASSAGES here");
  }

  void ReflectsAlong(const CastOptions& options) {
    if (!options.reflect || options.detail >= CastDetail::kNormal) return;
    Refuse("detail", "must be at least NORMAL to reflect");
  }

 private:
  void Refuse(absl::string_view field, absl::string_view description) {
    refusal_.Add(absl::StrCat(path_, field), description);
  }

  const absl::string_view path_;
  const absl::string_view first_;
  const size_t size_;
  Refusal& refusal_;
};

ColumnCheck CheckSegments(absl::string_view path, const SegmentColumns& segments,
                          Refusal& refusal) {
  ColumnCheck check(path, "ax", segments.ax.size(), refusal);
  check.Required("ay", segments.ay.size());
  check.Required("bx", segments.bx.size());
  check.Required("by", segments.by.size());
  return check;
}

template <class S>
void CheckPlaced(absl::string_view path, const PlacedColumns<S>& columns, Refusal& refusal) {
  ColumnCheck check(path, "x", columns.x.size(), refusal);
  check.Required("y", columns.y.size());
  check.Optional("shape", columns.shape.size());
  // Shapes that nothing is placed of are legal.
  if (columns.shape.empty() && !columns.x.empty()) {
    check.Required("shapes", columns.shapes.size());
  }
  check.Rotation("c", columns.c.size(), "s", columns.s.size(), "angle", columns.angle.size());
}

void CheckCasts(const Group& group, Refusal& refusal) {
  ColumnCheck segments = CheckSegments("segments.", group.segments, refusal);
  segments.InRange("max_hits", group.cast_options.max_hits, kMaxMaxHits);
  segments.ReflectsAlong(group.cast_options);

  const RayColumns& rays = group.rays;
  ColumnCheck check("rays.", "x", rays.x.size(), refusal);
  check.Required("y", rays.y.size());
  check.Required("dx", rays.dx.size());
  check.Required("dy", rays.dy.size());
  check.Optional("t_min", rays.t_min.size());
  check.Optional("t_max", rays.t_max.size());
  check.InRange("max_hits", group.ray_options.max_hits, kMaxMaxHits);
  check.ReflectsAlong(group.ray_options);
}

void CheckArcs(const ArcColumns& arcs, const ArcOptions& options, Refusal& refusal) {
  ColumnCheck check("arcs.", "x", arcs.x.size(), refusal);
  check.Required("y", arcs.y.size());
  check.Required("vx", arcs.vx.size());
  check.Required("vy", arcs.vy.size());
  check.Required("ax", arcs.ax.size());
  check.Required("ay", arcs.ay.size());
  check.Required("duration", arcs.duration.size());
  check.NotAllPassages(options.mode);
  check.InRange("max_hits", options.max_hits, kMaxMaxHits);
}

void CheckFans(const FanColumns& fans, Refusal& refusal) {
  ColumnCheck check("fans.", "x", fans.x.size(), refusal);
  check.Required("y", fans.y.size());
  check.Required("angle", fans.angle.size());
  check.Required("step", fans.step.size());
  check.Required("range", fans.range.size());
  check.Required("beams", fans.beams.size());
}

void CheckOverlaps(const Group& group, Refusal& refusal) {
  ColumnCheck points("points.", "x", group.points.x.size(), refusal);
  points.Required("y", group.points.y.size());

  ColumnCheck circles("circles.", "x", group.circles.x.size(), refusal);
  circles.Required("y", group.circles.y.size());
  circles.Required("radius", group.circles.radius.size());

  ColumnCheck capsules("capsules.", "ax", group.capsules.ax.size(), refusal);
  capsules.Required("ay", group.capsules.ay.size());
  capsules.Required("bx", group.capsules.bx.size());
  capsules.Required("by", group.capsules.by.size());
  capsules.Required("radius", group.capsules.radius.size());

  ColumnCheck boxes("boxes.", "min_x", group.boxes.min_x.size(), refusal);
  boxes.Required("min_y", group.boxes.min_y.size());
  boxes.Required("max_x", group.boxes.max_x.size());
  boxes.Required("max_y", group.boxes.max_y.size());

  CheckPlaced("polygons.", group.polygons, refusal);
}

void CheckNearness(const Group& group, Refusal& refusal) {
  CheckPlaced("distances.movers.", group.distances.movers, refusal);
  ColumnCheck distances("distances.", "movers.x", group.distances.size(), refusal);
  distances.Optional("max_distance", group.distances.max_distance.size());

  CheckPlaced("contacts.movers.", group.contacts.movers, refusal);
  ColumnCheck contacts("contacts.", "movers.x", group.contacts.size(), refusal);
  contacts.Pair("mass", group.contacts.mass.size(), "polygon_mass",
                group.contacts.polygon_mass.size());

  CheckPlaced("depenetrations.movers.", group.depenetrations, refusal);
  ColumnCheck depenetrations("depenetrations.", "movers.x", group.depenetrations.size(), refusal);
  depenetrations.InRange("max_steps", group.depenetration_options.max_steps, kMaxDepenetrateSteps);
}

void CheckSweeps(const Group& group, Refusal& refusal) {
  const SweepColumns& sweeps = group.sweeps;
  CheckPlaced("sweeps.movers.", sweeps.movers, refusal);
  ColumnCheck check("sweeps.", "movers.x", sweeps.size(), refusal);
  check.Required("to_x", sweeps.to_x.size());
  check.Required("to_y", sweeps.to_y.size());
  check.NotAllPassages(group.sweep_options.mode);
  check.InRange("max_hits", group.sweep_options.max_hits, kMaxMaxHits);

  const RotatingSweepColumns& turning = group.rotating_sweeps;
  CheckPlaced("rotating_sweeps.movers.", turning.movers, refusal);
  ColumnCheck turns("rotating_sweeps.", "movers.x", turning.size(), refusal);
  turns.Required("to_x", turning.to_x.size());
  turns.Required("to_y", turning.to_y.size());
  turns.Rotation("to_c", turning.to_c.size(), "to_s", turning.to_s.size(), "to_angle",
                 turning.to_angle.size());
  turns.Required("tolerance", turning.tolerance.size());
}

void CheckMoves(const MoveColumns& moves, const MoveOptions& options, Refusal& refusal) {
  ColumnCheck check("moves.", "x", moves.x.size(), refusal);
  check.Required("y", moves.y.size());
  check.Optional("tracker", moves.tracker.size());
  check.Rotation("c", moves.c.size(), "s", moves.s.size(), "angle", moves.angle.size());
  check.Pair("from_x", moves.from_x.size(), "from_y", moves.from_y.size());
  check.Rotation("from_c", moves.from_c.size(), "from_s", moves.from_s.size(), "from_angle",
                 moves.from_angle.size());
  if (!moves.sweeps() &&
      !(moves.from_c.empty() && moves.from_s.empty() && moves.from_angle.empty())) {
    refusal.Add("moves.from_x", "must be given with a rotation to start from");
  }
  if (!IsAccepted(options.tolerance) || options.tolerance < 0) {
    refusal.Add("moves.tolerance", "must be in [0, 2^53]");
  }
}

// Adds an offence for each shape that is too large.
template <class S>
void CheckSizes(absl::string_view path, const PlacedColumns<S>& columns, Refusal& refusal) {
  for (size_t i = 0; i < columns.shapes.size(); ++i) {
    if (columns.shapes[i].vertex_count() > kMaxMovingVertices) {
      refusal.Add(absl::StrCat(path, "shapes[", i, "]"),
                  absl::StrCat("must have at most ", kMaxMovingVertices,
                               " vertices (vertices a moving shape)"));
    }
  }
}

absl::Status CheckShapes(const Group& group) {
  Refusal refusal;
  CheckSizes("polygons.", group.polygons, refusal);
  CheckSizes("distances.movers.", group.distances.movers, refusal);
  CheckSizes("contacts.movers.", group.contacts.movers, refusal);
  CheckSizes("depenetrations.movers.", group.depenetrations, refusal);
  CheckSizes("sweeps.movers.", group.sweeps.movers, refusal);
  CheckSizes("rotating_sweeps.movers.", group.rotating_sweeps.movers, refusal);
  return refusal.status(absl::StatusCode::kResourceExhausted);
}

}  // namespace

absl::Status CheckGroup(const Group& group) {
  Refusal refusal;
  CheckCasts(group, refusal);
  CheckArcs(group.arcs, group.arc_options, refusal);
  CheckSegments("sights.", group.sights, refusal);
  CheckFans(group.fans, refusal);
  CheckOverlaps(group, refusal);
  CheckNearness(group, refusal);
  CheckSweeps(group, refusal);
  CheckMoves(group.moves, group.move_options, refusal);
  return refusal.empty() ? CheckShapes(group) : refusal.status();
}

}  // namespace carom
