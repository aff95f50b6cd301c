// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/async_call.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/access/forwarded_client.h"
#include "server/access/peer.h"
#include "server/base/log.h"
#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

// approximate memory of a call without its messages, including the memory that gRPC uses for the
// call
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

// Returns the text by which the log names the credential with the id `credential`: the whole id,
// but for a token, whose id is the word `token` and the hash of the token, only 8 digits of the
// hash.
absl::string_view ShortNameOf(absl::string_view credential) {
  constexpr absl::string_view kToken = "token ";
  constexpr size_t kDigits = 8;
  return absl::StartsWith(credential, kToken) ? credential.substr(0, kToken.size() + kDigits)
                                              : credential;
}

}  // namespace

std::string PeerOf(grpc::ServerContext& context, bool trust_forwarded_for) {
  if (std::optional<ForwardedClient> client = ForwardedClientOf(context)) {
    return std::move(client->peer);
  }
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
  if (calls_ >= limit_) return Refuse(limit_, what_);
  size_t& peer_calls = peers_[peer];
  const size_t open = limit_ - limit_ / 16;
  const size_t most = std::min(limit_per_peer_, open - std::min(open, calls_));
  if (peer_calls > 0 && peer_calls >= most) {
    return Refuse(peer_calls, absl::StrCat(what_, " of this peer"));
  }
  ++peer_calls;
  ++calls_;
  return absl::OkStatus();
}

absl::Status CallLimit::Refuse(size_t limit, absl::string_view what) const {
  absl::Status status = TooManyCalls(limit, what);
  CountRefusal(counted_, status.message());
  return status;
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
  if (registered_) {
    shared_.registry.Remove(this);
    const int code = code_.load();
    shared_.metrics.AddCall(
        rpc_, code < 0 ? absl::StatusCode::kCancelled : static_cast<absl::StatusCode>(code),
        Clock::now() - admitted_);
  }
  delete this;
}

// Charges the call to the caller's tenant if the caller has a valid credential, else to the
// client's address.
absl::Status AsyncCall::Admit(Role least) {
  admitted_ = Clock::now();
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
  if (absl::IsUnauthenticated(status)) NoteRefusedCredential(peer);
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

// Logs at most one line a second for each peer, without the credential.
void AsyncCall::NoteRefusedCredential(const std::string& peer) {
  shared_.metrics.Add(Counter::kCredentialsRefused);
  uint64_t suppressed = 0;
  if (!IsLogged(LogLevel::kWarning) || !memory_peer_->refused_credentials.Allow(suppressed)) return;
  LogLine(LogLevel::kWarning, "credentials_refused")
      .With("peer", peer)
      .With("rpc", NameOf(rpc_))
      .WithIfAny("traceparent", MetadataOf("traceparent"))
      .With("suppressed", suppressed);
}

void AsyncCall::LogSceneChange(const char* event, absl::string_view name) const {
  if (!IsLogged(LogLevel::kInfo)) return;
  LogLine(LogLevel::kInfo, event)
      .With("scene", name)
      .With("tenant", caller_.tenant)
      .WithIfAny("credential", ShortNameOf(caller_.credential))
      .WithIfAny("traceparent", MetadataOf("traceparent"));
}

std::string AsyncCall::MetadataOf(const char* name) const {
  constexpr size_t kMaxBytes = 256;
  const auto found = context_.client_metadata().find(name);
  if (found == context_.client_metadata().end()) return "";
  return {found->second.data(), std::min(found->second.size(), kMaxBytes)};
}

void AsyncCall::Abort(const char* why) {
  Ended(absl::ResourceExhaustedError(why));
  CountRefusal(Limit::kUnread, why);
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED, why, nullptr);
}

bool AsyncCall::IsCallerValid() const {
  return shared_.identities == nullptr || shared_.identities->IsValid(caller_);
}

void AsyncCall::CheckCaller() {
  if (IsCallerValid()) return;
  const absl::Status ended = CredentialEnded();
  Ended(ended);
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
