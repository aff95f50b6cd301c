// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers are protobuf messages, whatever fields a group has.
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using ::testing::ElementsAre;

constexpr int kCounts[] = {0, 1, 2, 40};

bool IsOneOf(const std::string& name, std::initializer_list<absl::string_view> names) {
  return std::find(names.begin(), names.end(), absl::string_view(name)) != names.end();
}

// Whether items of `kind` have no default for this column.
bool IsRequired(const std::string& kind, const std::string& column) {
  if (kind == "sweeps" && IsOneOf(column, {"dx", "dy"})) return false;  // in place of to_x, to_y
  if (kind == "fans" && column == "angle") return true;
  if (kind == "rotating_sweeps" && column == "tolerance") return true;
  return IsOneOf(column,
                 {"ax",    "ay",    "bx",    "by",     "x",        "y",     "dx",    "dy",
                  "vx",    "vy",    "step",  "range",  "duration", "to_x",  "to_y",  "min_x",
                  "min_y", "max_x", "max_y", "radius", "tracker",  "shape", "beams", "body"});
}

// Gives every required column of `question`, and of what it moves, `count` items, and it a shape.
void Fill(const std::string& kind, int count, Message& question) {
  const Reflection& reflection = *question.GetReflection();
  const google::protobuf::Descriptor& type = *question.GetDescriptor();
  for (int f = 0; f < type.field_count(); ++f) {
    const FieldDescriptor* field = type.field(f);
    if (IsOneOf(field->name(), {"movers", "placed"})) {
      Fill(kind, count, *reflection.MutableMessage(&question, field));
    } else if (field->name() == "shapes" && count > 0) {
      const std::string square = Square(0, 0, 0);
      Message& shape = *reflection.AddMessage(&question, field);
      const bool is_polygon = field->message_type()->name() == "Polygon";
      const std::string text = is_polygon ? square : absl::StrCat("polygon { ", square, " }");
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &shape));
    } else if (field->is_repeated() && IsRequired(kind, field->name())) {
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
          const bool is_end = IsOneOf(field->name(), {"bx", "max_x", "max_y", "to_x"});
          reflection.AddDouble(&question, field, is_end ? 9 + i : 0.125 * (f % 5 + i));
        } else {
          const bool is_index = IsOneOf(field->name(), {"tracker", "body"});
          const uint32_t other = field->name() == "beams" ? 3 : 0;  // `shape`: all have the first
          reflection.AddUInt32(&question, field, is_index ? static_cast<uint32_t>(i) : other);
        }
      }
    }
  }
}

// The bytes of each answer to requests of a method, as they arrive.
std::vector<std::string> AnswersAsBytes(TestServer& server, const std::string& method,
                                        const std::vector<std::string>& requests) {
  grpc::GenericStub stub(server.channel());
  Context context;
  grpc::CompletionQueue queue;
  const auto await = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(&context, "/carom.v1.QueryService/" + method, &queue);
  call->StartCall(nullptr);
  EXPECT_TRUE(await());
  std::vector<std::string> answers;
  for (const std::string& request : requests) {
    const grpc::Slice slice(request);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    EXPECT_TRUE(await());
    grpc::ByteBuffer bytes;
    call->Read(&bytes, nullptr);
    if (!await()) break;
    std::vector<grpc::Slice> pieces;
    EXPECT_TRUE(bytes.Dump(&pieces).ok());
    std::string& answer = answers.emplace_back();
    for (const grpc::Slice& piece : pieces) {
      answer.append(reinterpret_cast<const char*>(piece.begin()), piece.size());
    }
  }
  call->WritesDone(nullptr);
  EXPECT_TRUE(await());
  grpc::Status status;
  call->Finish(&status, nullptr);
  EXPECT_TRUE(await());
  EXPECT_TRUE(status.ok()) << status.error_message();
  return answers;
}

// `bytes` as a message, of which they are what protobuf writes.
v1::FrameAnswer Canonical(const std::string& bytes, const v1::Frame& asked) {
  v1::StreamResponse response;  // EvaluateResponse is a part of it
  EXPECT_TRUE(response.ParseFromString(bytes)) << asked.DebugString();
  EXPECT_EQ(response.SerializeAsString(), bytes) << asked.DebugString();
  return response.answer();
}

// Groups with every field of `v1::Group`, alone and in pairs, with none, one, two and many items.
class EveryGroup {
 public:
  EveryGroup() {
    const google::protobuf::Descriptor& type = *v1::Group::descriptor();
    for (int f = 0; f < type.field_count(); ++f) {
      // The scene is given; a body set must be defined first (body_sets_test.cc).
      if (!IsOneOf(type.field(f)->name(),
                   {"scene", "scene_handle", "body_set", "body_set_rotation", "version_at_tick"})) {
        fields_.push_back(type.field(f));
      }
    }
  }

  // Frames of `groups_a_frame` groups, which define the trackers that moves name. Each call gives
  // edits new ids.
  std::vector<v1::Frame> Frames(int groups_a_frame) {
    std::vector<v1::Frame> frames;
    for (const FieldDescriptor* a : fields_) {
      for (const FieldDescriptor* b : fields_) {
        for (const int count : kCounts) {
          if (b->number() < a->number()) continue;
          if (frames.empty() || frames.back().groups_size() == groups_a_frame) {
            Define(frames.emplace_back());
          }
          v1::Group& group = *frames.back().add_groups();
          group.set_scene("scenes/f");
          Set(a, count, group);
          if (a != b) Set(b, count, group);
        }
      }
    }
    return frames;
  }

 private:
  static void Define(v1::Frame& frame) {
    v1::TrackerDefinitions& trackers = *frame.add_trackers();
    *trackers.add_shapes()->mutable_polygon() = FromText<v1::Polygon>(Square(0, 0, 0));
    for (uint32_t i = 0; i < 40; ++i) {
      trackers.add_tracker(i);
      trackers.add_shape(0);
    }
  }
  void Set(const FieldDescriptor* field, int count, v1::Group& group) {
    const Reflection& reflection = *group.GetReflection();
    if (field->name() == "edits") {
      v1::GroupEdits& edits = *group.mutable_edits();
      edits.set_edit_id(absl::StrCat("e", ++edit_id_));
      if (count == 0) edits.clear_edit_id();  // refused
    } else if (field->name() == "min_version") {
      group.set_min_version(1);
    } else if (field->name() == "version") {
      group.set_version(count == 0 ? 0 : 1'000'000);  // refused: there is none
    } else {
      Fill(field->name(), count, *reflection.MutableMessage(&group, field));
    }
  }

  std::vector<const FieldDescriptor*> fields_;
  int edit_id_ = 0;
};

// Makes `scenes/f`, a fork of `scenes/a`, which has a square with the id 7.
void MakeFork(TestServer& server) {
  server.Create("a", {Square(7, 0, 0)});
  Context context;
  v1::ForkSceneResponse fork;
  const auto request = FromText<v1::ForkSceneRequest>("base: 'scenes/a' name: 'scenes/f'");
  ASSERT_TRUE(server.scenes().ForkScene(&context, request, &fork).ok());
}

// A group with edits that have an `edit_id` and no edits is legal: it makes a new version with the
// same polygons. Beside a few segments and nothing else, its answer was no protobuf message, as its
// size counted `edited_version` and its bytes did not have it.
TEST(GroupAnswerTest, EmptyEditsBesideSegmentsAreAnsweredByAMessage) {
  TestServer server;
  MakeFork(server);

  int edit_id = 0;
  const auto frame = [&](const std::vector<bool>& has_edits) {
    std::string text;
    for (const bool has : has_edits) {
      absl::StrAppend(&text, "groups { scene: 'scenes/f' segments { ax: -5 ay: 0 bx: 5 by: 0 }");
      if (has) absl::StrAppend(&text, " edits { edit_id: 'e", ++edit_id, "' }");
      absl::StrAppend(&text, " }");
    }
    return text;
  };
  const std::vector<std::vector<bool>> frames = {
      {true}, {true, true}, {false, true, false, false}, {false, false, true, true, false}};
  for (const std::vector<bool>& has_edits : frames) {
    const v1::FrameAnswer unary = server.Ask(frame(has_edits));
    Context context;
    const auto stream = server.queries().Stream(&context);
    const std::string text = absl::StrCat("frame { ", frame(has_edits), " }");
    ASSERT_TRUE(stream->Write(FromText<v1::StreamRequest>(text)));
    v1::StreamResponse streamed;
    ASSERT_TRUE(stream->Read(&streamed));
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    for (const v1::FrameAnswer* answer : {&unary, &std::as_const(streamed).answer()}) {
      ASSERT_EQ(answer->groups_size(), static_cast<int>(has_edits.size()));
      for (int i = 0; i < answer->groups_size(); ++i) {
        const v1::GroupAnswer& group = answer->groups(i);
        EXPECT_THAT(group.segments().polygon_id(), ElementsAre(7)) << group.DebugString();
        EXPECT_NE(group.version(), 0);
        const bool has = has_edits[static_cast<size_t>(i)];
        EXPECT_EQ(group.edited_version(), has ? group.version() : 0) << i;
      }
    }
  }
}

// A group is cast in one batch with its neighbors if segments are all that it asks. Whether another
// kind asks anything is counted by one of its columns, so a group whose other columns have entries
// counts as one of segments alone: its error must be that of the group by itself.
TEST(GroupAnswerTest, ColumnsThatDoNotFitAreAnErrorBesideSegmentsThatAreCastTogether) {
  TestServer server;
  server.Create("a", {Square(7, 0, 0)});
  const std::string group =
      "groups { scene: 'scenes/a' segments { ax: -5 ay: 0 bx: 5 by: 0 } circles { radius: 1 } }";
  for (const int count : {1, 2, 5}) {
    std::string text;
    for (int i = 0; i < count; ++i) absl::StrAppend(&text, group);
    const v1::FrameAnswer answer = server.Ask(text);
    ASSERT_EQ(answer.groups_size(), count);
    for (const v1::GroupAnswer& each : answer.groups()) {
      EXPECT_EQ(each.status().code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(each.status().message(), ::testing::HasSubstr("circles"));
    }
  }
}

// Every field of a group, alone and beside every other one: unary and alone, then streamed among
// others, as bytes.
TEST(GroupAnswerTest, EveryPairOfFieldsIsAnsweredByTheBytesOfAMessage) {
  TestServer server;
  MakeFork(server);
  EveryGroup every;
  const std::vector<v1::Frame> alone = every.Frames(1);
  const std::vector<v1::Frame> together = every.Frames(8);
  std::vector<v1::GroupAnswer> expected;
  std::set<std::string> answered;
  for (const v1::Frame& frame : alone) {
    v1::EvaluateRequest request;
    *request.mutable_frame() = frame;
    const std::vector<std::string> bytes =
        AnswersAsBytes(server, "Evaluate", {request.SerializeAsString()});
    ASSERT_EQ(bytes.size(), 1u);
    const v1::FrameAnswer answer = Canonical(bytes[0], frame);
    ASSERT_EQ(answer.groups_size(), 1);
    expected.push_back(answer.groups(0));
    const v1::Group& group = frame.groups(0);
    const bool is_bad =
        group.version() != 0 || (group.has_edits() && group.edits().edit_id().empty());
    EXPECT_EQ(answer.groups(0).has_status(), is_bad) << answer.groups(0).status().message();
    std::vector<const FieldDescriptor*> fields;
    expected.back().GetReflection()->ListFields(expected.back(), &fields);
    for (const FieldDescriptor* field : fields) answered.insert(field->name());
  }
  // No field of an answer was left out.
  for (int f = 0; f < v1::GroupAnswer::descriptor()->field_count(); ++f) {
    const std::string& name = v1::GroupAnswer::descriptor()->field(f)->name();
    EXPECT_TRUE(answered.contains(name)) << name;
  }

  std::vector<std::string> requests;
  for (const v1::Frame& frame : together) {
    v1::StreamRequest request;
    *request.mutable_frame() = frame;
    requests.push_back(request.SerializeAsString());
  }
  const std::vector<std::string> bytes = AnswersAsBytes(server, "Stream", requests);
  ASSERT_EQ(bytes.size(), together.size());
  size_t index = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const v1::FrameAnswer answer = Canonical(bytes[i], together[i]);
    ASSERT_EQ(answer.groups_size(), together[i].groups_size());
    for (int g = 0; g < answer.groups_size(); ++g, ++index) {
      // The versions that edits of the fork make differ.
      v1::GroupAnswer streamed = answer.groups(g);
      v1::GroupAnswer unary = expected[index];
      for (v1::GroupAnswer* each : {&streamed, &unary}) {
        each->set_version(each->version() != 0);
        each->set_edited_version(each->edited_version() != 0);
      }
      EXPECT_EQ(streamed.DebugString(), unary.DebugString()) << together[i].groups(g).DebugString();
    }
  }
  EXPECT_EQ(index, expected.size());
}

}  // namespace
}  // namespace carom::server
