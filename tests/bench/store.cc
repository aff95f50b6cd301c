// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost that commits last? Writers of a caromd of its own over SQLite, beside SQLite
// alone with as many bytes; and queries while commits run.

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/client.h"
#include "carom/stream.h"
#include "tests/bench/groups.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

using testing::ServerProcess;

constexpr size_t kPolygons = 10000;  // of each writer's scene
constexpr size_t kPage = 4096;       // of SQLite's
constexpr int kWriters[] = {1, 8, 64};

std::string CommitsName(int writers) { return absl::StrCat("store_commits_", writers); }

template <class T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) std::abort();
  return *std::move(value);
}

double Quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

// A folder that is empty, and goes with it.
class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Commits {
  double ns = 0;                  // a commit, on the wall
  std::vector<double> latencies;  // of each, in ns
};

// `writers` threads, each of which has `count` commits made, one after the other: writer w its
// i-th by `commit(w, i)`.
Commits Run(int writers, int count, const std::function<void(int, int)>& commit) {
  std::vector<std::vector<double>> latencies(writers);
  std::vector<std::thread> threads;
  const double start = WallNanoseconds();
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; i < count; ++i) {
        const double before = WallNanoseconds();
        commit(w, i);
        latencies[w].push_back(WallNanoseconds() - before);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Commits commits;
  commits.ns = (WallNanoseconds() - start) / (writers * count);
  for (const auto& part : latencies) {
    commits.latencies.insert(commits.latencies.end(), part.begin(), part.end());
  }
  return commits;
}

Polygon SquareAt(uint64_t id, double x) {
  return Must(Polygon::Create({id, {{{{x, 0}, {x + 1, 0}, {x + 1, 1}, {x, 1}}}}}));
}

// caromd with a scene for each writer, whose commits replace a polygon.
class Ours {
 public:
  Ours(const std::string& folder, int writers)
      : log_(folder + "/scenes.sqlite-wal"),
        server_(ServerProcess::Start(CAROMD_BINARY, {"--store", "sqlite", "--state-dir", folder})) {
    if (server_ == nullptr) std::abort();
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < kPolygons; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
    for (int w = 0; w < writers; ++w) {
      clients_.push_back(Must(Client::Connect(server_->address(), {})));
      Must(clients_[w]->ImportScene(Name(w), polygons, ImportMode::kReplace));
    }
  }

  void Commit(int w, int i) {
    const uint64_t id = static_cast<uint64_t>(i) * 7919 % kPolygons;
    const SceneEdit edit = ReplacePolygon{SquareAt(id, 2.0 * id + 0.5 / (i + 2))};
    Must(clients_[w]->CommitEdits(Name(w), 0, {&edit, 1}));
  }
  // What a call costs that changes nothing.
  void Look(int w) { Must(clients_[w]->GetScene(Name(w))); }
  // What a commit adds to the log, which does not grow where it begins anew; nothing if it never
  // grew.
  std::optional<size_t> BytesOfACommit() {
    std::vector<double> growth;
    for (int i = 0; i < 200; ++i) {
      const size_t before = std::filesystem::file_size(log_);
      Commit(0, i);
      const size_t after = std::filesystem::file_size(log_);
      if (after > before) growth.push_back(static_cast<double>(after - before));
    }
    if (growth.empty()) return std::nullopt;
    return static_cast<size_t>(Median(growth));
  }

  static std::string Name(int w) { return absl::StrCat("scenes/", w); }
  const ServerProcess& server() const { return *server_; }
  Client& client() { return *clients_[0]; }

 private:
  const std::string log_;
  std::unique_ptr<ServerProcess> server_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// A table of rows that fill a page each; a commit writes as many of them anew as Carom's writes
// pages. One connection, which writers take in turns, with the same settings.
class Sqlite {
 public:
  Sqlite(const std::string& file, size_t pages) : pages_(pages) {
    Require(sqlite3_open(file.c_str(), &database_));
    Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;");
    Execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, bytes BLOB); BEGIN");
    Require(sqlite3_prepare_v2(database_, "INSERT OR REPLACE INTO rows VALUES(?1, ?2)", -1,
                               &statement_, nullptr));
    for (int id = 0; id < kRows; ++id) Write(id, 0);
    Execute("COMMIT");
  }
  ~Sqlite() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
  }

  void Commit(int w, int i) {
    const std::lock_guard lock(mu_);
    Execute("BEGIN IMMEDIATE");
    for (size_t page = 0; page < pages_; ++page) {
      Write(static_cast<int>((w * 31 + i * pages_ + page) * 7919 % kRows), i + 1);
    }
    Execute("COMMIT");
  }

 private:
  static constexpr int kRows = 4001;

  static void Require(int result) {
    if (result != SQLITE_OK) std::abort();
  }
  void Execute(const char* sql) {
    Require(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
  }
  void Write(int id, int value) {
    const std::string bytes(kPage - 100, static_cast<char>(value));
    sqlite3_bind_int(statement_, 1, id);
    sqlite3_bind_blob(statement_, 2, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    if (sqlite3_step(statement_) != SQLITE_DONE) std::abort();
    Require(sqlite3_reset(statement_));
  }

  const size_t pages_;
  std::mutex mu_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

size_t BytesOfACommit(const Folder& folder) {
  const Folder state(folder / "state");
  const std::optional<size_t> bytes = Ours(state / ".", 1).BytesOfACommit();
  if (!bytes) std::abort();
  return *bytes;
}

void RunCommits(Bench& bench, const Folder& folder) {
  const size_t bytes = BytesOfACommit(folder);
  for (const int writers : kWriters) {
    const std::string name = CommitsName(writers);
    if (!bench.Wants(name)) continue;
    const Folder state(folder / "state");
    const Folder alone(folder / "alone");
    Ours ours(state / ".", writers);
    Sqlite sqlite(alone / "rows.sqlite", (bytes + kPage / 2) / (kPage + 24));
    const int count = std::max(bench.quick ? 200 : 1000, writers) / writers;
    std::vector<double> our_ns, their_ns, our_latencies, their_latencies, call_ns;
    for (int round = 0; round < bench.rounds(); ++round) {
      const Commits our = Run(writers, count, [&](int w, int i) { ours.Commit(w, i); });
      const Commits their = Run(writers, count, [&](int w, int i) { sqlite.Commit(w, i); });
      call_ns.push_back(Run(writers, count, [&](int w, int) { ours.Look(w); }).ns);
      our_ns.push_back(our.ns);
      their_ns.push_back(their.ns);
      our_latencies.insert(our_latencies.end(), our.latencies.begin(), our.latencies.end());
      their_latencies.insert(their_latencies.end(), their.latencies.begin(), their.latencies.end());
    }
    bench.report.Figure(name, 1e9 / Median(our_ns), "commits a second");
    bench.report.Figure(name + " by SQLite alone", 1e9 / Median(their_ns), "commits a second");
    bench.report.Figure(name + " in place of which calls write nothing", 1e9 / Median(call_ns),
                        "calls a second");
    bench.report.Figure(name + " p99", Quantile(our_latencies, 0.99) / 1e6, "ms");
    bench.report.Figure(name + " p99 by SQLite alone", Quantile(their_latencies, 0.99) / 1e6, "ms");
    bench.report.Add({name, Median(our_ns), "SQLite alone", Median(their_ns), RatioAtMost(1.3),
                      absl::StrFormat("ns a commit of %d bytes", bytes)});
  }
}

// The latencies of frames of sixteen bullets, a thousand a second.
std::vector<double> AskFrames(Client& client, int frames) {
  const std::unique_ptr<Stream> stream = client.OpenStream({});
  std::vector<double> ax(16), ay(16, -1), bx(16), by(16, 2), latencies;
  const double start = WallNanoseconds();
  for (int i = 0; i < frames; ++i) {
    const double when = start + 1e6 * i;
    const double now = WallNanoseconds();
    if (now < when) std::this_thread::sleep_for(std::chrono::nanoseconds(std::lround(when - now)));
    for (int b = 0; b < 16; ++b) ax[b] = bx[b] = (i * 16 + b) % (2 * kPolygons);
    Frame frame;
    frame.groups.push_back({Ours::Name(0), 0, {}});
    frame.groups.back().group.segments = {ax, ay, bx, by};
    const double before = WallNanoseconds();
    if (!stream->Send(frame).ok() || !Must(stream->Receive()).status.ok()) std::abort();
    latencies.push_back(WallNanoseconds() - before);
  }
  return latencies;
}

// The queries' p99 while `work(i)` is called again and again by another thread.
double P99Beside(Ours& ours, int frames, const std::function<void(int)>& work) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (int i = 0; !stop; ++i) work(i);
  });
  const double p99 = Quantile(AskFrames(ours.client(), frames), 0.99);
  stop = true;
  other.join();
  return p99;
}

// Beside one writer, whose next commit begins when the one before lasts. What of that is the host's
// is seen beside calls that write nothing, and beside SQLite alone, which caromd has no part in.
void RunQueries(Bench& bench, const Folder& folder) {
  const size_t bytes = BytesOfACommit(folder);
  const Folder state(folder / "state");
  const Folder alone(folder / "alone");
  Ours ours(state / ".", 2);
  Sqlite sqlite(alone / "rows.sqlite", bytes / (kPage + 24));
  const int frames = bench.quick ? 500 : 2000;
  std::vector<double> quiet, busy, beside_calls, beside_sqlite;
  AskFrames(ours.client(), frames);
  for (int round = 0; round < bench.rounds(); ++round) {
    quiet.push_back(Quantile(AskFrames(ours.client(), frames), 0.99));
    busy.push_back(P99Beside(ours, frames, [&](int i) { ours.Commit(1, i); }));
    beside_calls.push_back(P99Beside(ours, frames, [&](int) { ours.Look(1); }));
    beside_sqlite.push_back(P99Beside(ours, frames, [&](int i) { sqlite.Commit(1, i); }));
  }
  bench.report.Figure("store_queries_p99 beside calls that write nothing",
                      Median(beside_calls) / Median(quiet), "times that without");
  bench.report.Figure("store_queries_p99 beside SQLite alone",
                      Median(beside_sqlite) / Median(quiet), "times that without");
  bench.report.Add({"store_queries_p99", Median(busy), "no commits", Median(quiet),
                    RatioAtMost(1.2), "ns a frame of 16 bullets, beside one writer"});
}

}  // namespace

void RunStore(Bench& bench) {
  const bool queries = bench.Wants("store_queries_p99");
  const bool commits =
      std::ranges::any_of(kWriters, [&](int writers) { return bench.Wants(CommitsName(writers)); });
  if (!commits && !queries) return;
  bench.report.Title("store");
  const Folder folder(std::filesystem::path(bench.out) / "store");
  if (commits) RunCommits(bench, folder);
  if (queries) RunQueries(bench, folder);
}

}  // namespace carom::bench
