// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One group of a frame: all questions of a tick about one scene.
//
// `EvaluateGroup` runs the batches of a group against one snapshot and fills the answers. It is the
// only path of every query: the server, the in-process library and `carom eval --local` all call
// it, so their answers are equal byte for byte. A frame is a list of groups; the layers above the
// core choose the scene of each group (by name, handle and version).
//
//   Group group;
//   group.points = {x, y};  // columns of 1 and 4
//   GroupAnswers answers;
//   WorkMeter meter;
//   const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
//   // answers.points.polygon_ids[0] == 7
//
// Lengths are in the unit of the caller's coordinates. Touching, normals, errors and costs are as
// in the header of each kind of question; `EvaluateGroup` adds nothing. Thread-safe for distinct
// answers, meters and trackers. Cheaper alternative: the function of one question, such as
// `LocatePoints` of carom/locate.h. More powerful: carom/client.h, which sends questions to a
// server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "carom/arc.h"
#include "carom/area.h"
#include "carom/bodies.h"
#include "carom/body_history.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/depenetrate.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/rotating_sweep.h"
#include "carom/scene.h"
#include "carom/sees.h"
#include "carom/slide.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/visibility.h"
#include "carom/work_meter.h"

namespace carom {

// The questions of a group, as views, not copies: the data of the spans must outlive the call.
// Empty columns ask nothing. Each kind of question is also an entry of the list in
// carom/group_kinds.h, which all code that iterates over the kinds uses.
struct Group {
  // The bodies that a question considers if its scope includes bodies.
  BodyColumns bodies;
  // Bodies with poses by tick, in place of `bodies`: each item considers them as of its own moment
  // (`Scope::as_of`). Must outlive the evaluation. Null: `bodies` counts.
  const BodyHistory* body_history = nullptr;
  BodyRotation body_rotation = BodyRotation::kNearest;  // between the ticks of `body_history`
  CastOptions cast_options;
  SegmentColumns segments;
  uint64_t point_mask = kEveryCategory;
  PointColumns points;
  OverlapOptions circle_options;
  CircleColumns circles;
  OverlapOptions polygon_options;
  PolygonColumns polygons;
  CastOptions ray_options;
  RayColumns rays;
  OverlapOptions capsule_options;
  CapsuleColumns capsules;
  OverlapOptions box_options;
  BoxColumns boxes;
  DistanceOptions distance_options;
  DistanceColumns distances;
  ContactOptions contact_options;
  ContactColumns contacts;
  DepenetrateOptions depenetration_options;
  ShapeColumns depenetrations;
  SweepOptions sweep_options;
  SweepColumns sweeps;
  RotatingSweepOptions rotating_sweep_options;
  RotatingSweepColumns rotating_sweeps;
  ArcOptions arc_options;
  ArcColumns arcs;
  SightOptions sight_options;
  SegmentColumns sights;
  FanOptions fan_options;
  FanColumns fans;
  MoveOptions move_options;
  MoveColumns moves;  // the evaluation updates the memories of their trackers
  SlideOptions slide_options;
  SlideColumns slides;
  BounceOptions bounce_options;
  SegmentColumns bounces;
  ContactOptions body_contact_options;
  BodyContactColumns body_contacts;
  uint64_t ray_bounce_mask = kEveryCategory;
  RayBounceColumns ray_bounces;
  AreaOptions area_options;
  AreaColumns areas;
  SeeOptions see_options;
  AreaColumns sees;

  // Returns the number of items of all batches, where fans count by `FanQueryCount`: the number
  // that the limit "queries a frame" is about.
  uint64_t query_count() const;
};

// Returns how many queries the fans count as: one for each beam. A fan with a number of beams
// outside [1, kMaxBeams] counts as one query, because it is answered with an error.
uint64_t FanQueryCount(std::span<const uint32_t> beams);

// The answers to a group: for each batch of `Group` one member of equal name.
struct GroupAnswers {
  uint64_t version = 0;  // version of the scene that was read
  CastAnswers segments;
  LocateAnswers points;
  OverlapAnswers circles;
  OverlapAnswers polygons;
  CastAnswers rays;
  OverlapAnswers capsules;
  OverlapAnswers boxes;
  DistanceAnswers distances;
  ContactAnswers contacts;
  DepenetrateAnswers depenetrations;
  SweepAnswers sweeps;
  RotatingSweepAnswers rotating_sweeps;
  ArcAnswers arcs;
  SightAnswers sights;
  FanAnswers fans;
  MoveAnswers moves;
  SlideAnswers slides;
  BounceAnswers bounces;
  ContactAnswers body_contacts;
  RayBounceAnswers ray_bounces;
  AreaAnswers areas;
  SeeAnswers sees;

  void Clear();
  // Returns the capacity, in rows, of the largest column that can be longer than the number of
  // items. Callers that reuse the object compare it with a limit, and free larger columns.
  size_t row_capacity() const;
};

// Returns OK if the columns of each batch are of equal length and the options are in range;
// otherwise INVALID_ARGUMENT naming the field, such as `segments.by` or `segments.max_hits`; so,
// too, for `bodies` beside a history (`body_set`), `as_of` without one, and a rotation that the
// history does not allow (`body_set_rotation`).
// Returns RESOURCE_EXHAUSTED naming `bodies` for more than `kMaxBodies` bodies, and
// RESOURCE_EXHAUSTED naming `polygons.shapes[i]` (or `contacts.movers.shapes[i]`, and so on) for a
// shape with more than `kMaxMovingVertices` vertices.
absl::Status CheckGroup(const Group& group);

// Answers a group that `CheckGroup` accepts. If any question considers bodies, a body that cannot
// be placed is INVALID_ARGUMENT, as in `Bodies::Create`. An item with a moment that the history
// does not keep is an error of the item (`ItemFault::kNotKept`), whatever it is asked against. If
// `meter` stopped the work, `out` is meaningless and the status is DEADLINE_EXCEEDED, or
// RESOURCE_EXHAUSTED if the answers have too many rows. Thread-safe for distinct `out`, `meter` and
// trackers.
absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter);

}  // namespace carom
