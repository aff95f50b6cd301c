// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who evaluates large frames, and who changes scenes?
//
// A number of tasks that run at once, and a queue that shares them by peer: whoever has many
// streams, or frames that take long, gets no more than its part. A task that runs for longer than a
// slice pauses where it is, with its thread, while others have their turn. Small frames are
// answered where they arrive (server/transport/event_loop.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/base/timer.h"

namespace carom::server {

// Something that runs on an executor and stays alive until its run ends.
class Task {
 public:
  virtual void Run() = 0;

 protected:
  ~Task() = default;

  // Who is behind it; before the first submission. Without that it is a peer of its own.
  void set_peer(std::string peer) { peer_ = std::move(peer); }

 private:
  friend class Executor;
  std::string peer_;
  // Guarded by the executor's lock.
  int64_t served_ns_ = 0;  // its virtual time among the tasks of its peer
  bool is_paused_ = false;
  bool is_prompt_ = false;
};

// Start-time fair queueing (Goyal, Vin and Cheng, 1996) on two levels, of peers and of the tasks of
// a peer, by the processor time that they take. A virtual clock stands at the start of what was
// taken last; each starts where its own earlier work ended, or at the clock if that is later, so
// that nobody saves up time by being idle; the earliest start is next, the earlier submission among
// equals. With n peers busy, what takes a time c alone is done within (n + 1) c / t and n slices, t
// the tasks at once.
//
// While a peer has several of the tasks at once, one that has none starts at once beside them, up
// to as many more; at its next pause one of those several stands back for it. So tasks that never
// pause delay nobody else, where there are at least two at once.
//
// Threads are nicer (server/base/thread_turns.h), but for as many as tasks at once: those start the
// task of a peer that was idle while others took more, and become nicer when it has run for a
// slice. So what takes little does not wait for a processor among what takes long.
//
// Threads: one for each task that has started, running or paused, at most `kMaxStarted`. A peer may
// have started `kMaxStartedOfPeer`, and no more than half of what are left; the last of them,
// `kStartedForOthers`, are for peers that have none. More than the tasks at once end after
// `kIdleThread` without one, and what they keep for the next task goes with them. Where the system
// has no more threads, fresh tasks wait until a task ends. Thread-safe.
class Executor {
 public:
  static constexpr size_t kMaxStarted = 256;
  static constexpr size_t kMaxStartedOfPeer = 8;
  static constexpr size_t kStartedForOthers = 32;
  static constexpr Clock::duration kSlice = std::chrono::milliseconds(2);
  static constexpr Clock::duration kIdleThread = std::chrono::seconds(2);

  // So many tasks at once; 0: one for each thread that can run (server/base/host_limits.h).
  explicit Executor(size_t tasks);
  // Runs what is queued, then joins.
  ~Executor();

  // Queues `task`, whose peer has taken `unpaid_ns` of processor time elsewhere.
  void Submit(Task* task, int64_t unpaid_ns = 0);

  // From within the run of `task`, once a slice: lets others go first if it is their turn, and
  // returns when it is the task's again.
  void Pause(Task* task);

  // From within the run of a task that takes long and cannot pause, again and again: once a slice
  // its peer is charged for what it has taken so far, so that others are seen to have had less, and
  // its thread becomes nicer; and see `EndTurnIfOver`. Outside of an executor it is that alone.
  static void Checkpoint();

  // While it lives, the task of this thread does not count as running, and another one runs: for
  // waits that end soon, such as for a disk. Outside of an executor it does nothing.
  class Blocked {
   public:
    Blocked();
    ~Blocked();
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
  };

  // Whether nobody waits.
  bool IsIdle() {
    absl::MutexLock lock(&mu_);
    return peers_in_turn_.empty();
  }

  size_t task_count() const { return task_count_; }

 private:
  // By virtual start, then by submission.
  template <class T>
  using Queue = std::set<std::tuple<int64_t, uint64_t, T*>>;

  struct Peer {
    int64_t served_ns = 0;   // its virtual time
    int64_t clock_ns = 0;    // of its tasks
    size_t started = 0;      // tasks
    size_t running = 0;      // of them
    uint64_t number = 0;     // its entry in the queue of peers; 0: none
    int64_t in_turn_at = 0;  // likewise
    Queue<Task> fresh;       // tasks that have not started
    Queue<Task> paused;
  };
  using Peers = std::map<std::string, Peer>;  // whose addresses are stable

  // Threads that may start a task, and what they are to start.
  struct Pool {
    std::deque<std::pair<Task*, Peer*>> starts;  // that wait for a thread
    size_t idle_threads = 0;

    bool has_room() const { return starts.size() < idle_threads; }
  };

  // The work of a thread, which is `self`.
  void Loop(std::list<std::thread>::iterator self, bool is_prompt);
  // The next task of the calling thread, which is idle until then; none if the thread is to end.
  std::optional<std::pair<Task*, Peer*>> AwaitStart(std::list<std::thread>::iterator self,
                                                    Pool& pool);
  bool MayStart(const Peer& peer) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // The earliest task of `peer` that may run; null if there is none.
  Queue<Task>* NextQueue(Peer& peer) ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Whether there may be more tasks than those at once: while a peer has several of them.
  bool MayExceed() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return running_ > running_peers_ && running_ < 2 * task_count_;
  }
  // Whether it may have one more. A peer that has none need not wait for those of a peer that has
  // several: they may take long without a pause.
  bool MayRun(const Peer& peer) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return running_ < task_count_ || (peer.running == 0 && MayExceed());
  }
  // The earliest peer that may; null if there is none.
  Peer* NextPeer() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Of a task that ends, pauses or waits.
  void StopRunning(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (--peer.running == 0) --running_peers_;
    --running_;
  }
  void Enqueue(Task& task, Queue<Task>& queue, Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Charges the task of this thread for what it has taken since the last time.
  Peer& TakeTime(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of a task that goes on for another slice, beginning at what its peer has had by now.
  void GoOn(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of `Checkpoint`.
  void Charge(const Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitTurn(Task& task, Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of `Blocked`.
  void Leave(Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  void Return(Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  // Puts a peer where it belongs in the queue of peers, or takes it out.
  void Requeue(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Starts and wakes what may run now.
  void Dispatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DispatchPaused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The first task of the queue, one of the peer's two, runs.
  void Begin(Peer& peer, Queue<Task>& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(Peer& peer, int64_t ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // An idle thread more, unless the system has none.
  bool AddThread(bool is_prompt = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // On a thread that is not nicer, as those that it starts are what it is.
  void AddPromptThreads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Peers that are up to the clock and have no task need not be known.
  void ForgetPeers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsOver() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopping_ && started_ == 0 && peers_in_turn_.empty();
  }

  const size_t task_count_;
  absl::Mutex mu_;
  Peers peers_ ABSL_GUARDED_BY(mu_);
  Queue<Peer> peers_in_turn_ ABSL_GUARDED_BY(mu_);  // that have a task that may run
  Pool nicer_ ABSL_GUARDED_BY(mu_);
  Pool prompt_ ABSL_GUARDED_BY(mu_);
  size_t prompt_threads_ ABSL_GUARDED_BY(mu_) = 0;
  size_t running_ ABSL_GUARDED_BY(mu_) = 0;
  size_t running_peers_ ABSL_GUARDED_BY(mu_) = 0;  // whose they are
  size_t started_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t clock_ns_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  std::list<std::thread> ended_threads_ ABSL_GUARDED_BY(mu_);  // to be joined
};

// The processor time of the calling thread, in nanoseconds. A call of the system.
int64_t ThreadCpuNs();

}  // namespace carom::server
