// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/executor.h"

#include <time.h>

#include <algorithm>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/host_limits.h"
#include "server/base/thread_scheduling.h"

namespace carom::server {
namespace {

constexpr size_t kMaxKnownPeers = 4096;

// CPU time of this thread at its last charge: the time that the thread has used since then is not
// charged to a peer yet
thread_local int64_t uncharged_since_ns = 0;

// `current_executor`: the executor of the task that this thread runs; null: the thread runs no
// task. `current_task`: the task, if `current_executor` is not null.
thread_local Executor* current_executor = nullptr;
thread_local Task* current_task = nullptr;
thread_local bool is_normal_priority_thread = false;

// Returns a reference to the time at which the current time slice of this thread ends;
// `Executor::Checkpoint` compares this time with the clock.
Clock::time_point& SliceEnd() {
  thread_local Clock::time_point end;
  return end;
}

// Returns the CPU time that this thread has used since its last call of this function, in
// nanoseconds.
int64_t TakeUnchargedNs() {
  const int64_t now = ThreadCpuNs();
  return now - std::exchange(uncharged_since_ns, now);
}

}  // namespace

int64_t ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

Executor::Executor(size_t tasks) : task_count_(tasks != 0 ? tasks : ReadHostLimits().threads) {
  absl::MutexLock lock(&mu_);
  AddNormalPriorityThreads();
  for (size_t i = 0; i < task_count_; ++i) AddThread();
}

// Waits until no task is queued or started, then joins all threads, including those that ended
// earlier.
Executor::~Executor() {
  std::list<std::thread> threads;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    mu_.Await(absl::Condition(this, &Executor::IsOver));
    threads.swap(threads_);
    threads.splice(threads.end(), ended_threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

// Charges `uncharged_ns` to the peer of `task` as if the executor had run a task for that time. The
// task may start on a thread of normal priority if its peer is idle and has used less time than
// other peers.
void Executor::Submit(Task* task, int64_t uncharged_ns) {
  absl::MutexLock lock(&mu_);
  if (task->peer_.empty()) task->peer_ = absl::StrCat("task ", reinterpret_cast<uintptr_t>(task));
  if (peers_.size() > kMaxKnownPeers) EvictIdlePeers();
  Peer& peer = peers_[task->peer_];
  peer.served_ns += uncharged_ns;
  // A virtual time of the peer behind the virtual clock means that other peers have used more time.
  const bool is_idle = peer.unstarted.empty() && peer.started == 0;
  task->is_normal_priority_ = is_idle && peer.served_ns < clock_ns_;
  if (current_executor == nullptr) AddNormalPriorityThreads();
  Enqueue(*task, peer.unstarted, peer);
  Dispatch();
}

// Returns at once if no other task waits to be scheduled, because `task` would be scheduled again
// at once.
void Executor::Pause(Task* task) {
  const bool lowers_priority = std::exchange(is_normal_priority_thread, false);
  if (lowers_priority) LowerPriority();
  {
    absl::MutexLock lock(&mu_);
    if (lowers_priority) --normal_priority_threads_;
    Peer& peer = ChargeTime(*task);
    // If more than `task_count_` tasks run, `task` must wait if its peer has another running task.
    const bool exceeds_task_count = running_ > task_count_ && peer.running > 1;
    if (ready_peers_.empty() && !exceeds_task_count) return BeginNextSlice(peer);
    StopRunning(peer);
    AwaitSlice(*task, peer);
  }
  TakeUnchargedNs();  // does not charge the CPU time of the pause itself
}

Executor::Usage Executor::usage() {
  absl::MutexLock lock(&mu_);
  Usage usage{.busy = std::chrono::nanoseconds(busy_ns_)};
  for (const auto& [name, peer] : peers_)
    usage.waiting += peer.unstarted.size() + peer.paused.size();
  return usage;
}

void Executor::Checkpoint() {
  const Clock::time_point now = Clock::now();
  YieldIfSliceIsOver(now);
  if (current_executor == nullptr || now < SliceEnd()) return;
  SliceEnd() = now + kSlice;
  current_executor->Charge(*current_task);
}

// Charges the CPU time of the thread to the peer of `task`, but not to `task`; `End` does the same
// with the time after the last call of `Charge`. If `task` was charged, its virtual time would
// grow, and the executor would schedule `task` after all short tasks of its peer.
void Executor::Charge(const Task& task) {
  const bool lowers_priority = std::exchange(is_normal_priority_thread, false);
  if (lowers_priority) LowerPriority();
  absl::MutexLock lock(&mu_);
  if (lowers_priority) --normal_priority_threads_;
  Peer& peer = peers_.find(task.peer_)->second;
  const int64_t ns = TakeUnchargedNs();
  busy_ns_ += ns;
  peer.served_ns += ns;
  BeginNextSlice(peer);
}

void Executor::BeginNextSlice(Peer& peer) {
  clock_ns_ = std::max(clock_ns_, peer.served_ns);
  Requeue(peer);
}

Executor::Peer& Executor::ChargeTime(Task& task) {
  const int64_t ns = TakeUnchargedNs();
  busy_ns_ += ns;
  Peer& peer = peers_.find(task.peer_)->second;
  peer.served_ns += ns;
  task.served_ns_ += ns;
  return peer;
}

// Keeps the thread for `task`, which is paused: the thread sleeps until `task` is scheduled again.
void Executor::AwaitSlice(Task& task, Peer& peer) {
  task.is_paused_ = true;
  Enqueue(task, peer.paused, peer);
  Dispatch();
  mu_.Await(absl::Condition(
      +[](bool* is_paused) { return !*is_paused; }, &task.is_paused_));
}

// Stops counting the task as running. The task still counts as started, since it keeps its thread
// and memory.
void Executor::BeginBlocking(Task& task) {
  absl::MutexLock lock(&mu_);
  StopRunning(ChargeTime(task));
  Dispatch();
}

void Executor::EndBlocking(Task& task) {
  {
    absl::MutexLock lock(&mu_);
    AwaitSlice(task, peers_.find(task.peer_)->second);
  }
  TakeUnchargedNs();  // does not charge the CPU time of the wait itself
}

Executor::Blocked::Blocked() {
  if (current_executor != nullptr) current_executor->BeginBlocking(*current_task);
}

Executor::Blocked::~Blocked() {
  if (current_executor != nullptr) current_executor->EndBlocking(*current_task);
}

// Sets the virtual time of an idle peer to the virtual clock `clock_ns_` at least, so that an idle
// peer saves up no time.
void Executor::Enqueue(Task& task, Queue<Task>& queue, Peer& peer) {
  const bool was_idle = peer.unstarted.empty() && peer.paused.empty() && peer.started == 0;
  if (was_idle) peer.served_ns = std::max(peer.served_ns, clock_ns_);
  task.served_ns_ = std::max(task.served_ns_, peer.clock_ns);
  queue.emplace(task.served_ns_, ++last_number_, &task);
  Requeue(peer);
}

bool Executor::MayStart(const Peer& peer) const {
  if (peer.started == 0) return started_ < kMaxStarted;
  constexpr size_t kOpen = kMaxStarted - kStartedForOthers;
  const size_t left = kOpen - std::min(kOpen, started_);
  return peer.started < std::min(kMaxStartedOfPeer, left / 2);
}

Executor::Queue<Task>* Executor::NextQueue(Peer& peer) {
  Queue<Task>* const unstarted =
      !peer.unstarted.empty() && MayStart(peer) ? &peer.unstarted : nullptr;
  Queue<Task>* const paused = peer.paused.empty() ? nullptr : &peer.paused;
  if (unstarted == nullptr || paused == nullptr) return unstarted != nullptr ? unstarted : paused;
  return *unstarted->begin() < *paused->begin() ? unstarted : paused;
}

void Executor::Requeue(Peer& peer) {
  const bool has_task = NextQueue(peer) != nullptr;
  const bool is_right = peer.number != 0 && has_task && peer.ready_at == peer.served_ns;
  if (is_right) return;
  if (peer.number != 0) {
    ready_peers_.erase({peer.ready_at, std::exchange(peer.number, 0), &peer});
  }
  if (!has_task) return;
  peer.number = ++last_number_;
  peer.ready_at = peer.served_ns;
  ready_peers_.emplace(peer.ready_at, peer.number, &peer);
}

// Skips peers for which `MayRun` is false. Each skipped peer has a running task, so at most as many
// peers are skipped as tasks run: 2 * `task_count_`.
Executor::Peer* Executor::NextPeer() const {
  for (const auto& entry : ready_peers_) {
    Peer* const peer = std::get<Peer*>(entry);
    if (MayRun(*peer)) return peer;
    if (!MayExceed()) break;
  }
  return nullptr;
}

void Executor::Dispatch() {
  while (Peer* const next = NextPeer()) {
    Peer& peer = *next;
    Queue<Task>* const queue = NextQueue(peer);
    if (queue == nullptr) {  // `peer` may start no task: too many tasks are started
      Requeue(peer);
      continue;
    }
    if (queue == &peer.unstarted && !low_priority_.has_room() && !AddThread())
      return DispatchPaused();
    Begin(peer, *queue);
  }
}

// Called when no thread is free for an unstarted task: if `Dispatch` began such a task, the task
// would count as running without a thread and delay paused tasks, which have threads.
void Executor::DispatchPaused() {
  while (running_ < task_count_) {
    const auto next = std::ranges::find_if(
        ready_peers_, [](const auto& entry) { return !std::get<Peer*>(entry)->paused.empty(); });
    if (next == ready_peers_.end()) return;
    Peer& peer = *std::get<Peer*>(*next);
    Begin(peer, peer.paused);
  }
}

void Executor::Begin(Peer& peer, Queue<Task>& queue) {
  const auto [start, number, task] = queue.extract(queue.begin()).value();
  clock_ns_ = std::max(clock_ns_, peer.served_ns);
  peer.clock_ns = std::max(peer.clock_ns, start);
  ++running_;
  if (++peer.running == 1) ++running_peers_;
  if (&queue == &peer.paused) {
    task->is_paused_ = false;
  } else {
    ++started_;
    ++peer.started;
    Pool& pool =
        task->is_normal_priority_ && normal_priority_.has_room() ? normal_priority_ : low_priority_;
    pool.starts.emplace_back(task, &peer);
  }
  Requeue(peer);
}

// Has no parameter for the ended task, which may already be deleted when its `Run` has returned.
// Another task may start in place of the ended task. If the number of started tasks was near
// `kMaxStarted`, the limit of each peer (`MayStart`) rises, so all peers are requeued.
void Executor::End(Peer& peer, int64_t ns) {
  peer.served_ns += ns;
  --peer.started;
  StopRunning(peer);
  if (kMaxStarted - started_-- < kStartedForOthers + 2 * kMaxStartedOfPeer) {
    for (auto& [name, other] : peers_) Requeue(other);
  }
  Requeue(peer);
  Dispatch();
}

bool Executor::AddThread(bool is_normal_priority) {
  for (std::thread& thread : ended_threads_) thread.join();
  ended_threads_.clear();
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = std::thread([this, self, is_normal_priority] { Loop(self, is_normal_priority); });
  } catch (const std::system_error&) {
    threads_.erase(self);
    if (threads_.empty()) throw;
    return false;
  }
  ++(is_normal_priority ? normal_priority_ : low_priority_).idle_threads;
  return true;
}

void Executor::AddNormalPriorityThreads() {
  while (normal_priority_threads_ < task_count_ && AddThread(true)) ++normal_priority_threads_;
}

void Executor::EvictIdlePeers() {
  std::erase_if(peers_, [this](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Peer& peer = entry.second;
    return peer.started == 0 && peer.unstarted.empty() && peer.paused.empty() &&
           peer.served_ns <= clock_ns_;
  });
}

void Executor::Loop(std::list<std::thread>::iterator self, bool is_normal_priority) {
  is_normal_priority_thread = is_normal_priority;
  if (!is_normal_priority) LowerPriority();
  Pool* pool = is_normal_priority ? &normal_priority_ : &low_priority_;
  while (const std::optional<std::pair<Task*, Peer*>> start = AwaitStart(self, *pool)) {
    const auto [task, peer] = *start;
    TakeUnchargedNs();
    current_executor = this;
    current_task = task;
    SliceEnd() = Clock::now() + kSlice;
    task->Run();
    current_executor = nullptr;
    const int64_t ns = TakeUnchargedNs();
    absl::MutexLock lock(&mu_);
    if (!is_normal_priority_thread) pool = &low_priority_;
    ++pool->idle_threads;
    End(*peer, ns);
  }
}

// Returns nullopt, which ends the thread, if `pool` has no task for the thread during the time
// `kIdleThread`, or when the executor is destroyed. Until then, threads of normal priority and
// `task_count_` other threads do not end.
std::optional<std::pair<Task*, Executor::Peer*>> Executor::AwaitStart(
    std::list<std::thread>::iterator self, Pool& pool) {
  absl::MutexLock lock(&mu_);
  const auto may_leave = [this, &pool]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return !pool.starts.empty() || IsOver();
  };
  while (!mu_.AwaitWithTimeout(absl::Condition(&may_leave), absl::FromChrono(kIdleThread)) &&
         (is_normal_priority_thread || threads_.size() <= task_count_ + normal_priority_threads_)) {
  }
  --pool.idle_threads;
  if (pool.starts.empty()) {
    if (!stopping_) ended_threads_.splice(ended_threads_.end(), threads_, self);
    return std::nullopt;
  }
  const std::pair<Task*, Peer*> start = pool.starts.front();
  pool.starts.pop_front();
  return start;
}

}  // namespace carom::server
