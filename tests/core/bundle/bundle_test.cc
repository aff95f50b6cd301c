// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bundle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "carom/locate.h"
#include "carom/status.h"
#include "tests/core/battery.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"
#include "tests/support/sealed_bundle.h"

namespace carom::testing::bundle_test {
namespace {

using internal::BundleHeader;
using internal::Section;
using internal::SectionEntry;

constexpr BundleIndex kBoth[] = {BundleIndex::kArranged, BundleIndex::kNone};

Scene::Ptr SceneOf(const std::vector<PolygonSpec>& specs) {
  std::vector<Polygon> polygons;
  for (const PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(spec).value());
  return Scene::Create(std::move(polygons)).value();
}

// Polygons of all forms, with categories and user data now and then.
std::vector<PolygonSpec> RandomSpecs(Random& random, const Grid& grid, int count) {
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < count; ++i) {
    specs.push_back(RandomPolygon(random, grid, random.Next() << 20 | static_cast<uint64_t>(i)));
    if (random.Below(3) == 0) specs.back().category = random.Next();
    if (random.Below(4) == 0) {
      specs.back().user_data.assign(static_cast<size_t>(random.Below(9)), static_cast<char>(i));
    }
  }
  return specs;
}

Grid BundledGrid(Random& random) {
  return {.size = 2 + random.Below(8),
          .scale = std::ldexp(1, random.Below(40) - 20),
          .mixed = random.Below(4) == 0};
}

std::vector<PolygonSpec> Squares(int count) {
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < count; ++i) {
    const double x = 2.0 * (i % 50);
    const double y = 2.0 * (i / 50);
    specs.push_back({static_cast<uint64_t>(i * 7919 % count),
                     {{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}}}});
  }
  return specs;
}

// A bundle with something in every section.
std::string SmallBundle(BundleIndex index) {
  PolygonSpec chain{9, {{{{0, 0}, {3, 1}, {5, 0}}, true}, {{{7, 7}}}}};
  chain.solidity = Solidity::kBoundary;
  chain.category = 6;
  PolygonSpec square{4, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}};
  square.user_data = "door";
  return WriteBundle(*SceneOf({chain, square}), index);
}

void ExpectSamePolygons(const Scene& a, const Scene& b) {
  ASSERT_EQ(a.polygon_count(), b.polygon_count());
  EXPECT_EQ(a.vertex_count(), b.vertex_count());
  for (size_t i = 0; i < a.polygon_count(); ++i) {
    const Polygon& p = a.polygon(i);
    const Polygon& q = b.polygon(i);
    ASSERT_EQ(p.id(), q.id());
    EXPECT_EQ(b.Find(p.id()), &q);
    EXPECT_EQ(p.category(), q.category());
    EXPECT_EQ(p.fill_rule(), q.fill_rule());
    EXPECT_EQ(p.solidity(), q.solidity());
    EXPECT_EQ(p.user_data(), q.user_data());
    EXPECT_EQ(p.bounds().min, q.bounds().min);
    EXPECT_EQ(p.bounds().max, q.bounds().max);
    EXPECT_EQ(p.edge_count(), q.edge_count());
    ASSERT_EQ(p.ring_count(), q.ring_count());
    for (size_t r = 0; r < p.ring_count(); ++r) {
      EXPECT_EQ(p.is_open(r), q.is_open(r));
      ASSERT_EQ(p.ring(r).size(), q.ring(r).size());
      EXPECT_EQ(std::memcmp(p.ring(r).data(), q.ring(r).data(), p.ring(r).size_bytes()), 0);
    }
  }
}

std::string FieldOf(const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  return violations.empty() ? "" : violations[0].field;
}

TEST(Crc32cTest, IsThatOfTheStandardWithAndWithoutTheInstruction) {
  EXPECT_EQ(internal::Crc32c("123456789"), 0xE3069283u);  // the check value of CRC-32C
  EXPECT_EQ(internal::Crc32c(""), 0u);
  EXPECT_EQ(internal::Crc32c("6789", internal::Crc32c("12345")), 0xE3069283u);
  Random random(1);
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(internal::Crc32c(bytes), internal::PortableCrc32c(bytes));
    bytes += static_cast<char>(random.Below(256));
  }
}

TEST(BundleTest, RandomScenesComeBackWithTheirPolygonsAndAnswers) {
  Random random(20261123);
  for (int i = 0; i < Repeats(150, 5000); ++i) {
    const Grid grid = BundledGrid(random);
    const std::vector<PolygonSpec> specs = RandomSpecs(random, grid, random.Below(12));
    const Scene::Ptr scene = SceneOf(specs);
    // Not of mixed numbers: movers would leave the accepted range.
    const Battery battery = RandomBattery(random, {grid.size, grid.scale}, 3);
    for (const BundleIndex index : kBoth) {
      SCOPED_TRACE(i);
      const std::string bytes = WriteBundle(*scene, index);
      const absl::StatusOr<Scene::Ptr> read = ReadBundle(bytes, {.version = 42});
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ((*read)->version(), 42u);
      ExpectSamePolygons(*scene, **read);
      EXPECT_EQ(Answers(**read, battery, Depth::kAll), Answers(*scene, battery, Depth::kAll));
      EXPECT_EQ(WriteBundle(**read, index), bytes);
    }
  }
}

TEST(BundleTest, ScenesOfManyTilesComeBackAndCanBeEdited) {
  Random random(7);
  std::vector<PolygonSpec> specs = Squares(5000);
  PolygonSpec round{99999, {{}}};  // with an index of its own
  for (int i = 0; i < 300; ++i) {
    round.rings[0].vertices.push_back({50 + 9 * std::cos(i * 0.02), 50 + 9 * std::sin(i * 0.02)});
  }
  specs.push_back(round);
  Scene::Ptr scene = SceneOf(specs);
  const Battery battery = RandomBattery(random, {.size = 90}, 6);
  for (const BundleIndex index : kBoth) {
    Scene::Ptr read = ReadBundle(WriteBundle(*scene, index)).value();
    ExpectSamePolygons(*scene, *read);
    EXPECT_EQ(Answers(*read, battery, Depth::kAll), Answers(*scene, battery, Depth::kAll));
    for (int round_trip = 0; round_trip < 4; ++round_trip) {
      std::vector<SceneEdit> edits;
      for (uint64_t id = static_cast<uint64_t>(round_trip); id < 5000; id += 11) {
        if (id % 2 == 0 && scene->Find(id) != nullptr) edits.push_back(RemovePolygon{id});
        const double x = static_cast<double>(id % 97);
        edits.push_back(
            AddPolygon{Polygon::Create({10000 * (id + 10) + static_cast<uint64_t>(round_trip) +
                                            (index == BundleIndex::kNone ? 5000 : 0),
                                        {{{{x, x}, {x + 1, x}, {x, x + 1}}}}})
                           .value()});
      }
      scene = scene->Commit(edits, 2).value();
      read = read->Commit(edits, 2).value();
      ExpectSamePolygons(*scene, *read);
      EXPECT_EQ(Answers(*read, battery, Depth::kAll), Answers(*scene, battery, Depth::kAll));
      read = ReadBundle(WriteBundle(*read, index)).value();
    }
  }
}

// Without the arrangement the bytes are those of the polygons, whatever the scene went through.
TEST(BundleTest, EqualPolygonsAreEqualBytesWithoutAnArrangement) {
  const std::vector<PolygonSpec> specs = Squares(1500);
  const Scene::Ptr scene = SceneOf(specs);
  const SceneEdit edits[] = {RemovePolygon{3}};
  const Scene::Ptr without = scene->Commit({edits[0]}, 2).value();
  const Scene::Ptr again = without->Commit({AddPolygon{*scene->Find(3)}}, 3).value();
  EXPECT_EQ(WriteBundle(*again, BundleIndex::kNone), WriteBundle(*scene, BundleIndex::kNone));
}

TEST(BundleTest, AnEmptySceneIsABundle) {
  for (const BundleIndex index : kBoth) {
    const std::string bytes = WriteBundle(*Scene::Create({}).value(), index);
    EXPECT_EQ(ReadBundle(bytes).value()->polygon_count(), 0u);
  }
}

TEST(BundleTest, WorkersMakeTheSameScene) {
  const Scene::Ptr scene = SceneOf(Squares(3000));
  BundleReadOptions options;
  options.workers = {3, [](size_t parts, const std::function<void(size_t)>& work) {
                       std::vector<std::thread> threads;
                       for (size_t i = 0; i < parts; ++i) threads.emplace_back(work, i);
                       for (std::thread& thread : threads) thread.join();
                     }};
  for (const BundleIndex index : kBoth) {
    ExpectSamePolygons(*scene, *ReadBundle(WriteBundle(*scene, index), options).value());
  }
}

TEST(BundleTest, BytesThatEndTooEarlyOrTooLateAreRefused) {
  for (const BundleIndex index : kBoth) {
    const std::string bytes = SmallBundle(index);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // In memory of its own, so that a sanitizer sees a read beyond the end.
      const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const absl::Status status = ReadBundle({cut.data(), cut.size()}).status();
      ASSERT_FALSE(status.ok()) << size;
      EXPECT_EQ(FieldOf(status), size < 8 ? "header.magic" : "header.file_size") << size;
    }
    EXPECT_EQ(FieldOf(ReadBundle(bytes + '\0').status()), "header.file_size");
    EXPECT_EQ(ReadBundle(bytes + bytes).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(BundleTest, EveryFlippedBitIsNoticed) {
  for (const BundleIndex index : kBoth) {
    std::string bytes = SmallBundle(index);
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      ASSERT_FALSE(ReadBundle(bytes).ok()) << "bit " << bit;
      ASSERT_NE(FieldOf(ReadBundle(bytes).status()), "") << "bit " << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    }
  }
}

TEST(BundleTest, ErrorsNameThePart) {
  std::string bytes = SmallBundle(BundleIndex::kArranged);
  EXPECT_TRUE(IsBundle(bytes));
  EXPECT_FALSE(IsBundle("{\"polygons\":[]}"));
  EXPECT_EQ(ReadBundle("{}").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(ReadBundle("{}").status()), "header.magic");
  const std::string newer = SealedWith<uint32_t>(bytes, offsetof(BundleHeader, version), 2);
  EXPECT_EQ(ReadBundle(newer).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(ReadBundle(newer).status()), "header.version");
  for (size_t i = 0; i < internal::kSectionCount; ++i) {
    std::string damaged = bytes;
    damaged[OffsetOf(bytes, static_cast<Section>(i))] ^= 1;
    const absl::Status status = ReadBundle(damaged).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(FieldOf(status), internal::kSectionNames[i]);
  }
}

TEST(BundleTest, LimitsAreEnforced) {
  const std::string bytes = SmallBundle(BundleIndex::kArranged);
  const auto code = [&](const BundleReadOptions& options) {
    return ReadBundle(bytes, options).status().code();
  };
  EXPECT_EQ(code({.limits = {2, 8}, .polygon_limits = {4, 4}}), absl::StatusCode::kOk);
  EXPECT_EQ(code({.limits = {1, 8}}), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code({.limits = {2, 7}}), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code({.polygon_limits = {3, 4}}), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code({.polygon_limits = {4, 3}}), absl::StatusCode::kResourceExhausted);
}

// What has the right checksums and is wrong all the same. Without further text the field is that of
// the section.
TEST(BundleTest, ContentsThatNoSceneHasAreRefused) {
  const std::string bytes = SmallBundle(BundleIndex::kArranged);
  const auto field = [](const std::string& made) {
    const absl::Status status = ReadBundle(made).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return FieldOf(status);
  };
  const auto with = [&]<class T>(Section section, size_t index, T value) {
    return field(SealedWith(bytes, OffsetOf(bytes, section) + index * sizeof(T), value));
  };
  EXPECT_EQ(with(Section::kIds, 0, uint64_t{9}), "id_order[1]");
  EXPECT_EQ(with(Section::kForms, 1, uint8_t{4}), "forms[1]");
  EXPECT_EQ(with(Section::kRingCounts, 0, uint32_t{0}), "ring_counts[0]");
  EXPECT_EQ(with(Section::kRingCounts, 1, UINT32_MAX), "ring_counts[1]");
  EXPECT_EQ(with(Section::kRingSizes, 1, uint32_t{0}), "ring_sizes[1]");
  EXPECT_EQ(with(Section::kRingSizes, 2, UINT32_MAX), "ring_sizes[2]");
  EXPECT_EQ(with(Section::kRingSizes, 0, uint32_t{1}), "ring_sizes");
  EXPECT_EQ(with(Section::kOpenRings, 0, uint8_t{2}), "open_rings[0]");
  for (const double value :
       {double{NAN}, HUGE_VAL, -HUGE_VAL, -0.0, 0x1p-141, -0x1.1p53, 0x1p-1074}) {
    EXPECT_EQ(with(Section::kVertices, 15, value), "vertices[7]");
  }
  EXPECT_EQ(with(Section::kUserDataSizes, 0, UINT32_MAX), "user_data_sizes[0]");
  EXPECT_EQ(with(Section::kIdOrder, 0, uint32_t{2}), "id_order[0]");
  EXPECT_EQ(with(Section::kIdOrder, 1, UINT32_MAX), "id_order[1]");
  EXPECT_EQ(with(Section::kTileSizes, 0, uint32_t{0}), "tile_sizes[0]");
  EXPECT_EQ(with(Section::kTileSizes, 0, uint32_t{3}), "tile_sizes[0]");
  EXPECT_EQ(with(Section::kFrame, 2, double{NAN}), "frame");
  EXPECT_EQ(with(Section::kFrame, 0, -HUGE_VAL), "frame");
  const std::string plain = SmallBundle(BundleIndex::kNone);
  EXPECT_EQ(field(SealedWith<uint64_t>(plain, OffsetOf(plain, Section::kIds), 9)), "ids[1]");
}

// An open ring belongs to a hollow polygon.
TEST(BundleTest, AnOpenRingOfASolidPolygonIsRefused) {
  const std::string bytes = SmallBundle(BundleIndex::kNone);
  const size_t form = OffsetOf(bytes, Section::kForms) + 1;  // of the chain, by id the second
  const absl::Status status = ReadBundle(SealedWith<uint8_t>(bytes, form, 0)).status();
  EXPECT_EQ(FieldOf(status), "open_rings[1]");
}

TEST(BundleTest, TilesThatAreNotAlongTheCurveAreRefused) {
  const std::string bytes = WriteBundle(*SceneOf(Squares(5000)));
  const size_t frame = OffsetOf(bytes, Section::kFrame);
  const absl::Status status = ReadBundle(SealedWith<double>(bytes, frame, -5000)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status).substr(0, 10), "tile_sizes");
}

// A tile of its own for each polygon would take more memory than the polygons do.
TEST(BundleTest, TooManyTilesAreRefused) {
  const std::string bytes = WriteBundle(*SceneOf(Squares(40)));
  const size_t tiles_at = OffsetOf(bytes, Section::kTileSizes);
  const size_t frame_at = OffsetOf(bytes, Section::kFrame);
  for (const uint32_t tiles : {1U, 18U, 19U, 40U}) {
    std::string made = bytes.substr(0, tiles_at);
    for (uint32_t i = 0; i < tiles; ++i) {
      const uint32_t size = i + 1 < tiles ? 1 : 41 - tiles;
      made.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    made.resize(internal::Aligned(made.size()), '\0');
    const SectionEntry frame{12, 0, made.size(), sizeof(Box)};
    made += bytes.substr(frame_at);
    const uint64_t tiles_size = 4 * tiles;
    const uint64_t file_size = made.size();
    std::memcpy(&made[EntryAt(Section::kTileSizes) + offsetof(SectionEntry, size)], &tiles_size, 8);
    std::memcpy(&made[EntryAt(Section::kFrame)], &frame, sizeof frame);
    std::memcpy(&made[offsetof(BundleHeader, file_size)], &file_size, 8);
    const std::string field = FieldOf(ReadBundle(Sealed(made)).status());
    // The polygons of this scene are in the order of the curve, so that few tiles are a scene.
    EXPECT_EQ(field.substr(0, 11), tiles <= 18 ? "" : "tile_sizes") << tiles;
  }
}

// Every number of the header, the table and the sections in turn is 0, 1, the largest there is, and
// what overflows a product or a sum; also two at once that agree. What is not refused is a scene
// that answers.
TEST(BundleTest, NoNumberLeadsAstray) {
  constexpr uint64_t kNumbers[] = {0,          1,          2,          UINT32_MAX, UINT64_MAX,
                                   1ULL << 63, 1ULL << 61, 1ULL << 60, 1ULL << 32, UINT64_MAX - 63};
  const auto read = [](const std::string& made) {
    const absl::StatusOr<Scene::Ptr> scene =
        ReadBundle(made, {.limits = {SIZE_MAX, SIZE_MAX}, .polygon_limits = {SIZE_MAX, SIZE_MAX}});
    if (!scene.ok()) return;
    const double x[] = {1}, y[] = {1};
    LocateAnswers answers;
    WorkMeter meter;
    EXPECT_TRUE(LocatePoints(**scene, {x, y}, kEveryCategory, answers, meter));
  };
  for (const BundleIndex index : kBoth) {
    const std::string bytes = SmallBundle(index);
    for (const uint64_t number : kNumbers) {
      for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        read(SealedWith<uint64_t>(bytes, at, number));
        read(SealedWith<uint32_t>(bytes, at, static_cast<uint32_t>(number)));
        read(SealedWith<uint32_t>(bytes, at + 4, static_cast<uint32_t>(number)));
      }
      std::string counts = bytes;
      for (size_t at = offsetof(BundleHeader, polygon_count); at < offsetof(BundleHeader, reserved);
           at += 8) {
        std::memcpy(&counts[at], &number, sizeof number);
      }
      read(Sealed(counts));
      for (size_t i = 0; i < internal::kSectionCount; ++i) {
        const size_t size_at = EntryAt(i) + offsetof(SectionEntry, size);
        read(SealedWith<uint64_t>(counts, size_at, number));
      }
    }
  }
}

}  // namespace
}  // namespace carom::testing::bundle_test
