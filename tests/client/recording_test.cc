// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Recordings: what `StreamOptions::record` writes, what `RecordingReader` and `carom record` read,
// and files that are cut short or hostile.
#include "carom/recording.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "carom/stream.h"
#include "tests/client/fixture.h"
#include "tests/support/process.h"

namespace carom {
namespace {

using carom::testing::ProcessResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kRecordedScene[] = "scenes/arena";
constexpr uint64_t kRecordedHandle = 3;

// The entries of a file until its end, or until the damage, whose error is `damage`.
struct ReadFile {
  std::vector<RecordingEntry> entries;
  absl::Status damage;
};

ReadFile ReadRecording(const std::string& path) {
  ReadFile read;
  auto reader = RecordingReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return read;
  auto entry = (*reader)->Next();
  for (; entry.ok() && entry->has_value(); entry = (*reader)->Next()) {
    read.entries.push_back(**std::move(entry));
  }
  read.damage = entry.status();
  // The error stays.
  EXPECT_EQ((*reader)->Next().status(), read.damage);
  return read;
}

class RecordingTest : public ClientTest {
 protected:
  void SetUp() override {
    server::ServerOptions options;
    options.record = folder_ / "records";
    StartServer(options);
    ASSERT_TRUE(client_->CreateScene(kRecordedScene, Squares(50)).ok());
  }

  // Sends `count` frames of two points and a segment, the first of which binds the handle, and a
  // frame that the server refuses.
  void Play(const StreamOptions& options, uint64_t count) {
    std::unique_ptr<Stream> stream = client_->OpenStream(options);
    const std::vector<double> x{0.5, 2.5};
    const std::vector<double> y{0.5, 0.5};
    const std::vector<double> one{0};
    for (uint64_t seq = 1; seq <= count; ++seq) {
      Frame frame;
      frame.seq = seq;
      if (seq == 1) frame.bindings.push_back({kRecordedHandle, kRecordedScene});
      frame.groups.resize(1);
      frame.groups[0].scene = kRecordedHandle;
      frame.groups[0].group.points = {x, y};
      frame.groups[0].group.segments = {one, one, one, one};
      ASSERT_TRUE(stream->Send(frame).ok());
      const auto answer = stream->Receive();
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_TRUE(answer->status.ok()) << answer->status;
      ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    }
    Frame refused;
    refused.seq = count + 1;
    refused.bindings = {{1, kRecordedScene}, {1, kRecordedScene}};
    ASSERT_TRUE(stream->Send(refused).ok());
    ASSERT_FALSE(stream->Receive()->status.ok());
    ASSERT_TRUE(stream->Finish().ok());
  }

  // The recording of the server, after its last entry is written.
  std::string ServersFile() {
    server_.reset();
    std::string found;
    for (const auto& each : std::filesystem::directory_iterator(folder_ / "records")) {
      found = each.path();
    }
    return found;
  }

  static void ExpectFrames(const ReadFile& read, uint64_t count) {
    uint64_t seq = 0;
    for (const RecordingEntry& entry : read.entries) {
      const auto* frame = std::get_if<RecordedFrame>(&entry);
      if (frame == nullptr) continue;
      EXPECT_EQ(frame->seq, ++seq);
      EXPECT_GT(frame->frame_bytes, 0U);
      EXPECT_EQ(frame->status.ok(), seq <= count);
      EXPECT_EQ(frame->groups.size(), seq <= count ? 1U : 0U);
      if (seq > count) continue;
      EXPECT_EQ(frame->groups[0].scene, kRecordedScene);
      EXPECT_GT(frame->groups[0].version, 0U);
      EXPECT_THAT(frame->groups[0].queries, ElementsAre(Pair("points", 2), Pair("segments", 1)));
    }
    EXPECT_EQ(seq, count + 1);
  }

  ProcessResult Carom(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {Environment("CAROM_BINARY"), "record"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return carom::testing::RunProcess(command, "", 60);
  }
};

TEST_F(RecordingTest, AClientRecordsFramesAndAnswers) {
  const std::string file = folder_.Write("own.carec", "what was here before");
  const auto before = std::chrono::system_clock::now();
  Play({.record = file}, 5);
  const ReadFile read = ReadRecording(file);
  EXPECT_TRUE(read.damage.ok()) << read.damage;
  ASSERT_EQ(read.entries.size(), 8U);
  const auto& header = std::get<RecordingHeader>(read.entries.front());
  EXPECT_EQ(header.server_version, "");
  EXPECT_GE(
      header.begin_us,
      std::chrono::duration_cast<std::chrono::microseconds>(before.time_since_epoch()).count());
  EXPECT_EQ(std::get<RecordingEnd>(read.entries.back()), RecordingEnd::kStreamEnded);
  ExpectFrames(read, 5);
  struct stat about {};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(RecordingTest, AServerRecordsScenesToo) {
  Play({}, 5);
  const std::string file = ServersFile();
  const ReadFile read = ReadRecording(file);
  EXPECT_TRUE(read.damage.ok()) << read.damage;
  ASSERT_EQ(read.entries.size(), 9U);
  const auto& scene = std::get<RecordedScene>(read.entries[1]);
  EXPECT_EQ(scene.name, kRecordedScene);
  EXPECT_GT(scene.bundle_bytes, 0U);
  ExpectFrames(read, 5);
}

// The stream goes on without its recording.
TEST_F(RecordingTest, AFullRecordingEnds) {
  const std::string file = folder_ / "own.carec";
  Play({.record = file, .record_max_bytes = 1200}, 50);
  const ReadFile read = ReadRecording(file);
  EXPECT_TRUE(read.damage.ok()) << read.damage;
  EXPECT_GT(read.entries.size(), 3U);
  EXPECT_LT(read.entries.size(), 20U);
  EXPECT_EQ(std::get<RecordingEnd>(read.entries.back()), RecordingEnd::kFull);
  EXPECT_LT(std::filesystem::file_size(file), 1200U + 10U);
  // Not even the header fits.
  Play({.record = file, .record_max_bytes = 1}, 2);
  EXPECT_EQ(std::filesystem::file_size(file), 0U);
}

TEST_F(RecordingTest, AFileThatCannotBeWrittenEndsTheStream) {
  const auto stream = client_->OpenStream({.record = folder_ / "no/folder.carec"});
  EXPECT_TRUE(Refuses(stream->Receive().status(), absl::StatusCode::kInvalidArgument, "record"));
  EXPECT_TRUE(Refuses(stream->Finish(), absl::StatusCode::kInvalidArgument, "record"));
}

TEST_F(RecordingTest, DamageNamesTheEntry) {
  Play({}, 5);
  const std::string whole = Contents(ServersFile());
  std::minstd_rand random(5);
  for (int i = 0; i < 200; ++i) {
    const size_t end = i < 4 ? static_cast<size_t>(i) : random() % whole.size();
    const ReadFile read = ReadRecording(folder_.Write("cut.carec", whole.substr(0, end)));
    if (read.damage.ok()) continue;  // between two entries
    EXPECT_TRUE(Refuses(read.damage, absl::StatusCode::kDataLoss,
                        absl::StrCat("entries[", read.entries.size(), "]")))
        << end;
  }
  for (int i = 0; i < 500; ++i) {
    std::string changed = whole;
    for (int j = 0; j <= i % 3; ++j)
      changed[random() % changed.size()] = static_cast<char>(random());
    const ReadFile read = ReadRecording(folder_.Write("changed.carec", changed));
    EXPECT_TRUE(read.damage.ok() || absl::IsDataLoss(read.damage)) << i << ": " << read.damage;
  }
  EXPECT_TRUE(absl::IsNotFound(RecordingReader::Open(folder_ / "none").status()));
}

TEST_F(RecordingTest, TheCommandPrintsWhatAFileHas) {
  Play({}, 5);
  const std::string file = ServersFile();
  ProcessResult result = Carom({file});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr(R"("frames":6,"refused":1,"skipped":0,)"));
  EXPECT_THAT(result.standard_output, HasSubstr(R"("end":"stream_ended")"));
  EXPECT_THAT(result.standard_output, HasSubstr(R"("queries":{"points":10,"segments":5})"));
  EXPECT_THAT(result.standard_output,
              HasSubstr(R"("scenes":[{"scene":"scenes/arena","versions":1,"first_version":)"));
  result = Carom({"--frames", file});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(std::count(result.standard_output.begin(), result.standard_output.end(), '\n'), 6);
  EXPECT_THAT(result.standard_output, HasSubstr(R"("status":"INVALID_ARGUMENT","groups":[]})"));

  const std::string whole = Contents(file);
  result = Carom({folder_.Write("cut.carec", whole.substr(0, whole.size() - 6))});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_output, HasSubstr(R"("frames":5,)"));
  EXPECT_THAT(result.standard_error, HasSubstr("DATA_LOSS: entries[7]: "));
  result = Carom({folder_.Write("empty.carec", "")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("entries[0]"));
}

}  // namespace
}  // namespace carom
