// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/fork_log.h"

#include <grpcpp/client_context.h>

#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/src/addresses.h"
#include "client/src/edit_id.h"
#include "client/src/unary_call.h"

namespace carom {
namespace {

// A part of the edits of a fork that is made again.
constexpr size_t kReplayedBytes = 1 << 20;
// Of each call: a server that does not answer by then is as good as none.
constexpr std::chrono::seconds kCallTimeout{5};
// Of taking half a fork back, which is not given up before.
constexpr std::chrono::seconds kRemovalTimeout{1};

const std::function<bool()> kNever = [] { return false; };

// One call of a server, which is cancelled once it is abandoned.
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
  return absl::UnavailableError("the server did not make a fork again in time");
}

}  // namespace

void ForkLog::Add(const v1::Scene& fork, uint64_t lease_seconds) {
  MutexLock lock(mutex_);
  forks_[fork.name()] = {.base = fork.base(),
                         .base_version = fork.base_version(),
                         .lease_seconds = lease_seconds,
                         .edited = {}};
}

void ForkLog::Remove(const std::string& name) {
  MutexLock lock(mutex_);
  forks_.erase(name);
}

bool ForkLog::empty() const {
  MutexLock lock(mutex_);
  return forks_.empty();
}

// Edits of scenes that are no forks of this client are none of the log's.
void ForkLog::Record(const std::string& name, const v1::GroupEdits& edits, uint64_t version) {
  MutexLock lock(mutex_);
  const auto fork = forks_.find(name);
  if (fork == forks_.end()) return;
  for (const v1::Edit& edit : edits.edits()) Record(edit, version, fork->second);
}

// Answers of several streams come in any order; versions say which edit was the first and the last.
void ForkLog::Record(const v1::Edit& edit, uint64_t version, Fork& fork) {
  const bool adds = edit.has_add();
  const uint64_t id = adds                 ? edit.add().id()
                      : edit.has_replace() ? edit.replace().id()
                                           : edit.remove();
  const auto [it, is_new] = fork.edited.try_emplace(id);
  Edited& edited = it->second;
  if (is_new || version < edited.first_version) {
    edited.first_version = version;
    edited.is_in_base = !adds;
  }
  if (version <= edited.version) return;
  edited.version = version;
  edited.is_there = adds || edit.has_replace();
  if (adds) {
    edited.polygon = edit.add();
  } else if (edited.is_there) {
    edited.polygon = edit.replace();
  } else {
    edited.polygon = {};
  }
}

std::vector<v1::CommitEditsRequest> ForkLog::EditsOf(const std::string& name, const Fork& fork) {
  std::vector<v1::CommitEditsRequest> parts;
  size_t bytes = kReplayedBytes;
  for (const auto& [id, edited] : fork.edited) {
    // What came and went again needs no edit.
    if (!edited.is_there && !edited.is_in_base) continue;
    const size_t added = edited.is_there ? edited.polygon.ByteSizeLong() : sizeof(id);
    if (bytes + added > kReplayedBytes) {
      parts.emplace_back().set_name(name);
      parts.back().set_edit_id(NewEditId());
      bytes = 0;
    }
    bytes += added;
    v1::Edit& edit = *parts.back().add_edits();
    if (!edited.is_there) {
      edit.set_remove(id);
    } else if (edited.is_in_base) {
      *edit.mutable_replace() = edited.polygon;
    } else {
      *edit.mutable_add() = edited.polygon;
    }
  }
  return parts;
}

// False while another caller restores forks, after a while.
bool ForkLog::Enter() {
  MutexLock lock(mutex_);
  if (is_restoring_) {
    restored_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kLookPeriod);
  }
  return !std::exchange(is_restoring_, true);
}

void ForkLog::Leave() {
  MutexLock lock(mutex_);
  is_restoring_ = false;
  restored_.NotifyAll();
}

// One caller at a time: who comes later finds forks that are whole. Calls are made without the lock
// of the log, which answers need, and so is `abandoned` asked, which has locks of its own.
absl::Status ForkLog::Restore(Addresses& addresses, size_t address,
                              const std::function<bool()>& abandoned) {
  while (!Enter()) {
    if (abandoned()) return absl::OkStatus();
  }
  const absl::Cleanup leave = [this] { Leave(); };
  std::map<std::string, Fork> forks;
  {
    MutexLock lock(mutex_);
    forks = forks_;
  }
  for (const auto& [name, fork] : forks) {
    if (abandoned()) return absl::OkStatus();
    absl::Status status = Restore({addresses, address, abandoned}, name, fork);
    // Without its base there is no fork: its groups are answered that there is no such scene.
    const bool is_hopeless = absl::IsNotFound(status) || absl::IsOutOfRange(status) ||
                             absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
    if (!status.ok() && !is_hopeless) return status;
  }
  return absl::OkStatus();
}

// A fork that is there is left as it is: it is the one that was made, or another client of the same
// game has made it again.
absl::Status ForkLog::Restore(const ForkServer& server, const std::string& name, const Fork& fork) {
  using Stub = v1::SceneService::Stub;
  v1::GetSceneRequest get;
  get.set_name(name);
  v1::GetSceneResponse got;
  absl::Status status = Call(server, &Stub::AsyncGetScene, get, got);
  if (!absl::IsNotFound(status)) return status;
  v1::ForkSceneRequest request;
  request.set_base(fork.base);
  request.set_version(fork.base_version);
  request.set_name(name);
  request.set_lease_seconds(fork.lease_seconds);
  v1::ForkSceneResponse made;
  // To its end: of one that is cancelled nobody knows whether the fork was made, without its edits.
  const ForkServer to_the_end{server.addresses, server.address, kNever};
  status = Call(to_the_end, &Stub::AsyncForkScene, request, made);
  // Another client of the same game was faster.
  if (absl::IsAlreadyExists(status)) return absl::OkStatus();
  if (!status.ok()) return status;
  for (const v1::CommitEditsRequest& part : EditsOf(name, fork)) {
    v1::CommitEditsResponse committed;
    status = Call(server, &Stub::AsyncCommitEdits, part, committed);
    if (status.ok()) continue;
    // Half a fork would be taken for a whole one.
    v1::DeleteSceneRequest remove;
    remove.set_name(name);
    v1::DeleteSceneResponse removed;
    Call(to_the_end, &Stub::AsyncDeleteScene, remove, removed, kRemovalTimeout).IgnoreError();
    return status;
  }
  return absl::OkStatus();
}

}  // namespace carom
