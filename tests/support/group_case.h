// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// A scene and one group that asks it every question, made from choices: what the fuzz targets and
// the digest of determinism evaluate. Start with `MakeGroupCase`.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "carom/group.h"
#include "tests/support/choices.h"

namespace carom::testing {

// Coordinates that coincide, nearly coincide, or lie at the ends of the accepted range.
struct Numbers {
  // Small integers; the same, one ulp off now and then; all bits random; a few numbers from all
  // over the range; integers just below 2^53.
  enum class Style : uint8_t { kGrid, kOff, kUniform, kMixed, kFar };

  Style style = Style::kGrid;
  double scale = 1;

  static Numbers Make(Choices& choices);
  double Coordinate(Choices& choices) const;
  // At least 0.
  double Length(Choices& choices) const { return std::abs(Coordinate(choices)); }
  Vec2 Point(Choices& choices) const;
};

// Owns what the columns of `group` point to; hence neither copied nor moved.
class GroupCase {
 public:
  GroupCase() = default;
  GroupCase(const GroupCase&) = delete;
  GroupCase& operator=(const GroupCase&) = delete;

  // A column of `count` numbers that lives as long as the case.
  template <class F>
  std::span<const double> Column(size_t count, F number) {
    std::vector<double>& column = doubles_.emplace_back();
    for (size_t i = 0; i < count; ++i) column.push_back(number(i));
    return column;
  }
  template <class F>
  std::span<const uint32_t> Indices(size_t count, F index) {
    std::vector<uint32_t>& column = indices_.emplace_back();
    for (size_t i = 0; i < count; ++i) column.push_back(index(i));
    return column;
  }
  template <class F>
  std::span<const uint64_t> Words(size_t count, F word) {
    std::vector<uint64_t>& column = words_.emplace_back();
    for (size_t i = 0; i < count; ++i) column.push_back(word(i));
    return column;
  }
  // A grid point, or a vertex of the scene as often.
  Vec2 Point(Choices& choices) const;

  // The scene and the shapes as code.
  std::string ToCode() const;

  Numbers numbers;
  std::vector<PolygonSpec> specs;
  Scene::Ptr scene;
  std::vector<Polygon> polygons;  // what `group.polygons` moves
  std::vector<Shape> shapes;      // what the other batches move
  std::vector<Tracker> trackers;  // of `group.moves`; they learn from every evaluation
  Group group;

 private:
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<uint32_t>> indices_;
  std::deque<std::vector<uint64_t>> words_;
};

enum class BadNumbers : uint8_t { kNone, kSome };

// The scene and the shapes of a case, and no question.
std::unique_ptr<GroupCase> MakeScene(Choices& choices);

// A case with every batch of `Group`, of up to `max_items` items each, and options of all kinds.
// With BadNumbers::kSome, one item in 60 or so has a number that is not accepted.
std::unique_ptr<GroupCase> MakeGroupCase(Choices& choices, uint32_t max_items, BadNumbers bad);

// Up to 8 bodies for a case, with categories and owners, of its shapes, all of which can be placed;
// for each kind that may consider bodies, what its items do; and contacts of the bodies. The other
// kinds ask nothing any more. A case is made of the same choices as without bodies before.
void AddBodies(Choices& choices, GroupCase& made);

// Poses for `count` items in `movers`: with a shape column or without, turned or not.
void FillPoses(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
               PolygonColumns& movers);
void FillPoses(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
               ShapeColumns& movers);

}  // namespace carom::testing
