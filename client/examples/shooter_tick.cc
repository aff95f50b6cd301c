// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A tick of 200 shooter matches in one frame (docs/shooter-tick.md). Usage: shooter_tick ADDRESS
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/client.h"

namespace {
using Doubles = std::span<const double>;
constexpr char kBase[] = "scenes/shooter-tick";
constexpr uint64_t kMatches = 200, kPlatform = 2, kDoor = 4, kAll = ~uint64_t{0};  // bit masks
// Six players (the last one jumps): positions now and at tick 0; player i has kPushes[i] moves.
constexpr double kX[]{20, 90, 185, 50, 270, 70}, kPastX[]{12, 82, 177, 42, 262, 62}, kAsOf[4]{};
constexpr double kY[]{10, 10, 10, 60, 10, 25}, kBlastX[]{215}, kBlastY[]{3}, kReach[]{60};
constexpr double kDx[]{12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0};
constexpr double kDy[]{0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30};
constexpr uint32_t kPushes[]{2, 3, 2, 1, 2, 1}, kShape[6]{}, kOwners[]{1, 2, 3, 4, 5, 6};
constexpr double kAx[]{20, 185, 50, 270}, kAy[]{14, 14, 60, 14};
constexpr double kBx[]{180, 300, 62, 220}, kBy[]{14, 14, 20, 60};
constexpr uint32_t kShooters[]{1, 3, 4, 5};  // a bullet does not hit the body of its own shooter
// Lines of sight: from players 2, 0 and 3 to 4, 1 and 5; then from the explosion to all players.
constexpr double kFromX[]{185, 20, 50, 215, 215, 215, 215, 215, 215};
constexpr double kToX[]{270, 90, 70, 20, 90, 185, 50, 270, 70};
constexpr double kFromY[]{14, 14, 64, 3, 3, 3, 3, 3, 3}, kToY[]{14, 14, 29, 10, 10, 10, 60, 10, 25};
const carom::Shape kBody = carom::Shape::Create(carom::Capsule{{{0, -5}, {0, 5}}, 5}).value();

carom::ShapeColumns Placed(Doubles x, Doubles y) {
  return {.shapes = {&kBody, 1}, .shape = std::span(kShape).first(x.size()), .x = x, .y = y};
}

// Adds three groups that query the fork of a match, or the base with a mask without open doors.
void AddGroups(bool open, const carom::SceneSummary& scene, Doubles dx, carom::Frame& frame) {
  const bool is_fork = !scene.base.empty();
  const uint64_t mask = is_fork || !open ? kAll : kAll - kDoor;
  carom::FrameGroup now{.scene = scene.name}, rising = now, past = now;
  if (is_fork && open) now.edits = carom::GroupEdits{{carom::RemovePolygon{4}}};  // opens the door
  rising.group.bodies = now.group.bodies = {Placed(kX, kY), {}, kOwners};
  // Players slide against walls and against other players, but not against their own bodies.
  now.group.slides = {Placed({kX, 5}, {kY, 5}), dx.first(10), {kDy, 10}, {kPushes, 5}};
  now.group.slides.movers.scope = {carom::Against::kBoth, {}, {kOwners, 5}};
  now.group.slide_options.mask = now.group.sight_options.mask = mask;
  now.group.sights = {kFromX, kFromY, kToX, kToY};
  static const carom::Shape point = carom::Shape::Create(carom::Capsule{}).value();
  now.group.distances = {{.shapes = {&point, 1}, .x = kBlastX, .y = kBlastY}, kReach};
  now.group.distances.movers.scope.against = carom::Against::kBodies;
  now.group.distance_options.mode = carom::DistanceMode::kAll;
  rising.group.slides = {Placed({kX + 5, 1}, {kY + 5, 1}), dx.last(1), {kDy + 10, 1}};
  rising.group.slides.movers.scope = {carom::Against::kBoth, {}, {kOwners + 5, 1}};
  rising.group.slide_options.mask = mask & ~kPlatform;  // the player jumps through platforms
  // Bullets hit what the shooters saw: the players a tick ago, when the door was shut everywhere.
  past.body_set = frame.body_sets.size() + (is_fork ? 0 : kMatches);
  static const carom::BodyDefinition players{{kBody}, {0, 0, 0, 0, 0, 0}, {}, {1, 2, 3, 4, 5, 6}};
  frame.body_sets.push_back({*past.body_set, is_fork ? scene.name : "", players});
  frame.poses.push_back({*past.body_set, {.tick = 0, .x = kPastX, .y = kY}});
  if (is_fork) past.version_at_tick = 0;  // the doors of tick 0
  past.group.segments = {kAx, kAy, kBx, kBy, {carom::Against::kBoth, {}, kShooters, kAsOf}};
  past.group.cast_options.mask = kAll & ~kPlatform;
  frame.groups.insert(frame.groups.end(), {now, rising, past});
}

// Prints the answers of a match. The hits of bullets are in turn, counts[i] hits of bullet i.
void PrintVerdicts(const carom::GroupAnswers& now, const carom::GroupAnswers& rising,
                   const carom::GroupAnswers& past) {
  int player = 0;
  for (const carom::SlideAnswers* moves : {&now.slides, &rising.slides}) {
    const carom::SlideLeg* leg = moves->legs.data();
    for (const carom::SlideRow& row : moves->rows) {
      double up = -1;  // greatest y of the normals of the edges that the slide hits; a floor: 1
      for (const carom::SlideLeg* const end = leg + row.legs; leg != end; ++leg) {
        up = std::max(up, leg->has_hit ? leg->hit.normal.y : 0);
      }
      absl::PrintF("player %d: (%.4f, %.4f), normal %.4f\n", player++, row.position.x,
                   row.position.y, up);
    }
  }
  const carom::CastHit* hit = past.segments.hits.data();
  for (size_t i = 0; i < past.segments.counts.size(); ++i) {
    for (uint32_t n = 0; n < past.segments.counts[i]; ++n, ++hit) {
      const char* what = hit->is_body ? "player" : "polygon";
      absl::PrintF("bullet %d: %s %d at %.4f\n", i, what, hit->polygon_id, hit->fraction);
    }
  }
  const char* separator = "sights: [";
  for (const uint8_t seen : now.sights.visible)
    absl::PrintF("%s%s", std::exchange(separator, " "), seen ? "true" : "false");
  absl::PrintF("]\n");
  for (size_t i = 0; i < now.distances.rows.size(); ++i)
    absl::PrintF("explosion: player %d at %.4f\n", now.distances.polygon_ids[i],
                 now.distances.rows[i].distance);
}
}  // namespace

int main(int argc, char** argv) {
  const auto client = carom::Client::Connect(argc > 1 ? argv[1] : "127.0.0.1:7420").value();
  const auto stream = client->OpenStream();
  for (const bool by_forks : {true, false}) {
    std::vector<std::vector<double>> dx(kMatches, {std::begin(kDx), std::end(kDx)});
    carom::Frame frame;
    for (size_t match = 0; match < kMatches; ++match) {
      for (double& d : dx[match]) d *= 1 + static_cast<double>(match) / 256;  // differs by match
      carom::SceneSummary base;
      base.name = kBase;
      AddGroups(match % 2 == 0, by_forks ? *client->ForkScene(kBase) : base, dx[match], frame);
    }
    if (!stream->Send(frame).ok()) return 1;  // a game does other work until it needs the answer
    const carom::FrameAnswer answer = stream->Receive().value();
    if (!std::ranges::all_of(answer.groups, &absl::Status::ok, &carom::GroupResult::status))
      return 1;
    const carom::GroupResult* groups = answer.groups.data();
    for (size_t match = 0; match < answer.groups.size() / 3; ++match, groups += 3) {
      absl::PrintF("match %d\n", match);
      PrintVerdicts(groups[0].answers, groups[1].answers, groups[2].answers);
    }
  }
}
