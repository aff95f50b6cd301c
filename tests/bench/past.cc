// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do shots in the shooter's own past cost beside the same shots at one moment?

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "carom/body_history.h"
#include "carom/group.h"
#include "carom/v1/query_service.pb.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/random.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "wire/encode.h"

namespace carom::bench {
namespace {

constexpr size_t kBodies = 200;
constexpr size_t kShooters = 50;
constexpr size_t kBullets = 2000;
constexpr uint32_t kTicks = 32;

template <class T>
T ValueOf(absl::StatusOr<T> value) {
  if (!value.ok()) std::abort();
  return *std::move(value);
}

// Bullets of shooters past players that walk for some ticks, an eighth of their radius in each.
struct Past {
  Past(const World& world, double length)
      : scene(MakeScene(MakePolygons(world.polygons))),
        bullets(FreeSegments(world, kBullets, length, 3)),
        start(FreePoints(world, kBodies, 4)),
        random(5) {
    definition.shapes.push_back(ValueOf(Shape::Create(Capsule{{}, kCell / 8})));
    definition.shape.assign(kBodies, 0);
    definition.keep_ticks = kTicks + 1;
    for (size_t i = 0; i < kBodies; ++i) {
      definition.owner.push_back(1 + static_cast<uint32_t>(i));
      vx.push_back((random.Unit() - 0.5) * kCell / 32);
      vy.push_back((random.Unit() - 0.5) * kCell / 32);
    }
    history = ValueOf(BodyHistory::Create(definition));
    for (uint64_t tick = 0; tick <= kTicks; ++tick) {
      Place(tick);
      if (!history.Add({.tick = tick, .x = x, .y = y}).ok()) std::abort();
    }
    std::vector<double> moments;
    for (size_t k = 0; k < kShooters; ++k) moments.push_back(random.Unit() * kTicks);
    for (size_t i = 0; i < kBullets; ++i) {
      owners.push_back(1 + static_cast<uint32_t>(i * kShooters / kBullets));
      of_shooter.push_back(moments[i * kShooters / kBullets]);
      of_bullet.push_back(random.Unit() * kTicks);
    }
  }

  void Place(uint64_t tick) {
    const auto at = static_cast<double>(tick);
    x.clear();
    y.clear();
    for (size_t i = 0; i < kBodies; ++i) {
      x.push_back(start.x[i] + at * vx[i]);
      y.push_back(start.y[i] + at * vy[i]);
    }
  }

  // The bullets as of moments, of the history; without moments, past the bodies of the last tick.
  Group Asked(std::span<const double> as_of) const {
    Group group;
    group.segments = {bullets.ax, bullets.ay, bullets.bx, bullets.by};
    group.segments.scope = {Against::kBoth, {}, owners, as_of};
    group.cast_options.detail = CastDetail::kNormal;
    if (!as_of.empty()) {
      group.body_history = &history;
    } else {
      group.bodies = {{definition.shapes, definition.shape, x, y}, {}, definition.owner};
    }
    return group;
  }

  Question Ask(std::span<const double> as_of) const {
    return
        [this, group = Asked(as_of), answers = GroupAnswers()](size_t begin, size_t end) mutable {
          uint64_t hits = 0;
          for (size_t at = begin; at < end; at += kBullets) {
            WorkMeter meter;
            if (!EvaluateGroup(*scene, group, answers, meter).ok()) std::abort();
            hits += answers.segments.hits.size();
          }
          return hits;
        };
  }

  const Scene::Ptr scene;
  const Segments bullets;
  const Points start;
  Random random;
  BodyDefinition definition;
  BodyHistory history;
  std::vector<double> vx, vy, x, y, of_shooter, of_bullet;
  std::vector<uint32_t> owners;
};

// The nanoseconds of a tick of poses: added to a copy of the history, as the server does.
double NanosecondsOfATick(Past& past, int rounds) {
  std::vector<double> times;
  BodyHistory history = past.history;
  for (int round = 0; round < 200 * rounds; ++round) {
    const uint64_t tick = kTicks + 1 + static_cast<uint64_t>(round);
    past.Place(tick);
    const double begin = ThreadNanoseconds();
    BodyHistory next = history;
    if (!next.Add({.tick = tick, .x = past.x, .y = past.y}).ok()) std::abort();
    history = std::move(next);
    times.push_back(ThreadNanoseconds() - begin);
  }
  past.Place(kTicks);
  return Median(times);
}

// The bytes of a frame in which `bullets` bullets of each shooter are asked of the scene: as one
// group of a body set, with the poses of a tick, or as a group of all bodies for each shooter.
std::pair<double, double> BytesOfFrames(const Past& past, size_t bullets) {
  v1::Frame ours, theirs;
  wire::EncodePoses({.tick = kTicks, .x = past.x, .y = past.y}, *ours.add_poses());
  const auto segments = [&](size_t first, size_t count, v1::Group& message) {
    Group group = past.Asked(message.has_body_set() ? past.of_shooter : std::span<const double>());
    const auto cut = [&](auto& column) {
      if (!column.empty()) column = column.subspan(first, count);
    };
    cut(group.segments.ax), cut(group.segments.ay), cut(group.segments.bx), cut(group.segments.by);
    cut(group.segments.scope.ignore_owner), cut(group.segments.scope.as_of);
    wire::EncodeGroup(group, message);
    message.set_scene_handle(1);
  };
  v1::Group& together = *ours.add_groups();
  together.set_body_set(1);
  segments(0, bullets * kShooters, together);
  together.set_body_set(1);
  for (size_t k = 0; k < kShooters; ++k) segments(k * bullets, bullets, *theirs.add_groups());
  return {static_cast<double>(ours.ByteSizeLong()), static_cast<double>(theirs.ByteSizeLong())};
}

}  // namespace

// 2,000 bullets of 50 shooters past a map and 200 players, each shooter, or even each bullet, at a
// moment of its own within 32 ticks.
void RunPast(Bench& bench) {
  const std::string group = "match_past_1e5";
  if (!bench.Wants(group)) return;
  bench.report.Title(group);
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  for (const auto& [name, cells] : {std::pair<const char*, double>{"short", 1}, {"long", 10}}) {
    Past past(world, cells * kCell);
    const std::vector<double> one(kBullets, 16.25);
    const std::vector<Timing> timings = RunInterleaved({{"each shooter", past.Ask(past.of_shooter)},
                                                        {"one moment, as bodies", past.Ask({})},
                                                        {"each bullet", past.Ask(past.of_bullet)},
                                                        {"one moment of the set", past.Ask(one)}},
                                                       10 * kBullets, bench.rounds());
    const std::string row = group + "_" + name;
    bench.report.Timings(row, timings);
    bench.report.Add({row + "_over_one_moment", timings[0].ns, "one moment, as bodies",
                      timings[1].ns, RatioAtMost(2)});
    bench.report.Add({row + "_each_bullet_over_one_moment", timings[2].ns, "one moment, as bodies",
                      timings[1].ns, RatioAtMost(2)});
  }
  Past past(world, kCell);
  bench.report.Add({group + "_tick_of_poses", NanosecondsOfATick(past, bench.rounds()), "-", 0,
                    ValueAtMost(15000)});
  bench.report.Add({group + "_bytes_a_pose",
                    static_cast<double>(BodyHistory::TickBytes(kBodies, 1)) / kBodies, "-", 0,
                    ValueAtMost(40)});
  for (const size_t bullets : {size_t{1}, kBullets / kShooters}) {
    const auto [ours, theirs] = BytesOfFrames(past, bullets);
    const std::string row = group + "_frame_bytes_" + std::to_string(bullets) + "_bullets_each";
    bench.report.Add({row, ours, "50 groups of all bodies", theirs, RatioAtLeast(20)});
  }
}

}  // namespace carom::bench
