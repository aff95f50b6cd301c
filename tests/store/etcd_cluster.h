// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A cluster of real etcd members on loopback, for tests: started, stopped and killed one by one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "etcd/rpc.grpc.pb.h"

namespace carom::testing {

// Members that still run are killed, by their process ids, with it. Not thread-safe.
class EtcdCluster {
 public:
  // Starts so many members with their files in `folder`, and waits until they have a leader. Null
  // if that takes longer than half a minute: then standard error says why. `options` are etcd's.
  static std::unique_ptr<EtcdCluster> Start(const std::string& folder, int members,
                                            std::vector<std::string> options = {});
  // A port of loopback that nobody listens on now.
  static uint16_t FreePort();

  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  int size() const { return static_cast<int>(members_.size()); }
  uint16_t client_port(int member) const { return members_[member].client_port; }
  std::string endpoint(int member) const;  // HOST:PORT
  // For caromd's --store.
  std::string Url(const std::string& prefix = "/carom") const;

  // The member that leads, as the others say; -1: none.
  int Leader();
  bool AwaitLeader();

  void Kill(int member);     // SIGKILL, and waits for its end
  void Suspend(int member);  // SIGSTOP
  void Resume(int member);   // SIGCONT
  void Restart(int member);  // one that was killed, on its files
  void Wipe(int member);     // the files of one that was killed

  // Of members that are started from here on.
  void set_options(std::vector<std::string> options) { options_ = std::move(options); }
  // Takes a killed member out of the cluster, and starts an empty one in its place. False if the
  // others cannot do that.
  bool Replace(int member);
  // Makes the files of the only member from a backup (`etcdctl snapshot save`).
  bool Restore(int member, const std::string& backup);

  // Standard output of `etcdctl` with these arguments, asked of the first member; "" if it fails.
  std::string Control(const std::vector<std::string>& arguments) const;

  etcdserverpb::KV::Stub& kv(int member) { return *members_[member].kv; }
  // The last revision.
  int64_t Revision(int member = 0);
  // Forgets all before the last revision.
  bool Compact(int member = 0);

  std::string data_folder(int member) const;

 private:
  struct Member {
    uint16_t client_port = 0;
    uint16_t peer_port = 0;
    pid_t pid = -1;
    std::unique_ptr<etcdserverpb::KV::Stub> kv;
    std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance;
  };

  explicit EtcdCluster(std::string folder) : folder_(std::move(folder)) {}
  void Spawn(int member);

  const std::string folder_;
  std::vector<std::string> options_;
  std::vector<Member> members_;
};

}  // namespace carom::testing
