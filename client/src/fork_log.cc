// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/fork_log.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/src/addresses.h"
#include "client/src/edit_id.h"
#include "client/src/unary_call.h"

namespace carom {
namespace {

// The number of bytes of edits after which `EditsOf` begins another request.
constexpr size_t kReplayedBytes = 1 << 20;
// The timeout of a call that restores a fork. A server that does not answer within this time counts
// as unavailable.
constexpr std::chrono::seconds kCallTimeout{5};
// The timeout of the call that deletes a fork that did not get all of its edits. The function
// `ForkServer::abandoned`, which cancels the other calls when the caller gives the restoring up,
// does not cancel this call.
constexpr std::chrono::seconds kRemovalTimeout{1};

const std::function<bool()> kNever = [] { return false; };

// Makes one call to `server` and returns its status. Cancels the call once `server.abandoned`
// returns true. Returns UNAVAILABLE if the server does not answer within `timeout`.
template <typename Request, typename Response>
absl::Status Call(const ForkServer& server,
                  UnaryMethod<v1::SceneService::Stub, Request, Response> method,
                  const Request& request, Response& response,
                  std::chrono::seconds timeout = kCallTimeout) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  const absl::Status status = CallUnary(
      server.addresses,
      [&](grpc::CompletionQueue* queue) {
        return (server.addresses.scenes(server.address).*method)(&context, request, queue);
      },
      response,
      [&] {
        if (server.abandoned()) context.TryCancel();
      });
  if (!absl::IsDeadlineExceeded(status)) return status;
  return absl::UnavailableError("the server did not answer in time while a fork was restored");
}

// Returns the current version of the scene `name`.
absl::StatusOr<uint64_t> VersionOf(const ForkServer& server, const std::string& name) {
  v1::GetSceneRequest request;
  request.set_name(name);
  v1::GetSceneResponse response;
  const absl::Status status =
      Call(server, &v1::SceneService::Stub::AsyncGetScene, request, response);
  if (!status.ok()) return status;
  return response.scene().version();
}

// Deletes the scene `name`. Returns NOT_FOUND once the server does not have it.
absl::Status Delete(const ForkServer& server, const std::string& name,
                    std::chrono::seconds timeout = kCallTimeout) {
  v1::DeleteSceneRequest request;
  request.set_name(name);
  v1::DeleteSceneResponse response;
  const absl::Status status =
      Call(server, &v1::SceneService::Stub::AsyncDeleteScene, request, response, timeout);
  return status.ok() ? absl::NotFoundError("the scene is deleted") : status;
}

}  // namespace

void ForkLog::Add(const v1::Scene& fork, uint64_t lease_seconds, size_t address) {
  MutexLock lock(mutex_);
  forks_[fork.name()] = {.base = fork.base(),
                         .base_version = fork.base_version(),
                         .lease_seconds = lease_seconds,
                         .address = address,
                         .version = fork.version(),
                         .terms = {{address, 1}},
                         .edited = {}};
}

void ForkLog::Remove(const std::string& name) {
  MutexLock lock(mutex_);
  forks_.erase(name);
}

void ForkLog::RemoveMissing(const std::string& name, size_t address) {
  MutexLock lock(mutex_);
  const auto fork = forks_.find(name);
  if (fork != forks_.end() && fork->second.address == address) forks_.erase(fork);
}

bool ForkLog::empty() const {
  MutexLock lock(mutex_);
  return forks_.empty();
}

// Ignores the edits if the log has no fork `name`: the log contains only the forks that this client
// made. A late answer of a server that the client has left counts as older than the edits that were
// made since.
void ForkLog::Record(const std::string& name, const v1::GroupEdits& edits, uint64_t version,
                     size_t address) {
  MutexLock lock(mutex_);
  const auto found = forks_.find(name);
  if (found == forks_.end()) return;
  Fork& fork = found->second;
  const auto term = fork.terms.find(fork.terms.contains(address) ? address : fork.address);
  const Order order{term->second, version};
  if (term->first == fork.address) fork.version = std::max(fork.version, version);
  for (const v1::Edit& edit : edits.edits()) Record(edit, order, fork);
}

// A version below one that the server had before shows that it has lost the fork meanwhile, and
// that this client or another one has made it again.
void ForkLog::RecordServer(const std::string& name, uint64_t known_version, uint64_t version,
                           size_t address) {
  MutexLock lock(mutex_);
  const auto found = forks_.find(name);
  if (found == forks_.end()) return;
  Fork& fork = found->second;
  if (address == fork.address && version >= known_version) {
    fork.version = std::max(fork.version, version);
    return;
  }
  const uint64_t term = fork.terms[fork.address];
  fork.terms[address] = term + 1;
  fork.address = address;
  fork.version = version;
}

// Answers of several streams arrive in any order, so the versions that the edits made determine
// which edit of a polygon was the first and which was the last.
void ForkLog::Record(const v1::Edit& edit, Order order, Fork& fork) {
  const bool adds = edit.has_add();
  const uint64_t id = adds                 ? edit.add().id()
                      : edit.has_replace() ? edit.replace().id()
                                           : edit.remove();
  const auto [it, is_new] = fork.edited.try_emplace(id);
  Edited& edited = it->second;
  if (is_new || order < edited.first) {
    edited.first = order;
    edited.is_in_base = !adds;
  }
  if (order <= edited.last) return;
  edited.last = order;
  edited.exists = adds || edit.has_replace();
  if (adds) {
    edited.polygon = edit.add();
  } else if (edited.exists) {
    edited.polygon = edit.replace();
  } else {
    edited.polygon = {};
  }
}

std::vector<v1::CommitEditsRequest> ForkLog::EditsOf(const std::string& name, const Fork& fork) {
  std::vector<v1::CommitEditsRequest> parts;
  size_t bytes = kReplayedBytes;
  for (const auto& [id, edited] : fork.edited) {
    // A polygon that the base (the scene that was forked) does not have, and that was added and
    // removed again, needs no edit.
    if (!edited.exists && !edited.is_in_base) continue;
    const size_t added = edited.exists ? edited.polygon.ByteSizeLong() : sizeof(id);
    if (bytes + added > kReplayedBytes) {
      parts.emplace_back().set_name(name);
      parts.back().set_edit_id(NewEditId());
      bytes = 0;
    }
    bytes += added;
    v1::Edit& edit = *parts.back().add_edits();
    if (!edited.exists) {
      edit.set_remove(id);
    } else if (edited.is_in_base) {
      *edit.mutable_replace() = edited.polygon;
    } else {
      *edit.mutable_add() = edited.polygon;
    }
  }
  return parts;
}

// Waits for up to `kPollInterval` while another caller restores forks, and returns false if that
// caller is not done by then.
bool ForkLog::TryBeginRestore() {
  MutexLock lock(mutex_);
  if (is_restoring_) {
    restored_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPollInterval);
  }
  return !std::exchange(is_restoring_, true);
}

void ForkLog::EndRestore() {
  MutexLock lock(mutex_);
  is_restoring_ = false;
  restored_.NotifyAll();
}

// Lets one caller restore at a time, so that every other caller finds complete forks. Holds no lock
// during gRPC calls, because `Record` needs `mutex_` for answers of other streams, and none while
// it runs `abandoned`, because `abandoned` locks another mutex.
absl::Status ForkLog::Restore(Addresses& addresses, size_t address,
                              const std::function<bool()>& abandoned) {
  while (!TryBeginRestore()) {
    if (abandoned()) return absl::OkStatus();
  }
  const absl::Cleanup leave = [this] { EndRestore(); };
  std::map<std::string, Fork> forks;
  {
    MutexLock lock(mutex_);
    forks = forks_;
  }
  for (const auto& [name, fork] : forks) {
    if (abandoned()) return absl::OkStatus();
    const absl::StatusOr<uint64_t> version = Restore({addresses, address, abandoned}, name, fork);
    if (version.ok()) {
      RecordServer(name, fork.version, *version, address);
      continue;
    }
    const absl::Status& status = version.status();
    // If the server does not have the base of a fork (the version of a scene from which it was
    // made), the fork cannot be restored; the server then answers NOT_FOUND to groups of queries on
    // this fork.
    const bool is_permanent = absl::IsNotFound(status) || absl::IsOutOfRange(status) ||
                              absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
    if (!is_permanent) return status;
  }
  return absl::OkStatus();
}

// Does not change a fork that the server has, if the client has not left the server: either the
// server did not lose the fork, or another client, whose log also contains the fork, has restored
// it.
absl::StatusOr<uint64_t> ForkLog::Restore(const ForkServer& server, const std::string& name,
                                          const Fork& fork) {
  using Stub = v1::SceneService::Stub;
  absl::StatusOr<uint64_t> version = VersionOf(server, name);
  const bool is_stale = server.address != fork.address && fork.terms.contains(server.address);
  if (version.ok() && is_stale) version = Delete(server, name);
  if (!absl::IsNotFound(version.status())) return version;
  v1::ForkSceneRequest request;
  request.set_base(fork.base);
  request.set_version(fork.base_version);
  request.set_name(name);
  request.set_lease_seconds(fork.lease_seconds);
  v1::ForkSceneResponse made;
  // This call must not be cancelled: the server might then have made the fork, without its edits.
  const ForkServer uncancelled{server.addresses, server.address, kNever};
  absl::Status status = Call(uncancelled, &Stub::AsyncForkScene, request, made);
  // If the fork exists by now, another client has restored it meanwhile.
  if (absl::IsAlreadyExists(status)) return VersionOf(server, name);
  if (!status.ok()) return status;
  version = made.scene().version();
  for (const v1::CommitEditsRequest& part : EditsOf(name, fork)) {
    v1::CommitEditsResponse committed;
    status = Call(server, &Stub::AsyncCommitEdits, part, committed);
    version = committed.scene().version();
    if (status.ok()) continue;
    // If not all edits were committed, deletes the fork: other clients would take the incomplete
    // fork for a complete one.
    Delete(uncancelled, name, kRemovalTimeout).IgnoreError();
    return status;
  }
  return version;
}

}  // namespace carom
