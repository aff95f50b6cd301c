// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes explanations of queries (carom/explain.h).

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "carom/explain.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/enums.h"

namespace carom::wire {
namespace {

void Encode(const ExplainedSign& sign, v1::ExplainedSign& message) {
  message.set_predicate(sign.predicate);
  CopyColumn(sign.operands, message.mutable_operands());
  message.set_sign(sign.sign);
  message.set_exact(!sign.by_filter);
}

ExplainedSign Decode(const v1::ExplainedSign& message) {
  const auto operands = View(message.operands());
  return {
      message.predicate(), {operands.begin(), operands.end()}, message.sign(), !message.exact()};
}

void Encode(const ExplainedEdge& edge, v1::ExplainedEdge& message) {
  message.set_ring(edge.ref.ring);
  message.set_edge(edge.ref.edge);
  message.set_ax(edge.edge.a.x);
  message.set_ay(edge.edge.a.y);
  message.set_bx(edge.edge.b.x);
  message.set_by(edge.edge.b.y);
  if (edge.meets) message.set_meets(*edge.meets);
  for (const ExplainedSign& sign : edge.signs) Encode(sign, *message.add_signs());
}

ExplainedEdge Decode(const v1::ExplainedEdge& message) {
  ExplainedEdge edge{{message.ring(), message.edge()},
                     {{message.ax(), message.ay()}, {message.bx(), message.by()}},
                     std::nullopt,
                     {}};
  if (message.has_meets()) edge.meets = message.meets();
  for (const v1::ExplainedSign& sign : message.signs()) edge.signs.push_back(Decode(sign));
  return edge;
}

Box DecodeBounds(const v1::Bounds& message) {
  return {{message.min_x(), message.min_y()}, {message.max_x(), message.max_y()}};
}

void Encode(const ExplainedCandidate& candidate, v1::ExplainedCandidate& message) {
  message.set_id(candidate.id);
  message.set_is_body(candidate.is_body);
  message.set_fate(static_cast<v1::CandidateFate>(static_cast<int>(candidate.fate) + 1));
  EncodeBounds(candidate.bounds, *message.mutable_bounds());
  if (candidate.key) message.set_key(*candidate.key);
  if (candidate.edge) {
    message.set_has_edge(true);
    message.set_ring(candidate.edge->ring);
    message.set_edge(candidate.edge->edge);
  }
  message.set_exact_products(candidate.exact_products);
  message.set_near_edges(candidate.near_edges);
  for (const ExplainedEdge& edge : candidate.edges) Encode(edge, *message.add_edges());
  message.set_why(candidate.why);
}

// Returns the value of an enum whose values on the wire are one above those of the core; the last
// value for a number that the core does not have.
template <class Core>
Core DecodeAnswer(int wire, int count) {
  return static_cast<Core>(wire >= 1 && wire <= count ? wire - 1 : count - 1);
}

ExplainedCandidate Decode(const v1::ExplainedCandidate& message) {
  static_assert(kCandidateFateCount + 1 == v1::CandidateFate_ARRAYSIZE);
  ExplainedCandidate candidate;
  candidate.id = message.id();
  candidate.is_body = message.is_body();
  candidate.fate = DecodeAnswer<CandidateFate>(message.fate(), kCandidateFateCount);
  candidate.bounds = DecodeBounds(message.bounds());
  if (message.has_key()) candidate.key = message.key();
  if (message.has_edge()) candidate.edge = EdgeRef{message.ring(), message.edge()};
  candidate.exact_products = message.exact_products();
  candidate.near_edges = message.near_edges();
  for (const v1::ExplainedEdge& edge : message.edges()) candidate.edges.push_back(Decode(edge));
  candidate.why = message.why();
  return candidate;
}

void Encode(const ExplainedDecision& decision, v1::ExplainedDecision& message) {
  message.set_first_id(decision.first_id);
  message.set_first_is_body(decision.first_is_body);
  message.set_first_key(decision.first_key);
  message.set_second_id(decision.second_id);
  message.set_second_is_body(decision.second_is_body);
  message.set_second_key(decision.second_key);
  if (decision.sign) Encode(*decision.sign, *message.mutable_sign());
}

ExplainedDecision Decode(const v1::ExplainedDecision& message) {
  ExplainedDecision decision;
  decision.first_id = message.first_id();
  decision.first_is_body = message.first_is_body();
  decision.first_key = message.first_key();
  decision.second_id = message.second_id();
  decision.second_is_body = message.second_is_body();
  decision.second_key = message.second_key();
  if (message.has_sign()) decision.sign = Decode(message.sign());
  return decision;
}

void Encode(const ExplainedStage& stage, v1::ExplainedStage& message) {
  message.set_question(stage.question);
  message.set_key(stage.key);
  EncodeBounds(stage.reach, *message.mutable_reach());
  message.set_beyond_reach(stage.beyond_reach);
  for (const ExplainedCandidate& candidate : stage.candidates) {
    Encode(candidate, *message.add_candidates());
  }
  message.set_unlisted(stage.unlisted);
  CopyColumn(stage.kept, message.mutable_kept());
  if (stage.decision) Encode(*stage.decision, *message.mutable_decision());
  message.set_outcome(stage.outcome);
  if (stage.point) {
    message.set_has_point(true);
    message.set_x(stage.point->x);
    message.set_y(stage.point->y);
  }
  if (stage.normal) {
    message.set_has_normal(true);
    message.set_normal_x(stage.normal->x);
    message.set_normal_y(stage.normal->y);
  }
  if (stage.exit) message.set_exit(*stage.exit);
}

ExplainedStage Decode(const v1::ExplainedStage& message) {
  ExplainedStage stage;
  stage.question = message.question();
  stage.key = message.key();
  stage.reach = DecodeBounds(message.reach());
  stage.beyond_reach = message.beyond_reach();
  for (const v1::ExplainedCandidate& candidate : message.candidates()) {
    stage.candidates.push_back(Decode(candidate));
  }
  stage.unlisted = message.unlisted();
  stage.kept.assign(message.kept().begin(), message.kept().end());
  if (message.has_decision()) stage.decision = Decode(message.decision());
  stage.outcome = message.outcome();
  if (message.has_point()) stage.point = Vec2{message.x(), message.y()};
  if (message.has_exit()) stage.exit = message.exit();
  if (message.has_normal()) stage.normal = Vec2{message.normal_x(), message.normal_y()};
  return stage;
}

void Encode(const ExplainedMemory& memory, v1::ExplainedMemory& message) {
  message.set_tier(static_cast<v1::MoveTier>(static_cast<int>(memory.tier) + 1));
  message.set_moves(memory.moves);
  message.set_ball_x(memory.ball_center.x);
  message.set_ball_y(memory.ball_center.y);
  message.set_ball_radius2(memory.ball_radius2);
  message.set_distance2(memory.distance2);
  message.set_same_scene(memory.same_scene);
  message.set_mask_x(memory.mask_center.x);
  message.set_mask_y(memory.mask_center.y);
  message.set_mask_radius(memory.mask_radius);
  message.set_known_radius(memory.known_radius);
  CopyColumn(memory.neighbors, message.mutable_neighbors());
  CopyColumn(memory.touched, message.mutable_touched());
  message.set_quiet_radius(memory.quiet_radius);
  message.set_why(memory.why);
}

ExplainedMemory Decode(const v1::ExplainedMemory& message) {
  static_assert(static_cast<int>(MoveTier::kCold) + 2 == v1::MoveTier_ARRAYSIZE);
  ExplainedMemory memory;
  memory.tier = DecodeAnswer<MoveTier>(message.tier(), v1::MoveTier_ARRAYSIZE - 1);
  memory.moves = message.moves();
  memory.ball_center = {message.ball_x(), message.ball_y()};
  memory.ball_radius2 = message.ball_radius2();
  memory.distance2 = message.distance2();
  memory.same_scene = message.same_scene();
  memory.mask_center = {message.mask_x(), message.mask_y()};
  memory.mask_radius = message.mask_radius();
  memory.known_radius = message.known_radius();
  memory.neighbors.assign(message.neighbors().begin(), message.neighbors().end());
  memory.touched.assign(message.touched().begin(), message.touched().end());
  memory.quiet_radius = message.quiet_radius();
  memory.why = message.why();
  return memory;
}

void Encode(const ItemError& error, v1::ItemError& message) {
  message.set_index(error.index);
  message.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
  message.set_field(Name(error.column));
  message.set_message(Description(error.fault));
  message.set_fault(static_cast<v1::ItemFault>(EnumToWire(error.fault)));
}

// Returns INTERNAL for a column or a fault that the core does not have.
absl::StatusOr<ItemError> Decode(const v1::ItemError& message) {
  int column = 0;
  while (column < kItemColumnCount && message.field() != Name(static_cast<ItemColumn>(column))) {
    ++column;
  }
  if (column == kItemColumnCount || !IsKnown<ItemFault>(message.fault())) {
    return absl::InternalError("the error of the explained item is unknown");
  }
  return ItemError{message.index(), static_cast<ItemColumn>(column),
                   EnumFromWire<ItemFault>(message.fault())};
}

}  // namespace

void EncodeExplanation(const Explanation& explanation, v1::ExplainResponse& message) {
  message.Clear();
  message.set_text(explanation.text);
  message.set_svg(explanation.svg);
  v1::Explanation& out = *message.mutable_explanation();
  out.set_kind(explanation.kind);
  out.set_version(explanation.version);
  if (explanation.error) Encode(*explanation.error, *out.mutable_error());
  out.set_answer(explanation.answer);
  for (const ExplainedStage& stage : explanation.stages) Encode(stage, *out.add_stages());
  out.set_unlisted_stages(explanation.unlisted_stages);
  if (explanation.memory) Encode(*explanation.memory, *out.mutable_memory());
}

absl::StatusOr<Explanation> DecodeExplanation(const v1::ExplainResponse& message) {
  const v1::Explanation& in = message.explanation();
  Explanation explanation;
  explanation.kind = in.kind();
  explanation.version = in.version();
  if (in.has_error()) {
    const absl::StatusOr<ItemError> error = Decode(in.error());
    if (!error.ok()) return error.status();
    explanation.error = *error;
  }
  explanation.answer = in.answer();
  for (const v1::ExplainedStage& stage : in.stages()) explanation.stages.push_back(Decode(stage));
  explanation.unlisted_stages = in.unlisted_stages();
  if (in.has_memory()) explanation.memory = Decode(in.memory());
  explanation.text = message.text();
  explanation.svg = message.svg();
  return explanation;
}

}  // namespace carom::wire
