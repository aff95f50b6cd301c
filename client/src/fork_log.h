// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a client knows of its forks, so that one that a server has lost can be made again.
//
// Of each fork: its base, and what the edits that this client's streams have made come to, polygon
// by polygon. So the log grows with the polygons that are edited, not with the edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "client/src/mutex.h"

namespace carom {

class Addresses;

// One server of the client's list, as long as forks are wanted there.
struct ForkServer {
  const Addresses& addresses;
  size_t address;
  const std::function<bool()>& abandoned;
};

// Thread-safe. Shared by a client and its streams.
class ForkLog {
 public:
  // A fork is made, or gone for good.
  void Add(const v1::Scene& fork, uint64_t lease_seconds) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);

  bool empty() const ABSL_LOCKS_EXCLUDED(mutex_);
  // `edits` made a version of a scene, which need not be a fork of this client.
  void Record(const std::string& name, const v1::GroupEdits& edits, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the forks again that the server at `address` does not have, one caller at a time. Forks
  // whose base is not there are left out. Ends soon once `abandoned`, which is asked without a
  // lock, waiting neither for a call nor for another caller. Errors: those of a server that does
  // not answer, or has no room; what was begun is taken back, as far as it can.
  absl::Status Restore(Addresses& addresses, size_t address, const std::function<bool()>& abandoned)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // What has become of a polygon.
  struct Edited {
    bool is_in_base = false;
    uint64_t first_version = 0;  // of the first edit, which says whether it is
    uint64_t version = 0;        // of the last one
    bool is_there = false;
    v1::Polygon polygon;  // if it is
  };
  struct Fork {
    std::string base;
    uint64_t base_version = 0;
    uint64_t lease_seconds = 0;
    std::map<uint64_t, Edited> edited;  // by polygon id
  };

  static void Record(const v1::Edit& edit, uint64_t version, Fork& fork);
  // What makes the fork of its base, in messages of bounded size.
  static std::vector<v1::CommitEditsRequest> EditsOf(const std::string& name, const Fork& fork);
  static absl::Status Restore(const ForkServer& server, const std::string& name, const Fork& fork);
  // Whether this caller is the one that restores forks, until it leaves.
  bool Enter() ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  ConditionVariable restored_;  // nobody restores any more
  bool is_restoring_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Fork> forks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace carom
