// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons in pieces: what is cut anywhere is put together again, and what does not fit is refused.

#include "wire/pieces.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "carom/v1/scene_service.pb.h"
#include "gtest/gtest.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;

absl::Status NoHold(size_t, size_t) { return absl::OkStatus(); }

// Adds parts, given as text of an ImportSceneRequest, and ends the stream.
absl::Status Join(const std::vector<std::string>& parts, std::vector<Polygon>& out,
                  const PolygonLimits& limits = {}) {
  PolygonJoiner joiner(limits);
  for (const std::string& text : parts) {
    const auto part = FromText<v1::ImportSceneRequest>(text);
    absl::Status status = joiner.Add(part.polygons(), part.continues(), NoHold, out);
    if (!status.ok()) return status;
  }
  return joiner.Finish();
}
absl::Status Join(const std::vector<std::string>& parts, const PolygonLimits& limits = {}) {
  std::vector<Polygon> out;
  return Join(parts, out, limits);
}

// A polygon of up to five rings, of which closed ones may end as they begin.
Polygon RandomPolygon(std::mt19937_64& random) {
  PolygonSpec spec;
  spec.id = random();
  if (random() % 2 == 0) spec.category = random();
  if (random() % 2 == 0) spec.fill_rule = FillRule::kNonZero;
  if (random() % 2 == 0) spec.solidity = Solidity::kBoundary;
  spec.user_data = std::string(random() % 5, 'u');
  const size_t rings = 1 + random() % 5;
  for (size_t i = 0; i < rings; ++i) {
    RingSpec& ring = spec.rings.emplace_back();
    ring.open = spec.solidity == Solidity::kBoundary && random() % 2 == 0;
    const size_t vertices = 1 + random() % 12;
    for (size_t k = 0; k < vertices; ++k) {
      ring.vertices.push_back({static_cast<double>(random() % 3), 1.0});
    }
  }
  return *Polygon::Create(spec);
}

// 1. Pieces of any size, in parts with others, make the polygons that were cut.
TEST(Pieces, MakeWhatWasCut) {
  std::mt19937_64 random(41);
  for (int round = 0; round < 300; ++round) {
    std::vector<Polygon> polygons;
    for (size_t i = 0; i <= random() % 4; ++i) polygons.push_back(RandomPolygon(random));
    PolygonJoiner joiner({});
    std::vector<Polygon> joined;
    v1::ImportSceneRequest part;
    PieceStart start;
    const auto flush = [&] {
      ASSERT_TRUE(joiner.Add(part.polygons(), part.continues(), NoHold, joined).ok());
      part.Clear();
    };
    for (size_t i = 0; i < polygons.size();) {
      const size_t room = 4 + random() % 8;
      const bool is_last = EncodePiece(polygons[i], room, start, *part.add_polygons());
      EXPECT_EQ(start.is_first(), is_last);
      size_t size = 0;
      for (const v1::Ring& ring : part.polygons().rbegin()->rings()) {
        size += 1 + static_cast<size_t>(ring.x_size());
      }
      EXPECT_LE(size, room);
      part.set_continues(!is_last);
      i += is_last ? 1 : 0;
      if (!is_last || random() % 2 == 0) flush();
    }
    flush();
    ASSERT_TRUE(joiner.Finish().ok());
    ASSERT_EQ(joined.size(), polygons.size());
    for (size_t i = 0; i < joined.size(); ++i) {
      v1::Polygon expected;
      v1::Polygon actual;
      EncodePolygon(polygons[i], expected);
      EncodePolygon(joined[i], actual);
      EXPECT_EQ(actual.SerializeAsString(), expected.SerializeAsString());
    }
  }
}

// 2. A piece is no larger than it may be, and one that has room for all is the polygon.
TEST(Pieces, OfASmallPolygonAreItself) {
  std::mt19937_64 random(42);
  const Polygon polygon = RandomPolygon(random);
  PieceStart start;
  v1::Polygon piece;
  v1::Polygon whole;
  EXPECT_TRUE(EncodePiece(polygon, kPieceVertices, start, piece));
  EncodePolygon(polygon, whole);
  EXPECT_EQ(piece.SerializeAsString(), whole.SerializeAsString());
}

TEST(Pieces, AreJoinedByHand) {
  std::vector<Polygon> out;
  const absl::Status status =
      Join({"polygons { id: 1 rings { x: 0 y: 0 } } "
            "polygons { id: 7 category: 4 rings { x: [0, 4] y: [0, 0] } } continues: true",
            "polygons { id: 7 rings { x: 4 y: 4 } rings { x: 1 y: 1 } } continues: true",
            "polygons { id: 7 rings {} rings { x: [2, 3] y: 2 y: 2 } } "
            "polygons { id: 2 rings { x: 9 y: 9 } }"},
           out);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1].id(), 7u);
  EXPECT_EQ(out[1].category(), 4u);
  ASSERT_EQ(out[1].ring_count(), 3u);
  EXPECT_EQ(out[1].ring(0).size(), 3u);
  EXPECT_EQ(out[1].ring(1).size(), 1u);
  EXPECT_EQ(out[1].ring(2)[1], (Vec2{3, 2}));
  EXPECT_EQ(out[2].id(), 2u);
}

TEST(Pieces, ThatDoNotFitAreRefused) {
  const std::string begin = "polygons { id: 7 rings { x: 0 y: 0 } } continues: true";
  struct Case {
    const char* story;
    std::vector<std::string> parts;
    const char* field;
  };
  const Case cases[] = {
      {"nothing to go on", {"continues: true"}, "continues"},
      {"the stream ends", {begin}, "continues"},
      {"a part without polygons", {begin, ""}, "continues"},
      {"another polygon", {begin, "polygons { id: 8 rings { x: 1 y: 1 } }"}, "polygons[0].id"},
      {"a second category", {begin, "polygons { id: 7 category: 2 rings {} }"}, "polygons[0]"},
      {"a second user data", {begin, "polygons { id: 7 user_data: 'x' }"}, "polygons[0]"},
      {"a second solidity", {begin, "polygons { id: 7 solidity: SOLIDITY_SOLID }"}, "polygons[0]"},
      {"no ring to go on", {"polygons { id: 7 } continues: true"}, "polygons[0].rings"},
      {"an empty ring at the end",
       {begin, "polygons { id: 7 rings {} rings {} }"},
       "polygons[0].rings"},
      {"an empty ring between",
       {begin, "polygons { id: 7 rings {} rings {} rings { x: 1 y: 1 } }"},
       "polygons[0].rings"},
      {"an empty ring at the beginning",
       {"polygons { id: 7 rings {} rings { x: 1 y: 1 } } continues: true"},
       "polygons[0].rings"},
      {"a chain that was closed",
       {begin, "polygons { id: 7 rings { x: 1 y: 1 open: true } }"},
       "polygons[0].rings[0].open"},
      {"columns that differ",
       {begin, "polygons { id: 7 rings { x: 1 } }"},
       "polygons[0].rings[0].y"},
      {"a number that is none",
       {begin, "polygons { id: 7 rings { x: nan y: 1 } }"},
       "polygons[0].rings[0].x[1]"},
      {"another fault before",
       {"polygons { id: 1 } polygons { id: 7 rings { x: 0 y: 0 } } continues: true"},
       "polygons[0].rings"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(Refuses(Join(c.parts), StatusCode::kInvalidArgument, c.field, "")) << c.story;
  }
}

// Limits hold for the whole, and before it is there.
// Whoever decodes many polygons may do something else between two of them.
TEST(Pieces, HaveSomethingBetween) {
  int polygons = 0;
  PolygonJoiner joiner({}, [&polygons] { ++polygons; });
  std::vector<Polygon> joined;
  const auto part = FromText<v1::ImportSceneRequest>(
      "polygons { id: 1 rings { x: [0, 1, 0] y: [0, 0, 1] } }"
      "polygons { id: 2 rings { x: [0, 1, 0] y: [0, 0, 1] } }");
  ASSERT_TRUE(joiner.Add(part.polygons(), false, NoHold, joined).ok());
  EXPECT_EQ(joined.size(), 2u);
  EXPECT_EQ(polygons, 2);
}

TEST(Pieces, AreLimitedTogether) {
  const PolygonLimits limits{.max_vertices = 3, .max_user_data_bytes = 2};
  const std::string begin = "polygons { id: 7 rings { x: [0, 1] y: [0, 1] } } continues: true";
  EXPECT_TRUE(Join({begin, "polygons { id: 7 rings { x: 1 y: 0 } }"}, limits).ok());
  EXPECT_TRUE(Refuses(
      Join({begin, "polygons { id: 7 rings { x: [1, 2] y: [0, 0] } } continues: true"}, limits),
      StatusCode::kResourceExhausted, "polygons[0].rings", "3"));
  EXPECT_TRUE(Refuses(
      Join({"polygons { id: 7 user_data: 'abc' rings { x: 0 y: 0 } } continues: true"}, limits),
      StatusCode::kResourceExhausted, "polygons[0].user_data", "2"));
  // And memory is asked for first.
  PolygonJoiner joiner({});
  std::vector<Polygon> out;
  const auto part = FromText<v1::ImportSceneRequest>(begin);
  const absl::Status held = joiner.Add(
      part.polygons(), true,
      [](size_t rings, size_t vertices) {
        EXPECT_EQ(rings, 1u);
        EXPECT_EQ(vertices, 2u);
        return absl::ResourceExhaustedError("none");
      },
      out);
  EXPECT_EQ(held.message(), "none");
}

}  // namespace
}  // namespace carom::wire
