// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the area of an eye: first its envelope, which says what is nearest in each direction, and
// the pieces of its boundary only if they are asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "area/direction.h"
#include "area/envelope.h"
#include "area/eye_memory.h"
#include "area/reentry.h"
#include "area/rows.h"
#include "area/targets.h"
#include "carom/area.h"
#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// What an eye sees: every direction, the directions of a sector, or none.
enum class SectorKind : uint8_t { kWhole, kPart, kEmpty };

// The numbers of an eye.
struct EyeItem {
  Circle disc;
  SectorKind sector = SectorKind::kWhole;
  Vec2 from, to;  // the sides of the sector
};

// What an eye is asked: its numbers, what blocks its sight, and what counts for that which contains
// the eye.
struct EyeQuestion {
  EyeItem item;
  QueryFilter walls;
  InsidePolicy policy;
  EyeMemory* memory = nullptr;  // of the eye, or null
};

// Reads item i. Returns false, with an error of the item, if it is not valid; see `FindAreas`.
bool ReadEye(const AreaColumns& eyes, size_t i, ItemChecker& check, EyeItem& item);

// Finds the area of one eye after the other. Its memory is kept from batch to batch. Not
// thread-safe.
class AreaFinder {
 public:
  // Makes the memory of an eye if it has one that does not cover it and a new one is worth making,
  // and decides whether the calls of `Find` and `FindToward` for the eye use it. Called before
  // them. Returns false once the meter stops the work.
  bool Prepare(const World& world, const EyeQuestion& asked, WorkMeter& meter);
  // Finds the envelope of an eye. Returns false once the meter stops the work.
  bool Find(const World& world, const EyeQuestion& asked, WorkMeter& meter) {
    return Find(world, asked, nullptr, asked.item.disc.radius, meter);
  }
  // Finds the envelope only in the directions of the targets, by what meets the square about the
  // eye whose sides are at the distance `reach`, and at most at the range.
  bool FindToward(const Targets& targets, double reach, const World& world,
                  const EyeQuestion& asked, WorkMeter& meter) {
    return Find(world, asked, &targets, std::min(reach, asked.item.disc.radius), meter);
  }
  // Finds the pieces of the boundary of the last eye, which has an area, at the first call. Returns
  // false once the meter stops the work.
  bool FindRows(WorkMeter& meter);

  // Returns how the last eye was answered.
  EyeTier tier() const { return tier_; }
  // Returns false if the area is empty.
  bool has_area() const { return has_area_; }
  bool starts_inside() const { return starts_inside_; }
  Eye& eye() { return eye_; }
  const Eye& eye() const { return eye_; }
  const Envelope& envelope() const { return envelope_; }
  // Returns the pieces that `FindRows` found.
  const AreaRows& rows() const { return rows_; }

  // Returns false only if no point of the box is seen: it is out of range, or hidden.
  bool MayBeSeen(const Box& box, WorkMeter& meter) const;
  // Returns whether the memory is small enough to be kept for the next batch: some megabytes.
  bool IsWorthCaching() const;

 private:
  bool Find(const World& world, const EyeQuestion& asked, const Targets* targets, double reach,
            WorkMeter& meter);
  void Start(const EyeQuestion& asked, const Targets* targets);
  bool MakeMemory(const World& world, const EyeQuestion& asked, double radius, WorkMeter& meter);
  void StartWhole(const Circle& disc);
  bool KeepEdges(const World& world, const EyeQuestion& asked, double radius, WorkMeter& meter);
  double NearestEdge() const;
  void RememberEye(EyeMemory& memory) const;
  bool FindByMemory(const World& world, const EyeQuestion& asked, double range, WorkMeter& meter);
  void AddSpread(const Segment& edge, size_t index, int back);
  bool FindEnvelope(const World& world, const QueryFilter& filter, double range, WorkMeter& meter);
  bool InsertPolygons(const Scene& scene, uint64_t mask, double reach, WorkMeter& meter);
  bool InsertBodies(const World& world, const QueryFilter& filter, double reach, WorkMeter& meter);
  bool IsBlind() const { return starts_inside_ && policy_ == InsidePolicy::kReportStart; }
  bool Add(const IndexedPolygon& polygon, uint64_t id, bool is_body, WorkMeter& meter);
  bool AddEdges(const IndexedPolygon& polygon, WorkMeter& meter);
  bool AddEdge(const Segment& edge, size_t index, int back);
  bool Insert(WorkMeter& meter);
  void SetFarthest();

  Eye eye_;
  InsidePolicy policy_ = InsidePolicy::kReportStart;
  bool starts_inside_ = false;
  std::vector<Blocker> blockers_;
  Reentry reentry_;
  EyeTier tier_ = EyeTier::kCold;
  // While a memory is made: the disc of positions that it is for, edges on a line with the eye as
  // (source, index), and the square of the distance of the nearest edge.
  EyeSpread spread_;
  std::vector<std::pair<uint32_t, uint32_t>> on_line_;
  std::vector<KeptEdge> kept_;
  double nearest2_ = 0;
  bool has_area_ = false;
  EyeSector sector_;
  std::vector<Envelope::Range> ranges_;
  Envelope envelope_;
  double farthest2_ = 0;  // the square of a distance beyond which nothing is seen
  bool has_rows_ = false;
  AreaRows rows_;
};

}  // namespace carom::internal
