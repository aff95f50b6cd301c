// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The world study: many trackers in a map of many polygons, tick by tick.

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr double kTick = 1.0 / 60;

// Movers of 4 to 8 vertices, half a cell across, anywhere in the world. Each goes straight on and
// comes back at the border.
class Crowd {
 public:
  Crowd(const World& world, size_t count, double cells_per_second)
      : half_(world.half()), step_(cells_per_second * kCell * kTick) {
    std::vector<Tracker> kinds;
    for (size_t vertices = 4; vertices <= 8; ++vertices) {
      Polygon shape = MakePolygons({RegularOutline(vertices, kCell / 4)})[0];
      kinds.push_back(*Tracker::Create(std::move(shape)));
    }
    Random random(60);
    for (size_t i = 0; i < count; ++i) {
      trackers_.push_back(kinds[i % kinds.size()]);
      x_.push_back(random.Between(-half_, half_));
      y_.push_back(random.Between(-half_, half_));
      const double way = random.Between(0, 2 * std::numbers::pi);
      dx_.push_back(step_ * std::cos(way));
      dy_.push_back(step_ * std::sin(way));
      angle_.push_back(random.Between(0, 2 * std::numbers::pi));
    }
  }

  void Tick() {
    for (size_t i = 0; i < x_.size(); ++i) {
      x_[i] += dx_[i];
      y_[i] += dy_[i];
      if (std::abs(x_[i]) > half_) dx_[i] = -std::copysign(dx_[i], x_[i]);
      if (std::abs(y_[i]) > half_) dy_[i] = -std::copysign(dy_[i], y_[i]);
      angle_[i] = std::fmod(angle_[i] + kTick, 2 * std::numbers::pi);
    }
  }

  // Returns how many touch something.
  size_t Move(const Scene& scene, Coherence coherence) {
    WorkMeter meter;
    MoveTrackers(scene, {trackers_, {}, x_, y_, {}, {}, angle_}, {OverlapDetail::kIds, coherence},
                 answers_, meter);
    return answers_.counts.size();
  }

  size_t size() const { return trackers_.size(); }
  const MoveTiers& tiers() const { return answers_.tiers; }
  double BytesEach() const {
    double bytes = 0;
    for (const Tracker& tracker : trackers_) bytes += static_cast<double>(tracker.memory_bytes());
    return bytes / static_cast<double>(size());
  }

 private:
  double half_;
  double step_;
  std::vector<Tracker> trackers_;
  std::vector<double> x_, y_, dx_, dy_, angle_;
  MoveAnswers answers_;
};

void RunSpeed(Bench& bench, const World& world, const Scene& scene, double cells_per_second) {
  Crowd crowd(world, bench.quick ? 10000 : 100000, cells_per_second);
  const auto count = static_cast<double>(crowd.size());
  const int ticks = bench.quick ? 20 : 120;
  const int warm_up = ticks / 4;
  std::vector<double> warm, cold;
  MoveTiers tiers;
  double touching = 0;
  for (int tick = 0; tick < ticks; ++tick) {
    crowd.Tick();
    const double start = ThreadNanoseconds();
    const size_t touched = crowd.Move(scene, Coherence::kOn);
    const double time = (ThreadNanoseconds() - start) / count;
    if (tick < warm_up) continue;
    warm.push_back(time);
    touching += static_cast<double>(touched) / count / (ticks - warm_up);
    tiers += crowd.tiers();
    if (tick % 10 != 0) continue;
    const double cold_start = ThreadNanoseconds();
    crowd.Move(scene, Coherence::kOff);
    cold.push_back((ThreadNanoseconds() - cold_start) / count);
  }
  const double percent = 100 / count / (ticks - warm_up);
  const std::string name = absl::StrCat("world_study_", cells_per_second, "_cells_a_second");
  bench.report.Figure(
      name, Median(warm), "ns a step",
      absl::StrFormat("%.1f %% touch; quiet %.1f %%, near %.1f %%, refresh %.2f %%, cold %.2f %%; "
                      "%.0f bytes a tracker",
                      100 * touching, percent * static_cast<double>(tiers.quiet),
                      percent * static_cast<double>(tiers.near),
                      percent * static_cast<double>(tiers.refresh),
                      percent * static_cast<double>(tiers.cold), crowd.BytesEach()));
  bench.report.Figure(name + " cold path / tracked", Median(cold) / Median(warm), "x");
  if (cells_per_second == 1) {
    bench.report.Add({name + "_ns_a_step", Median(warm), "-", 0, ValueAtMost(200),
                      "5 million steps a second and core"});
  }
}

}  // namespace

void RunWorldStudy(Bench& bench) {
  if (!bench.Wants("world_study")) return;
  bench.report.Title("world_study");
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
  RunSpeed(bench, world, *scene, 1);
  RunSpeed(bench, world, *scene, 10);
}

}  // namespace carom::bench
