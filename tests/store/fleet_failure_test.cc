// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What happens to a fleet when etcd fails: members that die or stand still, a file that is full, a
// backup that is restored, users and passwords; and pages that are swept while they are taken up.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "server/store/etcd/etcd_sweeper.h"
#include "tests/store/fleet_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::EtcdCluster;
using carom::testing::Repeats;
using carom::testing::SplitMix64;

class FleetFailureTest : public FleetTest {
 protected:
  // A journal beside those of the replicas.
  std::unique_ptr<EtcdJournal> OpenJournalOfItsOwn() {
    auto client = EtcdClient::Create({.url = *ParseEtcdUrl(etcd_->Url()),
                                      .password_file = "",
                                      .ca = "",
                                      .certificate = "",
                                      .key = ""});
    return std::make_unique<EtcdJournal>(*std::move(client), EtcdJournalOptions());
  }
  // Whether all that etcd has of all scenes is whole; the names of scenes and their polygons.
  std::map<std::string, std::set<uint64_t>> ReadWhole() {
    std::map<std::string, std::set<uint64_t>> scenes;
    const absl::Status status = OpenJournalOfItsOwn()->Recover([&](SavedScene saved) {
      EXPECT_TRUE(saved.status.ok()) << saved.name << ": " << saved.status;
      for (const Polygon& polygon : saved.polygons) scenes[saved.name].insert(polygon.id());
    });
    EXPECT_TRUE(status.ok()) << status;
    return scenes;
  }
};

// Adds polygons one after the other, each until it is answered, by any of the servers.
class PersistentWriter {
 public:
  PersistentWriter(std::vector<FleetReplica*> replicas, uint64_t first_id)
      : replicas_(std::move(replicas)), next_(first_id) {}

  void Run(const std::atomic<bool>& stop) {
    for (size_t at = next_ % replicas_.size(); !stop;) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(40));
      v1::CommitEditsResponse response;
      const grpc::Status status = replicas_[at]->server->scenes().CommitEdits(
          &context,
          FromText<v1::CommitEditsRequest>(
              absl::StrCat("name: 'scenes/a' edit_id: 'e", next_, "' edits { add { ",
                           Square(next_, static_cast<double>(3 * next_), 0), " } }")),
          &response);
      // One of which nobody knew whether it was made, and whose id the history has lost since then
      // to a thousand others', shows by its polygon.
      const bool is_there = may_be_made_ && status.error_code() == grpc::ALREADY_EXISTS;
      if (status.ok() || is_there) {
        made[next_++] = response.scene().version();
        may_be_made_ = false;
        continue;
      }
      ++errors;
      may_be_made_ = may_be_made_ || status.error_code() == grpc::UNKNOWN;
      EXPECT_TRUE(status.error_code() == grpc::UNAVAILABLE || status.error_code() == grpc::UNKNOWN)
          << status.error_code() << ": " << status.error_message();
      at = (at + 1) % replicas_.size();
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  std::map<uint64_t, uint64_t> made;  // versions by id; 0: not known
  int errors = 0;

 private:
  const std::vector<FleetReplica*> replicas_;
  uint64_t next_;
  bool may_be_made_ = false;
};

// The leader is killed, or stands still, under commits: they go on, and each that was answered is
// there once, also one of whose transaction nothing was heard.
TEST_F(FleetFailureTest, TheLeaderIsKilledOrStandsStill) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(3));
  const auto keep_all = [](ServerOptions& options) { options.history_versions = 1024; };
  FleetReplica a(etcd_->Url(), keep_all), b(etcd_->Url(), keep_all);
  for (int round = 0; round < Repeats(1, 20); ++round) {
    ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
    std::vector<PersistentWriter> writers;
    for (uint64_t i = 0; i < 4; ++i) {
      writers.push_back(PersistentWriter({&a, &b}, 100000 * (i + 1) + i));
    }
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    auto join = absl::MakeCleanup([&] {
      stop = true;
      for (std::thread& thread : threads) thread.join();
    });
    for (PersistentWriter& writer : writers) threads.emplace_back([&] { writer.Run(stop); });
    const auto count = [&] { return a.client->GetScene("scenes/a")->polygon_count; };
    for (const bool kills : {true, false}) {
      absl::SleepFor(absl::Milliseconds(200));
      int leader = -1;  // for a moment there may be none, on a host that is busy
      ASSERT_TRUE(Eventually([&] { return (leader = etcd_->Leader()) >= 0; }));
      if (kills) {
        etcd_->Kill(leader);
      } else {
        etcd_->Suspend(leader);
      }
      absl::SleepFor(absl::Seconds(2));
      const uint64_t before = count();
      EXPECT_TRUE(Eventually([&] { return count() > before; }));
      kills ? etcd_->Restart(leader) : etcd_->Resume(leader);
      ASSERT_TRUE(etcd_->AwaitLeader());
    }
    std::move(join).Invoke();
    std::set<uint64_t> ids;
    uint64_t last = 0;
    for (const PersistentWriter& writer : writers) {
      for (const auto& [id, version] : writer.made) {
        ids.insert(id);
        last = std::max(last, version);
      }
    }
    for (FleetReplica* replica : {&a, &b}) {
      ASSERT_TRUE(replica->Sees("scenes/a", last));
      std::set<uint64_t> there;
      for (const auto& [id, x] : replica->Squares("scenes/a")) there.insert(id);
      EXPECT_EQ(there, ids);
      const auto versions = replica->client->ListSceneVersions("scenes/a");
      ASSERT_TRUE(versions.ok()) << versions.status();
      EXPECT_EQ(versions->size(), std::min<size_t>(ids.size() + 1, 1024));
    }
    EXPECT_EQ(ReadWhole()["scenes/a"], ids);
    std::printf("%zu commits, %d answers of errors\n", ids.size(),
                writers[0].errors + writers[1].errors + writers[2].errors + writers[3].errors);
    ASSERT_TRUE(Eventually(
        [&] { return a.client->DeleteScene("scenes/a").ok() || a.Version("scenes/a") == 0; }));
  }
}

// An etcd that is full refuses; what is there stays, and all goes on when it has room.
TEST_F(FleetFailureTest, AFullEtcd) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1, {"--quota-backend-bytes", "12000000"}));
  FleetReplica a(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  absl::Status full;
  uint64_t next = 0;
  while (full.ok() && next < 10000) {
    std::vector<SceneEdit> edits;
    for (uint64_t i = 0; i < 100; ++i) {
      edits.emplace_back(AddPolygon{SquareAt(next + i, 2.0 * static_cast<double>(next + i), 4000)});
    }
    full = a.client->CommitEdits("scenes/a", 0, edits).status();
    if (full.ok()) next += 100;
  }
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_EQ(a.Squares("scenes/a").size(), next);
  EXPECT_EQ(ReadWhole()["scenes/a"].size(), next);
  etcd_->Kill(0);
  etcd_->set_options({"--quota-backend-bytes", "100000000"});
  etcd_->Restart(0);
  ASSERT_TRUE(etcd_->AwaitLeader());
  ASSERT_NE(etcd_->Control({"alarm", "disarm"}), "");
  EXPECT_TRUE(Eventually([&] { return a.Add("scenes/a", 1000000).ok(); }));
  EXPECT_EQ(ReadWhole()["scenes/a"].size(), next + 1);
}

// A member that has lost its files is replaced by an empty one, while commits go on.
TEST_F(FleetFailureTest, AWipedMember) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(3));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  std::vector<PersistentWriter> writers;
  for (uint64_t i = 0; i < 2; ++i) writers.push_back(PersistentWriter({&a, &b}, 100001 * (i + 1)));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (PersistentWriter& writer : writers) threads.emplace_back([&] { writer.Run(stop); });
  etcd_->Kill(2);
  etcd_->Wipe(2);
  const bool is_replaced = etcd_->Replace(2);
  EXPECT_TRUE(is_replaced);
  if (is_replaced) {
    etcd_->Kill(1);  // the new one is needed from here on
    absl::SleepFor(absl::Seconds(3));
    const uint64_t before = a.client->GetScene("scenes/a")->polygon_count;
    EXPECT_TRUE(Eventually([&] { return a.client->GetScene("scenes/a")->polygon_count > before; }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> ids;
  uint64_t last = 0;
  for (const PersistentWriter& writer : writers) {
    for (const auto& [id, version] : writer.made) {
      ids.insert(id);
      last = std::max(last, version);
    }
  }
  EXPECT_EQ(ReadWhole()["scenes/a"], ids);
  ASSERT_TRUE(a.Sees("scenes/a", last));
  ASSERT_TRUE(b.Sees("scenes/a", last));
  EXPECT_EQ(a.Squares("scenes/a"), b.Squares("scenes/a"));
}

// A cluster that is restored from a backup has other versions: what came after is gone on every
// server, and versions go on from there.
TEST_F(FleetFailureTest, ARestoredBackup) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  ASSERT_TRUE(a.Add("scenes/a", 1).ok());
  ASSERT_TRUE(a.client->CreateScene("scenes/b", {}).ok());
  const uint64_t version = a.Version("scenes/a");
  const std::string backup = folder_ / "backup";
  ASSERT_NE(etcd_->Control({"snapshot", "save", backup}), "");
  for (uint64_t id = 2; id < 10; ++id) ASSERT_TRUE(a.Add("scenes/a", id).ok());
  ASSERT_TRUE(a.client->CreateScene("scenes/c", {}).ok());
  ASSERT_TRUE(a.client->DeleteScene("scenes/b").ok());
  ASSERT_TRUE(b.Sees("scenes/b", 0));
  etcd_->Kill(0);
  etcd_->Wipe(0);
  ASSERT_TRUE(etcd_->Restore(0, backup));
  etcd_->Restart(0);
  ASSERT_TRUE(etcd_->AwaitLeader());
  for (FleetReplica* replica : {&a, &b}) {
    EXPECT_TRUE(replica->Sees("scenes/a", version));
    EXPECT_TRUE(replica->Sees("scenes/c", 0));
    EXPECT_TRUE(Eventually([&] { return replica->Version("scenes/b") != 0; }));
    EXPECT_TRUE(Eventually([&] { return replica->IsReady() && replica->TakesChanges(); }));
    EXPECT_EQ(replica->Squares("scenes/a").size(), 1u);
  }
  const auto made = b.Add("scenes/a", 50);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_GT(*made, version);
  EXPECT_TRUE(a.Sees("scenes/a", *made));
  EXPECT_EQ(a.Answer("scenes/a"), b.Answer("scenes/a"));
}

// With users, caromd has a name and a password, and gets another token when its own has ended.
TEST_F(FleetFailureTest, AUserAndAPassword) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"user", "add", "root:first"},
           {"role", "add", "root"},
           {"user", "grant-role", "root", "root"},
           {"user", "add", "carom:second"},
           {"role", "add", "carom"},
           {"role", "grant-permission", "carom", "--prefix=true", "readwrite", "/carom/"},
           {"user", "grant-role", "carom", "carom"},
           {"auth", "enable"}}) {
    EXPECT_NE(etcd_->Control(command), "") << command[1];
  }
  const std::string store = absl::StrCat("etcd://carom@", etcd_->endpoint(0), "/carom");
  std::ofstream(folder_ / "password") << "second\n";
  std::ofstream(folder_ / "wrong") << "first\n";
  ServerOptions options;
  options.address = "127.0.0.1:0";
  options.store = store;
  options.etcd_password_file = folder_ / "wrong";
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
  const auto with_password = [&](ServerOptions& given) {
    given.etcd_password_file = folder_ / "password";
  };
  FleetReplica a(store, with_password), b(store, with_password);
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  ASSERT_TRUE(b.Add("scenes/a", 1).ok());
  // Tokens go with the process that gave them.
  etcd_->Kill(0);
  etcd_->Restart(0);
  EXPECT_TRUE(Eventually([&] { return b.Add("scenes/a", 2).ok(); }));
  EXPECT_TRUE(Eventually([&] { return a.Add("scenes/a", 3).ok(); }));
  EXPECT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  EXPECT_EQ(b.Squares("scenes/a").size(), 3u);
}

// TLS, with a certificate of our own that etcd asks for.
TEST_F(FleetFailureTest, Certificates) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  const carom::testing::Authority authority("etcd's");
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  };
  write("ca.pem", authority.pem());
  const carom::testing::KeyPair member =
      authority.Sign({.name = "etcd", .alternatives = "IP:127.0.0.1"});
  write("member.pem", member.certificate);
  write("member-key.pem", member.key);
  const carom::testing::KeyPair ours = authority.Sign({.name = "caromd"});
  write("caromd.pem", ours.certificate);
  write("caromd-key.pem", ours.key);
  const uint16_t port = EtcdCluster::FreePort();
  const std::string urls = absl::StrCat("http://", etcd_->endpoint(0), ",https://127.0.0.1:", port);
  etcd_->Kill(0);
  etcd_->set_options({"--listen-client-urls", urls, "--advertise-client-urls", urls, "--cert-file",
                      folder_ / "member.pem", "--key-file", folder_ / "member-key.pem",
                      "--trusted-ca-file", folder_ / "ca.pem", "--client-cert-auth"});
  etcd_->Restart(0);
  ASSERT_TRUE(etcd_->AwaitLeader());
  const auto with_files = [&](ServerOptions& options) {
    options.etcd_ca = folder_ / "ca.pem";
    options.etcd_certificate = folder_ / "caromd.pem";
    options.etcd_key = folder_ / "caromd-key.pem";
  };
  FleetReplica a(absl::StrCat("etcd://127.0.0.1:", port, "/carom"), with_files), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  EXPECT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  ServerOptions wrong;
  wrong.address = "127.0.0.1:0";
  wrong.store = etcd_->Url();
  with_files(wrong);
  wrong.etcd_key = folder_ / "member-key.pem";
  EXPECT_TRUE(
      Refuses(Server::Start(wrong).status(), absl::StatusCode::kInvalidArgument, "--etcd-key"));
}

// Gives two scenes one of three contents, or parts of them, in turn.
void TakeUpPages(FleetReplica& replica, uint64_t seed, int rounds,
                 const std::vector<std::vector<Polygon>>& contents) {
  SplitMix64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::string name = random.Next() % 2 == 0 ? "scenes/a" : "scenes/b";
    const std::vector<Polygon>& polygons = contents[random.Next() % contents.size()];
    absl::Status status;
    if (random.Next() % 2 == 0) {
      status = replica.client->ImportScene(name, polygons, carom::ImportMode::kReplace).status();
    } else {
      const std::vector<SceneEdit> edits{ReplacePolygon{polygons[random.Next() % 300]}};
      status = replica.client->CommitEdits(name, 0, edits).status();
    }
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Pages are swept all the time, while two servers commit what takes up pages that nobody has had a
// moment ago: no page is missing, ever, and those that nobody has do go.
TEST_F(FleetFailureTest, SweepsBesideCommitsThatTakeUpPages) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  const auto short_history = [](ServerOptions& options) { options.history_versions = 2; };
  FleetReplica a(etcd_->Url(), short_history), b(etcd_->Url(), short_history);
  std::vector<std::vector<Polygon>> contents(3);
  for (size_t k = 0; k < contents.size(); ++k) {
    // The last one is too large for one transaction.
    for (uint64_t id = 0; id < (k == 2 ? 1500 : 300); ++id) {
      contents[k].push_back(SquareAt(id, static_cast<double>(id * (k + 1)), 500));
    }
  }
  for (const char* name : {"scenes/a", "scenes/b"}) {
    ASSERT_TRUE(a.client->CreateScene(name, contents[0]).ok());
  }
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> swept{0}, sweeps{0};
  const std::unique_ptr<EtcdJournal> journal = OpenJournalOfItsOwn();
  std::thread sweeper([&] {
    EtcdSweeper sweeping(*journal);
    while (!stop) {
      const absl::StatusOr<uint64_t> count = sweeping.Sweep();
      // A version that is gone while it is read ends a sweep, and so does a commit's fence.
      if (!count.ok()) continue;
      swept += *count;
      // As an operator has it: without this etcd's file keeps every page that was ever put.
      if (++sweeps % 50 == 0) {
        EXPECT_TRUE(etcd_->Compact());
      }
    }
  });
  const int rounds = Repeats(60, 5000);
  std::vector<std::thread> writers;
  writers.emplace_back([&] { TakeUpPages(a, 1, rounds, contents); });
  writers.emplace_back([&] { TakeUpPages(b, 2, rounds, contents); });
  for (std::thread& writer : writers) writer.join();
  ReadWhole();
  const uint64_t busy_sweeps = sweeps;
  EXPECT_TRUE(Eventually([&] { return sweeps > busy_sweeps + 1; }));
  stop = true;
  sweeper.join();
  EXPECT_GT(swept, 0u);
  std::printf("%llu sweeps beside %d commits, %llu pages\n",
              static_cast<unsigned long long>(busy_sweeps), 2 * rounds,
              static_cast<unsigned long long>(swept));
  std::map<std::string, std::set<uint64_t>> scenes = ReadWhole();
  for (const char* name : {"scenes/a", "scenes/b"}) {
    EXPECT_TRUE(scenes[name].size() == 300 || scenes[name].size() == 1500);
    ASSERT_TRUE(a.Sees(name, b.Version(name)));
    EXPECT_EQ(a.Squares(name), b.Squares(name));
  }
}

// Asks how many squares are at a point, in a version that is at least this one; notes it by the
// version, for which it is always the same, and returns that. 0: nobody has answered.
uint64_t CountSquares(Client& client, uint64_t min_version, std::map<uint64_t, size_t>& counts) {
  Frame frame;
  frame.budget_us = 10000000;
  FrameGroup& group = frame.groups.emplace_back();
  group.scene = "scenes/a";
  group.min_version = min_version;
  const std::vector<double> x{0.5}, y{0.5};
  group.group.points = {.x = x, .y = y};
  const auto answer = client.Evaluate(frame);
  if (!answer.ok() || !answer->groups[0].status.ok()) return 0;
  const auto& answers = answer->groups[0].answers;
  const auto [it, is_new] = counts.emplace(answers.version, answers.points.polygon_ids.size());
  EXPECT_EQ(it->second, answers.points.polygon_ids.size());
  return answers.version;
}

// One call gives up after some seconds without a server.
absl::StatusOr<SceneSummary> CommitInTime(Client& client, std::span<const SceneEdit> edits) {
  absl::StatusOr<SceneSummary> made = client.CommitEdits("scenes/a", 0, edits);
  for (int i = 0; i < 10 && absl::IsUnavailable(made.status()); ++i) {
    made = client.CommitEdits("scenes/a", 0, edits);
  }
  return made;
}

// Servers are killed and started again while a client asks them: each answer is that of its
// version, and versions never go back under `min_version`.
TEST_F(FleetFailureTest, ServersAreKilledUnderQueries) {
  const char* binary = std::getenv("CAROMD_BINARY");
  ASSERT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  const auto start = [&](int i) {
    return carom::testing::ServerProcess::Start(binary, {"--store", etcd_->Url(), "--threads", "1"},
                                                60.0, absl::StrCat("unix:", folder_ / "socket", i));
  };
  std::vector<std::unique_ptr<carom::testing::ServerProcess>> servers;
  for (int i = 0; i < 2; ++i) {
    servers.push_back(start(i));
    ASSERT_NE(servers.back(), nullptr);
  }
  const auto client =
      Client::Connect(absl::StrCat(servers[0]->address(), ",", servers[1]->address())).value();
  ASSERT_TRUE(client->CreateScene("scenes/a", {}).ok());
  // How many squares a version has; and the same of versions whose answers were lost.
  std::map<uint64_t, size_t> counts{{client->GetScene("scenes/a")->version, 0}};
  std::set<size_t> lost;
  std::mutex mutex;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t id = 0; !stop; ++id) {
      const std::vector<SceneEdit> edits{AddPolygon{SquareAt(id, 0)}};
      const absl::StatusOr<SceneSummary> made = CommitInTime(*client, edits);
      const std::lock_guard lock(mutex);
      if (absl::IsAlreadyExists(made.status())) {
        lost.insert(id + 1);
        continue;
      }
      ASSERT_TRUE(made.ok()) << made.status();
      counts[made->version] = id + 1;
    }
  });
  std::map<uint64_t, size_t> answered;
  const auto ask = [&](uint64_t least) { return CountSquares(*client, least, answered); };
  uint64_t last = 0;
  // More rounds if servers were killed before the writer was answered.
  for (int round = 0; round < (answered.size() > 3 ? Repeats(4, 200) : 200); ++round) {
    for (int i = 0; i < 100; ++i) {
      const uint64_t version = ask(last);
      if (version == 0) continue;
      ASSERT_GE(version, last);
      last = version;
    }
    const int victim = round % 2;
    kill(servers[static_cast<size_t>(victim)]->pid(), SIGKILL);
    servers[static_cast<size_t>(victim)].reset();
    for (int i = 0; i < 50; ++i) last = std::max(last, ask(last));
    servers[static_cast<size_t>(victim)] = start(victim);
    ASSERT_NE(servers[static_cast<size_t>(victim)], nullptr);
  }
  stop = true;
  writer.join();
  EXPECT_GT(answered.size(), 3u);
  for (const auto& [version, count] : answered) {
    EXPECT_TRUE(counts.contains(version) ? counts[version] == count : lost.contains(count))
        << "version " << version << " with " << count;
  }
}

}  // namespace
}  // namespace carom::server
