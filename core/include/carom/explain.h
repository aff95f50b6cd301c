// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Why is the answer to one question what it is?
//
// `Explain` answers a group of one item by `EvaluateGroup`, and returns which polygons and bodies
// the item considered, why each of them is in the answer or not, the signs of the predicates on the
// edges near the item, and whether a floating-point filter or exact arithmetic decided each sign.
// An item that takes several steps, such as the legs of a bounce or the
// beams of a fan, has a stage for each step.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   Group group;
//   group.segments = {ax, ay, bx, by};
//   WorkMeter meter;
//   const Explanation explanation = Explain(*scene, group, {}, meter).value();
//   // explanation.stages[0].candidates[0]: id 7, fate kKept, key 0.25
//   // explanation.text: the same, for people
//
// Lengths are in the unit of the caller's coordinates. Verdicts come from the functions that answer
// questions; each candidate is asked alone, in a scene that has nothing else. Error: signs are
// exact, keys are rounded as the answer is. An explanation is advice: its form may change between
// releases. Cost: O(n) for n polygons of the scene, and for each listed candidate its question and
// an index of its edges. Thread-safe. Cheaper alternative: carom/group.h, the answer alone. More
// powerful: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

inline constexpr uint32_t kMaxExplainedCandidates = 1000;
// The largest numbers of stages, and of candidates' edges of all stages, of an explanation.
inline constexpr size_t kMaxExplainedStages = 64;
inline constexpr size_t kMaxExplainedEdges = 2000;
// The largest number of moves of a tracker that lead to the explained move, which is the last one.
inline constexpr size_t kMaxExplainedMoves = 1024;

struct ExplainOptions {
  // Candidates that all stages list; in [1, kMaxExplainedCandidates], a number outside is read as
  // the nearest number in the range. A stage lists at least one.
  uint32_t max_candidates = 100;
  // Width in pixels of the picture `Explanation::svg`, as in `SvgOptions`; 0: no picture.
  uint32_t svg_width = 0;
};

// Why a candidate is in the answer of its stage, or not; the first that applies.
//   KEPT: it is in the answer.
//   MASK: it has no category of the mask.
//   OWNER: its owner is the ignored owner.
//   BOX: its bounding box does not meet the segment of the question.
//   HOLLOW: hollow polygons have no contacts.
//   POLICY: the inside policy does not report what contains the start.
//   TOUCH_ONLY: under a blocking policy, the shapes touch at most.
//   APART: alone, it shares no point with what is asked.
//   FAR: its exact distance is above the bound.
//   LATER: alone, it is an answer, and another candidate comes before it.
//   LIMIT: alone, it is an answer, and the answer ends at its limit of hits before it.
//   PASSED: alone, it is an answer, and it is a soft wall that the line passes before its hit.
enum class CandidateFate : uint8_t {
  kKept,
  kMask,
  kOwner,
  kBox,
  kHollow,
  kPolicy,
  kTouchOnly,
  kApart,
  kFar,
  kLater,
  kLimit,
  kPassed,
};
inline constexpr int kCandidateFateCount = static_cast<int>(CandidateFate::kPassed) + 1;
// Returns the name, such as "kept", and the reason in words for people.
const char* Name(CandidateFate fate);
const char* Description(CandidateFate fate);

// A sign of a predicate of carom/predicates.h, or of a cross product.
struct ExplainedSign {
  std::string predicate;         // "Orientation(a, b, c)" and the like
  std::vector<double> operands;  // the numbers of the predicate's arguments, in their order
  int sign = 0;
  bool by_filter = true;  // false: the filter could not decide, and exact arithmetic did

  friend bool operator==(const ExplainedSign&, const ExplainedSign&) = default;
};

// An edge of a candidate whose bounding box meets the box of the stage, or the edge of the answer.
struct ExplainedEdge {
  EdgeRef ref;
  Segment edge;
  // Whether the edge shares a point with what is asked; with a shape that moves, at its start.
  // Nothing for an arc.
  std::optional<bool> meets;
  std::vector<ExplainedSign> signs;
};

struct ExplainedCandidate {
  uint64_t id = 0;  // the index of the body if is_body
  bool is_body = false;
  CandidateFate fate = CandidateFate::kApart;
  Box bounds;
  // The value by which the answer orders candidates, of this candidate alone, as the answer rounds
  // it: the fraction of a cast or a sweep, the time of an arc, a distance, the depth of a contact.
  std::optional<double> key;
  std::optional<EdgeRef> edge;  // the edge of its answer
  // The products of exact arithmetic that the question to this candidate alone took, also for
  // measures. 0: filters decided everything.
  uint64_t exact_products = 0;
  uint64_t near_edges = 0;           // edges whose bounding box meets the box of the stage
  std::vector<ExplainedEdge> edges;  // the first of them, by (ring, edge)
  std::string why;
};

// The comparison that put the first row of an ordered answer before the best other candidate.
struct ExplainedDecision {
  uint64_t first_id = 0, second_id = 0;
  bool first_is_body = false, second_is_body = false;
  double first_key = 0, second_key = 0;  // first_key <= second_key
  // CompareCrossings of the two edges, if both keys are the same double and belong to two edges
  // that the segment crosses.
  std::optional<ExplainedSign> sign;
};

// One elementary question and what it considered.
struct ExplainedStage {
  std::string question;
  std::string key;  // what `ExplainedCandidate::key` is, such as "fraction"; empty: there is none
  Box reach;        // what is asked lies in this box, rounded outward; infinite sides mean no bound
  // Polygons and bodies whose boxes do not meet `reach`; they are not listed.
  uint64_t beyond_reach = 0;
  // Candidates: polygons by ascending id, then bodies by ascending index.
  std::vector<ExplainedCandidate> candidates;
  // How many candidates are not listed. Those of the answer are listed first.
  uint64_t unlisted = 0;
  std::vector<uint64_t> kept;  // the ids of the answer of the stage, in its order
  std::optional<ExplainedDecision> decision;
  std::string outcome;
  // Where and along which normal the first row of the answer touches, if it has a point.
  std::optional<Vec2> point;
  std::optional<Vec2> normal;
  // The exit fraction of the first row of a cast: its passage runs from its key to this fraction.
  std::optional<double> exit;
};

// How a move of a tracker was answered (carom/tracker.h, `MoveTiers`).
enum class MoveTier : uint8_t { kQuiet, kNear, kRefresh, kCold };
const char* Name(MoveTier tier);

// What the memory of a tracker held when the last move arrived, and what the move did.
struct ExplainedMemory {
  MoveTier tier = MoveTier::kCold;
  uint64_t moves = 0;  // how many moves came before
  // The quiet ball: the move is quiet if distance2 < radius2. radius2 below 0: there is none.
  Vec2 ball_center;
  double ball_radius2 = -1;
  double distance2 = 0;
  bool same_scene = false;  // whether the ball belongs to the state of this scene
  // The influence mask: it holds within `mask_radius` of `mask_center` and has all edges within
  // `known_radius` of it. `mask_radius` below 0: there is none.
  Vec2 mask_center;
  double mask_radius = -1;
  double known_radius = 0;
  std::vector<uint64_t> neighbors;  // ids of the polygons of the mask
  std::vector<uint64_t> touched;    // those of them that the shape touched
  double quiet_radius = 0;          // after the move
  std::string why;
};

struct Explanation {
  std::string kind;      // the member of `Group`, such as "segments"
  uint64_t version = 0;  // of the scene
  // The error of the item; there are then no stages.
  std::optional<ItemError> error;
  std::string answer;  // the answer in a line
  std::vector<ExplainedStage> stages;
  uint64_t unlisted_stages = 0;
  std::optional<ExplainedMemory> memory;  // of a move
  std::string text;                       // all of it, for people
  // An SVG document of the candidates, their listed edges, the boxes of the stages, the question
  // and the answer. Leaves out outlines of candidates beyond 50,000 vertices.
  std::string svg;
};

// Explains the only item of `group`. Moves may have several items, all of one tracker: the tracker
// begins without a memory, makes the moves in their order, and the last one is explained; the
// trackers of `group` stay unchanged.
//
// Errors: those of `CheckGroup`; INVALID_ARGUMENT naming `group` if it has no item or more than
// one, naming `moves.tracker` if the moves are not of one tracker, and naming `moves` for more than
// `kMaxExplainedMoves`; OUT_OF_RANGE naming `as_of` if the moment of the item is not kept (of other
// moments, the bodies are those of the moment); the errors of `EvaluateGroup` once `meter` has
// stopped the work.
absl::StatusOr<Explanation> Explain(const Scene& scene, const Group& group,
                                    const ExplainOptions& options, WorkMeter& meter);

}  // namespace carom
