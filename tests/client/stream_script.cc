// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/client/stream_script.h"

#include <cstring>
#include <utility>

#include "tests/client/fixture.h"
#include "tests/support/answer_words.h"

namespace carom::testing {
namespace {

constexpr uint64_t kHandles = 5;
constexpr uint32_t kTrackers = 40;

void Put(uint64_t word, std::string& entry) {
  char bytes[sizeof(word)];
  std::memcpy(bytes, &word, sizeof(word));
  entry.append(bytes, sizeof(word));
}

}  // namespace

absl::Status CreateScriptScenes(Client& client) {
  const auto arena = client.CreateScene(kScriptScenes[0], Squares(10));
  if (!arena.ok()) return arena.status();
  return client.CreateScene(kScriptScenes[1], std::vector{Square(7, 3, -2, 6)}).status();
}

StreamScript::StreamScript(uint64_t seed, size_t frames) : random_(seed) {
  for (int i = 1; i <= 6; ++i) {
    shapes_.push_back(Square(0, 0, 0, 0.3 * i));
    shapes_.push_back(Shape::Create(Capsule{{{0, 0}, {0.5 * i, 0}}, 0.1 * i}).value());
  }
  for (size_t i = 0; i < frames; ++i) {
    Frame& frame = frames_.emplace_back();
    frame.seq = seed ^ (i * 0x10001);
    AddDefinitions(frame);
    const uint64_t groups = random_.Next() % 4;
    for (uint64_t g = 0; g < groups; ++g) AddGroup(frame);
    if (random_.Next() % 8 == 0) {  // refused: a handle twice, or a tracker
      frame.bindings.push_back({1, kScriptScenes[1]});
      frame.bindings.push_back({1, kScriptScenes[1]});
    }
  }
}

void StreamScript::AddDefinitions(Frame& frame) {
  if (random_.Next() % 4 == 0) {
    frame.bindings.push_back({random_.Next() % kHandles, kScriptScenes[random_.Next() % 3]});
  }
  if (random_.Next() % 4 == 0) {
    frame.removed_trackers = {static_cast<uint32_t>(random_.Next() % kTrackers),
                              static_cast<uint32_t>(random_.Next() % kTrackers)};
  }
  if (random_.Next() % 2 == 0) return;
  std::vector<Shape>& shapes = defined_.emplace_back();
  Columns& columns = columns_.emplace_back();
  for (uint64_t i = 0; i < 3; ++i) {
    shapes.push_back(shapes_[random_.Next() % shapes_.size()]);
    columns.trackers.push_back(static_cast<uint32_t>((random_.Next() % (kTrackers / 3)) * 3 + i));
  }
  TrackerDefinitions definitions{.shapes = shapes};
  if (random_.Next() % 2 == 0) {
    definitions.tracker = columns.trackers;
  } else {
    definitions.first_tracker = static_cast<uint32_t>(random_.Next() % (kTrackers - 3));
  }
  definitions.options.within = random_.Next() % 3 == 0 ? 0.75 : 0;
  definitions.options.mask = random_.Next() % 5 == 0 ? 2 : kEveryCategory;
  frame.trackers.push_back(definitions);
}

void StreamScript::AddGroup(Frame& frame) {
  FrameGroup group;
  if (random_.Next() % 4 == 0) {
    group.scene = kScriptScenes[random_.Next() % 3];
  } else {
    group.scene = random_.Next() % kHandles;
  }
  Columns& columns = columns_.emplace_back();
  for (uint64_t i = random_.Next() % 30; i > 0; --i) {
    for (std::vector<double>* column : {&columns.ax, &columns.ay, &columns.bx, &columns.by}) {
      column->push_back(Coordinate());
    }
  }
  for (uint32_t i = 0; i < kTrackers; ++i) {
    columns.x.push_back(Coordinate());
    columns.y.push_back(random_.Unit() * 4 - 1);
  }
  group.group.cast_options.mode = CastMode::kAll;
  group.group.segments = {columns.ax, columns.ay, columns.bx, columns.by};
  if (random_.Next() % 2 == 0) group.group.points = {columns.ax, columns.ay};
  if (random_.Next() % 3 != 0) {
    group.group.moves = {.x = columns.x, .y = columns.y};
    group.group.move_options.detail =
        random_.Next() % 2 == 0 ? OverlapDetail::kEdges : OverlapDetail::kIds;
  }
  frame.groups.push_back(group);
}

std::string LedgerEntry(FrameAnswer& answer) {
  std::string entry;
  Put(answer.seq, entry);
  entry += answer.status.ToString();
  Put(answer.skipped, entry);
  for (GroupResult& result : answer.groups) {
    entry += result.status.ToString();
    Put(result.answers.version, entry);
    for (const Words& words : WordsOf(result.answers)) {
      for (const uint64_t word : words.values) Put(word, entry);
    }
  }
  return entry;
}

std::vector<std::string> Converse(Stream& stream, const StreamScript& script, absl::Status& end) {
  SplitMix64 random(script.frames().size());
  std::vector<std::string> ledger;
  const auto receive = [&] {
    absl::StatusOr<FrameAnswer> answer = stream.Receive();
    if (answer.ok()) ledger.push_back(LedgerEntry(*answer));
    return answer.ok();
  };
  size_t sent = 0;
  for (const Frame& frame : script.frames()) {
    if (!stream.Send(frame).ok()) break;
    ++sent;
    if (random.Next() % 16 == 0) {
      while (ledger.size() < sent && receive()) {
      }
    }
  }
  end = stream.Finish();
  while (receive()) {
  }
  return ledger;
}

}  // namespace carom::testing
