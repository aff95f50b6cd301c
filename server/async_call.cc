// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/async_call.h"

#include "absl/strings/match.h"
#include "server/rpc_status.h"

namespace carom::server {

// gRPC writes `ipv4:HOST:PORT`, `ipv6:[HOST]:PORT` with the brackets as %5B and %5D, and others.
std::string PeerOf(const std::string& uri) {
  const auto begins = [&](absl::string_view prefix) { return absl::StartsWith(uri, prefix); };
  if (!begins("ipv4:") && !begins("ipv6:")) return "";
  for (const absl::string_view local :
       {"ipv4:127.", "ipv6:[::1]", "ipv6:%5B::1%5D", "ipv6:[::ffff:127.", "ipv6:%5B::ffff:127."}) {
    if (begins(local)) return uri;
  }
  return uri.substr(0, uri.rfind(':'));
}

absl::Status CallLimit::Enter() {
  const size_t others = calls_.fetch_add(1, std::memory_order_relaxed);
  return others < limit_ ? absl::OkStatus() : TooManyCalls(limit_, what_);
}

void AsyncCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (admitted_) {
    shared_.limit.Leave();
    // Before the destructors: until here a drain may call the subclass.
    shared_.registry.Remove(this);
  }
  delete this;
}

absl::Status AsyncCall::Admit() {
  admitted_ = true;
  set_peer(PeerOf(context_.peer()));
  const absl::Status status = shared_.limit.Enter();
  // From here on `Drain` may be called, on another thread.
  if (!shared_.registry.Add(this)) return Draining();
  return status;
}

void AsyncCall::StopTimer(Timer::Id& timer) {
  if (timer != 0 && shared_.timer.Cancel(std::exchange(timer, 0))) {
    references_.fetch_sub(1, std::memory_order_relaxed);  // not the last one
  }
}

}  // namespace carom::server
