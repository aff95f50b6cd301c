// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which threads handle gRPC's events?
//
// Each operation of gRPC's asynchronous API completes with an `Event`. The threads of an
// `EventLoop` wait for events and handle each event on the thread that receives it: one thread
// reads a small frame (a batch of queries), answers it and writes the answer
// (docs/adr/0009-event-loop.md).
#pragma once

#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "server/base/loop_share.h"

namespace carom::server {

// The completion of an operation of gRPC.
class Event {
 public:
  // Handles the completion. `ok` is gRPC's flag: whether the operation succeeded.
  virtual void OnComplete(bool ok) = 0;

 protected:
  ~Event() = default;
};

// An event that calls the member function `kHandle` of its owner.
template <class Owner, void (Owner::*kHandle)(bool ok)>
class EventOf final : public Event {
 public:
  explicit EventOf(Owner* owner) : owner_(*owner) {}
  void OnComplete(bool ok) override { (owner_.*kHandle)(ok); }

 private:
  Owner& owner_;
};

// Holds a completion queue of gRPC and the threads that handle its events.
class EventLoop {
 public:
  // As long as a `User` exists, the completion queue of the loop is not shut down. Each object that
  // starts operations of gRPC has a `User` as a member: the queue is shut down only after the last
  // `User` is destroyed.
  class User {
   public:
    explicit User(EventLoop& loop) : loop_(loop) { loop_.CountUsers(1); }
    ~User() { loop_.CountUsers(-1); }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    EventLoop& loop_;
  };

  // Adds a queue to the server that `builder` builds. `threads` is the number of threads; 0: one
  // for each CPU (server/base/host_limits.h).
  EventLoop(grpc::ServerBuilder& builder, size_t threads);
  // Waits until no `User` exists, then shuts down the queue and joins the threads. The gRPC server
  // must be shut down before, or never have been built, so that no further calls are accepted.
  ~EventLoop();

  // Starts the threads. Must be called after the server is built.
  void Start();

  // Reserves the calling thread, one of the loop's threads, for longer work until `ReleaseThread`.
  // Returns false if no thread would be left for events, or if the thread is not the loop's
  // (`RunAndHandle`); the caller must then not do the work on this thread.
  bool ReserveThread();
  void ReleaseThread() { reserved_.fetch_sub(1, std::memory_order_relaxed); }

  // Runs `start`, which starts an operation of gRPC within the process, and then handles events on
  // the calling thread until `is_done` returns true, no event is ready, or `most` events were
  // handled. Without this function, a thread of the loop would wake up to handle these events. The
  // caller must own a `User`, and must not hold a mutex that a handler of an event locks.
  void RunAndHandle(absl::FunctionRef<void()> start, absl::FunctionRef<bool()> is_done, int most);

  // Returns the object that decides for which peers (client addresses or tenants) the threads of
  // the loop may answer frames, by the time that each peer has used.
  LoopShare& share() { return share_; }
  grpc::ServerCompletionQueue& queue() { return *queue_; }
  size_t thread_count() const { return thread_count_; }
  // Returns the CPU time that the threads of the loop have used. Must not be called before `Start`.
  std::chrono::nanoseconds busy_time() const;

 private:
  void Loop();
  void CountUsers(int change);
  bool IsUnused() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return users_ == 0; }

  absl::Mutex mu_;
  int users_ ABSL_GUARDED_BY(mu_) = 0;
  std::atomic<size_t> reserved_{0};
  const size_t thread_count_;
  LoopShare share_;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::thread> threads_;
};

}  // namespace carom::server
