// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which threads answer large frames and change scenes?
//
// An `Executor` runs a limited number of tasks at once and schedules them fairly by peer (client
// address or tenant): a peer with many streams, or with frames (batches of queries) that take long,
// gets no more time than its share. A task that runs for longer than a time slice pauses, and keeps
// its thread, while other tasks run. The event loop answers small frames
// (server/transport/event_loop.h).
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

// A task that runs on an executor. The task must exist until `Run` returns.
class Task {
 public:
  virtual void Run() = 0;

 protected:
  ~Task() = default;

  // Sets the name of the peer that the task works for. Must be called before the first `Submit`. A
  // task without a peer is scheduled as a separate peer.
  void set_peer(std::string peer) { peer_ = std::move(peer); }

 private:
  friend class Executor;
  std::string peer_;
  // virtual time of the task in the fair queueing among the tasks of its peer (see `Executor`): the
  // virtual start of the task's first time slice plus the CPU time that the task has used since, in
  // nanoseconds; raised to the virtual clock when the task is queued
  int64_t served_ns_ = 0;
  bool is_paused_ = false;
  bool is_normal_priority_ = false;
};

// Schedules tasks by start-time fair queueing (Goyal, Vin and Cheng, 1996) of CPU time on two
// levels: among peers, and among the tasks of a peer. The virtual clock of a level is the virtual
// start of the peer or task that was scheduled last. The virtual start of a peer or task is the end
// of its earlier work, or the virtual clock if the clock is later, so that an idle peer saves up no
// time. The peer or task with the earliest virtual start is scheduled first; of equal starts, the
// one that was submitted earlier. With n busy peers and t running tasks, work that takes the time c
// if it runs alone is done after at most (n + 1) c / t plus n time slices.
//
// The executor runs `task_count` tasks at the same time. While a peer runs several tasks, a peer
// without running tasks may immediately start one more task, up to 2 `task_count` running tasks in
// total; in return, one task of the peer with several running tasks waits at its next pause. Tasks
// that never pause therefore do not delay other peers if `task_count` is at least 2.
//
// The threads have a raised nice value (server/base/thread_scheduling.h), except `task_count`
// threads of normal priority, which start tasks of peers that were idle while other peers used more
// time. A thread of normal priority gets the raised nice value when its task has run for a time
// slice. Short tasks therefore do not wait for a CPU behind long tasks.
//
// Each started task, running or paused, has a thread; at most `kMaxStarted` tasks are started. A
// peer with started tasks may start another task while it has fewer than `kMaxStartedOfPeer`
// started tasks, and fewer than half of the number of tasks that peers with started tasks may still
// start; the last `kStartedForOthers` of the `kMaxStarted` tasks are reserved for peers without
// started tasks. Threads beyond `task_count` end when they are idle for `kIdleThread`, which frees
// the thread-local caches of these threads. While the system refuses further threads, unstarted
// tasks wait until a task ends. Thread-safe.
class Executor {
 public:
  static constexpr size_t kMaxStarted = 256;
  static constexpr size_t kMaxStartedOfPeer = 8;
  static constexpr size_t kStartedForOthers = 32;
  static constexpr Clock::duration kSlice = std::chrono::milliseconds(2);
  static constexpr Clock::duration kIdleThread = std::chrono::seconds(2);

  // `tasks` is the number of tasks that run at the same time; 0: one for each CPU
  // (server/base/host_limits.h).
  explicit Executor(size_t tasks);
  // Runs all queued tasks, then joins the threads.
  ~Executor();

  // Queues `task`, and charges its peer `uncharged_ns` nanoseconds of CPU time that the peer used
  // elsewhere, such as on the event loop.
  void Submit(Task* task, int64_t uncharged_ns = 0);

  // Pauses `task` while tasks with an earlier virtual start are scheduled, and returns when `task`
  // is scheduled again. A running task calls `Pause` once in a time slice.
  void Pause(Task* task);

  // Calls `YieldIfSliceIsOver` (server/base/thread_scheduling.h), and once in a time slice charges
  // the used CPU time to the peer of the running task and raises the nice value of the thread. A
  // long task that cannot pause calls `Checkpoint` again and again, so that the peers that have
  // used less time are scheduled first. On a thread that belongs to no executor, `Checkpoint` calls
  // only `YieldIfSliceIsOver`.
  static void Checkpoint();

  // While a `Blocked` exists, the executor does not count the task of this thread as running, and
  // may run another task: for short blocking waits, such as for a disk. The destructor waits until
  // the task is scheduled again. On a thread that belongs to no executor, a `Blocked` does nothing.
  class Blocked {
   public:
    Blocked();
    ~Blocked();
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
  };

  // Returns whether no task waits to be scheduled.
  bool IsIdle() {
    absl::MutexLock lock(&mu_);
    return ready_peers_.empty();
  }

  size_t task_count() const { return task_count_; }
  // What the executor does, for its metrics.
  struct Usage {
    size_t waiting = 0;               // tasks that have not started, and paused ones
    std::chrono::nanoseconds busy{};  // CPU time that tasks have used so far
  };
  Usage usage() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // A queue of tasks or peers, ordered by virtual start, then by the number of the submission.
  template <class T>
  using Queue = std::set<std::tuple<int64_t, uint64_t, T*>>;

  // State of one peer (a client address or a tenant) in the fair queueing. The virtual time of a
  // peer is the CPU time that it has used, raised to the virtual clock when the peer submits a task
  // after it was idle; a virtual clock is the virtual start of the work that was begun last.
  struct Peer {
    int64_t served_ns = 0;  // virtual time of the peer: the start of its next work
    int64_t clock_ns = 0;   // virtual clock of the fair queueing among the peer's tasks
    size_t started = 0;     // tasks that have started and not ended, running or not
    size_t running = 0;     // tasks that run: started, neither paused nor blocked
    // submission number of the peer's entry in `ready_peers_`; 0: no entry
    uint64_t number = 0;
    int64_t ready_at = 0;  // virtual start of the peer's entry in `ready_peers_`
    Queue<Task> unstarted;
    Queue<Task> paused;
  };
  using Peers = std::map<std::string, Peer>;  // a node-based map, as each `Peer*` must stay valid

  // A pool of threads of one priority, and the scheduled tasks that its threads have yet to start.
  struct Pool {
    std::deque<std::pair<Task*, Peer*>> starts;  // tasks that wait for a thread
    size_t idle_threads = 0;

    bool has_room() const { return starts.size() < idle_threads; }
  };

  // Runs tasks until the thread must end. `self` is the thread's entry in `threads_`.
  void Loop(std::list<std::thread>::iterator self, bool is_normal_priority);
  // Waits for a task to start and returns it with its peer; returns nullopt if the thread must end.
  std::optional<std::pair<Task*, Peer*>> AwaitStart(std::list<std::thread>::iterator self,
                                                    Pool& pool);
  // Returns whether `peer` may start another task.
  bool MayStart(const Peer& peer) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns the queue of `peer`, `unstarted` or `paused`, whose first task is scheduled next; null
  // if `peer` has no task that may run.
  Queue<Task>* NextQueue(Peer& peer) ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns whether more than `task_count_` tasks may run at this moment: only while a peer runs
  // several tasks, and at most 2 `task_count_`.
  bool MayExceed() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return running_ > running_peers_ && running_ < 2 * task_count_;
  }
  // Returns whether `peer` may run one more task. A peer without a running task need not wait for a
  // peer that runs several tasks, which may run for long without a pause.
  bool MayRun(const Peer& peer) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return running_ < task_count_ || (peer.running == 0 && MayExceed());
  }
  // Returns the peer with the earliest virtual start for which `MayRun` holds, or null.
  Peer* NextPeer() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Counts one running task of `peer` less, when the task ends, pauses or blocks.
  void StopRunning(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (--peer.running == 0) --running_peers_;
    --running_;
  }
  // Adds `task` to `queue`, which is one of the queues of `peer`.
  void Enqueue(Task& task, Queue<Task>& queue, Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Charges `task` and its peer for the CPU time that the calling thread has used since the
  // thread's last charge. Returns the peer.
  Peer& ChargeTime(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Begins the next time slice of a running task of `peer`: advances the virtual clock `clock_ns_`
  // to the virtual time of `peer` at least, and requeues `peer`.
  void BeginNextSlice(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Charges the peer of `task`, but not `task`, for the CPU time that the calling thread has used
  // since the thread's last charge; used by `Checkpoint`.
  void Charge(const Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues `task` as paused and waits until it is scheduled.
  void AwaitSlice(Task& task, Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Called by the constructor (`BeginBlocking`) and the destructor (`EndBlocking`) of `Blocked`.
  void BeginBlocking(Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  void EndBlocking(Task& task) ABSL_LOCKS_EXCLUDED(mu_);
  // Inserts an entry for `peer` into `ready_peers_`, or moves the entry, to the place of the peer's
  // virtual time; removes the entry if `peer` has no task that may run.
  void Requeue(Peer& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Starts unstarted tasks and wakes paused tasks, those with the earliest virtual start first, as
  // long as further tasks may run.
  void Dispatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Wakes paused tasks, as long as further tasks may run; starts no tasks.
  void DispatchPaused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Starts or wakes the first task of `queue`, which is one of the queues of `peer`.
  void Begin(Peer& peer, Queue<Task>& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends a task of `peer`, and charges the peer for `ns`, the nanoseconds of CPU time that the task
  // has used since its last charge.
  void End(Peer& peer, int64_t ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds a thread, which waits for a task. Returns false if the system refuses a further thread.
  bool AddThread(bool is_normal_priority = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds threads of normal priority up to `task_count_`, in place of threads that have lowered
  // their priority. Must be called on a thread of normal priority, as a thread inherits the nice
  // value of its creator.
  void AddNormalPriorityThreads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Erases the peers without tasks whose virtual time is not ahead of the virtual clock
  // `clock_ns_`: if such a peer submits a task again, the peer is unknown, but the executor
  // schedules the task as if the peer had not been erased.
  void EvictIdlePeers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether all threads must end: the executor is being destroyed and has no task left.
  bool IsOver() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopping_ && started_ == 0 && ready_peers_.empty();
  }

  const size_t task_count_;
  absl::Mutex mu_;
  Peers peers_ ABSL_GUARDED_BY(mu_);
  Queue<Peer> ready_peers_
      ABSL_GUARDED_BY(mu_);  // peers with a task that may run, by virtual start
  Pool low_priority_ ABSL_GUARDED_BY(mu_);
  Pool normal_priority_ ABSL_GUARDED_BY(mu_);
  size_t normal_priority_threads_ ABSL_GUARDED_BY(mu_) = 0;
  size_t running_ ABSL_GUARDED_BY(mu_) = 0;
  size_t running_peers_ ABSL_GUARDED_BY(mu_) = 0;  // peers with running tasks
  size_t started_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t clock_ns_ ABSL_GUARDED_BY(mu_) = 0;  // virtual clock of fair queueing among peers
  int64_t busy_ns_ ABSL_GUARDED_BY(mu_) = 0;   // CPU time of all tasks
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  // threads that have ended, to be joined
  std::list<std::thread> ended_threads_ ABSL_GUARDED_BY(mu_);
};

// Returns the CPU time of the calling thread, in nanoseconds. Makes a system call.
int64_t ThreadCpuNs();

}  // namespace carom::server
