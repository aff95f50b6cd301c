// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are the columns and options of a group consistent?
//
// A group is a set of queries, with one batch for each kind of query. A batch is a struct of
// columns (arrays with one entry per query) plus options. Implements `CheckGroup`.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/status.h"

namespace carom {
namespace {

// The prefix of the field paths that errors about a batch's columns name: `<kind>.` or
// `<kind>.movers.`, or `bodies.placed.` for bodies. `Of` returns a full path; it is called for
// errors only, since it allocates.
struct ColumnsPath {
  absl::string_view kind;
  absl::string_view below = ".";

  std::string Of(absl::string_view column) const { return absl::StrCat(kind, below, column); }
};

// The name and the length of a column.
struct NamedColumn {
  absl::string_view name;
  size_t size;
};

// Checks the columns (arrays with one entry per query) and options of one batch, the queries of one
// kind. Compares the lengths of the columns with the length of the batch's first column, and adds
// violations to `refusal`.
class ColumnCheck {
 public:
  ColumnCheck(const ColumnsPath& path, const NamedColumn& first, Refusal& refusal)
      : path_(path), first_(first), refusal_(refusal) {}

  // Adds a violation for each column that is not as long as the first column.
  [[gnu::always_inline]] void Required(std::initializer_list<NamedColumn> columns) {
    for (const NamedColumn& column : columns) {
      if (column.size != first_.size) RefuseLength(column);
    }
  }

  // Checks a column that may be empty; otherwise it must be as long as the first column.
  void Optional(const NamedColumn& column) {
    if (column.size != 0) Required({column});
  }

  // Checks two columns that are both empty or both as long as the first column.
  void Pair(const NamedColumn& a, const NamedColumn& b) {
    if (a.size != 0 || b.size != 0) Required({a, b});
  }

  // Checks the columns of rotations, which a batch gives by cosines `c` and sines `s`, or by
  // angles, or not at all.
  void Rotation(const NamedColumn& c, const NamedColumn& s, const NamedColumn& angle) {
    Pair(c, s);
    if (angle.size != 0 && (c.size != 0 || s.size != 0)) {
      Refuse(angle.name,
             absl::StrCat("must be absent where ", c.name, " and ", s.name, " are given"));
    } else {
      Optional(angle);
    }
  }

  // Checks that an option of the batch is in [1, max].
  void InRange(absl::string_view option, uint32_t value, uint32_t max) {
    if (value < 1 || value > max) Refuse(option, absl::StrCat("must be in [1, ", max, "]"));
  }

  // Rejects the mode ALL_PASSAGES (one hit for each passage of a polygon) for sweeps and arcs,
  // which do not support it.
  void NotAllPassages(CastMode mode) {
    if (mode == CastMode::kAllPassages) Refuse("mode", "must not be ALL_PASSAGES here");
  }

  // Rejects the values BLOCKING and BLOCKING_LEAVE of the option `inside_policy` for casts: under
  // these policies, a polygon that a moving shape only touches is not hit, and a line or point has
  // no extent that could overlap a polygon in more than a touch.
  void NotBlocking(InsidePolicy policy) {
    if (IsBlocking(policy)) Refuse("inside_policy", "must not be a blocking policy here");
  }

  // Requires one of the values BLOCKING and BLOCKING_LEAVE of the option `inside_policy`.
  void Blocking(InsidePolicy policy) {
    if (!IsBlocking(policy)) Refuse("inside_policy", "must be a blocking policy here");
  }

  // Checks the options of soft walls, which let a line pass some polygons.
  template <class Options>
  void Soft(const Options& options) {
    if (options.soft_count > kMaxSoftCount) {
      Refuse("soft_count", absl::StrCat("must be in [0, ", kMaxSoftCount, "]"));
    }
  }

  // Rejects the options of soft walls for the modes ALL and ALL_PASSAGES, which list all that a
  // line meets, and the length inside soft walls for modes that report no single hit.
  void SoftIn(const CastOptions& options) {
    Soft(options);
    const bool lists = options.mode == CastMode::kAll || options.mode == CastMode::kAllPassages;
    constexpr const char* kAbsent = "must be absent under ALL and ALL_PASSAGES";
    if (lists && options.soft_mask != 0) Refuse("soft_mask", kAbsent);
    if (lists && options.soft_count != 0) Refuse("soft_count", kAbsent);
    if (options.soft_length && options.mode != CastMode::kClosest) {
      Refuse("soft_length", "must be absent unless the mode is CLOSEST");
    }
  }

  // Requires a detail of at least NORMAL for casts that reflect, since a reflection needs the
  // normal of the hit edge.
  void ReflectsAlong(const CastOptions& options) {
    if (!options.reflect || options.detail >= CastDetail::kNormal) return;
    Refuse("detail", "must be at least NORMAL to reflect");
  }

  // Requires one of the values REPORT_START and IGNORE of the option `inside_policy`.
  void ReportsOrIgnores(InsidePolicy policy) {
    if (policy == InsidePolicy::kReportStart || policy == InsidePolicy::kIgnore) return;
    Refuse("inside_policy", "must be REPORT_START or IGNORE here");
  }

  [[gnu::noinline]] void Refuse(absl::string_view field, absl::string_view description) {
    refusal_.Add(path_.Of(field), description);
  }

 private:
  [[gnu::noinline]] void RefuseLength(const NamedColumn& column) {
    Refuse(column.name,
           absl::StrCat("must have as many entries as ", path_.Of(first_.name), ", ", first_.size));
  }

  const ColumnsPath path_;
  const NamedColumn first_;
  Refusal& refusal_;
};

// --- `CheckKind` has one overload for each kind of query. It requires the columns that hold
// positions, with as many entries as the first of them; columns of rotations, bounds or masses may
// be empty.

ColumnCheck CheckEnds(absl::string_view kind, const SegmentColumns& segments, Refusal& refusal) {
  ColumnCheck check({kind}, {"ax", segments.ax.size()}, refusal);
  check.Required(
      {{"ay", segments.ay.size()}, {"bx", segments.bx.size()}, {"by", segments.by.size()}});
  return check;
}

// Checks the columns of shapes placed at poses (positions and rotations): the columns must be as
// long as the column `x`.
template <class S>
void CheckPlaced(const ColumnsPath& path, const PlacedColumns<S>& columns, Refusal& refusal) {
  ColumnCheck check(path, {"x", columns.x.size()}, refusal);
  check.Required({{"y", columns.y.size()}});
  check.Optional({"shape", columns.shape.size()});
  // Without the column `shape`, item i places shapes[i], so there must be a shape for each item
  // (query). A batch without items may still have shapes.
  if (columns.shape.empty() && !columns.x.empty()) {
    check.Required({{"shapes", columns.shapes.size()}});
  }
  check.Rotation({"c", columns.c.size()}, {"s", columns.s.size()}, {"angle", columns.angle.size()});
}

ColumnCheck CheckMovers(absl::string_view kind, const ShapeColumns& movers, Refusal& refusal) {
  CheckPlaced({kind, ".movers."}, movers, refusal);
  return ColumnCheck({kind}, {"movers.x", movers.size()}, refusal);
}

void CheckKind(absl::string_view kind, const SegmentColumns& segments, const CastOptions& options,
               Refusal& refusal) {
  ColumnCheck check = CheckEnds(kind, segments, refusal);
  check.NotBlocking(options.inside_policy);
  check.InRange("max_hits", options.max_hits, kMaxMaxHits);
  check.ReflectsAlong(options);
  check.SoftIn(options);
}

void CheckKind(absl::string_view kind, const SegmentColumns& sights, const SightOptions& options,
               Refusal& refusal) {
  CheckEnds(kind, sights, refusal).Soft(options);
}

void CheckKind(absl::string_view kind, const RayColumns& rays, const CastOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", rays.x.size()}, refusal);
  check.Required({{"y", rays.y.size()}, {"dx", rays.dx.size()}, {"dy", rays.dy.size()}});
  check.Optional({"t_min", rays.t_min.size()});
  check.Optional({"t_max", rays.t_max.size()});
  check.NotBlocking(options.inside_policy);
  check.InRange("max_hits", options.max_hits, kMaxMaxHits);
  check.ReflectsAlong(options);
  check.SoftIn(options);
}

void CheckKind(absl::string_view kind, const ArcColumns& arcs, const ArcOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", arcs.x.size()}, refusal);
  check.Required({{"y", arcs.y.size()},
                  {"vx", arcs.vx.size()},
                  {"vy", arcs.vy.size()},
                  {"ax", arcs.ax.size()},
                  {"ay", arcs.ay.size()},
                  {"duration", arcs.duration.size()}});
  check.NotAllPassages(options.mode);
  check.NotBlocking(options.inside_policy);
  check.InRange("max_hits", options.max_hits, kMaxMaxHits);
}

void CheckKind(absl::string_view kind, const FanColumns& fans, const FanOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", fans.x.size()}, refusal);
  check.Soft(options);
  check.NotBlocking(options.inside_policy);
  check.Required({{"y", fans.y.size()},
                  {"angle", fans.angle.size()},
                  {"step", fans.step.size()},
                  {"range", fans.range.size()},
                  {"beams", fans.beams.size()}});
}

void CheckKind(absl::string_view kind, const AreaColumns& areas, const AreaOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", areas.x.size()}, refusal);
  check.Required({{"y", areas.y.size()}, {"range", areas.range.size()}});
  check.Pair({"from", areas.from.size()}, {"to", areas.to.size()});
  check.Optional({"eye", areas.eye.size()});
  check.ReportsOrIgnores(options.inside_policy);
  check.InRange("max_rows", options.max_rows, kMaxMaxHits);
}

// Bodies block no sight of observers.
void CheckKind(absl::string_view kind, const AreaColumns& observers, const SeeOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", observers.x.size()}, refusal);
  check.Required({{"y", observers.y.size()}, {"range", observers.range.size()}});
  check.Pair({"from", observers.from.size()}, {"to", observers.to.size()});
  check.Optional({"eye", observers.eye.size()});
  check.ReportsOrIgnores(options.inside_policy);
  if (!IsAccepted(options.margin) || options.margin < 0) {
    check.Refuse("margin", "must be in [0, 2^53]");
  }
  if (observers.scope.against != Against::kScene) check.Refuse("against", "must be SCENE here");
}

void CheckKind(absl::string_view kind, const PointColumns& points, uint64_t, Refusal& refusal) {
  ColumnCheck check({kind}, {"x", points.x.size()}, refusal);
  check.Required({{"y", points.y.size()}});
}

void CheckKind(absl::string_view kind, const CircleColumns& circles, const OverlapOptions&,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", circles.x.size()}, refusal);
  check.Required({{"y", circles.y.size()}, {"radius", circles.radius.size()}});
}

void CheckKind(absl::string_view kind, const CapsuleColumns& capsules, const OverlapOptions&,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"ax", capsules.ax.size()}, refusal);
  check.Required({{"ay", capsules.ay.size()},
                  {"bx", capsules.bx.size()},
                  {"by", capsules.by.size()},
                  {"radius", capsules.radius.size()}});
}

void CheckKind(absl::string_view kind, const BoxColumns& boxes, const OverlapOptions&,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"min_x", boxes.min_x.size()}, refusal);
  check.Required({{"min_y", boxes.min_y.size()},
                  {"max_x", boxes.max_x.size()},
                  {"max_y", boxes.max_y.size()}});
}

void CheckKind(absl::string_view kind, const PolygonColumns& polygons, const OverlapOptions&,
               Refusal& refusal) {
  CheckPlaced({kind}, polygons, refusal);
}

void CheckKind(absl::string_view kind, const DistanceColumns& distances,
               const DistanceOptions& options, Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, distances.movers, refusal);
  check.Optional({"max_distance", distances.max_distance.size()});
  check.InRange("k", options.k, kMaxNearestK);
}

void CheckKind(absl::string_view kind, const ContactColumns& contacts, const ContactOptions&,
               Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, contacts.movers, refusal);
  check.Pair({"mass", contacts.mass.size()}, {"polygon_mass", contacts.polygon_mass.size()});
}

void CheckKind(absl::string_view kind, const ShapeColumns& movers,
               const DepenetrateOptions& options, Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, movers, refusal);
  check.InRange("max_steps", options.max_steps, kMaxDepenetrateSteps);
}

void CheckKind(absl::string_view kind, const SweepColumns& sweeps, const SweepOptions& options,
               Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, sweeps.movers, refusal);
  const bool has_positions = !sweeps.to_x.empty() || !sweeps.to_y.empty();
  const bool has_displacements = !sweeps.dx.empty() || !sweeps.dy.empty();
  if (has_positions && has_displacements) {
    check.Refuse("dx", "must be absent where to_x and to_y are given");
  } else if (has_displacements) {
    check.Required({{"dx", sweeps.dx.size()}, {"dy", sweeps.dy.size()}});
  } else {
    check.Required({{"to_x", sweeps.to_x.size()}, {"to_y", sweeps.to_y.size()}});
  }
  check.Optional({"skin", sweeps.skin.size()});
  if (!sweeps.skin.empty() && !IsBlocking(options.inside_policy)) {
    check.Refuse("skin", "must be absent where inside_policy is not a blocking policy");
  }
  check.NotAllPassages(options.mode);
  check.InRange("max_hits", options.max_hits, kMaxMaxHits);
}

void CheckKind(absl::string_view kind, const RotatingSweepColumns& sweeps,
               const RotatingSweepOptions&, Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, sweeps.movers, refusal);
  check.Required({{"to_x", sweeps.to_x.size()}, {"to_y", sweeps.to_y.size()}});
  check.Rotation({"to_c", sweeps.to_c.size()}, {"to_s", sweeps.to_s.size()},
                 {"to_angle", sweeps.to_angle.size()});
  check.Required({{"tolerance", sweeps.tolerance.size()}});
}

void CheckKind(absl::string_view kind, const MoveColumns& moves, const MoveOptions& options,
               Refusal& refusal) {
  ColumnCheck check({kind}, {"x", moves.x.size()}, refusal);
  check.Required({{"y", moves.y.size()}});
  check.Optional({"tracker", moves.tracker.size()});
  check.Rotation({"c", moves.c.size()}, {"s", moves.s.size()}, {"angle", moves.angle.size()});
  check.Pair({"from_x", moves.from_x.size()}, {"from_y", moves.from_y.size()});
  check.Rotation({"from_c", moves.from_c.size()}, {"from_s", moves.from_s.size()},
                 {"from_angle", moves.from_angle.size()});
  if (!moves.sweeps() &&
      !(moves.from_c.empty() && moves.from_s.empty() && moves.from_angle.empty())) {
    check.Refuse("from_x", "must be given with a rotation to start from");
  }
  if (!IsAccepted(options.tolerance) || options.tolerance < 0) {
    check.Refuse("tolerance", "must be in [0, 2^53]");
  }
}

void CheckKind(absl::string_view kind, const SlideColumns& slides, const SlideOptions& options,
               Refusal& refusal) {
  ColumnCheck check = CheckMovers(kind, slides.movers, refusal);
  check.Optional({"pushes", slides.pushes.size()});
  check.Optional({"skin", slides.skin.size()});
  check.Blocking(options.inside_policy);
  check.InRange("max_contacts", options.max_contacts, kMaxContacts);
  uint64_t pushes = slides.pushes.empty() ? slides.size() : 0;
  for (const uint32_t count : slides.pushes) pushes += count;
  for (const NamedColumn& column :
       {NamedColumn{"dx", slides.dx.size()}, NamedColumn{"dy", slides.dy.size()}}) {
    if (column.size == pushes) continue;
    check.Refuse(column.name,
                 absl::StrCat("must have as many entries as there are pushes, ", pushes));
  }
}

void CheckKind(absl::string_view kind, const SegmentColumns& bounces, const BounceOptions& options,
               Refusal& refusal) {
  CheckEnds(kind, bounces, refusal).InRange("max_bounces", options.max_bounces, kMaxBounces);
}

// Does not check the values of `max_bounces`: a value out of range is an error of its item, which
// the evaluation reports.
void CheckKind(absl::string_view kind, const RayBounceColumns& rays, uint64_t, Refusal& refusal) {
  ColumnCheck check({kind}, {"x", rays.x.size()}, refusal);
  check.Required({{"y", rays.y.size()}, {"dx", rays.dx.size()}, {"dy", rays.dy.size()}});
  check.Optional({"t_max", rays.t_max.size()});
  check.Optional({"max_bounces", rays.max_bounces.size()});
}

// Checks the scope of a batch: whether its items (queries) consider the scene, the bodies (placed
// shapes beside the scene) or both (`against`), and the columns of category masks, of owners whose
// bodies an item ignores, and of moments of the bodies' history.
template <class Kind>
void CheckScope(const Kind& kind, const typename Kind::Columns& columns, bool has_history,
                Refusal& refusal) {
  if constexpr (HasScope<const typename Kind::Columns>) {
    const Scope& scope = ScopeOf(columns);
    if (!Kind::kMayAskBodies) {
      const bool is_default = scope.against == Against::kScene && scope.mask.empty() &&
                              scope.ignore_owner.empty() && scope.as_of.empty();
      if (!is_default) refusal.Add(absl::StrCat(kind.name, ".against"), "must be SCENE here");
      return;
    }
    const auto check = [&](absl::string_view column, size_t size) {
      if (size == 0 || size == columns.size()) return;
      refusal.Add(absl::StrCat(kind.name, ".", column),
                  absl::StrCat("must be absent or have one entry per item, ", columns.size()));
    };
    check("masks", scope.mask.size());
    check("ignore_owner", scope.ignore_owner.size());
    check("as_of", scope.as_of.size());
    if (!has_history && !scope.as_of.empty()) {
      refusal.Add(absl::StrCat(kind.name, ".as_of"), "must be absent without body_set");
    }
  }
}

// Checks that the masses of body contacts, if there are any, are one for each of `bodies` bodies.
void CheckMasses(const Group& group, size_t bodies, Refusal& refusal) {
  const std::span<const double> mass = group.body_contacts.mass;
  if (mass.empty() || mass.size() == bodies) return;
  refusal.Add("body_contacts.mass",
              absl::StrCat("must be absent or have one entry per body, ", bodies));
}

// Checks that the columns of the group's bodies (placed shapes that its queries can hit beside the
// scene) are as long as the column of their positions, and that `body_contacts` has no masses or
// one for each body.
void CheckBodies(const Group& group, Refusal& refusal) {
  const BodyColumns& bodies = group.bodies;
  const ShapeColumns& placed = bodies.placed;
  // Returns early, since most groups have neither bodies nor masses.
  const size_t entries = placed.x.size() + placed.y.size() + placed.shape.size() + placed.c.size() +
                         placed.s.size() + placed.angle.size() + bodies.category.size() +
                         bodies.owner.size() + group.body_contacts.mass.size();
  if (entries == 0) return;
  if (group.body_history != nullptr) return CheckMasses(group, group.body_history->size(), refusal);
  CheckPlaced({"bodies", ".placed."}, bodies.placed, refusal);
  ColumnCheck check({"bodies"}, {"placed.x", bodies.size()}, refusal);
  check.Optional({"category", bodies.category.size()});
  check.Optional({"owner", bodies.owner.size()});
  CheckMasses(group, bodies.size(), refusal);
}

// Checks that the bodies' history, if there is one, is the only source of bodies, and that it has
// angles where the rotation asked for needs them.
void CheckHistory(const Group& group, Refusal& refusal) {
  if (group.body_history == nullptr) return;
  if (group.bodies.size() > 0) refusal.Add("bodies", "must be absent beside body_set");
  if (!group.body_history->Allows(group.body_rotation)) {
    refusal.Add("body_set_rotation", "must be NEAREST for a body set with c and s");
  }
}

// Checks nothing: the column `body` of body contacts sets the number of items (queries, each for
// the contacts of one body), and `CheckBodies` checks the only other column, the masses of the
// bodies.
void CheckKind(absl::string_view, const BodyContactColumns&, const ContactOptions&, Refusal&) {}

// Adds a violation for each shape with more than `kMaxMovingVertices` vertices.
template <class S>
void CheckShapes(absl::string_view path, std::span<const S> shapes, Refusal& refusal) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const size_t count = shapes[i].vertex_count();
    if (count <= kMaxMovingVertices) continue;
    const absl::Status status = CheckMovingVertices(count, absl::StrCat(path, "[", i, "]"));
    for (const Violation& violation : Violations(status)) {
      refusal.Add(violation.field, violation.description);
    }
  }
}

template <class Columns>
void CheckShapesOf(const char* kind, const Columns& columns, Refusal& refusal) {
  if constexpr (HasShapes<Columns>) {
    const auto& placed = PlacedOf(columns);
    if (placed.shapes.empty()) return;
    const bool are_movers = std::is_same_v<decltype(placed), const ShapeColumns&>;
    const std::string path = absl::StrCat(kind, are_movers ? ".movers" : "", ".shapes");
    CheckShapes(path, placed.shapes, refusal);
  }
}

}  // namespace

absl::Status CheckGroup(const Group& group) { return CheckGroup(group, GroupKindSet().set()); }

// Checks the lengths of all columns first, and returns INVALID_ARGUMENT if any is wrong. Checks the
// limits on shapes and bodies (RESOURCE_EXHAUSTED) only after that, since a shape that is too large
// may be in a column of the wrong length.
absl::Status CheckGroup(const Group& group, const GroupKindSet& kinds) {
  Refusal refusal;
  ForEachOf<kGroupKinds>(kinds, [&](const auto& kind) {
    CheckKind(kind.name, group.*kind.columns, group.*kind.options, refusal);
    CheckScope(kind, group.*kind.columns, group.body_history != nullptr, refusal);
  });
  CheckBodies(group, refusal);
  CheckHistory(group, refusal);
  if (!refusal.empty()) return refusal.status();
  ForEachOf<kGroupKinds>(
      kinds, [&](const auto& kind) { CheckShapesOf(kind.name, group.*kind.columns, refusal); });
  CheckShapes("bodies.placed.shapes", group.bodies.placed.shapes, refusal);
  if (group.bodies.size() > kMaxBodies) {
    refusal.Add("bodies", absl::StrCat("must be at most ", kMaxBodies, " bodies"));
  }
  return refusal.status(absl::StatusCode::kResourceExhausted);
}

}  // namespace carom
