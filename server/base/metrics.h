// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a server count while it serves calls?
//
// A `Metrics` object holds the counters of one server. Each thread adds to counters of its own,
// without a lock and without an atomic read-modify-write; a scrape sums the counters of all threads
// (server/http/metrics_page.h).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "carom/batch.h"
#include "carom/group_kinds.h"

namespace carom::server {

// The methods of both services.
enum class RpcMethod : uint8_t {
  kEvaluate,
  kStream,
  kCreateScene,
  kGetScene,
  kListScenes,
  kDeleteScene,
  kForkScene,
  kCommitEdits,
  kListSceneVersions,
  kRollbackScene,
  kImportScene,
  kExportScene,
  kWatchScene,
  kLintScene,
  kExplain,
  kGetMetrics,
};
inline constexpr size_t kRpcCount = static_cast<size_t>(RpcMethod::kGetMetrics) + 1;
const char* NameOf(RpcMethod rpc);  // "Evaluate"

// The events that a server counts. A frame is a message with queries; a move asks what a tracker (a
// moving shape) touches at a pose; the journal is the database that stores the versions of scenes.
enum class Counter : uint8_t {
  kFramesAnswered,
  kFramesRefused,  // frames with a status other than OK
  kFramesSkipped,  // frames that a later frame superseded
  kSlowFrames,     // frames that took longer than ServerOptions::slow_frame_ms
  kWorkUnits,
  kTimeSlices,
  kAnswerRows,
  kQuietMoves,  // this and the next three: moves, by how they were answered (`MoveTiers`)
  kNearMoves,
  kRefreshedMoves,
  kColdMoves,
  kQuietEyes,
  kRefreshedEyes,
  kColdEyes,
  kShadowMoves,
  kShadowEyes,
  kShadowDifferences,
  kCredentialsRefused,
  kCommits,              // versions of scenes that clients have made
  kJournalFailures,      // changes that the journal did not store
  kEtcdRetries,          // further attempts of a change, as another server had changed the scene
  kEtcdSweeps,           // completed sweeps, which delete unused blocks of polygons from etcd
  kJournalTransactions,  // transactions of the sqlite journal
  kJournalChanges,       // changes of scenes in the transactions of the sqlite journal
  kJournalBytes,         // bytes of database pages that the sqlite journal wrote
};
inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::kJournalBytes) + 1;

// The distributions that a server measures.
enum class Distribution : uint8_t {
  kFrame,    // time from the receipt of a frame (a message with queries) to its answer
  kJournal,  // time to write a change of a scene to sqlite or etcd
  kSync,     // time to commit a transaction of sqlite, most of it the sync of the file
};
inline constexpr size_t kDistributionCount = static_cast<size_t>(Distribution::kSync) + 1;

// Upper bounds of the buckets of a distribution, in nanoseconds: 10 us to 10 s.
inline constexpr std::array<int64_t, 13> kBucketBoundsNs = {
    10000,    30000,     100000,    300000,     1000000,    3000000,    10000000,
    30000000, 100000000, 300000000, 1000000000, 3000000000, 10000000000};
// The last bucket has no upper bound.
inline constexpr size_t kBucketCount = kBucketBoundsNs.size() + 1;
inline constexpr size_t kItemFaultCount = static_cast<size_t>(ItemFault::kNotKept) + 1;
inline constexpr size_t kCodeCount = 17;  // number of status codes of gRPC

// Measured durations: how many there are in each bucket (`kBucketBoundsNs`), and their sum.
struct Durations {
  std::array<uint64_t, kBucketCount> buckets{};
  uint64_t sum_ns = 0;
};

// All counters, summed over threads.
struct MetricSums {
  std::array<uint64_t, kCounterCount> counters{};
  std::array<uint64_t, kGroupKindCount> queries{};      // by kind of query
  std::array<uint64_t, kItemFaultCount> item_faults{};  // queries that were not answered, by reason
  std::array<std::array<uint64_t, kCodeCount>, kRpcCount> calls{};
  std::array<Durations, kRpcCount> call_times{};
  std::array<Durations, kDistributionCount> distributions{};

  uint64_t of(Counter counter) const { return counters[static_cast<size_t>(counter)]; }
};

// The counters of one server. Thread-safe. A `Metrics` object may be destroyed while threads exist
// that have used the object.
class Metrics {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Add(Counter counter, uint64_t count = 1);
  // Adds to several counters, which takes less time than an `Add` for each. Counts of 0 cost
  // little.
  void Add(std::initializer_list<std::pair<Counter, uint64_t>> counts);
  void AddQueries(size_t kind, uint64_t count);  // `kind`: position in carom/group_kinds.h
  void AddItemFault(ItemFault fault);
  void AddCall(RpcMethod rpc, absl::StatusCode code, Nanoseconds time);
  void Measure(Distribution distribution, Nanoseconds time);

  MetricSums Sum() const;

  // Returns an object whose counts nothing reads, for objects that are used without a server, such
  // as a store in a test.
  static Metrics& Unread();

 private:
  struct Cells;
  struct Shared;
  class OfThread;

  Cells& Own();

  const std::shared_ptr<Shared> shared_;
};

}  // namespace carom::server
