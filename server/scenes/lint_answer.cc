// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/lint_answer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/lint.h"
#include "carom/status.h"
#include "carom/v1/scene_service.pb.h"
#include "server/access/tenant.h"
#include "server/base/scene_name.h"
#include "server/transport/executor.h"
#include "server/transport/message_io.h"

namespace carom::server {
namespace {

// The limits of LintScene, which proto/carom/v1/scene_service.proto documents.
constexpr uint32_t kMaxFindings = 10000;
constexpr uint32_t kDefaultFindings = 1000;
constexpr int kMaxFrom = 128;
constexpr uint64_t kMaxLintUnits = 1'000'000'000;
// Bytes of memory that a lint needs at most: for findings and the answer, and for each vertex,
// without pockets and with them.
constexpr uint64_t kFindingBytes = uint64_t{8} << 20;
constexpr uint64_t kBytesPerVertex = 250;
constexpr uint64_t kPocketBytesPerVertex = 1200;

static_assert(v1::LintKind_ARRAYSIZE == kLintKinds + 1);

absl::StatusOr<uint32_t> KindsOf(const v1::LintSceneRequest& request) {
  if (request.kinds_size() == 0) return LintOptions().kinds;
  uint32_t kinds = 0;
  for (int i = 0; i < request.kinds_size(); ++i) {
    if (!v1::LintKind_IsValid(request.kinds(i))) {
      return InvalidField(absl::StrCat("kinds[", i, "]"), "is not a known kind");
    }
    if (request.kinds(i) > 0) kinds |= 1U << (request.kinds(i) - 1);
  }
  return kinds;
}

// Reads what `Lint` does not check.
absl::StatusOr<LintOptions> DecodeLint(const v1::LintSceneRequest& request) {
  LintOptions options;
  const absl::StatusOr<uint32_t> kinds = KindsOf(request);
  if (!kinds.ok()) return kinds.status();
  options.kinds = *kinds;
  options.gap_radius = request.gap_radius();
  options.mover_radius = request.mover_radius();
  options.lattice_pitch = request.lattice_pitch();
  options.near_distance = request.near_distance();
  if (request.from_x_size() > kMaxFrom || request.from_x_size() != request.from_y_size()) {
    return InvalidField(
        "from_x", absl::StrCat("must have as many entries as from_y, and at most ", kMaxFrom));
  }
  for (int i = 0; i < request.from_x_size(); ++i) {
    if (!IsAccepted(Vec2{request.from_x(i), request.from_y(i)})) {
      return InvalidField(absl::StrCat("from_x[", i, "]"),
                          "and from_y must be finite and at most 2^53 in magnitude");
    }
    options.from.push_back(Normalized(Vec2{request.from_x(i), request.from_y(i)}));
  }
  if (!v1::LintWinding_IsValid(request.winding())) {
    return InvalidField("winding", "is not a known winding");
  }
  options.winding = static_cast<LintWinding>(request.winding());
  if (request.max_findings() > kMaxFindings) {
    return InvalidField("max_findings", absl::StrCat("must be in [0, ", kMaxFindings, "]"));
  }
  options.max_findings = request.max_findings() == 0 ? kDefaultFindings : request.max_findings();
  return options;
}

void EncodeFinding(const LintFinding& finding, v1::LintFinding& message) {
  message.set_polygon_id(finding.polygon_id);
  message.set_ring(finding.at.ring);
  message.set_edge(finding.at.edge);
  message.set_x(finding.point.x);
  message.set_y(finding.point.y);
  const std::string_view advice = LintAdvice(finding.kind);
  message.set_description(advice.data(), advice.size());
  message.set_kind(static_cast<v1::LintKind>(static_cast<int>(finding.kind) + 1));
  message.set_other_polygon_id(finding.other_polygon_id);
  message.set_other_ring(finding.other.ring);
  message.set_other_edge(finding.other.edge);
  message.set_other_x(finding.other_point.x);
  message.set_other_y(finding.other_point.y);
  message.set_measure(finding.measure);
  for (const Vec2 p : finding.outline) {
    message.mutable_outline()->add_x(p.x);
    message.mutable_outline()->add_y(p.y);
  }
}

void EncodeLint(const LintReport& report, v1::LintSceneResponse& response) {
  for (const LintFinding& finding : report.findings) {
    EncodeFinding(finding, *response.add_findings());
  }
  response.set_truncated(report.truncated);
  for (size_t i = 0; i < kLintKinds; ++i) {
    if (report.counts[i] == 0) continue;
    v1::LintCount& count = *response.add_counts();
    count.set_kind(static_cast<v1::LintKind>(i + 1));
    count.set_count(report.counts[i]);
  }
  response.set_lattice_pitch(report.lattice_pitch);
  response.set_near_distance(report.near_distance);
}

// Returns a version of a scene. Charges the memory of polygons that the store has to load.
absl::StatusOr<Scene::Ptr> FindScene(const SceneRuntime& runtime, const std::string& key,
                                     uint64_t version, MemoryCharge& charge) {
  if (runtime.store.Find(key) == nullptr) return runtime.store.WhyMissing(key, "name");
  if (Scene::Ptr scene = runtime.store.FindVersion(key, version); scene != nullptr) return scene;
  absl::StatusOr<std::vector<Polygon>> polygons = runtime.store.Load(key, version, charge);
  if (!polygons.ok()) return polygons.status();
  return Scene::Create(*std::move(polygons), version, runtime.limits->scenes);
}

// Lints the scene, and counts the work against the shares of the caller's tenant.
absl::Status LintOf(const Scene& scene, const LintOptions& options, const Caller& caller,
                    const std::function<bool()>& is_over, v1::LintSceneResponse& response) {
  // Called now and then: other calls get the thread meanwhile.
  const std::function<bool()> checkpoint = [&is_over] {
    Executor::Checkpoint();
    return is_over();
  };
  WorkMeter meter(checkpoint);
  meter.set_max_units(kMaxLintUnits);
  const absl::StatusOr<LintReport> report = Lint(scene, options, meter);
  if (caller.shares != nullptr) caller.shares->TakeWork(meter.used(), Clock::now());
  if (meter.stopped() && !meter.out_of_units()) {
    return absl::CancelledError("the call is cancelled");
  }
  if (meter.stopped()) {
    return Refused(absl::StatusCode::kResourceExhausted, "kinds",
                   "the lint needs more work than one call may cause: ask for fewer kinds, or for "
                   "smaller radii");
  }
  if (!report.ok()) return report.status();
  response.set_version(scene.version());
  EncodeLint(*report, response);
  return absl::OkStatus();
}

}  // namespace

absl::Status AnswerLint(const SceneRuntime& runtime, const Caller& caller,
                        const grpc::ByteBuffer& bytes, const SceneCallUse& use,
                        grpc::ByteBuffer& answer) {
  v1::LintSceneRequest request;
  if (absl::Status status = ParseShort(bytes, request); !status.ok()) return status;
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const absl::StatusOr<LintOptions> options = DecodeLint(request);
  if (!options.ok()) return options.status();
  if (caller.shares != nullptr) {
    if (absl::Status status = caller.shares->CheckWork(Clock::now()); !status.ok()) return status;
  }
  MemoryCharge charge = use.bytes_charge.Another();
  const std::string key = runtime.store.KeyOf(caller.tenant, request.name());
  const absl::StatusOr<Scene::Ptr> scene = FindScene(runtime, key, request.version(), charge);
  if (!scene.ok()) return scene.status();
  const uint64_t vertex_bytes = options->from.empty() ? kBytesPerVertex : kPocketBytesPerVertex;
  absl::Status status = charge.Add(kFindingBytes + vertex_bytes * (*scene)->vertex_count());
  v1::LintSceneResponse response;
  if (status.ok()) status = LintOf(**scene, *options, caller, use.is_over, response);
  if (status.ok()) answer = Serialize(response);
  return status;
}

}  // namespace carom::server
