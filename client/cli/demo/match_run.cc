// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/match_run.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace carom::cli {
namespace {

using MatchClock = std::chrono::steady_clock;

// Returns the milliseconds since `start`.
double MillisecondsSince(MatchClock::time_point start) {
  return std::chrono::duration<double, std::milli>(MatchClock::now() - start).count();
}

// Sends a frame, which must have one group, and waits for the answer. Returns an error if the
// server refuses the frame or the group.
absl::StatusOr<FrameAnswer> Trip(Stream& stream, const Frame& frame) {
  const absl::Status sent = stream.Send(frame);
  if (!sent.ok()) return sent;
  // No other frame is in flight, so the next answer is the answer to this frame.
  absl::StatusOr<FrameAnswer> answer = stream.Receive();
  if (!answer.ok()) return answer;
  if (!answer->status.ok()) return answer->status;
  // Treats a refused group as an error that ends the match: the server may, for example, have lost
  // the fork (the scene of the match).
  if (answer->groups.size() != 1) return absl::InternalError("the answer must have one group");
  if (!answer->groups[0].status.ok()) return answer->groups[0].status;
  return answer;
}

// Sends the two frames before the first tick: the first finds places where a bot touches no
// polygon, the second finds places for doors.
absl::Status Prepare(Stream& stream, const std::string& scene, MatchWorld& world) {
  Frame frame;
  frame.groups.push_back({.scene = scene, .group = world.RoomQuestion()});
  absl::StatusOr<FrameAnswer> answer = Trip(stream, frame);
  if (!answer.ok()) return answer.status();
  world.TakeRoom(answer->groups[0].answers.circles);
  frame.groups[0].group = world.WidthQuestion();
  answer = Trip(stream, frame);
  if (!answer.ok()) return answer.status();
  world.TakeWidths(answer->groups[0].answers.segments);
  return absl::OkStatus();
}

// Returns the frame of a tick: the queries, and the poses of the bots that the queries need. The
// first frame defines the body set of the poses, which the server keeps until the stream ends.
Frame FrameOf(uint64_t tick, const std::string& scene, MatchWorld& world) {
  Frame frame;
  frame.seq = tick + 1;
  if (tick == 0) {
    frame.body_sets.push_back({.body_set = MatchWorld::kBodySet, .bodies = world.Players()});
  }
  frame.groups.push_back(world.Ask(tick));
  frame.groups[0].scene = scene;
  frame.poses.push_back(world.Poses());
  return frame;
}

// Plays the match in the scene `scene`, a fork (copy) of the map. The caller deletes the fork even
// if this function returns an error.
absl::StatusOr<DemoFigures> Play(Client& client, const std::string& scene, uint64_t ticks,
                                 MatchWorld& world, const DemoProgress& progress) {
  const std::unique_ptr<Stream> stream = client.OpenStream();
  absl::Status status = Prepare(*stream, scene, world);
  if (!status.ok()) return status;
  // The figures do not include the two frames of `Prepare`.
  DemoFigures figures;
  std::vector<double> latencies_ms;
  uint64_t evaluate_ns = 0;
  const MatchClock::time_point start = MatchClock::now();
  for (uint64_t tick = 0; tick < ticks; ++tick) {
    const Frame frame = FrameOf(tick, scene, world);
    figures.queries += frame.groups[0].group.query_count();
    const MatchClock::time_point sent = MatchClock::now();
    const absl::StatusOr<FrameAnswer> answer = Trip(*stream, frame);
    if (!answer.ok()) return answer.status();
    latencies_ms.push_back(MillisecondsSince(sent));
    evaluate_ns += answer->stats.evaluate_ns;
    world.Take(tick, answer->groups[0].answers);
    progress(tick + 1, ticks, world.counts().bot_hits);
  }
  const double seconds = MillisecondsSince(start) / 1000;
  status = stream->Finish();
  if (!status.ok()) return status;
  figures.ticks = ticks;
  figures.bullets = world.counts().shots;
  figures.hits = world.counts().bot_hits + world.counts().wall_hits;
  figures.evaluate_ns_per_query =
      static_cast<double>(evaluate_ns) / static_cast<double>(figures.queries);
  figures.latency_p50_ms = Quantile(latencies_ms, 0.5);
  figures.latency_p99_ms = Quantile(latencies_ms, 0.99);
  figures.queries_per_second = static_cast<double>(figures.queries) / seconds;
  return figures;
}

}  // namespace

absl::StatusOr<DemoFigures> RunMatch(Client& client, const std::string& base, uint64_t ticks,
                                     MatchWorld& world, const DemoProgress& progress) {
  // The fork gets a random name, so that two demos can use one server.
  const absl::StatusOr<SceneSummary> fork = client.ForkScene(base);
  if (!fork.ok()) return fork.status();
  absl::StatusOr<DemoFigures> figures = Play(client, fork->name, ticks, world, progress);
  const absl::Status deleted = client.DeleteScene(fork->name);
  if (figures.ok() && !deleted.ok()) return deleted;
  return figures;
}

}  // namespace carom::cli
