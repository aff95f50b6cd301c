// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "tests/fuzz/laws.h"
#include "tests/support/answer_words.h"
#include "tests/support/group_part.h"

namespace carom::testing {
namespace {

void RequireEqual(const GroupCase& made, const std::vector<Words>& expected, GroupAnswers& answers,
                  const char* law) {
  const std::vector<Words> words = WordsOf(answers);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == expected[i]) continue;
    std::fprintf(stderr, "batch %s\n", words[i].batch);
    Break(made, law, {});
  }
}

// The same polygons by another way: given in reverse, the first half by a commit later on, after
// something that does not remain.
Scene::Ptr OtherScene(const GroupCase& made) {
  std::vector<Polygon> first;
  std::vector<SceneEdit> edits;
  for (size_t i = made.specs.size(); i-- > 0;) {
    Polygon polygon = Polygon::Create(made.specs[i]).value();
    if (i % 2 == 0) {
      first.push_back(std::move(polygon));
    } else {
      edits.push_back(AddPolygon{std::move(polygon)});
    }
  }
  constexpr uint64_t kGone = 1000;
  PolygonSpec gone{.id = kGone, .rings = {{{{0, 0}, {9, 0}, {0, 9}}}}};
  first.push_back(Polygon::Create(gone).value());
  edits.push_back(RemovePolygon{kGone});
  const Scene::Ptr before = Scene::Create(std::move(first), 1).value();
  return before->Commit(std::move(edits), made.scene->version()).value();
}

}  // namespace

void CheckIndependence(Choices& choices, const GroupCase& made, GroupAnswers& answers) {
  const std::vector<Words> expected = WordsOf(answers);
  const size_t at = choices.Below(4);
  const Group first = PartOf(made.group, at, GroupPart::kFirst);
  const Group second = PartOf(made.group, at, GroupPart::kSecond);
  GroupAnswers together = Evaluate(made, first);
  GroupAnswers rest = Evaluate(made, second);
  Append(together, rest, SizesOf(first));
  RequireEqual(made, expected, together, "a batch in two parts has the same answers");
  Group otherwise = made.group;
  otherwise.move_options.coherence =
      made.group.move_options.coherence == Coherence::kOn ? Coherence::kOff : Coherence::kOn;
  GroupAnswers without = Evaluate(made, otherwise);
  RequireEqual(made, expected, without, "coherence changes nothing");
  GroupAnswers other;
  WorkMeter meter;
  const Scene::Ptr scene = OtherScene(made);
  Require(EvaluateGroup(*scene, made.group, other, meter).ok(), made, "nothing stops the work");
  RequireEqual(made, expected, other, "order and history of the polygons change nothing");
}

}  // namespace carom::testing
