// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/explain_line.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "carom/group_kinds.h"
#include "carom/status.h"
#include "client/cli/eval/line_members.h"

namespace carom::cli {
namespace {

using nlohmann::json;

// Reads the members of a line into columns of one item. After an error, the status of the reader
// has the first one, and what is read is meaningless.
class ItemReader {
 public:
  ItemReader(const json& line, OtherQuestion& own) : line_(line), own_(own) {}

  using Column = std::span<const double>;

  Column One(double value) { return {&own_.numbers.emplace_back(value), 1}; }
  void ReadPoint(const char* name, Column& x, Column& y) {
    const absl::StatusOr<Vec2> point = Point(line_, name);
    if (!point.ok()) return Fail(point.status());
    x = One(point->x);
    y = One(point->y);
  }
  // Reads a number; without the member, the column stays empty if `absent` is true.
  void ReadNumber(const char* name, bool absent, Column& column) {
    if (absent && !line_.contains(name)) return;
    const absl::StatusOr<double> number = Number(line_, name, std::nullopt);
    if (!number.ok()) return Fail(number.status());
    column = One(*number);
  }
  void ReadWhole(const char* name, uint64_t most, std::span<const uint32_t>& column) {
    const auto member = line_.find(name);
    if (member == line_.end()) return Fail(InvalidField(name, "required"));
    const absl::StatusOr<uint64_t> whole = ReadInteger(*member, name, most);
    if (!whole.ok()) return Fail(whole.status());
    column = {&own_.counts.emplace_back(static_cast<uint32_t>(*whole)), 1};
  }
  // Reads a pose [x, y] or [x, y, c, s].
  void ReadPose(const char* name, std::array<Column*, 4> columns) {
    const auto member = line_.find(name);
    if (member == line_.end()) return Fail(InvalidField(name, "required"));
    const auto numbers = Numbers(*member, name, {2, 4});
    if (!numbers.ok()) return Fail(numbers.status());
    for (size_t i = 0; i < numbers->size(); ++i) *columns[i] = One((*numbers)[i]);
  }
  void ReadMover(ShapeColumns& movers) {
    const auto member = line_.find("shape");
    if (member == line_.end()) return Fail(InvalidField("shape", "required"));
    absl::StatusOr<Shape> shape = ReadAnyShape(*member, "shape");
    if (!shape.ok()) return Fail(shape.status());
    movers.shapes = {&own_.shapes.emplace_back(*std::move(shape)), 1};
    ReadPose("at", {&movers.x, &movers.y, &movers.c, &movers.s});
  }
  void ReadInside(InsidePolicy& policy) {
    const auto member = line_.find("inside");
    if (member == line_.end()) return;
    const auto named = member->is_string()
                           ? InsidePolicyNamed(member->get_ref<const std::string&>())
                           : std::nullopt;
    if (!named) return Fail(InvalidField("inside", "must be \"report\", \"ignore\" or \"exit\""));
    policy = *named;
  }
  void ReadScopeInto(Scope& scope) {
    const absl::StatusOr<ItemScope> read = ReadScope(line_);
    if (!read.ok()) return Fail(read.status());
    if (read->as_of.has_value()) {
      Fail(InvalidField("as_of", "must be absent: give the bodies of the moment"));
    }
    scope.against = read->against;
    scope.mask = {&own_.masks.emplace_back(read->mask), 1};
    scope.ignore_owner = {&own_.counts.emplace_back(read->ignore_owner), 1};
  }
  // Reads the soft walls of a kind whose options have them.
  template <class Options>
  void ReadSoft(Options& options) {
    const auto soft = ReadSoftWalls(line_);
    if (!soft.ok()) return Fail(soft.status());
    options.soft_mask = soft->value_or(SoftWalls()).mask;
    options.soft_count = soft->value_or(SoftWalls()).count;
  }
  // Reads the mask of a kind that considers the scene alone.
  void ReadMask(uint64_t& mask) {
    const absl::StatusOr<ItemScope> read = ReadScope(line_);
    if (!read.ok()) return Fail(read.status());
    mask = read->mask;
  }

  void Fail(const absl::Status& status) { status_.Update(status); }
  const absl::Status& status() const { return status_; }

 private:
  const json& line_;
  OtherQuestion& own_;
  absl::Status status_;
};

// --- One function for each kind

void ReadRay(ItemReader& in, Group& out) {
  in.ReadPoint("p", out.rays.x, out.rays.y);
  in.ReadPoint("d", out.rays.dx, out.rays.dy);
  in.ReadNumber("t_min", true, out.rays.t_min);
  in.ReadNumber("t_max", true, out.rays.t_max);
  in.ReadInside(out.ray_options.inside_policy);
  in.ReadSoft(out.ray_options);
  in.ReadScopeInto(out.rays.scope);
}

void ReadSight(ItemReader& in, Group& out) {
  in.ReadPoint("a", out.sights.ax, out.sights.ay);
  in.ReadPoint("b", out.sights.bx, out.sights.by);
  in.ReadSoft(out.sight_options);
  in.ReadScopeInto(out.sights.scope);
}

void ReadFan(ItemReader& in, Group& out) {
  in.ReadPoint("p", out.fans.x, out.fans.y);
  in.ReadNumber("angle", false, out.fans.angle);
  in.ReadNumber("step", false, out.fans.step);
  in.ReadNumber("range", false, out.fans.range);
  in.ReadWhole("beams", kMaxBeams, out.fans.beams);
  in.ReadInside(out.fan_options.inside_policy);
  in.ReadSoft(out.fan_options);
  in.ReadScopeInto(out.fans.scope);
}

void ReadArc(ItemReader& in, Group& out) {
  in.ReadPoint("p", out.arcs.x, out.arcs.y);
  in.ReadPoint("v", out.arcs.vx, out.arcs.vy);
  in.ReadPoint("acceleration", out.arcs.ax, out.arcs.ay);
  in.ReadNumber("duration", false, out.arcs.duration);
  in.ReadInside(out.arc_options.inside_policy);
  in.ReadScopeInto(out.arcs.scope);
}

void ReadCapsule(ItemReader& in, Group& out) {
  in.ReadPoint("a", out.capsules.ax, out.capsules.ay);
  in.ReadPoint("b", out.capsules.bx, out.capsules.by);
  in.ReadNumber("r", false, out.capsules.radius);
  in.ReadScopeInto(out.capsules.scope);
}

void ReadBox(ItemReader& in, Group& out) {
  in.ReadPoint("min", out.boxes.min_x, out.boxes.min_y);
  in.ReadPoint("max", out.boxes.max_x, out.boxes.max_y);
  in.ReadScopeInto(out.boxes.scope);
}

void ReadRotatingSweep(ItemReader& in, Group& out) {
  RotatingSweepColumns& sweeps = out.rotating_sweeps;
  in.ReadMover(sweeps.movers);
  in.ReadPose("to", {&sweeps.to_x, &sweeps.to_y, &sweeps.to_c, &sweeps.to_s});
  in.ReadNumber("tolerance", false, sweeps.tolerance);
  in.ReadMask(out.rotating_sweep_options.mask);
}

void ReadDepenetration(ItemReader& in, Group& out) {
  in.ReadMover(out.depenetrations);
  in.ReadMask(out.depenetration_options.mask);
}

void ReadBodyContact(ItemReader& in, Group& out) {
  in.ReadWhole("body", kMaxBodies, out.body_contacts.body);
  in.ReadMask(out.body_contact_options.mask);
}

struct OtherKind {
  const char* op;
  void (*read)(ItemReader& in, Group& out);
};
constexpr OtherKind kOtherKinds[] = {
    {"ray", ReadRay},
    {"sight", ReadSight},
    {"fan", ReadFan},
    {"arc", ReadArc},
    {"capsule", ReadCapsule},
    {"box", ReadBox},
    {"rotating_sweep", ReadRotatingSweep},
    {"depenetrate", ReadDepenetration},
    {"body_contact", ReadBodyContact},
};

// Returns the questions of a line of `carom eval` without those that only add to its answer: the
// point at the start of a segment, all hits of a segment with soft walls, and the overlap at the
// start of a sweep.
Group QuestionOf(std::span<const Group> groups, bool is_point) {
  const auto soft = std::ranges::find_if(
      groups, [](const Group& group) { return group.cast_options.soft_length; });
  if (soft != groups.end()) return *soft;
  for (const Group& each : groups) {
    Group group = each;
    if (!is_point) group.points = {};
    if (group.query_count() == 0) continue;
    group.cast_options.mode = CastMode::kClosest;
    return group;
  }
  return {};
}

}  // namespace

absl::Status QuestionLines::AddOther(const json& line, const std::string& op) {
  for (const OtherKind& kind : kOtherKinds) {
    if (op != kind.op) continue;
    auto other = std::make_unique<OtherQuestion>();
    ItemReader reader(line, *other);
    kind.read(reader, other->group);
    if (!reader.status().ok()) return reader.status();
    other_ = std::move(other);
    question_.clear();
    moves_.clear();
    return absl::OkStatus();
  }
  return absl::NotFoundError("another kind");
}

absl::Status QuestionLines::Add(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (object.is_object() && object.contains("op") && object["op"].is_string()) {
    const absl::Status added = AddOther(object, object["op"].get<std::string>());
    if (!absl::IsNotFound(added)) return added;
  }
  std::optional<Line> line = ParseLine(text);
  if (!line) return absl::InvalidArgumentError("a line is not JSON");
  if (!line->content.ok()) return line->content.status();
  if (auto* bodies = std::get_if<BodiesLine>(&*line->content)) {
    bodies_ = std::move(bodies->bodies);
  } else if (std::holds_alternative<PosesLine>(*line->content)) {
    return InvalidField("op", "must not be poses: give the bodies of the moment");
  } else if (line->scope.as_of.has_value()) {
    return InvalidField("as_of", "must be absent: give the bodies of the moment");
  } else if (const auto* track = std::get_if<TrackLine>(&*line->content)) {
    trackers_.insert_or_assign(track->tracker, Shape(track->shape));
    moves_.clear();
  } else if (const auto* move = std::get_if<NamedMove>(&*line->content)) {
    const auto found = trackers_.find(move->tracker);
    if (found == trackers_.end()) {
      return InvalidField("tracker", "must be defined by an earlier line");
    }
    if (found != tracked_) moves_.clear();
    tracked_ = found;
    moves_.push_back(move->pose);
    question_.clear();
    other_.reset();
  } else if (auto* query = std::get_if<Query>(&*line->content)) {
    question_.clear();
    question_.push_back({"", std::move(*query), line->scope});
    moves_.clear();
    other_.reset();
  } else {
    return InvalidField("op", "must be bodies, track, move or a question");
  }
  return absl::OkStatus();
}

absl::StatusOr<Group> QuestionLines::group() {
  if (!moves_.empty()) {
    move_columns_ = {};
    for (const Pose& pose : moves_) {
      move_columns_.tracker.push_back(0);
      move_columns_.x.push_back(pose.position.x);
      move_columns_.y.push_back(pose.position.y);
      move_columns_.c.push_back(pose.c);
      move_columns_.s.push_back(pose.s);
    }
    Group group;
    group.moves = {.tracker = move_columns_.tracker,
                   .x = move_columns_.x,
                   .y = move_columns_.y,
                   .c = move_columns_.c,
                   .s = move_columns_.s};
    return group;
  }
  if (other_ != nullptr) {
    Group group = other_->group;
    group.bodies = bodies_.columns();
    return group;
  }
  if (question_.empty()) return absl::InvalidArgumentError("no line is a question");
  columns_ = std::make_unique<QueryColumns>(question_, bodies_.columns());
  return QuestionOf(columns_->groups(),
                    std::holds_alternative<PointQuery>(*question_.front().query));
}

// --- Explanations as JSON

namespace {

json NumberJson(double value) { return std::isfinite(value) ? json(value) : json(); }
json PointJson(Vec2 p) { return json::array({NumberJson(p.x), NumberJson(p.y)}); }
json BoxJson(const Box& box) { return {{"min", PointJson(box.min)}, {"max", PointJson(box.max)}}; }
json EdgeJson(EdgeRef ref) { return json::array({ref.ring, ref.edge}); }

nlohmann::ordered_json SignJson(const ExplainedSign& sign) {
  return {{"predicate", sign.predicate},
          {"operands", sign.operands},
          {"sign", sign.sign},
          {"by", sign.by_filter ? "filter" : "exact"}};
}

nlohmann::ordered_json CandidateJson(const ExplainedCandidate& candidate) {
  nlohmann::ordered_json out = {{candidate.is_body ? "body" : "polygon", candidate.id},
                                {"fate", Name(candidate.fate)},
                                {"box", BoxJson(candidate.bounds)}};
  if (candidate.key) out["key"] = NumberJson(*candidate.key);
  if (candidate.edge) out["edge"] = EdgeJson(*candidate.edge);
  out["exact_products"] = candidate.exact_products;
  out["near_edges"] = candidate.near_edges;
  if (!candidate.why.empty()) out["why"] = candidate.why;
  out["edges"] = json::array();
  for (const ExplainedEdge& edge : candidate.edges) {
    nlohmann::ordered_json at = {
        {"edge", EdgeJson(edge.ref)}, {"v", PointJson(edge.edge.a)}, {"w", PointJson(edge.edge.b)}};
    if (edge.meets) at["meets"] = *edge.meets;
    at["signs"] = json::array();
    for (const ExplainedSign& sign : edge.signs) at["signs"].push_back(SignJson(sign));
    out["edges"].push_back(at);
  }
  return out;
}

nlohmann::ordered_json StageJson(const ExplainedStage& stage) {
  nlohmann::ordered_json out = {{"question", stage.question},
                                {"found", stage.outcome},
                                {"kept", stage.kept},
                                {"key", stage.key},
                                {"reach", BoxJson(stage.reach)},
                                {"beyond_reach", stage.beyond_reach}};
  if (stage.point) out["point"] = PointJson(*stage.point);
  if (stage.normal) out["normal"] = PointJson(*stage.normal);
  if (stage.exit) out["exit"] = NumberJson(*stage.exit);
  out["candidates"] = json::array();
  for (const ExplainedCandidate& each : stage.candidates) {
    out["candidates"].push_back(CandidateJson(each));
  }
  out["unlisted"] = stage.unlisted;
  if (!stage.decision) return out;
  const ExplainedDecision& d = *stage.decision;
  out["decisive"] = {
      {"first", d.first_id},   {"first_is_body", d.first_is_body},   {"first_key", d.first_key},
      {"second", d.second_id}, {"second_is_body", d.second_is_body}, {"second_key", d.second_key}};
  if (d.sign) out["decisive"]["sign"] = SignJson(*d.sign);
  return out;
}

nlohmann::ordered_json MemoryJson(const ExplainedMemory& memory) {
  return {{"tier", Name(memory.tier)},
          {"why", memory.why},
          {"moves_before", memory.moves},
          {"ball_center", PointJson(memory.ball_center)},
          {"ball_radius2", memory.ball_radius2},
          {"distance2", NumberJson(memory.distance2)},
          {"same_scene", memory.same_scene},
          {"mask_center", PointJson(memory.mask_center)},
          {"mask_radius", memory.mask_radius},
          {"known_radius", NumberJson(memory.known_radius)},
          {"neighbors", memory.neighbors},
          {"touched", memory.touched},
          {"quiet_radius", NumberJson(memory.quiet_radius)}};
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation) {
  nlohmann::ordered_json out = {{"kind", explanation.kind}, {"version", explanation.version}};
  if (explanation.error) {
    out["error"] = {{"field", Name(explanation.error->column)},
                    {"message", Description(explanation.error->fault)}};
    return out.dump();
  }
  out["answer"] = explanation.answer;
  if (explanation.memory) out["memory"] = MemoryJson(*explanation.memory);
  out["stages"] = json::array();
  for (const ExplainedStage& stage : explanation.stages) out["stages"].push_back(StageJson(stage));
  out["unlisted_stages"] = explanation.unlisted_stages;
  return out.dump();
}

}  // namespace carom::cli
