// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/executor.h"

#include <time.h>

#include <algorithm>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/host_limits.h"
#include "server/base/thread_turns.h"

namespace carom::server {
namespace {

constexpr size_t kMaxKnownPeers = 4096;

// Where the processor time that the task of this thread has not paid for begins.
thread_local int64_t unpaid_since_ns = 0;

// What this thread runs.
thread_local Executor* current_executor = nullptr;
thread_local Task* current_task = nullptr;
thread_local bool is_prompt_thread = false;

// Of `Executor::Checkpoint`.
Clock::time_point& SliceEnd() {
  thread_local Clock::time_point end;
  return end;
}

int64_t TakeUnpaidNs() {
  const int64_t now = ThreadCpuNs();
  return now - std::exchange(unpaid_since_ns, now);
}

}  // namespace

int64_t ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

Executor::Executor(size_t tasks) : task_count_(tasks != 0 ? tasks : ReadHostLimits().threads) {
  absl::MutexLock lock(&mu_);
  AddPromptThreads();
  for (size_t i = 0; i < task_count_; ++i) AddThread();
}

// Waits until no task is left, then for the threads, those too that have ended already.
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

// Time that was spent for the peer elsewhere counts as if the executor had spent it.
void Executor::Submit(Task* task, int64_t unpaid_ns) {
  absl::MutexLock lock(&mu_);
  if (task->peer_.empty()) task->peer_ = absl::StrCat("task ", reinterpret_cast<uintptr_t>(task));
  if (peers_.size() > kMaxKnownPeers) ForgetPeers();
  Peer& peer = peers_[task->peer_];
  peer.served_ns += unpaid_ns;
  // Who has had as much as the others is behind the clock, idle or not.
  const bool is_idle = peer.fresh.empty() && peer.started == 0;
  task->is_prompt_ = is_idle && peer.served_ns < clock_ns_;
  if (current_executor == nullptr) AddPromptThreads();
  Enqueue(*task, peer.fresh, peer);
  Dispatch();
}

// Where no other peer waits, the task goes on: it would be its own turn again.
void Executor::Pause(Task* task) {
  const bool becomes_nicer = std::exchange(is_prompt_thread, false);
  if (becomes_nicer) BeNicer();
  {
    absl::MutexLock lock(&mu_);
    if (becomes_nicer) --prompt_threads_;
    Peer& peer = TakeTime(*task);
    // One that runs beyond the tasks at once is made up for by a peer that has several.
    const bool is_one_of_too_many = running_ > task_count_ && peer.running > 1;
    if (peers_in_turn_.empty() && !is_one_of_too_many) return GoOn(peer);
    StopRunning(peer);
    AwaitTurn(*task, peer);
  }
  TakeUnpaidNs();  // of the pause
}

void Executor::Checkpoint() {
  const Clock::time_point now = Clock::now();
  EndTurnIfOver(now);
  if (current_executor == nullptr || now < SliceEnd()) return;
  SliceEnd() = now + kSlice;
  current_executor->Charge(*current_task);
}

// Not to the task, which is not charged at its end either: it would come after all short ones.
void Executor::Charge(const Task& task) {
  const bool becomes_nicer = std::exchange(is_prompt_thread, false);
  if (becomes_nicer) BeNicer();
  absl::MutexLock lock(&mu_);
  if (becomes_nicer) --prompt_threads_;
  Peer& peer = peers_.find(task.peer_)->second;
  peer.served_ns += TakeUnpaidNs();
  GoOn(peer);
}

void Executor::GoOn(Peer& peer) {
  clock_ns_ = std::max(clock_ns_, peer.served_ns);
  Requeue(peer);
}

// To the peer goes what this thread has spent since it was last asked.
Executor::Peer& Executor::TakeTime(Task& task) {
  const int64_t ns = TakeUnpaidNs();
  Peer& peer = peers_.find(task.peer_)->second;
  peer.served_ns += ns;
  task.served_ns_ += ns;
  return peer;
}

// The thread stays with its task, and sleeps until the task is chosen again.
void Executor::AwaitTurn(Task& task, Peer& peer) {
  task.is_paused_ = true;
  Enqueue(task, peer.paused, peer);
  Dispatch();
  mu_.Await(absl::Condition(
      +[](bool* is_paused) { return !*is_paused; }, &task.is_paused_));
}

// Its place among the started tasks stays taken: it has a thread, and memory.
void Executor::Leave(Task& task) {
  absl::MutexLock lock(&mu_);
  StopRunning(TakeTime(task));
  Dispatch();
}

void Executor::Return(Task& task) {
  {
    absl::MutexLock lock(&mu_);
    AwaitTurn(task, peers_.find(task.peer_)->second);
  }
  TakeUnpaidNs();  // of the wait
}

Executor::Blocked::Blocked() {
  if (current_executor != nullptr) current_executor->Leave(*current_task);
}

Executor::Blocked::~Blocked() {
  if (current_executor != nullptr) current_executor->Return(*current_task);
}

// Who was idle starts at the clock, and saves up no time.
void Executor::Enqueue(Task& task, Queue<Task>& queue, Peer& peer) {
  const bool was_idle = peer.fresh.empty() && peer.paused.empty() && peer.started == 0;
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
  Queue<Task>* const fresh = !peer.fresh.empty() && MayStart(peer) ? &peer.fresh : nullptr;
  Queue<Task>* const paused = peer.paused.empty() ? nullptr : &peer.paused;
  if (fresh == nullptr || paused == nullptr) return fresh != nullptr ? fresh : paused;
  return *fresh->begin() < *paused->begin() ? fresh : paused;
}

void Executor::Requeue(Peer& peer) {
  const bool has_task = NextQueue(peer) != nullptr;
  const bool is_right = peer.number != 0 && has_task && peer.in_turn_at == peer.served_ns;
  if (is_right) return;
  if (peer.number != 0) {
    peers_in_turn_.erase({peer.in_turn_at, std::exchange(peer.number, 0), &peer});
  }
  if (!has_task) return;
  peer.number = ++last_number_;
  peer.in_turn_at = peer.served_ns;
  peers_in_turn_.emplace(peer.in_turn_at, peer.number, &peer);
}

// Those that are passed over have tasks that run, so there are few of them.
Executor::Peer* Executor::NextPeer() const {
  for (const auto& entry : peers_in_turn_) {
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
    if (queue == nullptr) {  // others have taken the last place to start in
      Requeue(peer);
      continue;
    }
    if (queue == &peer.fresh && !nicer_.has_room() && !AddThread()) return DispatchPaused();
    Begin(peer, *queue);
  }
}

// A fresh task that took a turn without a thread would keep those waiting that have one.
void Executor::DispatchPaused() {
  while (running_ < task_count_) {
    const auto next = std::ranges::find_if(
        peers_in_turn_, [](const auto& entry) { return !std::get<Peer*>(entry)->paused.empty(); });
    if (next == peers_in_turn_.end()) return;
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
    Pool& pool = task->is_prompt_ && prompt_.has_room() ? prompt_ : nicer_;
    pool.starts.emplace_back(task, &peer);
  }
  Requeue(peer);
}

// The task is gone, perhaps. Others may start in its place, those of all peers if there was little
// room.
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

bool Executor::AddThread(bool is_prompt) {
  for (std::thread& thread : ended_threads_) thread.join();
  ended_threads_.clear();
  const auto self = threads_.emplace(threads_.end());
  try {
    *self = std::thread([this, self, is_prompt] { Loop(self, is_prompt); });
  } catch (const std::system_error&) {
    threads_.erase(self);
    if (threads_.empty()) throw;
    return false;
  }
  ++(is_prompt ? prompt_ : nicer_).idle_threads;
  return true;
}

void Executor::AddPromptThreads() {
  while (prompt_threads_ < task_count_ && AddThread(true)) ++prompt_threads_;
}

void Executor::ForgetPeers() {
  std::erase_if(peers_, [this](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Peer& peer = entry.second;
    return peer.started == 0 && peer.fresh.empty() && peer.paused.empty() &&
           peer.served_ns <= clock_ns_;
  });
}

void Executor::Loop(std::list<std::thread>::iterator self, bool is_prompt) {
  is_prompt_thread = is_prompt;
  if (!is_prompt) BeNicer();
  Pool* pool = is_prompt ? &prompt_ : &nicer_;
  while (const std::optional<std::pair<Task*, Peer*>> start = AwaitStart(self, *pool)) {
    const auto [task, peer] = *start;
    TakeUnpaidNs();
    current_executor = this;
    current_task = task;
    SliceEnd() = Clock::now() + kSlice;
    task->Run();
    current_executor = nullptr;
    const int64_t ns = TakeUnpaidNs();
    absl::MutexLock lock(&mu_);
    if (!is_prompt_thread) pool = &nicer_;
    ++pool->idle_threads;
    End(*peer, ns);
  }
}

// Prompt threads stay, as do as many others as tasks at once.
std::optional<std::pair<Task*, Executor::Peer*>> Executor::AwaitStart(
    std::list<std::thread>::iterator self, Pool& pool) {
  absl::MutexLock lock(&mu_);
  const auto may_leave = [this, &pool]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return !pool.starts.empty() || IsOver();
  };
  while (!mu_.AwaitWithTimeout(absl::Condition(&may_leave), absl::FromChrono(kIdleThread)) &&
         (is_prompt_thread || threads_.size() <= task_count_ + prompt_threads_)) {
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
