// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which candidates did a question consider, and what became of each of them?

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/group_kinds.h"
#include "carom/predicates.h"
#include "explain/question.h"
#include "index/body_set.h"
#include "numeric/exact_count.h"

namespace carom::internal {
namespace {

// The number of edges that a candidate lists, besides the edge of its answer.
constexpr size_t kListedEdges = 8;
// The units that building a scene of one polygon counts for each vertex.
constexpr uint64_t kUnitsOfIndexing = 16;

uint64_t MaskOf(uint64_t mask) { return mask; }
uint64_t MaskOf(const MoveOptions&) { return kEveryCategory; }  // trackers have masks of their own
template <class Options>
uint64_t MaskOf(const Options& options) {
  return options.mask;
}

// Calls f(columns, options) for the kind of the question.
template <class F>
void WithKind(const Group& group, const F& f) {
  ForEachKind([&](const auto& kind) {
    if ((group.*kind.columns).size() != 0) f(kind);
  });
}

QueryFilter FilterOf(const Group& group) {
  QueryFilter filter;
  WithKind(group, [&](const auto& kind) {
    const auto& columns = group.*kind.columns;
    if constexpr (HasScope<std::remove_cvref_t<decltype(columns)>>) {
      filter = QueryFilter::Of(ScopeOf(columns), 0, MaskOf(group.*kind.options));
    } else {
      filter.mask = MaskOf(group.*kind.options);
    }
    if constexpr (!kAsksBodies<decltype(kind)>) filter.scene = true, filter.bodies = false;
  });
  return filter;
}

template <class T>
std::span<const T> OneOf(std::span<const T> column, size_t i) {
  return column.empty() ? column : column.subspan(i, 1);
}

// Returns body `i` alone.
BodyColumns OneBody(const BodyColumns& bodies, size_t i) {
  BodyColumns one;
  const ShapeColumns& placed = bodies.placed;
  one.placed = {placed.shape.empty() ? placed.shapes.subspan(i, 1) : placed.shapes,
                OneOf(placed.shape, i),
                OneOf(placed.x, i),
                OneOf(placed.y, i),
                OneOf(placed.c, i),
                OneOf(placed.s, i),
                OneOf(placed.angle, i),
                {}};
  one.category = OneOf(bodies.category, i);
  one.owner = OneOf(bodies.owner, i);
  return one;
}

// A polygon or a body near the question.
struct Near {
  const Polygon* polygon = nullptr;
  uint64_t id = 0;
  bool is_body = false;
  Box bounds;
  uint64_t category = 1;
  uint32_t owner = 0;
  bool is_round = false;  // a disc or a capsule, which has no edges

  std::pair<bool, uint64_t> order() const { return {is_body, id}; }
};

class Judgement {
 public:
  Judgement(const Scene& scene, const Question& question, ExplainedStage& stage, WorkMeter& meter)
      : scene_(scene),
        question_(question),
        filter_(FilterOf(question.group)),
        stage_(stage),
        meter_(meter) {}

  absl::Status Run(ExplainBudget& budget);

 private:
  bool IsKept(bool is_body, uint64_t id) const {
    return std::ranges::any_of(
        rows_, [&](const FoundRow& row) { return row.is_body == is_body && row.id == id; });
  }
  // Calls visit(near) for all candidates, polygons in the order of ids, then bodies.
  template <class Visit>
  void VisitNear(const Visit& visit);
  std::vector<Near> Select(size_t limit);
  absl::StatusOr<std::vector<FoundRow>> AskAlone(const Near& near,
                                                 std::optional<InsidePolicy> policy);
  absl::Status Fill(const Near& near, ExplainedCandidate& out);
  bool IsPassed(const Near& near, const FoundRow& row) const;
  absl::StatusOr<CandidateFate> FateOf(const Near& near, const std::vector<FoundRow>& alone);
  absl::StatusOr<CandidateFate> FateOfMissing(const Near& near);
  void AddEdges(const Near& near, size_t& edges_left, ExplainedCandidate& out);
  void Decide();

  const Scene& scene_;
  const Question& question_;
  const QueryFilter filter_;
  ExplainedStage& stage_;
  WorkMeter& meter_;
  Bodies bodies_;
  std::vector<FoundRow> rows_;
  // The first row alone of each candidate that is later than the answer.
  struct Later {
    Near near;
    FoundRow row;
  };
  std::optional<Later> best_later_;
  std::optional<Near> first_;
};

template <class Visit>
void Judgement::VisitNear(const Visit& visit) {
  for (size_t i = 0; filter_.scene && i < scene_.polygon_count(); ++i) {
    if (!meter_.Spend(1)) return;
    const Polygon& polygon = scene_.polygon(i);
    if (polygon.bounds().Intersects(question_.reach)) {
      visit(Near{&polygon, polygon.id(), false, polygon.bounds(), polygon.category()});
    } else {
      ++stage_.beyond_reach;
    }
  }
  for (size_t i = 0; filter_.bodies && i < bodies_.size(); ++i) {
    Body& body = bodies_.set().body(i);
    if (body.bounds().Intersects(question_.reach)) {
      visit(Near{&body.core().polygon(), i, true, body.bounds(), body.category(), body.owner(),
                 body.is_round()});
    } else {
      ++stage_.beyond_reach;
    }
  }
}

// Takes candidates of the answer first, then the others, in the order in which they are visited.
std::vector<Near> Judgement::Select(size_t limit) {
  std::vector<Near> kept, others;
  uint64_t count = 0;
  VisitNear([&](const Near& near) {
    ++count;
    std::vector<Near>& list = IsKept(near.is_body, near.id) ? kept : others;
    if (list.size() < limit) list.push_back(near);
  });
  for (const Near& near : others) {
    if (kept.size() < limit) kept.push_back(near);
  }
  stage_.unlisted = count - kept.size();
  std::ranges::sort(kept, {}, [](const Near& near) { return near.order(); });
  return kept;
}

// Asks the question to the candidate alone, in a scene that has nothing else: the mode is one that
// answers with a key, and `policy`, if there is one, replaces the inside policy.
absl::StatusOr<std::vector<FoundRow>> Judgement::AskAlone(const Near& near,
                                                          std::optional<InsidePolicy> policy) {
  meter_.Count(kUnitsOfIndexing * near.polygon->vertex_count());
  if (!meter_.Spend(1)) return std::vector<FoundRow>();
  std::vector<Polygon> polygons;
  if (!near.is_body) polygons.push_back(*near.polygon);
  const absl::StatusOr<Scene::Ptr> alone = Scene::Create(std::move(polygons));
  if (!alone.ok()) return alone.status();
  Group group = question_.group;
  if (near.is_body) group.bodies = OneBody(question_.group.bodies, near.id);
  WithKind(question_.group, [&](const auto& kind) {
    auto& columns = group.*kind.columns;
    if constexpr (HasScope<std::remove_cvref_t<decltype(columns)>>) {
      ScopeOf(columns).against = near.is_body ? Against::kBodies : Against::kScene;
    }
    auto& options = group.*kind.options;
    if constexpr (requires { options.inside_policy; }) {
      if (policy) options.inside_policy = *policy;
    }
    if constexpr (requires { options.start_policy; }) {
      if (policy) options.start_policy = StartPolicy::kReportStart;
    }
    if constexpr (requires { options.soft_mask; }) options.soft_mask = options.soft_count = 0;
  });
  if (question_.max_distance) {
    group.distance_options.mode = DistanceMode::kAll;
    group.distances.max_distance = {};
  }
  GroupAnswers answers;
  const absl::Status status = EvaluateGroup(**alone, group, answers, meter_);
  if (!status.ok()) return status;
  return RowsOf(group, answers);
}

// The question found nothing in the candidate alone.
absl::StatusOr<CandidateFate> Judgement::FateOfMissing(const Near& near) {
  const Group& group = question_.group;
  if (group.contacts.size() != 0 && !near.is_round &&
      near.polygon->solidity() == Solidity::kBoundary) {
    return CandidateFate::kHollow;
  }
  InsidePolicy policy = InsidePolicy::kReportStart;
  WithKind(group, [&](const auto& kind) {
    const auto& options = group.*kind.options;
    if constexpr (requires { options.inside_policy; }) policy = options.inside_policy;
    if constexpr (requires { options.start_policy; }) {
      if (options.start_policy == StartPolicy::kIgnore) policy = InsidePolicy::kIgnore;
    }
  });
  if (policy == InsidePolicy::kReportStart) return CandidateFate::kApart;
  const absl::StatusOr<std::vector<FoundRow>> start = AskAlone(near, InsidePolicy::kReportStart);
  if (!start.ok()) return start.status();
  if (start->empty()) return CandidateFate::kApart;
  if (!IsBlocking(policy)) return CandidateFate::kPolicy;
  const absl::StatusOr<std::vector<FoundRow>> blocked = AskAlone(near, InsidePolicy::kBlocking);
  if (!blocked.ok()) return blocked.status();
  return blocked->empty() ? CandidateFate::kTouchOnly : CandidateFate::kPolicy;
}

// Returns whether the candidate is soft and its first row alone comes before the answer, by the
// rounded keys.
bool Judgement::IsPassed(const Near& near, const FoundRow& row) const {
  uint64_t soft_mask = 0;
  WithKind(question_.group, [&](const auto& kind) {
    const auto& options = question_.group.*kind.options;
    if constexpr (requires { options.soft_mask; }) soft_mask = options.soft_mask;
  });
  if ((near.category & soft_mask) == 0) return false;
  if (rows_.empty()) return true;
  const FoundRow& first = rows_.front();
  if (row.key != first.key) return row.key < first.key;
  return near.order() < std::pair(first.is_body, first.id);
}

absl::StatusOr<CandidateFate> Judgement::FateOf(const Near& near,
                                                const std::vector<FoundRow>& alone) {
  if (alone.empty()) return FateOfMissing(near);
  if (question_.max_distance && (!question_.is_nearest || rows_.empty())) {
    return CandidateFate::kFar;
  }
  if (question_.max_distance && alone.front().key > *question_.max_distance) {
    return CandidateFate::kFar;
  }
  if (IsPassed(near, alone.front())) return CandidateFate::kPassed;
  bool lists_all = false;
  WithKind(question_.group, [&](const auto& kind) {
    const auto& options = question_.group.*kind.options;
    if constexpr (requires { options.max_hits; }) lists_all = options.mode != CastMode::kClosest;
  });
  return lists_all ? CandidateFate::kLimit : CandidateFate::kLater;
}

absl::Status Judgement::Fill(const Near& near, ExplainedCandidate& out) {
  out.id = near.id;
  out.is_body = near.is_body;
  out.bounds = near.bounds;
  if ((near.category & filter_.mask) == 0) {
    out.fate = CandidateFate::kMask;
    out.why = absl::StrCat("category ", near.category, " & mask ", filter_.mask, " = 0");
    return absl::OkStatus();
  }
  if (near.is_body && filter_.ignore_owner != 0 && near.owner == filter_.ignore_owner) {
    out.fate = CandidateFate::kOwner;
    out.why = absl::StrCat("owner ", near.owner, " is ignored");
    return absl::OkStatus();
  }
  if (question_.probe.form == Probe::Form::kLine &&
      !Intersects(question_.probe.line, near.bounds)) {
    out.fate = CandidateFate::kBox;
    // The boxes meet, so all corners are strictly on one side (`Intersects` of a segment and a
    // box).
    const Segment& line = question_.probe.line;
    const bool is_left = Orientation(line.a, line.b, near.bounds.min) > 0;
    out.why =
        absl::StrCat("all corners of its box are ", is_left ? "left" : "right", " of the segment");
    return absl::OkStatus();
  }
  const uint64_t products = exact_count;
  const absl::StatusOr<std::vector<FoundRow>> alone = AskAlone(near, std::nullopt);
  if (!alone.ok()) return alone.status();
  out.exact_products = exact_count - products;
  if (!alone->empty()) {
    out.key = alone->front().key;
    out.edge = alone->front().edge;
  }
  if (IsKept(near.is_body, near.id)) {
    out.fate = CandidateFate::kKept;
    if (!rows_.empty() && rows_[0].id == near.id && rows_[0].is_body == near.is_body) first_ = near;
    return absl::OkStatus();
  }
  const absl::StatusOr<CandidateFate> fate = FateOf(near, *alone);
  if (!fate.ok()) return fate.status();
  out.fate = *fate;
  if (*fate == CandidateFate::kLater) {
    const FoundRow& row = alone->front();
    if (!best_later_ || row.key < best_later_->row.key) best_later_ = Later{near, row};
  }
  return absl::OkStatus();
}

void Judgement::AddEdges(const Near& near, size_t& edges_left, ExplainedCandidate& out) {
  if (question_.probe.form == Probe::Form::kBounds || near.is_round) return;
  const Polygon& polygon = *near.polygon;
  const size_t edge_count = polygon.edge_count();
  for (size_t i = 0; i < edge_count && meter_.Spend(1); ++i) {
    const Segment edge = polygon.edge(i);
    const EdgeRef ref = polygon.edge_ref(i);
    const bool is_answer = out.edge == ref;
    const bool is_near = BoundsOf(edge).Intersects(question_.reach);
    out.near_edges += is_near ? 1 : 0;
    if (edges_left == 0 || (!is_answer && (!is_near || out.edges.size() >= kListedEdges))) continue;
    --edges_left;
    out.edges.push_back(SignsOf(question_.probe, ref, edge, meter_));
  }
}

// Compares the first row of the answer with the best candidate that comes later.
void Judgement::Decide() {
  if (!best_later_ || !first_ || !rows_[0].key || !best_later_->row.key) return;
  const FoundRow& row = best_later_->row;
  ExplainedDecision& decision = stage_.decision.emplace();
  decision.first_id = rows_[0].id;
  decision.first_is_body = rows_[0].is_body;
  decision.first_key = *rows_[0].key;
  decision.second_id = row.id;
  decision.second_is_body = row.is_body;
  decision.second_key = *row.key;
  if (question_.probe.form != Probe::Form::kLine || !rows_[0].edge || !row.edge) return;
  if (decision.first_key != decision.second_key) return;
  const auto edge_of = [](const Polygon& polygon, EdgeRef ref) {
    size_t i = 0;
    while (polygon.edge_ref(i) != ref) ++i;
    return polygon.edge(i);
  };
  const Segment line = question_.probe.line;
  const Segment e = edge_of(*first_->polygon, *rows_[0].edge);
  const Segment f = edge_of(*best_later_->near.polygon, *row.edge);
  decision.sign = SignOf("CompareCrossings(ab, edge 1, edge 2)",
                         {line.a.x, line.a.y, line.b.x, line.b.y, e.a.x, e.a.y, e.b.x, e.b.y, f.a.x,
                          f.a.y, f.b.x, f.b.y},
                         [&] { return CompareCrossings(line, e, f); });
}

absl::Status Judgement::Run(ExplainBudget& budget) {
  GroupAnswers answers;
  const absl::Status status = EvaluateGroup(scene_, question_.group, answers, meter_);
  if (!status.ok()) return status;
  rows_ = RowsOf(question_.group, answers);
  stage_.question = question_.text;
  stage_.key = question_.key;
  stage_.reach = question_.reach;
  stage_.outcome = OutcomeOf(question_, rows_);
  for (const FoundRow& row : rows_) {
    if (stage_.kept.size() < kMaxExplainedCandidates) stage_.kept.push_back(row.id);
  }
  if (!rows_.empty()) {
    stage_.point = rows_[0].point;
    stage_.normal = rows_[0].normal;
    stage_.exit = rows_[0].exit;
  }
  if (filter_.bodies && question_.group.bodies.size() != 0) {
    absl::StatusOr<Bodies> placed = Bodies::Create(question_.group.bodies);
    if (!placed.ok()) return placed.status();
    bodies_ = *std::move(placed);
  }
  const std::vector<Near> selected = Select(std::max<size_t>(budget.candidates, 1));
  budget.candidates -= std::min(budget.candidates, selected.size());
  for (const Near& near : selected) {
    ExplainedCandidate& candidate = stage_.candidates.emplace_back();
    const absl::Status filled = Fill(near, candidate);
    if (!filled.ok()) return filled;
    const bool has_edges =
        candidate.fate > CandidateFate::kBox || candidate.fate == CandidateFate::kKept;
    if (has_edges) AddEdges(near, budget.edges, candidate);
  }
  Decide();
  return absl::OkStatus();
}

}  // namespace

absl::Status Judge(const Scene& scene, const Question& question, ExplainBudget& budget,
                   ExplainedStage& stage, WorkMeter& meter) {
  return Judgement(scene, question, stage, meter).Run(budget);
}

}  // namespace carom::internal
