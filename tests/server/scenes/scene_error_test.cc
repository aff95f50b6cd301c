// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// SceneService: every documented error, by code and field, and that it leaves nothing behind.
#include <limits>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using absl::StatusCode;

ServerOptions SmallScenes() {
  ServerOptions options;
  options.max_scenes = 3;
  options.max_polygons_per_scene = 4;
  options.max_vertices_per_polygon = 6;
  options.max_vertices_per_scene = 14;
  options.max_user_data_bytes = 8;
  options.max_message_bytes = 65536;
  return options;
}

// `scenes/taken` has polygons 1 and 2; there is room for two more scenes.
class SceneErrorTest : public ::testing::Test {
 protected:
  SceneErrorTest() : server_(SmallScenes()) {
    version_ = server_.Create("taken", {Square(1, 0, 0), Square(2, 5, 0)});
  }
  void TearDown() override {
    // No refused call has left a trace.
    Context context;
    v1::ListScenesResponse response;
    EXPECT_TRUE(server_.scenes().ListScenes(&context, {}, &response).ok());
    ASSERT_EQ(response.scenes_size(), 1);
    EXPECT_EQ(response.scenes(0).version(), version_);
  }

  grpc::Status Create(const v1::CreateSceneRequest& request) {
    Context context;
    v1::CreateSceneResponse response;
    return server_.scenes().CreateScene(&context, request, &response);
  }
  grpc::Status Import(const std::vector<v1::ImportSceneRequest>& parts) {
    Context context;
    v1::ImportSceneResponse response;
    auto writer = server_.scenes().ImportScene(&context, &response);
    for (const v1::ImportSceneRequest& part : parts) {
      if (!writer->Write(part)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }
  grpc::Status ImportText(const std::vector<std::string>& texts) {
    std::vector<v1::ImportSceneRequest> parts;
    for (const std::string& text : texts) {
      parts.push_back(FromText<v1::ImportSceneRequest>(text));
    }
    return Import(parts);
  }

  TestServer server_;
  uint64_t version_ = 0;
};

struct PolygonCase {
  const char* what;
  std::string polygons;  // text of the polygons of a scene
  StatusCode code;
  const char* field;
};

std::vector<PolygonCase> PolygonCases() {
  const std::string p = "polygons { id: 7 ";
  return {
      {"no ring", p + "}", StatusCode::kInvalidArgument, "polygons[0].rings"},
      {"empty ring", p + "rings {} }", StatusCode::kInvalidArgument, "polygons[0].rings[0]"},
      {"NaN", p + "rings { x: [0, nan] y: [0, 1] } }", StatusCode::kInvalidArgument,
       "polygons[0].rings[0].x[1]"},
      {"infinity", p + "rings { x: [0, 1] y: [0, -inf] } }", StatusCode::kInvalidArgument,
       "polygons[0].rings[0].y[1]"},
      {"above 2^53", p + "rings { x: 9007199254740994 y: 0 } }", StatusCode::kInvalidArgument,
       "polygons[0].rings[0].x[0]"},
      {"unequal columns", p + "rings { x: [0, 1] y: 0 } }", StatusCode::kInvalidArgument,
       "polygons[0].rings[0].y"},
      {"open ring on a solid", p + "rings { x: [0, 1] y: [0, 1] open: true } }",
       StatusCode::kInvalidArgument, "polygons[0].rings[0].open"},
      {"unknown fill rule", p + "fill_rule: 99 rings { x: 0 y: 0 } }", StatusCode::kInvalidArgument,
       "polygons[0].fill_rule"},
      {"unknown solidity", p + "solidity: -1 rings { x: 0 y: 0 } }", StatusCode::kInvalidArgument,
       "polygons[0].solidity"},
      {"second of two", "polygons { rings { x: 0 y: 0 } } " + p + "}", StatusCode::kInvalidArgument,
       "polygons[1].rings"},
      {"an id twice", p + "rings { x: 0 y: 0 } } " + p + "rings { x: 1 y: 0 } }",
       StatusCode::kInvalidArgument, "polygons[1].id"},
      {"vertices a polygon", p + "rings { x: [1,2,3,4,5,6,7] y: [0,0,0,0,0,0,1] } }",
       StatusCode::kResourceExhausted, "polygons[0].rings"},
      {"user data", p + "user_data: '123456789' rings { x: 0 y: 0 } }",
       StatusCode::kResourceExhausted, "polygons[0].user_data"},
      {"polygons a scene",
       "polygons { id: 1 rings { x: 0 y: 0 } } polygons { id: 2 rings { x: 0 y: 0 } } "
       "polygons { id: 3 rings { x: 0 y: 0 } } polygons { id: 4 rings { x: 0 y: 0 } } "
       "polygons { id: 5 rings { x: 0 y: 0 } }",
       StatusCode::kResourceExhausted, "polygons"},
      {"vertices a scene",
       "polygons { id: 1 rings { x: [1,2,3,4,5] y: [0,0,0,0,1] } } "
       "polygons { id: 2 rings { x: [1,2,3,4,5] y: [0,0,0,0,1] } } "
       "polygons { id: 3 rings { x: [1,2,3,4,5] y: [0,0,0,0,1] } }",
       StatusCode::kResourceExhausted, "polygons"},
  };
}

TEST_F(SceneErrorTest, CreateRefusesEachBadPolygon) {
  for (const PolygonCase& c : PolygonCases()) {
    const auto request = FromText<v1::CreateSceneRequest>("name: 'scenes/bad' " + c.polygons);
    EXPECT_TRUE(Refuses(Create(request), c.code, c.field)) << c.what;
  }
}

TEST_F(SceneErrorTest, ImportRefusesEachBadPolygon) {
  for (const PolygonCase& c : PolygonCases()) {
    EXPECT_TRUE(Refuses(ImportText({"name: 'scenes/bad' " + c.polygons}), c.code, c.field))
        << c.what;
  }
}

TEST_F(SceneErrorTest, ImportCountsPolygonsOverAllParts) {
  const std::string first = "name: 'scenes/bad' polygons { id: 1 rings { x: 0 y: 0 } }";
  EXPECT_TRUE(Refuses(ImportText({first, "polygons { id: 2 rings { x: nan y: 0 } }"}),
                      StatusCode::kInvalidArgument, "polygons[1].rings[0].x[0]"));
  EXPECT_TRUE(Refuses(ImportText({first, "polygons { id: 1 rings { x: 0 y: 0 } }"}),
                      StatusCode::kInvalidArgument, "polygons[1].id"));
  const std::string five = "{ rings { x: [1,2,3,4,5] y: [0,0,0,0,1] } }";
  EXPECT_TRUE(Refuses(
      ImportText({"name: 'scenes/bad' polygons " + five, "polygons " + five, "polygons " + five}),
      StatusCode::kResourceExhausted, "polygons"));
}

TEST_F(SceneErrorTest, ImportPartsAgree) {
  const std::string first = "name: 'scenes/bad' mode: IMPORT_MODE_REPLACE";
  struct Case {
    std::vector<std::string> parts;
    const char* field;
  };
  for (const Case& c : {
           Case{{}, "name"},
           Case{{""}, "name"},
           Case{{first, "name: 'scenes/other'"}, "name"},
           Case{{first, "mode: IMPORT_MODE_CREATE"}, "mode"},
           Case{{"name: 'scenes/bad'", "mode: IMPORT_MODE_REPLACE"}, "mode"},
           Case{{"name: 'scenes/bad' mode: 3"}, "mode"},
           Case{{first, "mode: 77"}, "mode"},
           Case{{"name: 'scenes/bad' note: '" + std::string(1025, 'x') + "'"}, "note"},
       }) {
    EXPECT_TRUE(Refuses(ImportText(c.parts), StatusCode::kInvalidArgument, c.field));
  }
  EXPECT_TRUE(Refuses(ImportText({"name: 'scenes/taken'"}), StatusCode::kAlreadyExists, "name"));
}

// A stream that breaks after its first part registers nothing, however the break races with it.
TEST_F(SceneErrorTest, BrokenImportLeavesNothing) {
  for (int i = 0; i < 50; ++i) {
    Context context;
    v1::ImportSceneResponse response;
    auto writer = server_.scenes().ImportScene(&context, &response);
    ASSERT_TRUE(writer->Write(FromText<v1::ImportSceneRequest>(
        absl::StrCat("name: 'scenes/bad' polygons {", Square(1, 0, 0), "}"))));
    context.TryCancel();
    EXPECT_EQ(writer->Finish().error_code(), grpc::CANCELLED);
  }
  // The import that is alone left in progress at most is over before this one, of the same name.
  v1::ImportSceneRequest bad;
  bad.set_name("scenes/bad");
  bad.set_mode(static_cast<v1::ImportMode>(9));
  EXPECT_FALSE(Import({bad}).ok());
}

TEST_F(SceneErrorTest, MalformedNamesAreRefusedByEveryRpc) {
  for (const std::string& name :
       {std::string(), std::string("taken"), std::string("scenes/"), std::string("scenes/Taken"),
        std::string("scenes/a/b"), "scenes/" + std::string(64, 'a')}) {
    const auto refused = [&](const grpc::Status& status) {
      return Refuses(status, StatusCode::kInvalidArgument, "name");
    };
    v1::CreateSceneRequest create;
    create.set_name(name);
    EXPECT_TRUE(refused(Create(create)));
    v1::GetSceneRequest get;
    get.set_name(name);
    v1::GetSceneResponse got;
    EXPECT_TRUE(refused(server_.scenes().GetScene(std::make_unique<Context>().get(), get, &got)));
    v1::DeleteSceneRequest del;
    del.set_name(name);
    v1::DeleteSceneResponse deleted;
    EXPECT_TRUE(
        refused(server_.scenes().DeleteScene(std::make_unique<Context>().get(), del, &deleted)));
    EXPECT_TRUE(refused(server_.Commit(absl::StrCat("name: '", name, "'"))));
    v1::ImportSceneRequest part;
    part.set_name(name);
    EXPECT_TRUE(refused(Import({part})));
  }
}

TEST_F(SceneErrorTest, MissingAndTakenScenes) {
  v1::CreateSceneRequest create;
  create.set_name("scenes/taken");
  EXPECT_TRUE(Refuses(Create(create), StatusCode::kAlreadyExists, "name"));
  Context get_context;
  v1::GetSceneRequest get;
  get.set_name("scenes/missing");
  v1::GetSceneResponse got;
  EXPECT_TRUE(
      Refuses(server_.scenes().GetScene(&get_context, get, &got), StatusCode::kNotFound, "name"));
  v1::DeleteSceneRequest del;
  del.set_name("scenes/missing");
  v1::DeleteSceneResponse deleted;
  Context missing_context;
  EXPECT_TRUE(Refuses(server_.scenes().DeleteScene(&missing_context, del, &deleted),
                      StatusCode::kNotFound, "name"));
  del.set_name("scenes/taken");
  del.set_version(version_ + 1);
  Context stale_context;
  const grpc::Status stale = server_.scenes().DeleteScene(&stale_context, del, &deleted);
  EXPECT_TRUE(Refuses(stale, StatusCode::kAborted, "version"));
  EXPECT_THAT(stale.error_message(), ::testing::HasSubstr(absl::StrCat(version_)));
}

TEST_F(SceneErrorTest, ScenesAreLimited) {
  ServerOptions options;
  options.max_scenes = 2;
  TestServer server(options);
  server.Create("a", {});
  server.Create("b", {});
  v1::CreateSceneRequest create;
  create.set_name("scenes/c");
  Context context;
  v1::CreateSceneResponse response;
  EXPECT_TRUE(Refuses(server.scenes().CreateScene(&context, create, &response),
                      StatusCode::kResourceExhausted, "name"));
}

// The order of precedence that CommitEdits documents: each case is also wrong in what is checked
// later.
TEST_F(SceneErrorTest, CommitErrorsInTheirOrder) {
  const std::string base = absl::StrCat("base_version: ", version_, " ");
  const std::string stale = absl::StrCat("base_version: ", version_ + 1, " ");
  const std::string name = "name: 'scenes/taken' ";
  const std::string add_taken = absl::StrCat("edits { add {", Square(1, 0, 0), "} } ");
  struct Case {
    const char* what;
    std::string request;
    StatusCode code;
    const char* field;
  };
  for (const Case& c : {
           Case{"no scene", "name: 'scenes/missing' edits {}", StatusCode::kNotFound, "name"},
           Case{"no content", name + stale + "edits { remove: 1 } edits {}",
                StatusCode::kInvalidArgument, "edits[1]"},
           Case{"bad polygon", name + stale + "edits { add { id: 9 rings { x: nan y: 0 } } }",
                StatusCode::kInvalidArgument, "edits[0].add.rings[0].x[0]"},
           Case{"bad replacement", name + "edits { replace { id: 1 } }",
                StatusCode::kInvalidArgument, "edits[0].replace.rings"},
           Case{"an id twice", name + stale + "edits { remove: 1 } " + add_taken,
                StatusCode::kInvalidArgument, "edits[1].add.id"},
           Case{"stale, over a limit",
                name + stale +
                    "edits { add { id: 8 rings { x: [1,2,3,4,5,6,7] y: [1,2,3,4,5,6,7] } } }",
                StatusCode::kAborted, "base_version"},
           Case{"stale", name + stale + add_taken, StatusCode::kAborted, "base_version"},
           Case{"taken id", name + base + "edits { remove: 2 } " + add_taken,
                StatusCode::kAlreadyExists, "edits[1].add.id"},
           Case{"no such id", name + "edits { remove: 77 }", StatusCode::kNotFound,
                "edits[0].remove"},
           Case{"nothing to replace", name + "edits { replace { id: 77 rings { x: 0 y: 0 } } }",
                StatusCode::kNotFound, "edits[0].replace.id"},
           Case{"vertices a scene",
                name + "edits { add { id: 8 rings { x: [1,2,3,4] y: [1,2,3,4] } } } "
                       "edits { add { id: 9 rings { x: [1,2,3,4] y: [1,2,3,4] } } }",
                StatusCode::kResourceExhausted, "polygons"},
           Case{"vertices a polygon",
                name + "edits { add { id: 8 rings { x: [1,2,3,4,5,6,7] y: [1,2,3,4,5,6,7] } } }",
                StatusCode::kResourceExhausted, "edits[0].add.rings"},
       }) {
    EXPECT_TRUE(Refuses(server_.Commit(c.request), c.code, c.field)) << c.what;
  }
  EXPECT_THAT(server_.Commit(name + stale).error_message(),
              ::testing::HasSubstr(absl::StrCat(version_)));
}

TEST_F(SceneErrorTest, ManyOffencesAreCountedAndTheFirstSixteenListed) {
  v1::CreateSceneRequest request;
  request.set_name("scenes/bad");
  for (int i = 0; i < 4; ++i) {
    v1::Polygon& polygon = *request.add_polygons();
    polygon.set_id(i);
    v1::Ring& ring = *polygon.add_rings();
    for (int k = 0; k < 6; ++k) {
      ring.add_x(std::numeric_limits<double>::quiet_NaN());
      ring.add_y(0);
    }
  }
  const grpc::Status status = Create(request);
  EXPECT_EQ(Violations(ToStatus(status)).size(), 16);
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("24"));
  EXPECT_LE(status.error_details().size(), 4096);
}

TEST_F(SceneErrorTest, ListRefusesBadPages) {
  v1::ListScenesResponse response;
  v1::ListScenesRequest request;
  request.set_page_size(-1);
  Context size_context;
  EXPECT_TRUE(Refuses(server_.scenes().ListScenes(&size_context, request, &response),
                      StatusCode::kInvalidArgument, "page_size"));
  request.set_page_size(0);
  for (const char* token : {"x", "scenes/a", "AAAA", "\xff", "c2NlbmVzLw"}) {
    request.set_page_token(token);
    Context context;
    const grpc::Status status = server_.scenes().ListScenes(&context, request, &response);
    if (std::string(token) == "\xff") {
      EXPECT_FALSE(status.ok());  // not UTF-8: protobuf refuses to send or to read it
    } else {
      EXPECT_TRUE(Refuses(status, StatusCode::kInvalidArgument, "page_token")) << token;
    }
  }
}

TEST_F(SceneErrorTest, MessageAboveTheLimit) {
  v1::CreateSceneRequest request;
  request.set_name("scenes/bad");
  for (int i = 0; i < 10000; ++i) request.add_polygons()->set_user_data("12345678");
  EXPECT_EQ(Create(request).error_code(), grpc::RESOURCE_EXHAUSTED);
  v1::ImportSceneRequest part;
  part.set_name("scenes/bad");
  *part.mutable_polygons() = request.polygons();
  EXPECT_EQ(Import({part}).error_code(), grpc::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace carom::server
