// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Recordings of streams: they have every frame, answer and scene, and stay within their bounds.
#include "server/query/recorder.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "carom/bundle.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/delimited_message_util.h"
#include "gtest/gtest.h"
#include "server/fixture.h"

namespace carom::server {
namespace {

using v1::RecordingEnd;

std::vector<v1::RecordingEntry> ReadRecording(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream input(&file);
  std::vector<v1::RecordingEntry> entries;
  bool clean_end = false;
  while (!clean_end) {
    v1::RecordingEntry entry;
    if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&entry, &input, &clean_end)) {
      break;
    }
    entries.push_back(std::move(entry));
  }
  EXPECT_TRUE(clean_end) << path;
  return entries;
}

std::set<std::filesystem::path> RecordingsIn(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) found.insert(entry.path());
  return found;
}

class RecorderTest : public ::testing::Test {
 protected:
  ServerOptions Options() const {
    ServerOptions options;
    options.record = folder_ / "recordings";
    return options;
  }
  static void CreateScene(TestServer& server, uint64_t id) {
    Context context;
    v1::CreateSceneResponse response;
    ASSERT_TRUE(server.scenes()
                    .CreateScene(&context,
                                 FromText<v1::CreateSceneRequest>(absl::StrCat(
                                     R"(name: "scenes/a" polygons { )", Square(id, 0, 0), " }")),
                                 &response)
                    .ok());
  }
  // Sends `count` frames, one after the other, and returns the answers.
  static std::vector<v1::FrameAnswer> Play(TestServer& server, int count) {
    Context context;
    const auto stream = server.queries().Stream(&context);
    std::vector<v1::FrameAnswer> answers;
    for (int i = 0; i < count; ++i) {
      v1::StreamRequest request = FromText<v1::StreamRequest>(R"(
          frame { groups { scene: "scenes/a" segments { ax: -5 ay: 0 bx: 5 by: 0 } } })");
      request.mutable_frame()->set_seq(static_cast<uint64_t>(i) + 1);
      v1::StreamResponse response;
      EXPECT_TRUE(stream->Write(request) && stream->Read(&response));
      answers.push_back(response.answer());
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    return answers;
  }

  TemporaryFolder folder_;
};

TEST_F(RecorderTest, RecordingHasFramesAnswersAndScenes) {
  std::vector<v1::FrameAnswer> answers;
  {
    TestServer server(Options());
    CreateScene(server, 7);
    answers = Play(server, 3);
  }
  const auto files = RecordingsIn(Options().record);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(std::filesystem::status(*files.begin()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::vector<v1::RecordingEntry> entries = ReadRecording(*files.begin());
  ASSERT_EQ(entries.size(), 6u);  // header, scene, three frames, end
  EXPECT_GT(entries[0].header().begin_us(), 0);
  EXPECT_EQ(entries[1].scene().name(), "scenes/a");
  const auto scene = ReadBundle(entries[1].scene().bundle());
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_NE((*scene)->Find(7), nullptr);
  for (int i = 0; i < 3; ++i) {
    const v1::RecordedFrame& frame = entries[static_cast<size_t>(i) + 2].frame();
    EXPECT_EQ(frame.frame().seq(), static_cast<uint64_t>(i) + 1);
    EXPECT_EQ(frame.answer().SerializeAsString(),
              answers[static_cast<size_t>(i)].SerializeAsString());
    EXPECT_EQ(frame.answer().groups(0).version(), entries[1].scene().version());
  }
  EXPECT_EQ(entries[5].end().reason(), RecordingEnd::REASON_STREAM_ENDED);
}

TEST_F(RecorderTest, OldRecordingsMakeRoomForOthers) {
  std::filesystem::create_directories(Options().record);
  for (const char* name : {"stream-1.carec", "stream-2.carec"}) {
    std::ofstream(std::filesystem::path(Options().record) / name) << std::string(1800 << 10, 'x');
  }
  std::ofstream(std::filesystem::path(Options().record) / "note.txt")
      << std::string(400 << 10, 'x');
  auto recorder = Recorder::Start({.folder = Options().record, .max_bytes = 4 << 20});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  {
    const auto recording = (*recorder)->Begin();
    auto frame = std::make_unique<AnsweredFrame>();
    frame->frame.mutable_groups()->Add()->set_scene(std::string(900 << 10, 'y'));
    recording->Add(std::move(frame));
  }
  recorder->reset();
  const auto files = RecordingsIn(Options().record);
  EXPECT_EQ(files.size(), 3u);  // one of the old ones, the text, and the recording
  EXPECT_TRUE(files.contains(std::filesystem::path(Options().record) / "note.txt"));
}

// One recording may have a quarter of the bytes of the folder.
TEST_F(RecorderTest, RecordingEndsWhereItsPartIsFull) {
  auto recorder = Recorder::Start({.folder = Options().record, .max_bytes = 4 << 20});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  {
    const auto recording = (*recorder)->Begin();
    for (int i = 0; i < 5; ++i) {
      auto frame = std::make_unique<AnsweredFrame>();
      frame->frame.mutable_groups()->Add()->set_scene(std::string(300 << 10, 'y'));
      recording->Add(std::move(frame));
    }
  }
  recorder->reset();
  const auto files = RecordingsIn(Options().record);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_LE(std::filesystem::file_size(*files.begin()), (1u << 20) + 16);
  const auto entries = ReadRecording(*files.begin());
  ASSERT_EQ(entries.size(), 5u);  // header, three frames, end
  EXPECT_EQ(entries.back().end().reason(), RecordingEnd::REASON_FULL);
}

TEST_F(RecorderTest, NumberOfRecordingsAndWaitingBytesAreBounded) {
  auto recorder = Recorder::Start({.folder = Options().record});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::vector<std::shared_ptr<Recording>> recordings;
  for (size_t i = 0; i < Recorder::kMaxRecordings; ++i) {
    recordings.push_back((*recorder)->Begin());
    ASSERT_NE(recordings.back(), nullptr);
  }
  EXPECT_EQ((*recorder)->Begin(), nullptr);
  recordings.pop_back();
  EXPECT_TRUE(Eventually([&] {
    std::shared_ptr<Recording> another = (*recorder)->Begin();
    return another != nullptr;
  }));
  auto large = std::make_unique<AnsweredFrame>();
  large->frame.mutable_groups()->Add()->set_scene(std::string(Recorder::kMaxWaitingBytes, 'y'));
  recordings[0]->Add(std::move(large));
  recordings.clear();
  recorder->reset();
  EXPECT_TRUE(RecordingsIn(Options().record).empty());  // no frame was written
}

// What cannot fit deletes nothing, and a frame whose scene is missing ends the recording.
TEST_F(RecorderTest, RecordingEndsWhereAFrameCannotBeKept) {
  std::filesystem::create_directories(Options().record);
  const std::filesystem::path old = std::filesystem::path(Options().record) / "stream-1.carec";
  std::ofstream(old) << std::string(1000, 'x');
  auto recorder = Recorder::Start({.folder = Options().record, .max_bytes = 4 << 20});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (const bool is_large : {true, false}) {
    const auto recording = (*recorder)->Begin();
    for (int i = 0; i < 2; ++i) {
      auto frame = std::make_unique<AnsweredFrame>();
      if (i == 1 && is_large) {
        frame->frame.mutable_groups()->Add()->set_scene(std::string(5 << 20, 'y'));
      }
      frame->is_complete = i == 0 || is_large;
      recording->Add(std::move(frame));
    }
  }
  recorder->reset();
  EXPECT_TRUE(std::filesystem::exists(old));
  std::vector<int> reasons;
  for (const auto& file : RecordingsIn(Options().record)) {
    if (file == old) continue;
    const auto entries = ReadRecording(file);
    ASSERT_EQ(entries.size(), 3u);  // header, frame, end
    reasons.push_back(entries.back().end().reason());
  }
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre(RecordingEnd::REASON_FULL,
                                                       RecordingEnd::REASON_MISSING_SCENE));
}

TEST_F(RecorderTest, FolderThatCannotBeMadeIsRefused) {
  std::ofstream(folder_ / "file") << "x";
  const auto recorder = Recorder::Start({.folder = folder_ / "file/recordings"});
  EXPECT_EQ(recorder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(recorder.status().message()), ::testing::HasSubstr("record"));
}

}  // namespace
}  // namespace carom::server
