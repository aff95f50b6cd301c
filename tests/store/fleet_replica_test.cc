// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Servers of a fleet that are killed, stand still or are cut off while others go on: what clients
// get meanwhile, and what the servers have afterwards.
#include <signal.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "carom/stream.h"
#include "server/store/etcd/etcd_follower.h"
#include "tests/store/fleet_fixture.h"
#include "tests/support/answer_words.h"
#include "tests/support/process.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::Repeats;
using carom::testing::ServerProcess;
using carom::testing::Words;
using carom::testing::WordsOf;

constexpr char kScene[] = "scenes/a";

// Questions of four kinds to a row of squares, of which `set` chooses a part.
class Questions {
 public:
  explicit Questions(size_t set) {
    for (size_t i = 0; i < 24; ++i) {
      const double x = 0.37 * static_cast<double>(i + 5 * set);
      x_.push_back(x);
      y_.push_back(0.05 * static_cast<double>(i));
      ax_.push_back(-1 - x);
      ay_.push_back(0.04 * static_cast<double>(i));
      bx_.push_back(40 + x);
      radii_.push_back(0.1 * static_cast<double>(1 + i % 9));
    }
    group.points = {.x = x_, .y = y_};
    group.segments = {.ax = ax_, .ay = ay_, .bx = bx_, .by = y_};
    group.cast_options.mode = CastMode::kAll;
    group.circles = {.x = x_, .y = y_, .radius = radii_};
    group.rays = {.x = x_, .y = y_, .dx = radii_, .dy = ay_};
  }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  Group group;

 private:
  std::vector<double> x_, y_, ax_, ay_, bx_, radii_;
};

// The squares 0 … count-1 of the scene that `OrderedWriter` makes.
Polygon SquareOf(uint64_t id) { return SquareAt(id, 0.7 * static_cast<double>(id)); }

// What the library answers when the scene has so many squares.
std::vector<Words> AnswerOfLibrary(uint64_t count, const Group& group) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < count; ++id) polygons.push_back(SquareOf(id));
  const auto scene = Scene::Create(std::move(polygons));
  GroupAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(EvaluateGroup(**scene, group, answers, meter).ok());
  return WordsOf(answers);
}

using QuestionSets = std::vector<std::unique_ptr<Questions>>;

QuestionSets MakeQuestionSets() {
  QuestionSets sets;
  for (size_t i = 0; i < 8; ++i) sets.push_back(std::make_unique<Questions>(i));
  return sets;
}

// Adds one square after the other, whichever server is there, and knows how many each version has.
class OrderedWriter {
 public:
  OrderedWriter(Client& client, uint64_t first_version)
      : client_(client), last_(first_version), counts_{{first_version, 0}} {}

  void Run(const std::atomic<bool>& stop) {
    for (uint64_t id = 0; !stop; ++id) {
      const std::vector<SceneEdit> edits{AddPolygon{SquareOf(id)}};
      absl::StatusOr<SceneSummary> made = client_.CommitEdits(kScene, 0, edits);
      while (absl::IsUnavailable(made.status()) || absl::IsUnknown(made.status())) {
        made = client_.CommitEdits(kScene, 0, edits);
      }
      // Made, and its answer was lost: the history says as which version.
      if (absl::IsAlreadyExists(made.status())) made = Find(id + 1);
      ASSERT_TRUE(made.ok()) << made.status();
      last_ = made->version;
      counts_[made->version] = id + 1;
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  uint64_t last() const { return last_; }
  // Squares by version; once it has stopped.
  const std::map<uint64_t, uint64_t>& counts() const { return counts_; }

 private:
  absl::StatusOr<SceneSummary> Find(uint64_t count) {
    while (true) {
      const auto versions = client_.ListSceneVersions(kScene);
      if (!versions.ok() && !absl::IsUnavailable(versions.status())) return versions.status();
      if (!versions.ok()) continue;
      for (const SceneVersion& version : *versions) {
        if (version.scene.polygon_count == count) return version.scene;
      }
      // The server that was asked is behind the one that has refused.
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  Client& client_;
  std::atomic<uint64_t> last_;
  std::map<uint64_t, uint64_t> counts_;
};

// Sends frames ahead on one stream, and keeps the whole answer of each version and set of
// questions, which is the same from whichever server it comes.
class StreamReader {
 public:
  static constexpr size_t kAhead = 6;

  StreamReader(Client& client, const QuestionSets& sets)
      : sets_(sets), stream_(client.OpenStream({.max_in_flight = kAhead})) {}

  void Run(const OrderedWriter& writer, const std::atomic<bool>& stop) {
    std::map<uint64_t, uint64_t> least;  // versions that were asked for, by frame
    for (uint64_t seq = 0, received = 0;; ++seq) {
      Frame frame;
      frame.seq = seq;
      frame.budget_us = 30000000;
      if (seq == 0) frame.bindings.push_back({1, kScene});
      // Every other frame asks for what was written last, and the others for no less than was read.
      least[seq] = seq % 2 == 0 ? writer.last() : newest_;
      frame.groups.push_back({.scene = uint64_t{1},
                              .min_version = least[seq],
                              .group = sets_[seq % sets_.size()]->group});
      ASSERT_TRUE(stream_->Send(frame).ok());
      for (; received + kAhead <= seq + 1 || (stop && received <= seq); ++received) {
        const auto answer = stream_->Receive();
        ASSERT_TRUE(answer.ok()) << answer.status();
        ASSERT_EQ(answer->seq, received);
        Take(*answer, least[received]);
        least.erase(received);
      }
      if (stop) break;
    }
    EXPECT_TRUE(stream_->Finish().ok());
  }

  uint64_t answers() const { return answers_; }
  uint64_t reconnects() const { return stream_->reconnects(); }
  uint64_t refused() const { return refused_; }
  const std::map<std::pair<uint64_t, size_t>, std::vector<Words>>& seen() const { return seen_; }

 private:
  void Take(FrameAnswer answer, uint64_t least) {
    ++answers_;
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    ASSERT_EQ(answer.groups.size(), 1u);
    GroupResult& result = answer.groups[0];
    if (!result.status.ok()) {
      // A server that is cut off for longer than the budget; never a wrong answer.
      EXPECT_TRUE(absl::IsUnavailable(result.status)) << result.status;
      ++refused_;
      return;
    }
    EXPECT_GE(result.answers.version, least);
    newest_ = std::max(newest_, result.answers.version);
    std::vector<Words> words = WordsOf(result.answers);
    const auto [it, is_new] =
        seen_.try_emplace({result.answers.version, answer.seq % sets_.size()}, words);
    EXPECT_TRUE(is_new || it->second == words) << "version " << result.answers.version;
  }

  const QuestionSets& sets_;
  const std::unique_ptr<Stream> stream_;
  std::atomic<uint64_t> answers_{0};
  uint64_t newest_ = 0;
  uint64_t refused_ = 0;
  std::map<std::pair<uint64_t, size_t>, std::vector<Words>> seen_;
};

using Readers = std::vector<std::unique_ptr<StreamReader>>;

// Waits until each has received so many answers more.
bool EachHasMore(const Readers& readers, uint64_t answers) {
  std::vector<uint64_t> wanted;
  for (const auto& reader : readers) wanted.push_back(reader->answers() + answers);
  return Eventually([&] {
    for (size_t i = 0; i < readers.size(); ++i) {
      if (readers[i]->answers() < wanted[i]) return false;
    }
    return true;
  });
}

// All that was answered, frame by frame, with what the library has for the same version.
void CompareWithLibrary(const Readers& readers, const OrderedWriter& writer,
                        const QuestionSets& sets) {
  uint64_t answers = 0, reconnects = 0, refused = 0;
  std::map<std::pair<uint64_t, size_t>, std::vector<Words>> expected;  // by count and set
  std::set<uint64_t> versions;
  for (const auto& reader : readers) {
    answers += reader->answers();
    reconnects += reader->reconnects();
    refused += reader->refused();
    for (const auto& [of, words] : reader->seen()) {
      const auto count = writer.counts().find(of.first);
      ASSERT_NE(count, writer.counts().end()) << "version " << of.first << " was never made";
      std::vector<Words>& whole = expected[{count->second, of.second}];
      if (whole.empty()) whole = AnswerOfLibrary(count->second, sets[of.second]->group);
      EXPECT_TRUE(words == whole) << "version " << of.first << ", questions " << of.second;
      versions.insert(of.first);
    }
  }
  std::printf("%llu answers of %zu versions, %llu without a server in time, %llu reconnects\n",
              static_cast<unsigned long long>(answers), versions.size(),
              static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(reconnects));
  EXPECT_GT(versions.size(), 4u);
  EXPECT_GT(reconnects, 3u);
  EXPECT_LT(refused, answers / 10);
}

class FleetReplicaTest : public FleetTest {
 protected:
  std::unique_ptr<ServerProcess> StartServer(int i, const std::string& threads = "1") {
    const char* binary = std::getenv("CAROMD_BINARY");
    EXPECT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
    if (binary == nullptr) return nullptr;
    return ServerProcess::Start(
        binary, {"--store", etcd_->Url(), "--threads", threads, "--history-versions", "1024"}, 60.0,
        absl::StrCat("unix:", folder_ / "socket", i));
  }
};

// Streams go on at another server when theirs is killed. Each answer is, whole and to the bit, what
// the library answers in the version that it names, which is no older than what was asked for.
TEST_F(FleetReplicaTest, StreamsOverServersThatAreKilled) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  std::vector<std::unique_ptr<ServerProcess>> servers;
  for (int i = 0; i < 2; ++i) ASSERT_NE(servers.emplace_back(StartServer(i)), nullptr);
  const std::string addresses = absl::StrCat(servers[0]->address(), ",", servers[1]->address());
  const auto client = Client::Connect(addresses).value();
  const auto made = client->CreateScene(kScene, {});
  ASSERT_TRUE(made.ok()) << made.status();
  const QuestionSets sets = MakeQuestionSets();
  OrderedWriter writer(*client, made->version);
  std::vector<std::unique_ptr<Client>> clients;
  Readers readers;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(Client::Connect(addresses, {.own_connection = true}).value());
    readers.push_back(std::make_unique<StreamReader>(*clients.back(), sets));
  }
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  auto join = absl::MakeCleanup([&] {
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
  threads.emplace_back([&] { writer.Run(stop); });
  for (auto& reader : readers) threads.emplace_back([&] { reader->Run(writer, stop); });
  for (size_t round = 0; round < static_cast<size_t>(Repeats(4, 60)); ++round) {
    // On a host that is busy, frames may be many and commits few.
    const uint64_t last = writer.last();
    ASSERT_TRUE(Eventually([&] { return writer.last() >= last + 5; }));
    ASSERT_TRUE(EachHasMore(readers, 50));
    kill(servers[round % 2]->pid(), SIGKILL);
    servers[round % 2].reset();
    ASSERT_TRUE(EachHasMore(readers, 30));
    servers[round % 2] = StartServer(static_cast<int>(round % 2));
    ASSERT_NE(servers[round % 2], nullptr);
  }
  std::move(join).Invoke();
  CompareWithLibrary(readers, writer, sets);
}

// A server stands still, alive, while others change much and etcd is compacted: it cannot be
// brought what it has not heard, and reads all there is when it goes on.
TEST_F(FleetReplicaTest, CompactionWhileAServerStandsStill) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url());
  const auto process = StartServer(0);
  ASSERT_NE(process, nullptr);
  const auto b = Client::Connect(process->address()).value();
  const auto sees = [&](const char* name, uint64_t version) {
    return Eventually([&] {
      const auto scene = b->GetScene(name);
      return scene.ok() ? version != 0 && scene->version >= version
                        : version == 0 && absl::IsNotFound(scene.status());
    });
  };
  for (const char* name : {"scenes/a", "scenes/b", "scenes/c"}) {
    ASSERT_TRUE(a.client->CreateScene(name, std::vector<Polygon>{SquareAt(0, 0)}).ok());
    ASSERT_TRUE(sees(name, a.Version(name)));
  }
  kill(process->pid(), SIGSTOP);
  const auto go_on = absl::MakeCleanup([&] { kill(process->pid(), SIGCONT); });
  // More than the buffers between the two take.
  for (uint64_t id = 1; id <= 300; ++id) {
    const std::vector<SceneEdit> edits{AddPolygon{Comb(id, 3000)}};
    const auto made = a.client->CommitEdits(kScene, 0, edits);
    ASSERT_TRUE(made.ok()) << made.status();
  }
  ASSERT_TRUE(a.client->DeleteScene("scenes/b").ok());
  ASSERT_TRUE(a.client->CreateScene("scenes/d", std::vector<Polygon>{SquareAt(7, 3)}).ok());
  ASSERT_TRUE(etcd_->Compact());
  kill(process->pid(), SIGCONT);
  EXPECT_TRUE(sees("scenes/d", a.Version("scenes/d")));
  EXPECT_TRUE(sees(kScene, a.Version(kScene)));
  EXPECT_TRUE(sees("scenes/b", 0));
  const Questions questions(1);
  for (const char* name : {"scenes/a", "scenes/c", "scenes/d"}) {
    std::vector<Words> answers[2];
    for (Client* client : {a.client.get(), b.get()}) {
      Frame frame;
      frame.groups.push_back({.scene = name, .group = questions.group});
      auto answer = client->Evaluate(frame);
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
      answers[client == b.get()] = WordsOf(answer->groups[0].answers);
    }
    EXPECT_TRUE(answers[0] == answers[1]) << name;
  }
  const std::vector<SceneEdit> edits{AddPolygon{SquareAt(1000000, 5)}};
  absl::StatusOr<SceneSummary> made;
  EXPECT_TRUE(Eventually([&] { return (made = b->CommitEdits("scenes/c", 0, edits)).ok(); }))
      << made.status();
  EXPECT_TRUE(a.Sees("scenes/c", made->version));
}

// Story: a backup that was restored, with the id of the cluster before, and has passed the
// revisions of that by the time that a server asks again, was taken for the same cluster: its
// server went on with what the backup had never had. Now a watch begins with the last change that
// is here, which is not there.
class RestoredBackupTest : public FleetReplicaTest, public ::testing::WithParamInterface<bool> {};

TEST_P(RestoredBackupTest, ThatHasPassedTheRevisionsOfBefore) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica b(ProxiedUrl());
  ASSERT_TRUE(b.client->CreateScene("scenes/a", {}).ok());
  ASSERT_TRUE(b.Add("scenes/a", 1).ok());
  ASSERT_TRUE(b.client->CreateScene("scenes/b", std::vector<Polygon>{SquareAt(0, 0)}).ok());
  const std::string backup = folder_ / "backup";
  ASSERT_NE(etcd_->Control({"snapshot", "save", backup}), "");
  for (uint64_t id = 2; id < 10; ++id) ASSERT_TRUE(b.Add("scenes/a", id).ok());
  ASSERT_TRUE(b.client->CreateScene("scenes/c", {}).ok());
  ASSERT_TRUE(b.client->DeleteScene("scenes/b").ok());
  const int64_t revision = etcd_->Revision();
  absl::SleepFor(2 * EtcdFollower::kProbeInterval);  // so that b knows that it has all
  Cut();
  etcd_->Kill(0);
  etcd_->Wipe(0);
  ASSERT_TRUE(etcd_->Restore(0, backup));
  etcd_->Restart(0);
  ASSERT_TRUE(etcd_->AwaitLeader());
  ASSERT_LT(etcd_->Revision(), revision);
  FleetReplica a(etcd_->Url());
  for (uint64_t id = 100; etcd_->Revision() < revision + 20; ++id) {
    ASSERT_TRUE(a.Add("scenes/a", id).ok());
  }
  if (GetParam()) {
    ASSERT_TRUE(etcd_->Compact());
  }
  Mend();
  EXPECT_TRUE(Eventually([&] { return b.TakesChanges() && b.Staleness() < 1000000; }));
  EXPECT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  EXPECT_TRUE(Eventually([&] { return b.Version("scenes/c") == 0; }));
  EXPECT_TRUE(Eventually([&] { return b.Version("scenes/b") == a.Version("scenes/b"); }));
  EXPECT_EQ(b.Squares("scenes/a"), a.Squares("scenes/a"));
  EXPECT_EQ(b.Answer("scenes/a"), a.Answer("scenes/a"));
  const auto made = b.Add("scenes/b", 50);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(a.Sees("scenes/b", *made));
}

INSTANTIATE_TEST_SUITE_P(CompactedOrNot, RestoredBackupTest, ::testing::Bool());

}  // namespace
}  // namespace carom::server
