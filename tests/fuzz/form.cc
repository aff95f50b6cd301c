// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <numeric>

#include "tests/fuzz/laws.h"
#include "tests/support/answer_words.h"

namespace carom::testing {
namespace {

uint64_t Sum(const std::vector<uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

// Checks the batches of one case.
class Form {
 public:
  explicit Form(const GroupCase& made) : made_(made) {}

  void Is(bool holds, const char* law, std::initializer_list<double> numbers = {}) const {
    Require(holds, made_, law, numbers);
  }

  // One count an item, errors ascending, and nothing counted for an item with an error.
  template <class Batch>
  void Items(const Batch& batch, const std::vector<uint32_t>& counts, size_t items) const {
    Is(counts.size() == items, "there is one count an item");
    for (size_t i = 0; i < batch.errors.size(); ++i) {
      const uint32_t index = batch.errors[i].index;
      Is(index < items && counts[index] == 0, "an item with an error counts nothing");
      Is(i == 0 || batch.errors[i - 1].index < index, "errors ascend by index");
      Is(static_cast<int>(batch.errors[i].column) < kItemColumnCount, "errors name a column");
    }
    if constexpr (requires { batch.truncated; }) {
      for (size_t i = 0; i < batch.truncated.size(); ++i) {
        Is(batch.truncated[i] < items, "truncated items exist");
        Is(i == 0 || batch.truncated[i - 1] < batch.truncated[i], "truncated items ascend");
      }
    }
  }

  void Id(uint64_t id, uint64_t mask) const {
    const Polygon* polygon = made_.scene->Find(id);
    Is(polygon != nullptr && (polygon->category() & mask) != 0, "ids are of polygons considered");
  }
  void Edge(uint64_t id, EdgeRef edge) const {
    const Polygon& polygon = *made_.scene->Find(id);
    Is(edge.ring < polygon.ring_count(), "rings exist");
    const size_t vertices = polygon.ring(edge.ring).size();
    Is(edge.edge < vertices, "edges exist");
  }

  // What was asked for.
  struct Asked {
    CastMode mode;
    uint32_t max_hits;
    uint64_t mask;
  };

  // Rows of one kind, in the order of order(row), each of a polygon considered.
  template <class Hit, class Order>
  void Hits(const std::vector<uint32_t>& counts, const std::vector<Hit>& hits, const Asked& asked,
            Order order) const {
    const auto& [mode, max_hits, mask] = asked;
    if (mode == CastMode::kAny) {
      for (const uint32_t count : counts) Is(count <= 1, "ANY counts 0 or 1");
      Is(hits.empty(), "ANY has no hits");
      return;
    }
    Is(Sum(counts) == hits.size(), "counts sum to hits");
    size_t row = 0;
    for (const uint32_t count : counts) {
      Is(count <= (mode == CastMode::kClosest ? 1 : max_hits), "there are at most max_hits hits");
      for (uint32_t k = 0; k < count; ++k, ++row) {
        Id(hits[row].polygon_id, mask);
        Is(k == 0 || order(hits[row - 1]) <= order(hits[row]), "hits are in the total order",
           {static_cast<double>(order(hits[row]))});
      }
    }
  }

  void Casts(const CastAnswers& batch, size_t items, const CastOptions& options) const {
    Items(batch, batch.counts, items);
    Hits(batch.counts, batch.hits, {options.mode, options.max_hits, options.mask},
         [](const CastHit& hit) { return hit.fraction; });
    Is(batch.reflections.size() == (options.reflect ? batch.hits.size() : 0),
       "reflections stand beside hits if asked");
    const bool has_passed =
        options.mode == CastMode::kClosest && (options.soft_mask != 0 || options.soft_length);
    Is(batch.passed.size() == (has_passed ? items : 0), "passed has one entry an item if asked");
    Is(batch.soft_lengths.size() == (options.soft_length ? items : 0),
       "soft lengths have one entry an item if asked");
    for (const uint32_t passed : batch.passed) {
      Is(passed <= options.soft_count, "at most soft_count passages are passed");
    }
    for (const double length : batch.soft_lengths) Is(length >= 0, "lengths are at least 0");
    for (const CastHit& hit : batch.hits) {
      Is(hit.fraction <= hit.exit_fraction, "a passage ends after the hit",
         {hit.fraction, hit.exit_fraction});
      Is(!hit.ends_inside || hit.exit_normal == Vec2{}, "no exit normal where it ends inside");
      if (options.target == CastTarget::kBounds) continue;
      if (hit.feature != Feature::kNone) Edge(hit.polygon_id, hit.edge);
      if (hit.has_exit_edge) Edge(hit.polygon_id, hit.exit_edge);
    }
  }

  void Overlaps(const OverlapAnswers& batch, size_t items, const OverlapOptions& options,
                bool has_touching) const {
    Items(batch, batch.counts, items);
    const size_t rows = batch.polygon_ids.size();
    const bool edges = options.detail == OverlapDetail::kEdges;
    Is(Sum(batch.counts) == rows, "counts sum to polygons");
    Is(batch.touching.size() == (has_touching ? rows : 0), "touching stands beside the polygons");
    Is(batch.edge_counts.size() == (edges ? rows : 0), "edge counts stand beside the polygons");
    Is(Sum(batch.edge_counts) == batch.edges.size(), "edge counts sum to edges");
    Ascending(batch.counts, batch.polygon_ids, options.mask);
    size_t edge = 0;
    for (size_t row = 0; row < batch.edge_counts.size(); ++row) {
      for (uint32_t k = 0; k < batch.edge_counts[row]; ++k, ++edge) {
        Edge(batch.polygon_ids[row], batch.edges[edge]);
        Is(k == 0 || batch.edges[edge - 1] < batch.edges[edge], "edges ascend");
      }
    }
  }

  // Rows ordered by id.
  void Ascending(const std::vector<uint32_t>& counts, const std::vector<uint64_t>& ids,
                 uint64_t mask) const {
    Is(Sum(counts) == ids.size(), "counts sum to polygons");
    size_t row = 0;
    for (const uint32_t count : counts) {
      for (uint32_t k = 0; k < count; ++k, ++row) {
        Id(ids[row], mask);
        Is(k == 0 || ids[row - 1] < ids[row], "polygons ascend by id");
      }
    }
  }

 private:
  const GroupCase& made_;
};

void CheckFractions(const Form& form, const GroupCase& made, const GroupAnswers& answers) {
  for (const CastHit& hit : answers.segments.hits) {
    form.Is(hit.fraction >= 0 && hit.exit_fraction <= 1, "fractions of segments are in [0, 1]");
  }
  for (const SweepHit& hit : answers.sweeps.hits) {
    form.Is(hit.fraction >= 0 && hit.fraction <= 1, "fractions of sweeps are in [0, 1]");
  }
  for (const RotatingSweepHit& hit : answers.rotating_sweeps.hits) {
    form.Is(hit.low >= 0 && hit.low <= hit.high && hit.high <= 1, "0 <= low <= high <= 1",
            {hit.low, hit.high});
  }
  const RayColumns& rays = made.group.rays;
  size_t row = 0;
  for (size_t i = 0; i < rays.size() && !answers.rays.hits.empty(); ++i) {
    for (uint32_t k = 0; k < answers.rays.counts[i]; ++k, ++row) {
      const CastHit& hit = answers.rays.hits[row];
      const double from = rays.t_min.empty() ? 0 : rays.t_min[i];
      const double to = rays.t_max.empty() ? HUGE_VAL : rays.t_max[i];
      form.Is(hit.fraction >= from && hit.exit_fraction <= to,
              "fractions of rays are in [t_min, t_max]", {from, hit.fraction, to});
    }
  }
  row = 0;
  for (size_t i = 0; i < answers.arcs.counts.size() && !answers.arcs.hits.empty(); ++i) {
    for (uint32_t k = 0; k < answers.arcs.counts[i]; ++k, ++row) {
      const double time = answers.arcs.hits[row].time;
      form.Is(time >= 0 && time <= made.group.arcs.duration[i], "times are in [0, duration]",
              {time, made.group.arcs.duration[i]});
    }
  }
}

void CheckMovers(const Form& form, const Group& group, const GroupAnswers& answers) {
  const DistanceAnswers& distances = answers.distances;
  form.Items(distances, distances.counts, group.distances.size());
  if (group.distance_options.mode != DistanceMode::kNearestK) {
    form.Ascending(distances.counts, distances.polygon_ids, group.distance_options.mask);
  } else {
    for (const uint32_t count : distances.counts) {
      form.Is(count <= group.distance_options.k, "NEAREST_K answers at most k polygons");
    }
  }
  const bool measured = group.distance_options.mode != DistanceMode::kWithin;
  form.Is(distances.rows.size() == (measured ? distances.polygon_ids.size() : 0),
          "distances stand beside the polygons");
  for (size_t row = 0; row < distances.rows.size(); ++row) {
    form.Is(distances.rows[row].distance >= 0, "distances are at least 0");
    if (distances.rows[row].has_edge) {
      form.Edge(distances.polygon_ids[row], distances.rows[row].edge);
    }
  }
  const ContactAnswers& contacts = answers.contacts;
  form.Items(contacts, contacts.counts, group.contacts.size());
  form.Ascending(contacts.counts, contacts.polygon_ids, group.contact_options.mask);
  const size_t rows = contacts.polygon_ids.size();
  form.Is(contacts.contacts.size() == rows, "contacts stand beside the polygons");
  form.Is(contacts.splits.size() == (group.contacts.mass.empty() ? 0 : rows),
          "splits stand beside the polygons where there are masses");
  for (const Contact& contact : contacts.contacts) {
    const double length = contact.normal.x * contact.normal.x + contact.normal.y * contact.normal.y;
    form.Is(std::abs(length - 1) < 1e-14, "normals are of length 1", {length});
    form.Is(contact.depth >= 0, "depths are at least 0", {contact.depth});
    form.Is(contact.point_count == 1 || contact.point_count == 2, "a contact has 1 or 2 points");
  }
  const DepenetrateAnswers& moved = answers.depenetrations;
  const size_t count = group.depenetrations.size();
  form.Is(moved.positions.size() == count && moved.finished.size() == count,
          "there is one position an item");
  form.Items(moved, moved.steps, count);
  for (const uint32_t steps : moved.steps) {
    form.Is(steps <= group.depenetration_options.max_steps, "there are at most max_steps pushes");
  }
}

void CheckVisibility(const Form& form, const Group& group, const GroupAnswers& answers) {
  const std::vector<uint32_t> visible(answers.sights.visible.begin(), answers.sights.visible.end());
  form.Items(answers.sights, visible, group.sights.size());
  const FanAnswers& fans = answers.fans;
  form.Items(fans, fans.counts, group.fans.size());
  const uint64_t beams = Sum(fans.counts);
  form.Is(fans.hits.size() == beams && fans.distances.size() == beams &&
              fans.polygon_ids.size() == beams,
          "rows of fans are beams");
  size_t row = 0;
  for (size_t i = 0; i < fans.counts.size(); ++i) {
    form.Is(fans.counts[i] == 0 || fans.counts[i] == group.fans.beams[i], "every beam has a row");
    for (uint32_t k = 0; k < fans.counts[i]; ++k, ++row) {
      form.Is(fans.distances[row] >= 0 && fans.distances[row] <= group.fans.range[i],
              "beams end within the range", {fans.distances[row], group.fans.range[i]});
      if (fans.hits[row] != 0) {
        form.Id(fans.polygon_ids[row], group.fan_options.mask);
      } else {
        form.Is(fans.polygon_ids[row] == 0, "a beam that hits nothing names no polygon");
      }
    }
  }
}

// Items that are not clear have a count, in their order.
void CheckMoves(const Form& form, const GroupCase& made, const MoveAnswers& answers) {
  const MoveColumns& moves = made.group.moves;
  form.Is(answers.clear.size() == (moves.size() + 63) / 64, "there is one bit an item");
  std::vector<uint32_t> counts;  // of all items
  size_t next = 0;
  size_t error = 0;
  for (size_t i = 0; i < moves.size(); ++i) {
    const bool is_clear = (answers.clear[i / 64] >> (i % 64) & 1) != 0;
    form.Is(is_clear || next < answers.counts.size(), "what is not clear has a count");
    counts.push_back(is_clear ? 0 : answers.counts[next]);
    const bool has_error = error < answers.errors.size() && answers.errors[error].index == i;
    if (has_error) ++error;
    const bool passes = !is_clear && moves.sweeps() && answers.first_touches[next].touches;
    form.Is(is_clear == (counts.back() == 0 && !has_error && !passes),
            "what touches nothing is clear");
    if (!is_clear) ++next;
  }
  form.Is(next == answers.counts.size(), "what is clear has no count");
  form.Items(answers, counts, moves.size());
  form.Ascending(counts, answers.polygon_ids, kEveryCategory);
  form.Is(answers.first_touches.size() == (moves.sweeps() ? next : 0),
          "first touches stand beside the counts of sweeps");
  for (const FirstTouch& touch : answers.first_touches) {
    if (touch.touches) form.Id(touch.polygon_id, kEveryCategory);
    form.Is(touch.touches || !touch.has_edge, "no edge is touched where nothing is");
    form.Is(touch.low >= 0 && touch.low <= touch.high && touch.high <= 1, "0 <= low <= high <= 1",
            {touch.low, touch.high});
  }
  form.Is(Sum(answers.edge_counts) == answers.edges.size(), "edge counts sum to edges");
  for (const double radius : answers.quiet_radii) form.Is(radius >= 0, "quiet radii are lengths");
}

// Slides and bounces.
void CheckChains(const Form& form, const GroupCase& made, const GroupAnswers& answers) {
  const SlideAnswers& slides = answers.slides;
  std::vector<uint32_t> legs;
  for (const SlideRow& row : slides.rows) legs.push_back(row.legs);
  form.Items(slides, legs, made.group.slides.size());
  form.Is(Sum(legs) == slides.legs.size(), "leg counts sum to legs");
  for (const SlideLeg& leg : slides.legs) {
    if (!leg.has_hit) continue;
    form.Id(leg.hit.polygon_id, made.group.slide_options.mask);
    form.Is(leg.hit.fraction >= 0 && leg.hit.fraction <= 1, "fractions are in [0, 1]");
  }
  const BounceAnswers& bounces = answers.bounces;
  form.Items(bounces, bounces.counts, made.group.bounces.size());
  form.Is(Sum(bounces.counts) == bounces.legs.size(), "leg counts sum to legs");
  for (const uint32_t count : bounces.counts) {
    form.Is(count <= made.group.bounce_options.max_bounces + 1, "chains end");
  }
  const RayBounceAnswers& rays = answers.ray_bounces;
  const RayBounceColumns& asked = made.group.ray_bounces;
  form.Items(rays, rays.counts, asked.size());
  form.Is(Sum(rays.counts) == rays.legs.size(), "leg counts sum to legs");
  for (size_t i = 0; i < rays.counts.size(); ++i) {
    const uint32_t bounces = asked.max_bounces.empty() ? kDefaultBounces : asked.max_bounces[i];
    form.Is(rays.counts[i] <= bounces + 1, "chains end");
  }
  for (const RayBounceLeg& leg : rays.legs) {
    if (!leg.has_hit) continue;
    form.Id(leg.hit.polygon_id, made.group.ray_bounce_mask);
    form.Is(leg.hit.fraction >= 0 && leg.hit.fraction <= leg.t_max, "hits are in the range");
  }
}

void CheckAreas(const Form& form, const GroupCase& made, const AreaAnswers& answers) {
  const Group& group = made.group;
  form.Items(answers, answers.counts, group.areas.size());
  form.Is(Sum(answers.counts) == answers.pieces.size(), "piece counts sum to pieces");
  form.Is(answers.areas.size() == group.areas.size(), "there is one area an item");
  form.Is(answers.starts_inside.size() == group.areas.size(), "there is one flag an item");
  for (size_t i = 0; i < answers.counts.size(); ++i) {
    const double area = answers.areas[i];
    const double range = group.areas.range[i];
    form.Is(answers.counts[i] <= group.area_options.max_rows, "no more pieces than max_rows");
    form.Is(area >= 0 && (answers.counts[i] != 0 || area == 0), "what has no piece has no area");
    form.Is(area == 0 || area <= 3.1415927 * range * range, "an area is in its disc",
            {area, range});
  }
  for (const AreaPiece& piece : answers.pieces) {
    if (piece.kind == AreaPieceKind::kEdge) {
      form.Id(piece.polygon_id, group.area_options.mask);
    } else {
      form.Is(piece.polygon_id == 0 && !piece.is_body, "only edges are of polygons");
    }
  }
}

void CheckSees(const Form& form, const GroupCase& made, const SeeAnswers& answers) {
  const Group& group = made.group;
  const size_t bodies =
      group.body_history != nullptr ? group.body_history->size() : group.bodies.size();
  form.Items(answers, answers.counts, group.sees.size());
  form.Is(answers.starts_inside.size() == group.sees.size(), "there is one flag an item");
  form.Is(answers.seen.size() == group.sees.size() * ((bodies + 63) / 64),
          "there is one bit a body");
  for (size_t i = 0; i < answers.counts.size(); ++i) {
    uint32_t seen = 0;
    for (size_t body = 0; body < answers.words() * 64; ++body) {
      if (!answers.Sees(i, body)) continue;
      ++seen;
      form.Is(body < bodies, "only bodies are seen");
    }
    form.Is(seen == answers.counts[i], "counts are those of the bits");
  }
}

}  // namespace

void CheckForm(const GroupCase& made, GroupAnswers& answers) {
  const Form form(made);
  const Group& group = made.group;
  for (const Words& words : WordsOf(answers)) form.Is(words.clean, words.batch);
  form.Casts(answers.segments, group.segments.size(), group.cast_options);
  form.Casts(answers.rays, group.rays.size(), group.ray_options);
  form.Items(answers.points, answers.points.counts, group.points.size());
  form.Ascending(answers.points.counts, answers.points.polygon_ids, group.point_mask);
  form.Is(answers.points.locations.size() == answers.points.polygon_ids.size(),
          "locations stand beside the polygons");
  form.Overlaps(answers.circles, group.circles.size(), group.circle_options, true);
  form.Overlaps(answers.capsules, group.capsules.size(), group.capsule_options, true);
  form.Overlaps(answers.boxes, group.boxes.size(), group.box_options, false);
  form.Overlaps(answers.polygons, group.polygons.size(), group.polygon_options, false);
  CheckMovers(form, group, answers);
  form.Items(answers.sweeps, answers.sweeps.counts, group.sweeps.size());
  form.Hits(answers.sweeps.counts, answers.sweeps.hits,
            {group.sweep_options.mode, group.sweep_options.max_hits, group.sweep_options.mask},
            [](const SweepHit& hit) { return hit.fraction; });
  form.Items(answers.rotating_sweeps, answers.rotating_sweeps.counts, group.rotating_sweeps.size());
  form.Hits(answers.rotating_sweeps.counts, answers.rotating_sweeps.hits,
            {CastMode::kClosest, 1, group.rotating_sweep_options.mask},
            [](const RotatingSweepHit&) { return 0; });
  form.Items(answers.arcs, answers.arcs.counts, group.arcs.size());
  form.Hits(answers.arcs.counts, answers.arcs.hits,
            {group.arc_options.mode, group.arc_options.max_hits, group.arc_options.mask},
            [](const ArcHit& hit) { return hit.time; });
  CheckFractions(form, made, answers);
  CheckVisibility(form, group, answers);
  CheckMoves(form, made, answers.moves);
  CheckChains(form, made, answers);
  CheckAreas(form, made, answers.areas);
  CheckSees(form, made, answers.sees);
}

}  // namespace carom::testing
