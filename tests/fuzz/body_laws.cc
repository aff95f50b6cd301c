// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/fuzz/laws.h"
#include "tests/support/answer_words.h"
#include "tests/support/body_case.h"

namespace carom::testing {
namespace {

std::vector<Words> EvaluateIn(const GroupCase& made, const Scene& scene, const Group& group,
                              uint64_t offset) {
  GroupAnswers answers;
  WorkMeter meter;
  Require(CheckGroup(group).ok(), made, "a group with bodies is well formed");
  Require(EvaluateGroup(scene, group, answers, meter).ok(), made,
          "a meter without a limit stops nothing");
  ForEachKind([&](const auto& kind) { ReadAsPolygons(offset, answers.*kind.answers); });
  return WordsOf(answers);
}

void RequireSame(const GroupCase& made, const std::vector<Words>& a, const std::vector<Words>& b,
                 const char* law) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    std::fprintf(stderr, "batch %s\n", a[i].batch);
    Break(made, law, {});
  }
}

// Some polygons of the scene as bodies: the order of scene and bodies is that of the ids.
void CheckPolygonsAsBodies(Choices& choices, const GroupCase& made) {
  const auto count = static_cast<uint32_t>(made.specs.size());
  const size_t in_scene = choices.Below(count + 1);
  const BodySplit split(made.specs, in_scene);
  Group group = made.group;
  DropKindsWithoutBodies(group);
  group.sees = {};  // which polygons are bodies is all that it is about
  const auto expected = EvaluateIn(made, *SceneOf(split.specs), group, 0);
  group.bodies = split.columns();
  SetScope({.against = Against::kBoth}, group);
  std::vector<PolygonSpec> rest = split.specs;
  rest.resize(in_scene);
  RequireSame(made, expected, EvaluateIn(made, *SceneOf(rest), group, in_scene),
              "polygons as bodies are answered as in the scene");
}

// The mask and the owner passed over of an item of a batch with the mask `mask`.
bool Considers(const Group& group, const Scope& scope, size_t item, uint64_t mask, uint64_t body) {
  const BodyColumns& bodies = group.bodies;
  if (scope.against == Against::kScene || body >= bodies.size()) return false;
  const uint64_t category = bodies.category.empty() ? 1 : bodies.category[body];
  const uint32_t owner = bodies.owner.empty() ? 0 : bodies.owner[body];
  const uint32_t ignored = scope.ignore_owner.empty() ? 0 : scope.ignore_owner[item];
  const uint64_t asked = scope.mask.empty() ? mask : scope.mask[item];
  return (category & asked) != 0 && (ignored == 0 || owner != ignored);
}

// Each row of a body names one that its item considers. Fans have a row a beam, hit or not.
template <class Answers>
void CheckRows(const GroupCase& made, const Scope& scope, uint64_t mask, const Answers& answers) {
  const auto require = [&](size_t item, uint64_t body) {
    Require(Considers(made.group, scope, item, mask, body), made,
            "rows of bodies name bodies that are considered", {static_cast<double>(body)});
  };
  size_t row = 0;
  for (size_t item = 0; item < answers.counts.size(); ++item) {
    for (uint32_t k = 0; k < answers.counts[item]; ++k, ++row) {
      if constexpr (requires { answers.is_body; }) {
        if (answers.is_body.empty()) continue;
        if (answers.is_body[row] != 0) require(item, answers.polygon_ids[row]);
      } else if constexpr (requires { answers.hits[0].is_body; }) {
        if (answers.hits.empty()) continue;  // ANY counts alone
        if (answers.hits[row].is_body) require(item, answers.hits[row].polygon_id);
      }
    }
  }
}

void CheckRowsOfAll(const GroupCase& made, const GroupAnswers& answers) {
  ForEachKind([&](const auto& kind) {
    const auto& columns = made.group.*kind.columns;
    using Columns = std::remove_cvref_t<decltype(columns)>;
    if constexpr (kAsksBodies<decltype(kind)> && HasScope<Columns> &&
                  requires { (answers.*kind.answers).counts; }) {
      const auto& options = made.group.*kind.options;
      uint64_t mask = kEveryCategory;
      if constexpr (requires { options.mask; }) {
        mask = options.mask;
      } else {
        mask = options;
      }
      CheckRows(made, ScopeOf(columns), mask, answers.*kind.answers);
    }
  });
  size_t row = 0;
  for (size_t item = 0; item < answers.slides.rows.size(); ++item) {
    for (uint32_t k = 0; k < answers.slides.rows[item].legs; ++k, ++row) {
      const SweepHit& hit = answers.slides.legs[row].hit;
      Require(!hit.is_body || Considers(made.group, made.group.slides.movers.scope, item,
                                        made.group.slide_options.mask, hit.polygon_id),
              made, "legs name bodies that are considered");
    }
  }
}

// Bodies of an owner that every item passes over might as well be in no category.
void CheckOwners(Choices& choices, const GroupCase& made) {
  const uint32_t ignored = 1 + choices.Below(2);
  std::vector<uint64_t> category;
  for (size_t i = 0; i < made.group.bodies.size(); ++i) {
    const BodyColumns& bodies = made.group.bodies;
    const bool is_there = bodies.owner.empty() || bodies.owner[i] != ignored;
    category.push_back(!is_there ? 0 : bodies.category.empty() ? 1 : bodies.category[i]);
  }
  Group without = made.group;
  without.body_contacts = {};
  SetScope({.against = Against::kBoth}, without);
  Group ignoring = without;
  without.bodies.category = category;
  without.bodies.owner = {};
  size_t most = 0;
  ForEachKind([&](const auto& kind) {
    most = std::max(most, static_cast<size_t>((ignoring.*kind.columns).size()));
  });
  const std::vector<uint32_t> owners(most, ignored);
  ForEachKind([&](const auto& kind) {
    auto& columns = ignoring.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> &&
                  HasScope<std::remove_reference_t<decltype(columns)>>) {
      ScopeOf(columns).ignore_owner = std::span(owners).first(columns.size());
    }
  });
  RequireSame(made, EvaluateIn(made, *made.scene, without, 0),
              EvaluateIn(made, *made.scene, ignoring, 0),
              "bodies of an owner that is passed over might as well not be there");
}

// Of the slides of a group, asked again one by one as sweeps with the scope of the item.
class SlidesAgain {
 public:
  SlidesAgain(const GroupCase& made, const SlideAnswers& answers)
      : made_(made), slides_(made.group.slides), answers_(answers) {}

  // Each leg is the sweep that it says, and a slide ends free of what its start was free of.
  void Check() const {
    size_t row = 0;
    for (size_t i = 0; i < answers_.rows.size(); ++i) {
      const SlideRow& slide = answers_.rows[i];
      if (slide.legs == 0) continue;
      const Vec2 start = answers_.legs[row].from;
      Vec2 at = start;
      for (uint32_t k = 0; k < slide.legs; ++k, ++row) {
        const SlideLeg& leg = answers_.legs[row];
        const auto is = [&](bool holds, const char* law) {
          const Vec2 p = leg.from, d = leg.d;
          Require(holds, made_, law, {static_cast<double>(i), p.x, p.y, d.x, d.y});
        };
        is(leg.from == at, "a leg among bodies starts where the one before it ends");
        const SweepAnswers sweep = Swept(
            i, leg.from, leg.d, {CastMode::kClosest, made_.group.slide_options.inside_policy});
        const SweepHit hit = sweep.hits.empty() ? SweepHit() : sweep.hits[0];
        is((sweep.counts[0] != 0) == leg.has_hit && hit.polygon_id == leg.hit.polygon_id &&
               hit.is_body == leg.hit.is_body && hit.fraction == leg.hit.fraction &&
               hit.point == leg.hit.point && hit.normal == leg.hit.normal,
           "a leg among bodies is a sweep");
        at = Normalized(sweep.safe[0]);
      }
      Is(Normalized(slide.position) == at, "a slide among bodies ends where its last leg does", i);
      const auto before = Blocked(i, start);
      for (const auto& obstacle : Blocked(i, at)) {
        Is(std::binary_search(before.begin(), before.end(), obstacle),
           "a slide among bodies ends free of what its start was free of", i);
      }
    }
  }

 private:
  void Is(bool holds, const char* law, size_t item) const {
    Require(holds, made_, law, {static_cast<double>(item)});
  }

  SweepAnswers Swept(size_t item, Vec2 from, Vec2 d, SweepOptions options) const {
    const auto one = [&](const auto& column) {
      return column.empty() ? column : column.subspan(item, 1);
    };
    const ShapeColumns& movers = slides_.movers;
    options.mask = made_.group.slide_options.mask;
    Group group;
    group.bodies = made_.group.bodies;
    group.sweep_options = options;
    group.sweeps.movers = {
        movers.shape.empty() ? movers.shapes.subspan(item, 1) : movers.shapes,
        one(movers.shape),
        {&from.x, 1},
        {&from.y, 1},
        one(movers.c),
        one(movers.s),
        one(movers.angle),
        {movers.scope.against, one(movers.scope.mask), one(movers.scope.ignore_owner)}};
    group.sweeps.dx = {&d.x, 1};
    group.sweeps.dy = {&d.y, 1};
    group.sweeps.skin = one(slides_.skin);
    return Evaluate(made_, group).sweeps;
  }

  // What the item overlaps in more than touch there: bodies behind polygons.
  std::vector<std::pair<bool, uint64_t>> Blocked(size_t item, Vec2 at) const {
    const SweepAnswers answers =
        Swept(item, at, {0, 0}, {CastMode::kAll, InsidePolicy::kBlocking, kMaxMaxHits});
    std::vector<std::pair<bool, uint64_t>> found;
    for (const SweepHit& hit : answers.hits) found.emplace_back(hit.is_body, hit.polygon_id);
    return found;
  }

  const GroupCase& made_;
  const SlideColumns& slides_;
  const SlideAnswers& answers_;
};

}  // namespace

void CheckBodyLaws(Choices& choices, GroupCase& made) {
  CheckPolygonsAsBodies(choices, made);
  AddBodies(choices, made);
  GroupAnswers answers = Evaluate(made, made.group);
  for (const Words& words : WordsOf(answers)) Require(words.clean, made, words.batch);
  CheckRowsOfAll(made, answers);
  SlidesAgain(made, answers.slides).Check();
  CheckIndependence(choices, made, answers);
  CheckOwners(choices, made);
}

}  // namespace carom::testing
