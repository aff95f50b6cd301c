// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/async_call.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/access/peer.h"
#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

// approximate memory of a call, including gRPC's part
constexpr size_t kCallBytes = 16 << 10;
// CPU time of the event loop that gRPC and `Admit` take for one call, measured with calls of 60
// bytes. The server does not measure the time of each call, but charges this constant: otherwise a
// peer with very many small calls would seem to use little time.
constexpr Clock::duration kCallTime = std::chrono::microseconds(20);

// Returns a name for the connection of a call: the memory address of gRPC's authentication context.
// Each connection has such a context, also without TLS, as long as the connection exists.
std::string ConnectionOf(grpc::ServerContext& context) {
  grpc_auth_context* const of_connection = grpc_call_auth_context(context.c_call());
  if (of_connection == nullptr) return "";
  grpc_auth_context_release(of_connection);
  return absl::StrCat("connection ", absl::Hex(reinterpret_cast<uintptr_t>(of_connection)));
}

}  // namespace

std::string PeerOf(grpc::ServerContext& context, bool trust_forwarded_for) {
  if (trust_forwarded_for) {
    // Uses the last header of this name: a proxy appends its header to the client's headers.
    const auto headers = context.client_metadata().equal_range("x-forwarded-for");
    if (headers.first != headers.second) {
      const grpc::string_ref last = std::prev(headers.second)->second;
      return PeerOfForwarded({last.data(), last.size()});
    }
  }
  std::string peer = PeerOfCall(context.peer());
  return peer.empty() ? ConnectionOf(context) : peer;
}

absl::Status CallLimit::Enter(const MemoryPeer* peer) {
  absl::MutexLock lock(&mu_);
  if (calls_ >= limit_) return TooManyCalls(limit_, what_);
  size_t& peer_calls = peers_[peer];
  const size_t open = limit_ - limit_ / 16;
  const size_t most = std::min(limit_per_peer_, open - std::min(open, calls_));
  if (peer_calls > 0 && peer_calls >= most) {
    return TooManyCalls(peer_calls, absl::StrCat(what_, " of this peer"));
  }
  ++peer_calls;
  ++calls_;
  return absl::OkStatus();
}

void CallLimit::Leave(const MemoryPeer* peer) {
  absl::MutexLock lock(&mu_);
  --calls_;
  const auto it = peers_.find(peer);
  if (--it->second == 0) peers_.erase(it);
}

void AsyncCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (is_stream_) caller_.shares->LeaveStream();
  if (counted_) shared_.limit.Leave(memory_peer_.get());
  // Unregisters the call before any destructor runs: while the call is registered, a drain may call
  // functions of the subclass.
  if (registered_) shared_.registry.Remove(this);
  delete this;
}

// Charges the call to the caller's tenant if the caller has a valid credential, else to the
// client's address.
absl::Status AsyncCall::Admit(Role least) {
  absl::Status status;
  if (shared_.identities != nullptr) {
    absl::StatusOr<Caller> caller = shared_.identities->Identify(context_);
    status = caller.status();
    if (caller.ok()) caller_ = *std::move(caller);
  }
  const std::string peer = caller_.credential.empty()
                               ? PeerOf(context_, shared_.trust_forwarded_for)
                               : absl::StrCat("tenant ", caller_.tenant);
  memory_peer_ = shared_.memory.Peer(peer);
  loop_.share().Take(memory_peer_->loop, kCallTime, Clock::now());
  set_peer(peer);
  if (status.ok()) status = caller_.Check(least);
  if (status.ok()) {
    status = shared_.limit.Enter(memory_peer_.get());
    counted_ = status.ok();
  }
  if (status.ok() && shared_.are_streams && caller_.shares != nullptr) {
    status = caller_.shares->EnterStream();
    is_stream_ = status.ok();
  }
  call_charge_ = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = call_charge_.Add(kCallBytes);
  registered_ = true;
  // From `registry.Add` on, another thread may call `Drain` of this call.
  if (!shared_.registry.Add(this)) return Draining();
  return status;
}

void AsyncCall::Abort(const char* why) {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED, why, nullptr);
}

bool AsyncCall::IsCallerValid() const {
  return shared_.identities == nullptr || shared_.identities->IsValid(caller_);
}

void AsyncCall::CheckCaller() {
  if (IsCallerValid()) return;
  const absl::Status ended = CredentialEnded();
  absl::MutexLock lock(&mu_);
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_UNAUTHENTICATED,
                               std::string(ended.message()).c_str(), nullptr);
}

void AsyncCall::StopTimer(Timer::Id& timer) {
  if (timer != 0 && shared_.timer.Cancel(std::exchange(timer, 0))) {
    // Releases the timer's reference, which is not the last one: the caller of `StopTimer` holds
    // another reference.
    references_.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace carom::server
