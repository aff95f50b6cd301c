// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One group of a frame: all that a tick asks of one scene.
//
// `EvaluateGroup` runs the batches of a group against one snapshot and fills the answers. It is
// the one path of every query: the server, the in-process library and `carom eval --local` all
// call it, so their answers are the same bytes. A frame is a list of groups; who picks each group's
// scene (by name, handle and version) is above the core.
//
//   Group group;
//   group.points = {x, y};  // columns of 1 and 4
//   GroupAnswers answers;
//   WorkMeter meter;
//   const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
//   // answers.points.polygon_ids[0] == 7
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal, error and cost: as
// the header of each question says; nothing is added. Thread-safe for distinct answers, meters and
// trackers. Cheaper: the function of one question, such as `LocatePoints` of carom/locate.h;
// richer: carom/client.h, which asks a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "carom/arc.h"
#include "carom/bodies.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/depenetrate.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/rotating_sweep.h"
#include "carom/scene.h"
#include "carom/slide.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/visibility.h"
#include "carom/work_meter.h"

namespace carom {

// Views, not copies: what the spans point to outlives the call. Empty columns ask nothing. Each
// kind of question is a line of the list in carom/group_kinds.h too, which all that goes over the
// kinds follows.
struct Group {
  // What questions whose scope has bodies consider beside the scene.
  BodyColumns bodies;
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
  uint64_t sight_mask = kEveryCategory;
  SegmentColumns sights;
  FanOptions fan_options;
  FanColumns fans;
  MoveOptions move_options;
  MoveColumns moves;  // their trackers learn from the evaluation
  SlideOptions slide_options;
  SlideColumns slides;
  BounceOptions bounce_options;
  SegmentColumns bounces;
  ContactOptions body_contact_options;
  BodyContactColumns body_contacts;
  uint64_t ray_bounce_mask = kEveryCategory;
  RayBounceColumns ray_bounces;

  // Items of all batches, fans by `FanQueryCount`: what "queries a frame" limits.
  uint64_t query_count() const;
};

// The queries that fans are: each beam is one. A fan whose beams are not in [1, kMaxBeams] is one
// too: it is answered with an error and costs no more.
uint64_t FanQueryCount(std::span<const uint32_t> beams);

// One member for each batch of `Group`, by the same name.
struct GroupAnswers {
  uint64_t version = 0;  // of the scene that was read
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

  void Clear();
  // The room, in rows, of the largest column that can be longer than the items that were asked:
  // what decides whether the memory is worth keeping.
  size_t row_capacity() const;
};

// OK if the columns of each batch are of equal length and the options are in range; otherwise
// INVALID_ARGUMENT naming the field, such as `segments.by` or `segments.max_hits`. More than
// `kMaxBodies` bodies are RESOURCE_EXHAUSTED naming `bodies`. A shape
// with more than kMaxMovingVertices vertices is RESOURCE_EXHAUSTED naming `polygons.shapes[i]` (or
// `contacts.movers.shapes[i]`, and so on).
absl::Status CheckGroup(const Group& group);

// Answers a group that `CheckGroup` accepts. A body that is not to be placed is INVALID_ARGUMENT,
// as `Bodies::Create` has it, if any question considers bodies. If `meter` stopped the work, `out`
// is meaningless and the status DEADLINE_EXCEEDED, or RESOURCE_EXHAUSTED when the answers have too
// many rows. Thread-safe for distinct `out`, `meter` and trackers.
absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter);

}  // namespace carom
