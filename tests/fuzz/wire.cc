// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of the codec: any bytes, read as a frame, as answers or as a commit, are answered
// or refused. Nothing crashes, and what is encoded can be decoded.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/stubs/logging.h>

#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/tracker_table.h"
#include "tests/fuzz/target.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom {
namespace {

constexpr uint64_t kMaxWork = 1 << 19;
constexpr uint64_t kMaxRows = 1 << 16;

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

// A square with a hole, a hollow chain, a bow-tie and a point.
const Scene& FixedScene() {
  static const Scene::Ptr scene = [] {
    std::vector<Polygon> polygons;
    const auto add = [&](PolygonSpec spec) {
      polygons.push_back(Polygon::Create(std::move(spec)).value());
    };
    add({.id = 1,
         .rings = {{{{0, 0}, {10, 0}, {10, 10}, {0, 10}}}, {{{4, 4}, {6, 4}, {6, 6}, {4, 6}}}}});
    add({.id = 2,
         .rings = {{{{20, 0}, {25, 5}, {20, 10}}, true}},
         .solidity = Solidity::kBoundary});
    add({.id = 3, .rings = {{{{30, 0}, {40, 10}, {40, 0}, {30, 10}}}}});
    add({.id = 4, .rings = {{{{-5, -5}}}}});
    return Scene::Create(std::move(polygons), 3).value();
  }();
  return *scene;
}

void Answer(const v1::Group& message, TrackerTable& trackers) {
  wire::DecodedGroup decoded;
  if (!wire::DecodeGroup(message, decoded).ok()) return;
  if (decoded.group.query_count() > kMaxRows) return;
  uint64_t work = 0;  // asked about at least that much apart
  WorkMeter meter([&] { return (work += WorkMeter::kInterval) > kMaxWork; });
  meter.set_max_rows(kMaxRows);
  GroupAnswers answers;
  trackers.Begin(decoded.group);
  const absl::Status status = EvaluateGroup(FixedScene(), decoded.group, answers, meter);
  trackers.End(answers.moves.memory_growth);
  if (!status.ok()) return;
  v1::GroupAnswer encoded;
  wire::EncodeGroupAnswers(decoded.group, answers, encoded);
  GroupAnswers again;
  Require(wire::DecodeGroupAnswers(encoded, again).ok(), "our own answers can be decoded");
  v1::Group message_again;
  wire::EncodeGroup(decoded.group, message_again);
  wire::DecodedGroup decoded_again;
  Require(wire::DecodeGroup(message_again, decoded_again).ok(), "our own groups can be decoded");
}

constexpr TrackerTableLimits kLimits{.max_trackers = 64, .max_bytes = 1 << 14};

void Define(const v1::Frame& frame, TrackerTable& trackers) {
  wire::DecodedTrackers decoded;
  if (!wire::DecodeTrackers(frame.trackers(), decoded).ok()) return;
  const std::span<const uint32_t> removed{frame.removed_trackers().data(),
                                          static_cast<size_t>(frame.removed_trackers_size())};
  trackers.Define(removed, decoded.definitions).IgnoreError();
}

// Twice, as a client may send it; then, after some frames, nothing is left of what was learned.
void ReadFrame(const std::string& bytes) {
  v1::Frame frame;
  if (!frame.ParseFromString(bytes)) return;
  TrackerTable trackers(kLimits);
  for (int i = 0; i < 2; ++i) {
    Define(frame, trackers);
    trackers.BeginFrame();
    for (const v1::Group& group : frame.groups()) Answer(group, trackers);
    // One tracker may learn beyond the budget, in each of few batches.
    Require(trackers.memory_bytes() <= kLimits.max_bytes + Tracker::kMaxMemoryBytes,
            "trackers take what they may");
  }
  std::vector<uint32_t> all(kLimits.max_trackers);
  std::iota(all.begin(), all.end(), 0);
  Require(trackers.Define(all, {}).ok(), "trackers can be removed");
  for (uint32_t i = 0; i <= EyeTable::kMaxIdleFrames + 1; ++i) trackers.BeginFrame();
  Require(trackers.memory_bytes() == 0, "trackers that are gone take nothing");
}

void ReadGroup(const std::string& bytes) {
  v1::Group group;
  TrackerTable trackers(kLimits);
  if (group.ParseFromString(bytes)) Answer(group, trackers);
}

void ReadAnswer(const std::string& bytes) {
  v1::GroupAnswer message;
  if (!message.ParseFromString(bytes)) return;
  GroupAnswers answers;
  wire::DecodeGroupAnswers(message, answers).IgnoreError();
}

void ReadEdits(const std::string& bytes) {
  v1::CommitEditsRequest request;
  if (!request.ParseFromString(bytes)) return;
  PolygonLimits limits;
  limits.max_vertices = 4096;
  absl::StatusOr<std::vector<SceneEdit>> edits = wire::DecodeEdits(request.edits(), limits);
  if (!edits.ok()) return;
  for (const SceneEdit& edit : *edits) {
    v1::Edit message;
    wire::EncodeEdit(edit, message);
  }
  const absl::StatusOr<Scene::Ptr> scene = FixedScene().Commit(*std::move(edits), 4);
  if (!scene.ok()) return;
  const double x[] = {5.0}, y[] = {5.0};
  LocateAnswers answers;
  WorkMeter meter;
  Require(LocatePoints(**scene, {x, y}, kEveryCategory, answers, meter), "nothing stops the work");
}

// A message of the kind that the first byte of an input selects.
std::string MakeMessage(testing::Choices& choices, uint32_t kind) {
  const auto made = testing::MakeGroupCase(choices, 3, testing::BadNumbers::kSome);
  v1::Frame frame;
  v1::Group& group = *frame.add_groups();
  wire::EncodeGroup(made->group, group);
  if (kind == 0) {
    for (uint32_t i = 0; i < 1 + choices.Below(2); ++i) {
      wire::EncodeTrackers({.shapes = made->shapes, .first_tracker = choices.Below(4)},
                           *frame.add_trackers());
    }
    if (choices.OneIn(2)) frame.add_removed_trackers(choices.Below(4));
    return frame.SerializeAsString();
  }
  if (kind == 1) return group.SerializeAsString();
  if (kind == 2) {
    GroupAnswers answers;
    WorkMeter meter;
    v1::GroupAnswer message;
    if (EvaluateGroup(*made->scene, made->group, answers, meter).ok()) {
      wire::EncodeGroupAnswers(made->group, answers, message);
    }
    return message.SerializeAsString();
  }
  v1::CommitEditsRequest request;
  for (const PolygonSpec& spec : made->specs) {
    wire::EncodeEdit(AddPolygon{Polygon::Create(spec).value()}, *request.add_edits());
  }
  wire::EncodeEdit(RemovePolygon{choices.Below(5)}, *request.add_edits());
  return request.SerializeAsString();
}

}  // namespace
}  // namespace carom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto quiet = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(quiet);
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      carom::ReadFrame(bytes);
      break;
    case 1:
      carom::ReadGroup(bytes);
      break;
    case 2:
      carom::ReadAnswer(bytes);
      break;
    default:
      carom::ReadEdits(bytes);
      break;
  }
  return 0;
}

// A message, with some bytes changed in every other one.
std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  const uint32_t kind = choices.Below(4);
  const std::string message = carom::MakeMessage(choices, kind);
  std::vector<uint8_t> bytes(1 + message.size());
  bytes[0] = static_cast<uint8_t>(kind);
  std::copy(message.begin(), message.end(), bytes.begin() + 1);
  for (uint32_t changes = choices.OneIn(2) ? 1 + choices.Below(4) : 0; changes > 0; --changes) {
    const size_t at = 1 + choices.Below(65536) % bytes.size();
    if (at < bytes.size()) bytes[at] = static_cast<uint8_t>(choices.Below(256));
  }
  return bytes;
}
