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

Vec2 AtAngle(double turns, double radius) {
  return {radius * std::cos(kTurn * turns), radius * std::sin(kTurn * turns)};
}

// A comb bent around a disc: teeth of random lengths, four vertices each. The vertices left over
// lie on the disc behind the last tooth.
void MakeComb(size_t vertices, Random& random, Figure& figure) {
  constexpr double kBase = 0.5;
  const size_t teeth = (vertices - 1) / 4;
  const double pitch = 1 / static_cast<double>(teeth + 1);
  Outline base;
  for (size_t i = 0; i < teeth; ++i) {
    const double from = pitch * static_cast<double>(i);
    const double to = from + pitch / 2;
    const double tip = random.Between(0.6, 1);
    const Outline tooth{AtAngle(from, kBase), AtAngle(from, tip), AtAngle(to, tip),
                        AtAngle(to, kBase)};
    figure.outline.insert(figure.outline.end(), tooth.begin(), tooth.end());
    figure.pieces.push_back(tooth);
    base.push_back(tooth[0]);
    base.push_back(tooth[3]);
  }
  const size_t rest = vertices - figure.outline.size();
  for (size_t i = 0; i < rest; ++i) {
    const double at = 1 - pitch * static_cast<double>(rest - i) / static_cast<double>(rest + 1);
    figure.outline.push_back(AtAngle(at, kBase));
    base.push_back(figure.outline.back());
  }
  for (Outline& piece : Fan(base)) figure.pieces.push_back(std::move(piece));
}

// Random radii.
void MakeRandom(size_t vertices, Random& random, Figure& figure) {
  for (size_t i = 0; i < vertices; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(vertices);
    figure.outline.push_back(AtAngle(at, random.Between(0.5, 1)));
  }
  figure.pieces = Fan(figure.outline);
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
      const nlohmann::json scene = nlohmann::json::parse(line);
      for (const nlohmann::json& polygon : scene.at("polygons")) {
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
      MakeComb(vertices, random, figure);
      break;
    case FigureKind::kRandom:
      MakeRandom(vertices, random, figure);
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

const char* Name(Path way) {
  switch (way) {
    case Path::kNear:
      return "near";
    case Path::kGrazing:
      return "grazing";
    case Path::kLinear:
      return "linear";
  }
  return "";
}

Placements MakePath(Path way, bool turning) {
  constexpr double kStepLength = kStudySpeed * kStudyStep;
  const double radius = way == Path::kNear ? 1.02 * (kFigureRadius + kMoverRadius)
                                           : 0.95 * kFigureRadius + 0.9 * kMoverRadius;
  const double start = 1.1 * (kFigureRadius + kMoverRadius);
  const double length = way == Path::kLinear ? start : kTurn * radius;
  Placements placements;
  for (double gone = 0; gone < length; gone += kStepLength) {
    const double angle = turning ? static_cast<double>(placements.size()) * kStudyStep : 0;
    Vec2 at{start - gone, 7};
    if (way != Path::kLinear) {
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
