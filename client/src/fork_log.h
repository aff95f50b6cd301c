// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client restore a fork (an editable copy of a scene, which exists on one server only)
// that the server has lost?
//
// A `ForkLog` holds the base of each fork of the client, and the net effect of the edits that the
// client has made to the fork, polygon by polygon. The size of the log is O(edited polygons), not
// O(edits).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "client/src/mutex.h"

namespace carom {

class Addresses;

// The server on which `ForkLog::Restore` restores forks (editable copies of scenes), with `address`
// as the index of the server in `addresses`; and `abandoned`, which returns true when `Restore`
// should stop.
struct ForkServer {
  const Addresses& addresses;
  size_t address;
  const std::function<bool()>& abandoned;
};

// Records the forks of a client and the edits of each fork, and restores forks that a server has
// lost. A fork is an editable copy of a version of a scene, its base, and exists on one server
// only. Thread-safe. A client and its streams share one `ForkLog`.
class ForkLog {
 public:
  // `Add` records a fork that the client has made on the server at `address`. `Remove` deletes a
  // fork from the log, so that `Restore` does not make that fork again.
  void Add(const v1::Scene& fork, uint64_t lease_seconds, size_t address)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes the fork `name`, which the server at `address` does not have, unless the log last found
  // or made the fork on another server: then `Restore` has yet to make it on this server.
  void RemoveMissing(const std::string& name, size_t address) ABSL_LOCKS_EXCLUDED(mutex_);

  bool empty() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Records that `edits` made version `version` of the scene `name` on the server at `address`;
  // does nothing if the scene is not a fork in the log.
  void Record(const std::string& name, const v1::GroupEdits& edits, uint64_t version,
              size_t address) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes, on the server at `address`, each fork of the log that this server does not have, or has
  // as the fork was when the client went on with another server; only one caller of `Restore` does
  // so at a time. Skips forks whose base the server does not have. Calls `abandoned` without
  // holding a lock. After `abandoned` has returned true, waits at most for a running ForkScene call
  // (5 s) and for the deletion of an incomplete fork (1 s), and returns.
  //
  // Errors: those of a server that does not answer, or refuses a call over a limit. The function
  // then deletes a fork that it made but could not give all edits, if the server answers the
  // deletion.
  absl::Status Restore(Addresses& addresses, size_t address, const std::function<bool()>& abandoned)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // The order of edits. A term begins when the fork is found or made on a server that numbers its
  // versions anew: another server, or one that has lost the fork. Versions order the edits of one
  // term.
  struct Order {
    uint64_t term = 0;
    uint64_t version = 0;  // version that the edit made
    auto operator<=>(const Order&) const = default;
  };
  // The net effect of all edits of one polygon of a fork.
  struct Edited {
    bool is_in_base = false;
    Order first;  // the first edit determines `is_in_base`, whether the base has the polygon
    Order last;
    bool exists = false;  // whether the fork has the polygon after the last edit
    v1::Polygon polygon;  // the polygon after the last edit, if it exists
  };
  struct Fork {
    std::string base;
    uint64_t base_version = 0;
    uint64_t lease_seconds = 0;
    size_t address = 0;    // server on which the fork was last found or made
    uint64_t version = 0;  // greatest version of the fork on this server that the client knows
    // latest term of each server on which the fork was found or made, by address; that of `address`
    // is the greatest. The other servers may have the fork as it was when the client left them.
    std::map<size_t, uint64_t> terms;
    std::map<uint64_t, Edited> edited;  // edited polygons of the fork, by polygon id
  };

  static void Record(const v1::Edit& edit, Order order, Fork& fork);
  // Records that the server at `address` has version `version` of the fork `name`, with all edits.
  // Before the server said so, the client knew `known_version` as `Fork::version`.
  void RecordServer(const std::string& name, uint64_t known_version, uint64_t version,
                    size_t address) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns requests of bounded size whose edits turn the base of `fork` into the fork.
  static std::vector<v1::CommitEditsRequest> EditsOf(const std::string& name, const Fork& fork);
  // Makes one fork and commits its edits, unless the server has the fork and is no server that the
  // client has left. Returns the version of the fork on the server.
  static absl::StatusOr<uint64_t> Restore(const ForkServer& server, const std::string& name,
                                          const Fork& fork);
  // Returns true if no other caller is restoring forks; the caller must then call `EndRestore`.
  bool TryBeginRestore() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndRestore() ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  ConditionVariable restored_;  // notified when `is_restoring_` becomes false
  bool is_restoring_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Fork> forks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace carom
