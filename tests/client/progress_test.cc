// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far a transfer is: what the client reports, and the text that the command line makes of it.
#include "client/cli/scene/progress.h"

#include "tests/client/fixture.h"

namespace carom {
namespace {

TEST(ProgressTest, Texts) {
  EXPECT_EQ(cli::ProgressText("import", "vertices", 1200, 4800, 2),
            "import: 1,200 of 4,800 vertices, 25 %, 600/s, 6 s left");
  EXPECT_EQ(cli::ProgressText("export", "vertices", 1200, 0, 2), "export: 1,200 vertices, 600/s");
  EXPECT_EQ(cli::ProgressText("import", "vertices", 0, 10, 2),
            "import: 0 of 10 vertices, 0 %, 0/s");
  EXPECT_EQ(cli::ProgressText("import", "vertices", 12, 10, 0),
            "import: 12 of 10 vertices, 100 %, 0/s");
}

using TransferTest = ClientTest;

// Law: what is done never shrinks, and ends at the total.
TEST_F(TransferTest, CountsVertices) {
  std::vector<Vec2> points;
  for (int i = 0; i < 200000; ++i) points.push_back({static_cast<double>(i), (i % 7) * 1.0});
  std::vector<Polygon> polygons = Squares(20000);
  PolygonSpec spec;
  spec.id = 1000000;
  spec.rings.push_back({points, false});
  polygons.push_back(Polygon::Create(spec, {.max_vertices = 1 << 20}).value());
  std::vector<uint64_t> done;
  uint64_t total = 0;
  const TransferProgress progress = [&](uint64_t part, uint64_t whole) {
    done.push_back(part);
    total = whole;
  };
  const CallOptions options{.timeout = std::nullopt, .progress = &progress};
  const auto imported =
      client_->ImportScene("scenes/large", polygons, ImportMode::kCreate, options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(total, 280000u);
  ASSERT_GT(done.size(), 2u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), total);
  done.clear();
  const auto exported = client_->ExportScene("scenes/large", 0, options);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(total, 0u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 280000u);
}

}  // namespace
}  // namespace carom
