// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do all asynchronous calls of gRPC have in common?
//
// An `AsyncCall` owns itself by counted references, is counted and registered so that there are no
// more than a limit and a drain waits for it, and has timers. Queries: server/query/query_call.h;
// scenes: server/scenes/scene_call.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/access/call_registry.h"
#include "server/access/identity.h"
#include "server/base/memory_account.h"
#include "server/base/timer.h"
#include "server/transport/event_loop.h"
#include "server/transport/executor.h"
#include "server/transport/start_gate.h"

namespace carom::server {

// How many calls of a kind there may be at once, in all and of one peer. A peer may have no more
// than are left for the others, as with memory (server/base/memory_account.h), and the last
// sixteenth is for peers that have none. Thread-safe.
class CallLimit {
 public:
  // `what` as in "streams and Evaluate calls".
  CallLimit(size_t limit, size_t of_peer, std::string what)
      : limit_(limit), of_peer_(of_peer), what_(std::move(what)) {}

  // Counts a call, or RESOURCE_EXHAUSTED with a retry delay. The peer lives until its call has
  // left.
  absl::Status Enter(const MemoryPeer* peer);
  // Of a call that was counted.
  void Leave(const MemoryPeer* peer);

 private:
  const size_t limit_;
  const size_t of_peer_;
  const std::string what_;
  absl::Mutex mu_;
  size_t calls_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const MemoryPeer*, size_t> peers_ ABSL_GUARDED_BY(mu_);
};

// Who is behind a call (server/access/peer.h).
std::string PeerOf(grpc::ServerContext& context, bool trust_forwarded_for);

// What calls share. Each outlives them and is thread-safe.
struct CallContext {
  Timer& timer;
  CallRegistry& registry;
  CallLimit& limit;
  MemoryAccount& memory;
  bool trust_forwarded_for = false;  // a proxy alone can connect: see ServerOptions
  StartGate* start = nullptr;        // null: it is over
  // Null: everybody is `admin` of the tenant `default`.
  const Identities* identities = nullptr;
  bool are_streams = false;  // that count as the tenant's
};

// Lifetime: each event, timer and run that is outstanding holds a reference; who lets the last one
// go deletes the call. Thread-safe as gRPC calls it: state of the subclass is under `mu_`, but for
// what has one owner at a time.
class AsyncCall : public Task, public Drainable {
 protected:
  // Made with so many references: of "accepted" and, if it is asked for, "done", in any order.
  AsyncCall(EventLoop& loop, const CallContext& shared, int references)
      : loop_user_(loop), loop_(loop), shared_(shared), references_(references) {}
  virtual ~AsyncCall() = default;

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // Registers and counts the call, once, from "accepted". UNAVAILABLE if the server drains,
  // RESOURCE_EXHAUSTED if it has as many calls as it may, or no memory for one more,
  // UNAUTHENTICATED without a credential, PERMISSION_DENIED if the caller's role may not do what
  // `least` may: the call is then to be refused.
  absl::Status Admit(Role least);

  // Calls `begin` once the server serves: at once, or later on another thread, with UNAVAILABLE if
  // it does not shortly before the call's deadline. The caller's reference becomes that of `begin`.
  // Once, after `Admit`, with all that the call keeps meanwhile charged.
  void OnceStarted(StartGate::Begin begin) {
    if (shared_.start == nullptr || shared_.start->is_open()) return begin(absl::OkStatus());
    shared_.start->Wait(context_.deadline(), std::move(begin));
  }

  // Calls `check` at `when`, without a lock, unless `StopTimer` comes before; `check` begins by
  // setting the timer to 0. Holds a reference meanwhile.
  template <typename Check>
  void StartTimer(Timer::Id& timer, Clock::time_point when, Check check)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Ref();
    timer = shared_.timer.Schedule(when, [this, check = std::move(check)] {
      check();
      Unref();
    });
  }
  // Whether the call's peer may have more of the event loop; once it is admitted.
  bool MayTakeLoop(Clock::time_point now) const {
    const LoopUse& use = memory_peer_->loop;
    return loop_.share().IsLittle(use) || loop_.share().MayTake(use, now);
  }
  // From `begin` to its end the event loop works for the call's peer. May outlive the call.
  class LoopTime {
   public:
    LoopTime(const AsyncCall& call, Clock::time_point begin)
        : share_(call.loop_.share()), peer_(call.memory_peer_), begin_(begin) {}
    ~LoopTime() {
      const Clock::time_point now = Clock::now();
      share_.Take(peer_->loop, now - begin_, now);
    }
    LoopTime(const LoopTime&) = delete;
    LoopTime& operator=(const LoopTime&) = delete;

   private:
    LoopShare& share_;
    const std::shared_ptr<MemoryPeer> peer_;
    const Clock::time_point begin_;
  };
  // Who calls, once it is admitted.
  const Caller& caller() const { return caller_; }
  // Whose call it is, and a charge of theirs, once it is admitted.
  const std::shared_ptr<MemoryPeer>& memory_peer() const { return memory_peer_; }
  MemoryCharge NewCharge(MemoryShare share) { return {shared_.memory, share, memory_peer_.get()}; }

  static constexpr char kUnread[] = "the client does not read its answers";
  // Has gRPC end the call with RESOURCE_EXHAUSTED although an answer is not sent yet, which
  // `Finish` would wait for. "Done" follows, cancelled.
  void CutOff(const char* why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The caller holds a reference of its own.
  void StopTimer(Timer::Id& timer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

 private:
  // The first member, so that the event loop outlives all others.
  const EventLoop::User loop_user_;

 protected:
  // Whether the credential that the call came with is still what it was.
  bool IsCallerValid() const;

  // No lock: set by the constructor; each is thread-safe by itself.
  EventLoop& loop_;
  const CallContext shared_;
  grpc::ServerContext context_;

  absl::Mutex mu_;                      // taken before the locks of gate, executor and timer
  std::atomic<bool> cancelled_{false};  // written under mu_; work in progress reads it without

 private:
  void CheckCaller() final ABSL_LOCKS_EXCLUDED(mu_);

  std::atomic<int> references_;
  Caller caller_;                            // set by `Admit`, before it is registered
  std::shared_ptr<MemoryPeer> memory_peer_;  // set by `Admit`
  MemoryCharge call_charge_;                 // of the call itself
  // Written by `Admit`, read by the last `Unref`.
  bool registered_ = false;
  bool counted_ = false;
  bool is_stream_ = false;  // of the tenant
};

}  // namespace carom::server
