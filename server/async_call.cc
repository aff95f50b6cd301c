// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/async_call.h"

#include <grpc/grpc.h>

#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/peer.h"
#include "server/rpc_status.h"

namespace carom::server {
namespace {

std::string PeerOf(const grpc::ServerContext& context, bool trust_forwarded_for) {
  if (trust_forwarded_for) {
    // The last one: a proxy adds its own after what the client sent.
    const auto headers = context.client_metadata().equal_range("x-forwarded-for");
    if (headers.first != headers.second) {
      const grpc::string_ref last = std::prev(headers.second)->second;
      return PeerOfForwarded({last.data(), last.size()});
    }
  }
  return PeerOfCall(context.peer());
}

}  // namespace

absl::Status CallLimit::Enter(const MemoryPeer* peer) {
  bool fits_peer = true;
  if (of_peer_ < limit_) {
    absl::MutexLock lock(&mu_);
    fits_peer = ++peers_[peer] <= of_peer_;
  }
  if (calls_.fetch_add(1, std::memory_order_relaxed) >= limit_) return TooManyCalls(limit_, what_);
  if (!fits_peer) return TooManyCalls(of_peer_, absl::StrCat(what_, " of this peer"));
  return absl::OkStatus();
}

void CallLimit::Leave(const MemoryPeer* peer) {
  calls_.fetch_sub(1, std::memory_order_relaxed);
  if (of_peer_ >= limit_) return;
  absl::MutexLock lock(&mu_);
  const auto it = peers_.find(peer);
  if (--it->second == 0) peers_.erase(it);
}

void AsyncCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (admitted_) {
    shared_.limit.Leave(memory_peer_.get());
    // Before the destructors: until here a drain may call the subclass.
    shared_.registry.Remove(this);
  }
  delete this;
}

absl::Status AsyncCall::Admit() {
  admitted_ = true;
  const std::string peer = PeerOf(context_, shared_.trust_forwarded_for);
  memory_peer_ = shared_.memory.Peer(peer);
  set_peer(peer);
  const absl::Status status = shared_.limit.Enter(memory_peer_.get());
  // From here on `Drain` may be called, on another thread.
  if (!shared_.registry.Add(this)) return Draining();
  return status;
}

void AsyncCall::CutOff(const char* why) {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED, why, nullptr);
}

void AsyncCall::StopTimer(Timer::Id& timer) {
  if (timer != 0 && shared_.timer.Cancel(std::exchange(timer, 0))) {
    references_.fetch_sub(1, std::memory_order_relaxed);  // not the last one
  }
}

}  // namespace carom::server
