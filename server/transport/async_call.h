// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts do all asynchronous gRPC calls of the server share?
//
// An `AsyncCall` is reference-counted and deletes itself. It counts against a limit of calls, is
// registered so that a drain waits for it, and has timers. Subclasses are the calls of queries
// (server/query/query_call.h) and of scenes (server/scenes/scene_call.h).
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
#include "server/base/metrics.h"
#include "server/base/refusals.h"
#include "server/base/timer.h"
#include "server/transport/event_loop.h"
#include "server/transport/executor.h"
#include "server/transport/start_gate.h"

namespace carom::server {

// Limits the concurrent calls of one kind, in total and for each peer (a client address or a
// tenant). A peer may have at most as many calls as the total limit leaves free, so that a single
// peer gets at most half of the total (like memory: server/base/memory_account.h). The last
// sixteenth of the total limit is reserved for peers without calls. Thread-safe.
class CallLimit {
 public:
  // `what` names the calls in errors, such as "streams and Evaluate calls". The metrics count each
  // refused call as a refusal by the limit `counted`.
  CallLimit(size_t limit, size_t limit_per_peer, std::string what, Limit counted)
      : what_(std::move(what)), counted_(counted), limit_(limit), limit_per_peer_(limit_per_peer) {}

  // Changes the limits; calls in progress stay.
  void SetLimits(size_t limit, size_t limit_per_peer) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    limit_ = limit;
    limit_per_peer_ = limit_per_peer;
  }
  // Counts a call of `peer`. Returns RESOURCE_EXHAUSTED with a retry delay, and counts nothing, if
  // a limit is reached. `peer` must exist until `Leave` is called for it.
  absl::Status Enter(const MemoryPeer* peer);
  // Removes a call that `Enter` has counted.
  void Leave(const MemoryPeer* peer);
  size_t calls() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return calls_;
  }

 private:
  absl::Status Refuse(size_t limit, absl::string_view what) const;

  const std::string what_;
  const Limit counted_;
  mutable absl::Mutex mu_;
  size_t limit_ ABSL_GUARDED_BY(mu_);
  size_t limit_per_peer_ ABSL_GUARDED_BY(mu_);
  size_t calls_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const MemoryPeer*, size_t> peers_ ABSL_GUARDED_BY(mu_);
};

// Returns the name of the peer (server/access/peer.h) that made a call: its client address, or, for
// a client without a remote address (loopback or a Unix socket), a name of its connection. With
// `trust_forwarded_for` the name is taken from the header `x-forwarded-for`, if the call has the
// header.
std::string PeerOf(grpc::ServerContext& context, bool trust_forwarded_for);

// Holds references to the objects that calls share. Each object is thread-safe and must outlive the
// calls.
struct CallContext {
  Timer& timer;
  CallRegistry& registry;
  CallLimit& limit;
  MemoryAccount& memory;
  bool trust_forwarded_for = false;  // ServerOptions::trust_forwarded_for
  StartGate* start = nullptr;        // null: the server has started
  // null: all callers are `admin` of the tenant `default`
  const Identities* identities = nullptr;
  // true: the calls count against the tenant's share (resource limit) of streams
  bool are_streams = false;
  Metrics& metrics = Metrics::Unread();
};

// The base class of asynchronous calls. Reference-counted: each pending event, timer and task holds
// a reference; the release of the last reference deletes the call. The peer of a call is the client
// address or tenant whose shares of memory and time the call uses; a drain is a graceful shutdown
// of the server. Thread-safe: `mu_` guards the state of the subclass, except state that one thread
// at a time owns.
class AsyncCall : public Task, public Drainable {
 protected:
  // Creates a call with `references` references: one for gRPC's event "accepted" (a client's call
  // has arrived) and, if the subclass requests the event, one for "done" (the call is over). Both
  // events can happen in any order.
  // `rpc` is the method that is called.
  AsyncCall(EventLoop& loop, const CallContext& shared, RpcMethod rpc, int references)
      : loop_user_(loop), loop_(loop), shared_(shared), rpc_(rpc), references_(references) {}
  virtual ~AsyncCall() = default;

  // `Ref` acquires a reference to the call, and `Unref` releases one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // Authenticates the client, counts the call against its limits and registers it for a drain. The
  // handler of "accepted" calls `Admit` once, and refuses the call with the error that `Admit`
  // returns: UNAVAILABLE if the server drains; RESOURCE_EXHAUSTED if a limit of calls is reached or
  // there is no memory for the call; UNAUTHENTICATED without a valid credential; PERMISSION_DENIED
  // if the caller's role is below `least`.
  absl::Status Admit(Role least);

  // Calls `begin` when the server has started: at once, or later on another thread. Shortly before
  // the deadline of the call, calls `begin` with UNAVAILABLE if the server has not started. `begin`
  // takes over a reference to the call that the caller holds. Must be called once, after `Admit`,
  // so that the memory of the waiting call is charged.
  void CallWhenStarted(StartGate::Begin begin) {
    if (shared_.start == nullptr || shared_.start->is_open()) return begin(absl::OkStatus());
    shared_.start->Wait(context_.deadline(), std::move(begin));
  }

  // Calls `check` at the time `when`, without a lock, unless `StopTimer` is called before. `check`
  // must first set `timer` to 0. The timer holds a reference to the call.
  template <typename Check>
  void StartTimer(Timer::Id& timer, Clock::time_point when, Check check)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Ref();
    timer = shared_.timer.Schedule(when, [this, check = std::move(check)] {
      check();
      Unref();
    });
  }
  // Returns whether the call's peer may use more time of the event loop's threads
  // (server/base/loop_share.h). Must be called after `Admit`.
  bool MayTakeLoop(Clock::time_point now) const {
    const LoopUse& use = memory_peer_->loop;
    return loop_.share().HasSmallShare(use) || loop_.share().MayTake(use, now);
  }
  // Measures the time that the calling thread of the event loop spends on a call: the destructor
  // charges the time since `begin` to the peer of the call. A `LoopTime` may outlive the call.
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
  // `caller`, `memory_peer` and `NewCharge` must be called after `Admit`.
  const Caller& caller() const { return caller_; }
  RpcMethod rpc() const { return rpc_; }
  // Returns the metadata `name` of the call, cut to 256 bytes; empty without it.
  std::string MetadataOf(const char* name) const;
  const std::shared_ptr<MemoryPeer>& memory_peer() const { return memory_peer_; }
  // Returns a charge of 0 bytes (the caller raises it) against the memory share `share`, on behalf
  // of the call's peer.
  MemoryCharge NewCharge(MemoryShare share) { return {shared_.memory, share, memory_peer_.get()}; }

  static constexpr char kUnread[] = "the client does not read its answers";
  // Cancels the call with RESOURCE_EXHAUSTED and the message `why`. Unlike `Finish` of gRPC, does
  // not wait until an answer is sent. gRPC's event "done" follows and reports the call as
  // cancelled.
  void Abort(const char* why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Logs that the call has changed the scene `name`: `event` is such as "scene_created".
  void LogSceneChange(const char* event, absl::string_view name) const;

  // Records, for the metrics, the status code with which the gRPC call ends. If `Ended` is called
  // several times, the first code is kept; if never, the metrics report CANCELLED, as the client
  // has cancelled the gRPC call.
  void Ended(const absl::Status& status) {
    int none = -1;
    code_.compare_exchange_strong(none, static_cast<int>(status.code()));
  }

  // Stops `timer`, if it is set (not 0), and releases the timer's reference to the call. The caller
  // must hold another reference.
  void StopTimer(Timer::Id& timer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

 private:
  // The first member, which is destroyed last: the event loop is shut down only after all other
  // members are destroyed.
  const EventLoop::User loop_user_;

 protected:
  // Returns whether the caller's credential is still valid (`Identities::IsValid`).
  bool IsCallerValid() const;

  // The constructor sets the next three members, which need no lock: each is thread-safe by itself.
  EventLoop& loop_;
  const CallContext shared_;
  grpc::ServerContext context_;

  // A thread that holds the lock of `VersionGate`, `Executor` or `Timer` must not acquire `mu_`.
  absl::Mutex mu_;
  // A thread must hold `mu_` to write this flag; tasks read it without the lock.
  std::atomic<bool> cancelled_{false};

 private:
  void CheckCaller() final ABSL_LOCKS_EXCLUDED(mu_);
  void NoteRefusedCredential(const std::string& peer);

  const RpcMethod rpc_;
  std::atomic<int> code_{-1};   // the code with which the call ended; -1: none
  Clock::time_point admitted_;  // when `Admit` was called
  std::atomic<int> references_;
  Caller caller_;                            // set by `Admit`, before it registers the call
  std::shared_ptr<MemoryPeer> memory_peer_;  // set by `Admit`
  MemoryCharge call_charge_;  // charged memory of the call itself, without its messages
  // `Admit` writes the next three flags, and the last `Unref` reads them.
  bool registered_ = false;  // `Admit` has called `shared_.registry.Add`
  bool counted_ = false;     // `shared_.limit` counts the call
  bool is_stream_ = false;   // the tenant's share of streams counts the call
};

}  // namespace carom::server
