// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/answer_words.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace carom::testing {
namespace {

class Writer {
 public:
  explicit Writer(Words& words) : words_(words) {}

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T value) { words_.values.push_back(static_cast<uint64_t>(value)); }
  void Add(double value) {
    words_.clean &= !std::isnan(value) && !(value == 0 && std::signbit(value));
    words_.values.push_back(std::bit_cast<uint64_t>(value));
  }
  void Add(Vec2 p) { All(p.x, p.y); }
  void Add(EdgeRef e) { All(e.ring, e.edge); }
  void Add(const ItemError& e) { All(e.index, e.column, e.fault); }
  // What a header calls meaningless is left out.
  void Add(const CastHit& h) {
    All(h.polygon_id, h.feature, h.starts_inside, h.ends_inside, h.has_exit_edge, h.fraction,
        h.exit_fraction, h.point, h.normal, h.exit_normal);
    if (h.feature != Feature::kNone) Add(h.edge);
    if (h.has_exit_edge) Add(h.exit_edge);
    OfBody(h);
  }
  void Add(const SweepHit& h) {
    All(h.polygon_id, h.fraction, h.starts_inside, h.has_edge, h.point, h.normal);
    if (h.has_edge) Add(h.edge);
    OfBody(h);
  }
  void Add(const ArcHit& h) {
    All(h.polygon_id, h.time, h.starts_inside, h.has_edge, h.point, h.normal);
    if (h.has_edge) Add(h.edge);
    OfBody(h);
  }
  void Add(const RotatingSweepHit& h) { All(h.polygon_id, h.low, h.high); }
  void Add(const DistanceRow& r) {
    All(r.distance, r.point, r.mover_point, r.has_edge);
    if (r.has_edge) Add(r.edge);
  }
  void Add(const Contact& c) {
    All(c.kind, c.normal, c.depth, c.point_count);
    for (uint32_t i = 0; i < c.point_count && i < c.points.size(); ++i) {
      const ContactPoint& p = c.points[i];
      All(p.point, p.depth, p.polygon_feature, p.mover_feature);
    }
  }
  void Add(const SlideRow& r) { All(r.position, r.left, r.legs); }
  void Add(const SlideLeg& l) {
    All(l.from, l.d, l.has_hit);
    if (l.has_hit) Add(l.hit);
  }
  void Add(const BounceLeg& l) {
    All(l.a, l.b, l.has_hit);
    if (l.has_hit) Add(l.hit);
  }
  void Add(const RayBounceLeg& l) {
    All(l.origin, l.direction, l.t_max, l.has_hit);
    if (l.has_hit) Add(l.hit);
  }
  void Add(const AreaPiece& p) {
    All(p.kind, p.start, p.polygon_id);
    if (p.kind == AreaPieceKind::kEdge) Add(p.edge);
    OfBody(p);
  }
  void Add(const FirstTouch& t) {
    All(t.touches, t.polygon_id, t.low, t.high, t.has_edge);
    All(t.edge, t.normal);
  }
  void Add(const SplitTranslation& s) { All(s.fixed, s.mover); }

  template <class T>
  void Add(const std::vector<T>& column) {
    Add(column.size());
    for (const T& value : column) Add(value);
  }

 private:
  template <class... T>
  void All(const T&... values) {
    (Add(values), ...);
  }

  // A word more for a body, none for a polygon: answers of the scene alone are the words that they
  // are without bodies.
  template <class Hit>
  void OfBody(const Hit& hit) {
    constexpr uint64_t kBody = 0xb0d1;
    if (hit.is_body) Add(kBody);
  }

  Words& words_;
};

template <class T>
void AppendColumn(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

template <class Batch>
void AppendBatch(Batch& to, Batch& part, uint32_t offset) {
  std::apply(
      [&](auto&... into) {
        std::apply([&](auto&... from) { (AppendColumn(into, from), ...); }, Columns(part));
      },
      Columns(to));
  for (ItemError error : part.errors) {
    error.index += offset;
    to.errors.push_back(error);
  }
  if constexpr (requires { to.truncated; }) {
    for (const uint32_t index : part.truncated) to.truncated.push_back(index + offset);
  }
  if constexpr (requires { to.stuck; }) {
    for (const uint32_t index : part.stuck) to.stuck.push_back(index + offset);
  }
  if constexpr (requires { to.is_body; }) AppendColumn(to.is_body, part.is_body);
  if constexpr (requires { to.safe; }) AppendColumn(to.safe, part.safe);
  if constexpr (requires { to.clear; }) {
    const size_t items = ItemCount(part);
    to.clear.resize((offset + items + 63) / 64);
    for (size_t i = 0; i < items; ++i) {
      const uint64_t bit = part.clear[i / 64] >> (i % 64) & 1;
      to.clear[(offset + i) / 64] |= bit << ((offset + i) % 64);
    }
  }
}

}  // namespace

std::vector<Words> WordsOf(GroupAnswers& answers) {
  std::vector<Words> result;
  ForEachKind([&](const auto& kind) {
    auto& batch = answers.*kind.answers;
    Words& words = result.emplace_back();
    words.batch = kind.name;
    Writer writer(words);
    std::apply([&](auto&... column) { (writer.Add(column), ...); }, Columns(batch));
    writer.Add(batch.errors);
    if constexpr (requires { batch.truncated; }) writer.Add(batch.truncated);
    if constexpr (requires { batch.stuck; }) writer.Add(batch.stuck);
    if constexpr (requires { batch.clear; }) writer.Add(batch.clear);
    if constexpr (requires { batch.safe; }) {
      if (!batch.safe.empty()) writer.Add(batch.safe);
    }
    if constexpr (requires { batch.is_body; }) {
      if (!batch.is_body.empty()) writer.Add(batch.is_body);
    }
  });
  return result;
}

void Append(GroupAnswers& to, GroupAnswers& part, const std::vector<uint32_t>& offsets) {
  size_t next = 0;
  ForEachKind([&](const auto& kind) {
    AppendBatch(to.*kind.answers, part.*kind.answers, offsets[next++]);
  });
}

}  // namespace carom::testing
