// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do gRPC's events arrive?
//
// Everything that is asked of gRPC's asynchronous API has an `Event` that happens when it is done.
// The threads of an `EventLoop` wait for these, and what one event sets off runs where it arrived:
// a small frame is read, answered and written by one thread (docs/adr/0009-event-loop.md).
#pragma once

#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/base/loop_share.h"

namespace carom::server {

class Event {
 public:
  // `ok` is gRPC's: whether what was asked has come about.
  virtual void Happen(bool ok) = 0;

 protected:
  ~Event() = default;
};

// An event that is a member function of `Owner`.
template <class Owner, void (Owner::*kHandle)(bool ok)>
class EventOf final : public Event {
 public:
  explicit EventOf(Owner* owner) : owner_(*owner) {}
  void Happen(bool ok) override { (owner_.*kHandle)(ok); }

 private:
  Owner& owner_;
};

// One completion queue and its threads: the one that receives a message goes on with it.
class EventLoop {
 public:
  // A member of whatever asks for events: the queue is not shut down before the last of them is
  // gone.
  class User {
   public:
    explicit User(EventLoop& loop) : loop_(loop) { loop_.CountUsers(1); }
    ~User() { loop_.CountUsers(-1); }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    EventLoop& loop_;
  };

  // `threads` of 0: one for each that can run at once. The queue belongs to the server that
  // `builder` builds.
  EventLoop(grpc::ServerBuilder& builder, size_t threads);
  // The server is shut down, or was not built: calls that are waited for never come. Waits for the
  // last user, then joins.
  ~EventLoop();

  // Once the server is built.
  void Start();

  // Asks to keep the calling thread for longer than one event takes. False if no thread would be
  // left for events. `ReleaseThread` ends it.
  bool ReserveThread();
  void ReleaseThread() { reserved_.fetch_sub(1, std::memory_order_relaxed); }

  // Whose frames may be answered on its threads.
  LoopShare& share() { return share_; }
  grpc::ServerCompletionQueue& queue() { return *queue_; }
  size_t thread_count() const { return thread_count_; }

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
