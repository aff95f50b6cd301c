// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of bundles: any bytes are refused, naming a part, or are a scene that answers,
// can be edited, and comes back from its own bundle. The checksums of every other input are made
// right, or nothing behind them would be reached.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "carom/bundle.h"
#include "carom/locate.h"
#include "carom/status.h"
#include "tests/fuzz/target.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"
#include "tests/support/sealed_bundle.h"

namespace carom {
namespace {

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

// The polygons at a vertex of each of the first polygons.
std::vector<uint64_t> Locate(const Scene& scene) {
  std::vector<double> x, y;
  for (size_t i = 0; i < std::min<size_t>(scene.polygon_count(), 16); ++i) {
    x.push_back(scene.polygon(i).vertices().back().x);
    y.push_back(scene.polygon(i).vertices().back().y);
  }
  LocateAnswers answers;
  WorkMeter meter;
  Require(LocatePoints(scene, {x, y}, kEveryCategory, answers, meter), "nothing stops the work");
  return answers.polygon_ids;
}

// An edit finds the polygons in the tiles that the arrangement puts them in.
void Edit(const Scene& scene) {
  if (scene.polygon_count() < 3) return;
  const uint64_t id = scene.polygon(scene.polygon_count() / 2).id();
  const Scene::Ptr without = scene.Commit({RemovePolygon{id}}, 2).value();
  Require(without->Find(id) == nullptr, "what was removed is gone");
  for (const uint64_t found : Locate(*without)) Require(found != id, "and is not met any more");
}

void Read(const std::string& bytes) {
  const absl::StatusOr<Scene::Ptr> scene = ReadBundle(bytes);
  if (!scene.ok()) {
    Require(!Violations(scene.status()).empty(), "an error names the part");
    return;
  }
  const std::vector<uint64_t> ids = Locate(**scene);
  for (const BundleIndex index : {BundleIndex::kArranged, BundleIndex::kNone}) {
    const absl::StatusOr<Scene::Ptr> again = ReadBundle(WriteBundle(**scene, index));
    Require(again.ok(), "our own bundles can be read");
    Require(Locate(**again) == ids, "and answer likewise");
  }
  Edit(**scene);
}

}  // namespace
}  // namespace carom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  carom::Read(data[0] % 2 == 0 ? bytes : carom::testing::Sealed(bytes));
  return 0;
}

// A bundle, with some of its bytes changed in all but every fourth input.
std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  const auto made = carom::testing::MakeScene(choices);
  std::string bundle = carom::WriteBundle(
      *made->scene, choices.OneIn(3) ? carom::BundleIndex::kNone : carom::BundleIndex::kArranged);
  for (uint32_t changes = choices.OneIn(4) ? 0 : 1 + choices.Below(3); changes > 0; --changes) {
    const size_t at = choices.Below(65536) % bundle.size();
    bundle[at] = static_cast<char>(choices.OneIn(2) ? choices.Below(256) : bundle[at] ^ 1);
  }
  std::vector<uint8_t> bytes(1 + bundle.size());
  bytes[0] = static_cast<uint8_t>(choices.Below(2));
  std::copy(bundle.begin(), bundle.end(), bytes.begin() + 1);
  return bytes;
}
