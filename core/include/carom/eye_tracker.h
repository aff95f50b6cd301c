// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is visible from an eye that moves only a little between two questions?
//
// An `EyeTracker` is the memory of one eye: a disc about a position of the eye, and the edges of
// the scene that can be visible from some point of the disc. While the eye is in the disc,
// `FindAreas` (carom/area.h) and `FindSeen` (carom/sees.h) read these edges and nothing else of the
// scene. The memory never changes an answer: equal eyes and scenes give equal bytes, whatever was
// asked before, and also without trackers.
//
//   std::vector<EyeTracker> trackers(1);
//   const double range[] = {4}, y[] = {1};
//   AreaAnswers out;
//   for (const double x : {-2.0, -2.0625, -2.125}) {
//     WorkMeter meter;
//     const AreaColumns eyes{.x = {&x, 1}, .y = y, .range = range, .trackers = trackers};
//     FindAreas(*scene, eyes, {}, out, meter);
//   }
//   // out.tiers.quiet == 1: the third question was answered by the edges that the second one kept
//
// A disc of positions sees around a corner by as much as a lamp of that size lights behind it. An
// edge is left out if each of its points is in the full shadow (the umbra) of one other edge.
// Thread-safe for distinct trackers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace carom {

namespace internal {
struct EyeMemory;
struct EyeTrackerAccess;
}  // namespace internal

// The memory of an eye, which may be used with any scene, and is of use while the scene is edited
// elsewhere. A tracker makes its memory at the second question that is asked of it. It makes none
// for an eye in a polygon, or so near to a wall that the memory would last for less than about 4
// moves. Copies have memories of their own.
//
// Memory: `memory_bytes`, at most about 100 KB, and the polygons near by, which stay alive until
// the tracker makes another memory, forgets or is destroyed, even if an edit removes them from the
// scene. Thread-safe as an int is.
class EyeTracker {
 public:
  EyeTracker();
  EyeTracker(const EyeTracker& other);
  EyeTracker(EyeTracker&& other) noexcept;
  EyeTracker& operator=(const EyeTracker& other);
  EyeTracker& operator=(EyeTracker&& other) noexcept;
  ~EyeTracker();

  // Drops the memory. No answer changes, but the next answers take longer.
  void Forget();
  // Returns the bytes of the tracker, without polygons.
  size_t memory_bytes() const;

 private:
  friend struct internal::EyeTrackerAccess;

  std::unique_ptr<internal::EyeMemory> memory_;
};

// How many eyes were answered in which way. Advice: not part of the answer.
struct EyeTiers {
  uint64_t quiet = 0;    // by the edges of a memory
  uint64_t refresh = 0;  // by the edges of a memory that this question made
  uint64_t cold = 0;     // by the index of the scene

  EyeTiers& operator+=(const EyeTiers& more) {
    quiet += more.quiet;
    refresh += more.refresh;
    cold += more.cold;
    return *this;
  }
  friend bool operator==(const EyeTiers&, const EyeTiers&) = default;
};

}  // namespace carom
