// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges can be visible from the points of a disc?
//
// Let p be the center of the disc and r its radius, and let no edge be within 2r of p. A chain is a
// curve of edges, or parts of edges, that meet, one part in each direction from p between two
// directions, in which it ends. A chain hides a point x from every point q of the disc if x is
// behind the chain on the ray from p, and its direction differs from those of the ends by at least
// the angles asin (r / d), d the distance of the end. For the line segment from q to x comes to
// what is behind the chain through a point of the chain, or through a point y on the ray behind one
// of its ends. Each point of the triangle p q x is at most r from the line through p and x; but y
// is farther than that.
//
// So an envelope of chains that are shortened by these angles hides, from the whole disc, what it
// hides from p. The chains are those of the envelope of p, and, for what is seen between these,
// each edge by itself. All edges that this envelope does not hide are kept.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "area/direction.h"
#include "area/envelope.h"
#include "carom/area.h"
#include "carom/eye_tracker.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "index/edit_history.h"

namespace carom::internal {

// An edge of a polygon.
struct KeptEdge {
  const Polygon* polygon;
  uint32_t index;
};

// The edges of one polygon in a memory.
struct KeptPolygon {
  Polygon polygon;
  uint32_t edge_count;
};

// How an eye is answered; see `EyeTiers`.
enum class EyeTier : uint8_t { kQuiet, kRefresh, kCold };

// The memory of an eye. Not thread-safe.
struct EyeMemory {
  // The most edges that are kept.
  static constexpr size_t kMaxEdges = 4096;
  static constexpr uint32_t kLeastPause = 4, kMostPause = 256;

  // Returns whether the memory has all edges that an eye at the center of `disc`, with the radius
  // of `disc` as its range, can see of the polygons with a category in `mask`. Drops a memory that
  // an edit of the scene may have made incomplete.
  bool Covers(const EditHistory& history, uint64_t mask, const Circle& disc);
  // Returns the radius of the memory that is worth making for an eye that is asked about at the
  // center of `disc` now, or 0 if none is.
  double RadiusFor(const Circle& disc) const;
  // Returns whether a memory is expected to pay for the work of making it: the work of a question
  // without memory is known, and the last memory took less, over its questions, than these would
  // have taken without it. If not, no memory is made for some questions. Called when a question is
  // not covered.
  bool IsWorthwhile();
  // Takes the work of a question that was answered in a tier.
  void Record(EyeTier tier, uint64_t units);
  // Keeps edges of a scene, each once, unless they are too many. Reorders `kept`.
  void Keep(std::vector<KeptEdge>& kept);
  // Makes no memory for some questions: for twice as many as the last time.
  void Pause();
  // Drops the edges.
  void Drop();
  // Frees the edges for lack of room, and makes no memory for some questions.
  void Free();
  size_t memory_bytes() const;

  // The disc for whose points the memory has all edges within `range`; a radius below 0: no memory.
  Circle disc{{}, -1};
  double range = 0;
  uint64_t scene_state = 0;  // of the scene, `EditHistory::state`
  uint64_t mask = 0;
  std::vector<KeptPolygon> polygons;
  std::vector<uint32_t> edges;  // of each polygon in turn: their indices

  // In units of work: a question without memory, and all questions of the memory, of which the
  // first one made it.
  uint64_t cold_units = 0, spent_units = 0;
  uint32_t questions = 0;
  // For how many questions no memory is made, and for how many after the next failure.
  uint32_t pause = 0, next_pause = kLeastPause;
  bool has_failed = false;  // to make a memory for the last question
  bool is_used = false;     // by a question about the scene since this was last set to false

  // Where the last question was asked, and how far the nearest edge was.
  bool has_last = false;
  Vec2 last;
  double nearest = HUGE_VAL;
};

struct EyeTrackerAccess {
  static std::unique_ptr<EyeMemory>& MemoryOf(EyeTracker& tracker) { return tracker.memory_; }
};

// The memories of a batch of eyes, one after the other. Not thread-safe.
class EyeMemories {
 public:
  explicit EyeMemories(const AreaColumns& eyes) : eyes_(eyes) {}
  ~EyeMemories() { KeepBudget(); }
  EyeMemories(const EyeMemories&) = delete;
  EyeMemories& operator=(const EyeMemories&) = delete;

  // Returns the memory of eye i; null if it has none, or if there is no room for one.
  EyeMemory* Begin(size_t i);
  // Takes how the eye of the last call of `Begin` was answered, and by how much work. Frees the
  // edges of its memory, or the memory, if all memories have grown by more than their budget; so
  // does the destructor for an eye whose answer was not finished. `used` is what
  // `Begin` returned, or null for a question that did not use the memory.
  void End(const EyeMemory* used, EyeTier tier, uint64_t units, EyeTiers& tiers);

 private:
  void KeepBudget();

  const AreaColumns& eyes_;
  std::unique_ptr<EyeMemory>* memory_ = nullptr;  // of the current eye; null: it has ended
  size_t bytes_ = 0;                              // of this memory before the question
  int64_t growth_ = 0;                            // of all memories, in bytes
};

// A disc of positions of an eye, about the eye's own.
class EyeSpread {
 public:
  explicit EyeSpread(double radius = 0) : radius_(radius) {}
  double radius() const { return radius_; }

  // Returns whether the disc is on one side of the line of `edge` for certain.
  bool IsBeside(Vec2 eye, const Segment& edge) const;
  // Adds to `parts` the parts of the edge between whose directions it hides what is behind it from
  // the whole disc, if there are any.
  void AddUmbra(Eye& eye, uint32_t edge, std::vector<Blocker>& parts) const;
  // Adds to `parts` the same of the chains of an envelope in all directions. Returns false if an
  // end is too near.
  bool AddUmbras(Eye& eye, const Envelope& envelope, std::vector<Blocker>& parts) const;

 private:
  double radius_;
};

}  // namespace carom::internal
