// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <numbers>

#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

Vec2 AtAngle(size_t i, size_t n, double radius) {
  const double angle = kTurn * static_cast<double>(i) / static_cast<double>(n);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Outline Star(size_t vertices, Random& random) {
  Outline outline;
  for (size_t i = 0; i < vertices; ++i) {
    const bool far = i % 2 == 1;
    outline.push_back(
        AtAngle(i, vertices, far ? random.Between(0.7, 1) : random.Between(0.3, 0.6)));
  }
  return outline;
}

// Four vertices a tooth, from right to left, above a bar whose two lower corners come first.
Outline Comb(size_t vertices, Random& random) {
  Outline outline{{-1, -1}, {1, -1}};
  const size_t teeth = (vertices - 2) / 4;
  const double pitch = 2.0 / static_cast<double>(teeth);
  for (size_t i = 0; i < teeth; ++i) {
    const double right = 1 - pitch * static_cast<double>(i);
    const double left = right - pitch / 2;
    const double top = random.Between(0.2, 1);
    outline.push_back({right, -0.8});
    outline.push_back({right, top});
    outline.push_back({left, top});
    outline.push_back({left, -0.8});
  }
  // The rest of the vertices, and the left end of the bar.
  while (outline.size() + 1 < vertices) {
    outline.push_back({(outline.back().x - 1) / 2, -0.8});
  }
  outline.push_back({-1, -0.8});
  return outline;
}

// Radii by midpoint displacement of their logarithms, so that the outline is simple: each level
// halves the step and takes 0.6 of the displacement.
Outline Coastline(size_t vertices, Random& random) {
  std::vector<double> logs{0};
  double displacement = 0.35;
  while (logs.size() < vertices) {
    std::vector<double> finer;
    for (size_t i = 0; i < logs.size(); ++i) {
      const double middle = (logs[i] + logs[(i + 1) % logs.size()]) / 2;
      finer.push_back(logs[i]);
      finer.push_back(middle + random.Between(-displacement, displacement));
    }
    logs = std::move(finer);
    displacement *= 0.6;
  }
  Outline outline;
  double greatest = 0;
  for (size_t i = 0; i < vertices; ++i) {
    greatest = std::fmax(greatest, std::exp(logs[i * logs.size() / vertices]));
  }
  for (size_t i = 0; i < vertices; ++i) {
    outline.push_back(AtAngle(i, vertices, std::exp(logs[i * logs.size() / vertices]) / greatest));
  }
  return outline;
}

}  // namespace

const char* Name(OutlineKind kind) {
  switch (kind) {
    case OutlineKind::kStar:
      return "star";
    case OutlineKind::kComb:
      return "comb";
    case OutlineKind::kCoastline:
      return "coastline";
  }
  return "";
}

Outline MakeOutline(OutlineKind kind, size_t vertices, uint64_t seed) {
  Random random(seed + vertices);
  switch (kind) {
    case OutlineKind::kStar:
      return Star(vertices, random);
    case OutlineKind::kComb:
      return Comb(vertices, random);
    case OutlineKind::kCoastline:
      return Coastline(vertices, random);
  }
  return {};
}

}  // namespace carom::bench
