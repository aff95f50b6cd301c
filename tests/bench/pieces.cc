// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/pieces.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "carom/predicates.h"

namespace carom::bench {
namespace {

constexpr size_t kMaxPieceVertices = 8;

using Indices = std::vector<uint32_t>;  // into the outline

bool TurnsLeftEverywhere(const Outline& outline, const Indices& piece) {
  const size_t n = piece.size();
  for (size_t i = 0; i < n; ++i) {
    if (Orientation(outline[piece[i]], outline[piece[(i + 1) % n]], outline[piece[(i + 2) % n]]) <=
        0) {
      return false;
    }
  }
  return true;
}

// Whether vertex i of what is left can be cut off: a left turn whose triangle holds no other.
bool IsEar(const Outline& outline, const Indices& left, size_t i) {
  const size_t n = left.size();
  const Vec2 a = outline[left[(i + n - 1) % n]];
  const Vec2 b = outline[left[i]];
  const Vec2 c = outline[left[(i + 1) % n]];
  if (Orientation(a, b, c) <= 0) return false;
  for (size_t k = 2; k + 1 < n; ++k) {
    const Vec2 p = outline[left[(i + k) % n]];
    if (Orientation(a, b, p) >= 0 && Orientation(b, c, p) >= 0 && Orientation(c, a, p) >= 0) {
      return false;
    }
  }
  return true;
}

std::vector<Indices> Triangles(const Outline& outline) {
  Indices left(outline.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<uint32_t>(i);
  std::vector<Indices> triangles;
  while (left.size() > 3) {
    size_t ear = 0;
    while (ear < left.size() && !IsEar(outline, left, ear)) ++ear;
    if (ear == left.size()) break;  // no simple outline
    const size_t n = left.size();
    triangles.push_back({left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(ear));
  }
  triangles.push_back(left);
  return triangles;
}

// The two pieces as one, where they share an edge, and the whole is convex and small enough.
std::optional<Indices> Joined(const Outline& outline, const Indices& a, const Indices& b) {
  if (a.size() + b.size() - 2 > kMaxPieceVertices) return std::nullopt;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] != b[(j + 1) % b.size()] || a[(i + 1) % a.size()] != b[j]) continue;
      // All of a from the end of the shared edge on, then what b has beyond it.
      Indices joined;
      for (size_t k = 1; k <= a.size(); ++k) joined.push_back(a[(i + k) % a.size()]);
      for (size_t k = 2; k < b.size(); ++k) joined.push_back(b[(j + k) % b.size()]);
      if (!TurnsLeftEverywhere(outline, joined)) return std::nullopt;
      return joined;
    }
  }
  return std::nullopt;
}

// Joins pairs, each piece with those after it, until none can be joined.
void JoinAll(const Outline& outline, std::vector<Indices>& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t j = i + 1; j < pieces.size();) {
      std::optional<Indices> joined = Joined(outline, pieces[i], pieces[j]);
      if (!joined) {
        ++j;
        continue;
      }
      pieces[i] = *std::move(joined);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
      j = i + 1;
    }
  }
}

}  // namespace

std::vector<Outline> ConvexPieces(const Outline& outline) {
  Indices all(outline.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
  if (all.size() <= kMaxPieceVertices && TurnsLeftEverywhere(outline, all)) return {outline};
  std::vector<Indices> pieces = Triangles(outline);
  JoinAll(outline, pieces);
  std::vector<Outline> result;
  for (const Indices& piece : pieces) {
    Outline& made = result.emplace_back();
    for (const uint32_t i : piece) made.push_back(outline[i]);
  }
  return result;
}

}  // namespace carom::bench
