// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/metrics.h"

#include <algorithm>
#include <utility>

namespace carom::server {
namespace {

template <class Enum>
size_t Index(Enum value) {
  return static_cast<size_t>(value);
}

}  // namespace

const char* NameOf(RpcMethod rpc) {
  static constexpr std::array<const char*, kRpcCount> kNames = {
      "Evaluate",          "Stream",        "CreateScene", "GetScene",
      "ListScenes",        "DeleteScene",   "ForkScene",   "CommitEdits",
      "ListSceneVersions", "RollbackScene", "ImportScene", "ExportScene",
      "WatchScene",        "LintScene",     "Explain",     "GetMetrics"};
  return kNames[Index(rpc)];
}

// The counters of one thread, on cache lines that no other thread writes.
struct alignas(64) Metrics::Cells {
  // A counter that one thread at a time writes and other threads read.
  class Cell {
   public:
    void Add(uint64_t count) {
      value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
    uint64_t value() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> value_{0};
  };

  struct DurationCells {
    void Add(int64_t ns) {
      const auto bound = std::lower_bound(kBucketBoundsNs.begin(), kBucketBoundsNs.end(), ns);
      buckets[static_cast<size_t>(bound - kBucketBoundsNs.begin())].Add(1);
      sum_ns.Add(static_cast<uint64_t>(std::max<int64_t>(ns, 0)));
    }
    void AddTo(Durations& sums) const {
      for (size_t i = 0; i < kBucketCount; ++i) sums.buckets[i] += buckets[i].value();
      sums.sum_ns += sum_ns.value();
    }

    std::array<Cell, kBucketCount> buckets;
    Cell sum_ns;
  };

  template <size_t kSize>
  static void AddAll(const std::array<Cell, kSize>& cells, std::array<uint64_t, kSize>& sums) {
    for (size_t i = 0; i < kSize; ++i) sums[i] += cells[i].value();
  }

  std::array<Cell, kCounterCount> counters;
  std::array<Cell, kGroupKindCount> queries;
  std::array<Cell, kItemFaultCount> item_faults;
  std::array<std::array<Cell, kCodeCount>, kRpcCount> calls;
  std::array<DurationCells, kRpcCount> call_times;
  std::array<DurationCells, kDistributionCount> distributions;
};

// The part of a `Metrics` object that the threads which use the object keep alive, too: a thread
// may end after the `Metrics` object is destroyed.
struct Metrics::Shared {
  absl::Mutex mu;
  std::list<Cells> all ABSL_GUARDED_BY(mu);
  // cells of threads that have ended; the next thread continues to add to them
  std::vector<Cells*> free ABSL_GUARDED_BY(mu);
};

// The cells that a thread uses, one for each `Metrics` object. Its destructor, at the end of the
// thread, makes the cells available to other threads.
class Metrics::OfThread {
 public:
  ~OfThread() {
    for (const auto& [shared, cells] : used_) {
      absl::MutexLock lock(&shared->mu);
      shared->free.push_back(cells);
    }
  }

  Cells& Find(const std::shared_ptr<Shared>& shared) {
    if (last_ == shared.get()) return *last_cells_;
    const auto found = std::find_if(used_.begin(), used_.end(),
                                    [&](const auto& entry) { return entry.first == shared; });
    last_cells_ = found != used_.end() ? found->second : Take(shared);
    last_ = shared.get();
    return *last_cells_;
  }

 private:
  Cells* Take(const std::shared_ptr<Shared>& shared) {
    absl::MutexLock lock(&shared->mu);
    Cells* cells = nullptr;
    if (shared->free.empty()) {
      cells = &shared->all.emplace_back();
    } else {
      cells = shared->free.back();
      shared->free.pop_back();
    }
    used_.emplace_back(shared, cells);
    return cells;
  }

  std::vector<std::pair<std::shared_ptr<Shared>, Cells*>> used_;
  // the pair that `Find` returned last; `used_` keeps `*last_` alive
  const Shared* last_ = nullptr;
  Cells* last_cells_ = nullptr;
};

Metrics::Metrics() : shared_(std::make_shared<Shared>()) {}
Metrics::~Metrics() = default;

Metrics& Metrics::Unread() {
  static Metrics& unread = *new Metrics;
  return unread;
}

Metrics::Cells& Metrics::Own() {
  thread_local OfThread of_thread;
  return of_thread.Find(shared_);
}

void Metrics::Add(Counter counter, uint64_t count) { Own().counters[Index(counter)].Add(count); }

void Metrics::Add(std::initializer_list<std::pair<Counter, uint64_t>> counts) {
  Cells& cells = Own();
  for (const auto& [counter, count] : counts) {
    if (count != 0) cells.counters[Index(counter)].Add(count);
  }
}

void Metrics::AddQueries(size_t kind, uint64_t count) { Own().queries[kind].Add(count); }

void Metrics::AddItemFault(ItemFault fault) { Own().item_faults[Index(fault)].Add(1); }

void Metrics::AddCall(RpcMethod rpc, absl::StatusCode code, Nanoseconds time) {
  Cells& cells = Own();
  cells.calls[Index(rpc)][std::min(Index(code), kCodeCount - 1)].Add(1);
  cells.call_times[Index(rpc)].Add(time.count());
}

void Metrics::Measure(Distribution distribution, Nanoseconds time) {
  Own().distributions[Index(distribution)].Add(time.count());
}

MetricSums Metrics::Sum() const {
  MetricSums sums;
  absl::MutexLock lock(&shared_->mu);
  for (const Cells& cells : shared_->all) {
    Cells::AddAll(cells.counters, sums.counters);
    Cells::AddAll(cells.queries, sums.queries);
    Cells::AddAll(cells.item_faults, sums.item_faults);
    for (size_t rpc = 0; rpc < kRpcCount; ++rpc) {
      Cells::AddAll(cells.calls[rpc], sums.calls[rpc]);
      cells.call_times[rpc].AddTo(sums.call_times[rpc]);
    }
    for (size_t i = 0; i < kDistributionCount; ++i) {
      cells.distributions[i].AddTo(sums.distributions[i]);
    }
  }
  return sums;
}

}  // namespace carom::server
