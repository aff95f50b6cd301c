// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What laws of bodies share: a group asked of bodies in place of polygons of the scene, and its
// answers read as if they were polygons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::testing {

// Turns the rows of bodies into those of polygons whose ids are `offset` more than their indices.
template <class Answers>
void ReadAsPolygons(uint64_t offset, Answers& answers) {
  if constexpr (requires { answers.is_body; }) {
    for (size_t i = 0; i < answers.is_body.size(); ++i) {
      if (answers.is_body[i] != 0) answers.polygon_ids[i] += offset;
    }
    answers.is_body.clear();
  }
  if constexpr (requires { answers.hits[0].is_body; }) {
    for (auto& hit : answers.hits) {
      if (!hit.is_body) continue;
      hit.polygon_id += offset;
      hit.is_body = false;
    }
  }
  if constexpr (requires { answers.pieces[0].is_body; }) {
    for (auto& piece : answers.pieces) {
      if (!piece.is_body) continue;
      piece.polygon_id += offset;
      piece.is_body = false;
    }
  }
  if constexpr (requires { answers.legs[0].hit.is_body; }) {
    for (auto& leg : answers.legs) {
      if (!leg.hit.is_body) continue;
      leg.hit.polygon_id += offset;
      leg.hit.is_body = false;
    }
  }
}

// Leaves of a group the kinds that may consider bodies.
inline void DropKindsWithoutBodies(Group& group) {
  ForEachKind([&](const auto& kind) {
    if (!kAsksBodies<decltype(kind)>) group.*kind.columns = {};
  });
}

// Gives every kind that may consider bodies the same scope; observers, which look for bodies past
// the scene alone, its other columns.
inline void SetScope(const Scope& scope, Group& group) {
  ForEachKind([&](const auto& kind) {
    auto& columns = group.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> &&
                  HasScope<std::remove_reference_t<decltype(columns)>>) {
      ScopeOf(columns) = scope;
      if (kAlwaysAsksBodies<decltype(kind)>) ScopeOf(columns).against = Against::kScene;
    }
  });
}

inline Scene::Ptr SceneOf(const std::vector<PolygonSpec>& specs) {
  std::vector<Polygon> polygons;
  polygons.reserve(specs.size());
  for (const PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(spec).value());
  return Scene::Create(std::move(polygons)).value();
}

// Polygons, of which those from `in_scene` on are bodies. The ids of all are their indices.
struct BodySplit {
  BodySplit(std::vector<PolygonSpec> polygons, size_t in_scene) : specs(std::move(polygons)) {
    for (size_t i = 0; i < specs.size(); ++i) {
      specs[i].id = i;
      if (i < in_scene) continue;
      shapes.emplace_back(Polygon::Create(specs[i]).value());
      category.push_back(specs[i].category);
    }
    zeros.assign(shapes.size(), 0);
  }
  // Points into the object.
  BodyColumns columns() const { return {{shapes, {}, zeros, zeros}, category}; }

  std::vector<PolygonSpec> specs;
  std::vector<Shape> shapes;
  std::vector<uint64_t> category;
  std::vector<double> zeros;
};

}  // namespace carom::testing
