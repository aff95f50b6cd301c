// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A long conversation on a stream: what it says is a function of a seed, and what it is answered is
// kept as a ledger of plain words, to be compared with that of another conversation.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "carom/client.h"
#include "carom/frame.h"
#include "carom/shape.h"
#include "tests/support/random.h"

namespace carom::testing {

// Scenes that the script asks; a third name has no scene.
inline constexpr const char* kScriptScenes[] = {"scenes/arena", "scenes/yard", "scenes/none"};

// Registers them.
absl::Status CreateScriptScenes(Client& client);

// Frames that bind and rebind handles, define, redefine and remove trackers, cast segments, locate
// points and move trackers, not all of which are defined. A few frames are refused as a whole, and
// what they define is not defined.
class StreamScript {
 public:
  StreamScript(uint64_t seed, size_t frames);

  const std::deque<Frame>& frames() const { return frames_; }

 private:
  struct Columns {
    std::vector<double> ax, ay, bx, by, x, y;
    std::vector<uint32_t> trackers;
  };

  void AddDefinitions(Frame& frame);
  void AddGroup(Frame& frame);
  double Coordinate() { return random_.Unit() * 40 - 10; }

  SplitMix64 random_;
  std::vector<Shape> shapes_;
  std::deque<Columns> columns_;  // what the frames point to
  std::deque<std::vector<Shape>> defined_;
  std::deque<Frame> frames_;
};

// A frame that asks nothing.
inline Frame EmptyFrame(uint64_t seq) {
  Frame frame;
  frame.seq = seq;
  return frame;
}

// All of an answer but its stats.
std::string LedgerEntry(FrameAnswer& answer);

// Sends every frame, receiving in between at times that `seed` says, and finishes. Entries as far
// as they came; `end` is how `Finish` returned.
std::vector<std::string> Converse(Stream& stream, const StreamScript& script, absl::Status& end);

}  // namespace carom::testing
