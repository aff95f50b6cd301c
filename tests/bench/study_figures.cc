// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/study_figures.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/bench/pieces.h"

namespace carom::bench {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// Pieces of a figure around the origin, as a fan of triangles.
std::vector<Outline> Fan(const Outline& outline) {
  std::vector<Outline> pieces;
  for (size_t i = 0; i < outline.size(); ++i) {
    pieces.push_back({{0, 0}, outline[i], outline[(i + 1) % outline.size()]});
  }
  return pieces;
}

// The origin and every second vertex, with the tip between them.
std::vector<Outline> Kites(const Outline& star) {
  std::vector<Outline> pieces;
  for (size_t i = 0; i < star.size(); i += 2) {
    pieces.push_back({{0, 0}, star[i], star[i + 1], star[(i + 2) % star.size()]});
  }
  return pieces;
}

// The bar, and what stands upon it.
std::vector<Outline> Teeth(const Outline& comb) {
  const double bar = comb[2].y;
  std::vector<Outline> pieces{{comb[0], comb[1], {comb[1].x, bar}, {comb[0].x, bar}}};
  for (size_t i = 2; i + 3 < comb.size() && comb[i + 1].y > bar; i += 4) {
    pieces.push_back({comb[i + 3], comb[i], comb[i + 1], comb[i + 2]});
  }
  return pieces;
}

// Two chains over the same places from left to right, one above 0 and one below; the pieces lie
// between neighbouring places.
void MakeChains(size_t vertices, Random& random, Figure& figure) {
  const size_t n = vertices / 2;
  Outline lower, upper;
  for (size_t i = 0; i < n; ++i) {
    const double x = 2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1;
    lower.push_back({x, random.Between(-1, -0.05)});
    upper.push_back({x, random.Between(0.05, 1)});
  }
  for (size_t i = 0; i + 1 < n; ++i) {
    figure.pieces.push_back({lower[i], lower[i + 1], upper[i + 1], upper[i]});
  }
  figure.outline = lower;
  figure.outline.insert(figure.outline.end(), upper.rbegin(), upper.rend());
}

double Radius(const Outline& outline) {
  double radius = 0;
  for (const Vec2 p : outline) radius = std::max(radius, std::hypot(p.x, p.y));
  return radius;
}

double SignedArea(const Outline& outline) {
  double area = 0;
  for (size_t i = 0; i < outline.size(); ++i) {
    const Vec2 a = outline[i];
    const Vec2 b = outline[(i + 1) % outline.size()];
    area += (a.x * b.y - a.y * b.x) / 2;
  }
  return area;
}

// Of the maps' single rings, the one whose number of vertices is nearest, about its middle.
std::optional<Outline> Coast(size_t vertices, const std::string& maps) {
  Outline best;
  const auto distance = [&](size_t n) { return n > vertices ? n - vertices : vertices - n; };
  for (const char* file : {"natural_earth.jsonl", "world_geo.jsonl"}) {
    std::ifstream lines(absl::StrCat(maps, "/", file));
    for (std::string line; std::getline(lines, line);) {
      for (const nlohmann::json& polygon : nlohmann::json::parse(line).at("polygons")) {
        const nlohmann::json& rings = polygon.at("rings");
        if (rings.size() != 1) continue;
        Outline ring;
        for (const nlohmann::json& p : rings[0]) ring.push_back({p.at(0), p.at(1)});
        if (ring.size() > 1 && ring.front() == ring.back()) ring.pop_back();
        if (best.empty() || distance(ring.size()) < distance(best.size())) best = ring;
      }
    }
  }
  if (best.size() < vertices / 2) return std::nullopt;
  Box box;
  for (const Vec2 p : best) box.Extend(p);
  for (Vec2& p : best) {
    p = {p.x - (box.min.x + box.max.x) / 2, p.y - (box.min.y + box.max.y) / 2};
  }
  if (SignedArea(best) < 0) std::reverse(best.begin(), best.end());
  return best;
}

void Scale(Outline& outline, double factor) {
  for (Vec2& p : outline) p = {p.x * factor, p.y * factor};
}

}  // namespace

const char* Name(FigureKind kind) {
  switch (kind) {
    case FigureKind::kStar:
      return "star";
    case FigureKind::kComb:
      return "comb";
    case FigureKind::kRandom:
      return "random";
    case FigureKind::kCoast:
      return "coast";
  }
  return "";
}

std::optional<Figure> MakeFigure(FigureKind kind, size_t vertices, const std::string& maps) {
  Random random(40 + vertices);
  Figure figure;
  figure.name = absl::StrCat(Name(kind), "_", vertices);
  switch (kind) {
    case FigureKind::kStar:
      figure.outline = MakeOutline(OutlineKind::kStar, vertices, 41);
      figure.pieces = Kites(figure.outline);
      break;
    case FigureKind::kComb:
      figure.outline = MakeOutline(OutlineKind::kComb, vertices, 42);
      figure.pieces = Teeth(figure.outline);
      break;
    case FigureKind::kRandom:
      MakeChains(vertices, random, figure);
      break;
    case FigureKind::kCoast:
      const std::optional<Outline> coast = Coast(vertices, maps);
      if (!coast) return std::nullopt;
      figure.outline = *coast;
      figure.pieces = ConvexPieces(figure.outline);
      break;
  }
  const double factor = kFigureRadius / Radius(figure.outline);
  Scale(figure.outline, factor);
  for (Outline& piece : figure.pieces) Scale(piece, factor);
  return figure;
}

Figure MakeMover(size_t vertices) {
  Random random(50 + vertices);
  Figure figure;
  figure.name = absl::StrCat("mover_", vertices);
  for (size_t i = 0; i < vertices; ++i) {
    const double angle = kTurn * static_cast<double>(i) / static_cast<double>(vertices);
    const double radius = random.Between(0.75, 1);
    figure.outline.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  Scale(figure.outline, kMoverRadius / Radius(figure.outline));
  figure.pieces = vertices <= 100 ? ConvexPieces(figure.outline) : Fan(figure.outline);
  return figure;
}

const char* Name(Way way) {
  switch (way) {
    case Way::kNear:
      return "near";
    case Way::kGrazing:
      return "grazing";
    case Way::kLinear:
      return "linear";
  }
  return "";
}

Placements MakeWay(Way way, bool turning) {
  constexpr double kStepLength = kStudySpeed * kStudyStep;
  const double radius = way == Way::kNear ? 1.02 * (kFigureRadius + kMoverRadius)
                                          : 0.95 * kFigureRadius + 0.9 * kMoverRadius;
  const double start = 1.1 * (kFigureRadius + kMoverRadius);
  const double length = way == Way::kLinear ? start : kTurn * radius;
  Placements placements;
  for (double gone = 0; gone < length; gone += kStepLength) {
    const double angle = turning ? static_cast<double>(placements.size()) * kStudyStep : 0;
    Vec2 at{start - gone, 7};
    if (way != Way::kLinear) {
      at = {radius * std::cos(gone / radius), radius * std::sin(gone / radius)};
    }
    placements.mover.push_back(0);
    placements.x.push_back(at.x);
    placements.y.push_back(at.y);
    placements.c.push_back(std::cos(angle));
    placements.s.push_back(std::sin(angle));
  }
  return placements;
}

}  // namespace carom::bench
