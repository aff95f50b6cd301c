// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/checker.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <sys/resource.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/tracker_table.h"
#include "wire/encode.h"

namespace carom::load {
namespace {

// The greatest number of answers that wait for their check. The queue is full only if the machine
// has no CPU time left; the checker then drops answers, because the load has priority over checks.
constexpr size_t kMaxWaiting = 256;
constexpr int kNiceness = 10;

}  // namespace

Checker::Checker(const Questions& questions, SceneVersions& versions)
    : questions_(questions), versions_(versions) {
  // A `TrackerTable` makes the trackers in the way a server does. If the definition of a tracker is
  // faulty, the server refuses the first frames of the streams and the run ends, so the checker
  // ignores the error.
  TrackerTable table;
  const TrackerDefinitions definitions = questions.definitions();
  if (questions.trackers() > 0 && table.Define({}, {&definitions, 1}).ok()) {
    for (uint32_t i = 0; i < questions.trackers(); ++i) trackers_.push_back(*table.Find(i));
  }
  thread_ = std::thread([this] { Loop(); });
}

void Checker::Add(uint32_t stream, uint64_t tick, const grpc::ByteBuffer& answer) {
  MutexLock lock(mutex_);
  if (items_.size() >= kMaxWaiting) {
    ++dropped_;
    return;
  }
  items_.push_back({stream, tick, answer});
  changed_.NotifyAll();
}

// The thread checks all queued answers before it ends.
CheckFigures Checker::Finish() {
  {
    MutexLock lock(mutex_);
    is_finished_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  MutexLock lock(mutex_);
  figures_.unchecked += std::exchange(dropped_, 0);
  return figures_;
}

void Checker::Loop() {
  setpriority(PRIO_PROCESS, 0, kNiceness);  // on Linux: applies to this thread only
  while (true) {
    Item item;
    {
      MutexLock lock(mutex_);
      while (items_.empty() && !is_finished_) changed_.Wait(mutex_);
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    const Outcome outcome = Check(item);
    figures_.unchecked += outcome == Outcome::kUnknownVersion;
    figures_.checked += outcome != Outcome::kUnknownVersion;
    if (outcome == Outcome::kDifferent && figures_.differences++ == 0) {
      figures_.first_difference = absl::StrCat("stream ", item.stream, ", frame ", item.tick + 1);
    }
  }
}

// Parses the server's answer, serializes it again and compares the bytes with those of the
// library's answer: protobuf does not specify the order of fields in the bytes that a server sends.
// Compares every field of the group's answer, but not the statistics of the frame.
Checker::Outcome Checker::Check(Item& item) {
  v1::StreamResponse response;
  grpc::ProtoBufferReader reader(&item.answer);
  if (!response.ParseFromZeroCopyStream(&reader)) return Outcome::kDifferent;
  const bool has_group = questions_.window_count() > 0 || questions_.trackers() > 0;
  if (response.answer().groups_size() != (has_group ? 1 : 0)) return Outcome::kDifferent;
  if (!has_group) return Outcome::kEqual;
  const v1::GroupAnswer& answer = response.answer().groups(0);
  const Scene::Ptr scene = versions_.Find(answer.version());
  if (scene == nullptr) return Outcome::kUnknownVersion;
  v1::GroupAnswer expected;
  const bool is_equal =
      Answer(item, *scene, expected) && answer.SerializeAsString() == expected.SerializeAsString();
  return is_equal ? Outcome::kEqual : Outcome::kDifferent;
}

// Turns off coherence, the use of a cache in which trackers keep what earlier moves found; the
// cache changes no answer. Widens the positions from float to double, as the server does.
bool Checker::Answer(const Item& item, const Scene& scene, v1::GroupAnswer& message) {
  Group group;
  if (questions_.window_count() > 0) {
    group.segments = questions_.Window(questions_.WindowOf(item.stream, item.tick));
    group.cast_options = questions_.cast_options();
  }
  const size_t count = questions_.trackers();
  std::vector<float> x(count), y(count);
  if (count > 0) questions_.Poses(item.stream, item.tick, x, y);
  const std::vector<double> wide_x(x.begin(), x.end());
  const std::vector<double> wide_y(y.begin(), y.end());
  group.moves.trackers = trackers_;
  group.moves.x = wide_x;
  group.moves.y = wide_y;
  group.move_options.coherence = Coherence::kOff;
  answers_.Clear();
  WorkMeter meter;
  if (!EvaluateGroup(scene, group, answers_, meter).ok()) return false;
  wire::EncodeGroupAnswers(group, answers_, message);
  return true;
}

}  // namespace carom::load
