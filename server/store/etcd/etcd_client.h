// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server call an etcd cluster?
//
// An `EtcdClient` calls one member of the cluster at a time, and fails over to the next one if that
// member does not answer. The client repeats a read that is not answered. It sends a transaction
// that writes at most once, and reports whether the transaction was applied, or that this is
// unknown. `ParseEtcdUrl` refuses text that is not the URL of a cluster.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "etcd/rpc.grpc.pb.h"

namespace carom::server {

namespace etcd = ::etcdserverpb;

// The addresses of a cluster, and the prefix of the keys that the server uses.
struct EtcdUrl {
  std::vector<std::string> endpoints;  // HOST:PORT, at least one
  std::string user;                    // empty: no authentication
  std::string prefix;                  // beginning of all keys, without a slash at its end
};

// Parses `etcd://[USER@]HOST:PORT[,HOST:PORT…]/PREFIX`. Returns INVALID_ARGUMENT, with a message of
// a few words, for other text.
absl::StatusOr<EtcdUrl> ParseEtcdUrl(absl::string_view url);

struct EtcdClientOptions {
  EtcdUrl url;
  // Paths of files; empty: no such file. `password_file`: its first line is the password of
  // `url.user`. In PEM: `ca` has the authorities that have signed the certificates of etcd,
  // `certificate` and `key` are those of the client. With `ca` or `certificate`, the client uses
  // TLS.
  std::string password_file;
  std::string ca;
  std::string certificate;
  std::string key;
};

// A client of an etcd cluster, whose servers are called members. Thread-safe. Each call blocks; a
// task that makes a call gives its place on the executor (server/transport/executor.h) to another
// task meanwhile. Statuses have etcd's codes; their messages begin with `etcd: `.
class EtcdClient {
 public:
  // The time within which a member must answer a read, and the time within which it must answer a
  // write. A member that takes longer is avoided, so that the next attempt or call uses another
  // member.
  static constexpr absl::Duration kReadTime = absl::Seconds(2);
  static constexpr absl::Duration kWriteTime = absl::Seconds(3);

  // Reads the files that `options` names, and does not connect yet. INVALID_ARGUMENT naming the
  // option of a bad file.
  static absl::StatusOr<std::unique_ptr<EtcdClient>> Create(const EtcdClientOptions& options);

  const std::string& prefix() const { return options_.url.prefix; }

  // `Range`, `Read` and `MemberStatus` only read, so they try one member after the other until one
  // answers. UNAVAILABLE if none does within `timeout`.
  absl::Status Range(const etcd::RangeRequest& request, etcd::RangeResponse& response,
                     absl::Duration timeout);
  absl::Status Read(const etcd::TxnRequest& request, etcd::TxnResponse& response,
                    absl::Duration timeout);
  absl::Status MemberStatus(etcd::StatusResponse& response, absl::Duration timeout);

  // The outcome of a transaction that writes.
  enum class Outcome { kApplied, kNotApplied, kUnknown };
  // Sends a transaction at most once. kApplied: etcd has applied the success list or the failure
  // list, and `status` is OK. kNotApplied: no member was connected, or etcd has refused the
  // transaction; `status` has the reason.
  Outcome Write(const etcd::TxnRequest& request, etcd::TxnResponse& response, absl::Status& status);

  // Grant, renew and revoke a lease of etcd: etcd deletes the keys that are put with a lease when
  // the lease ends. If `RenewLease` fails, the caller must assume that the lease has ended.
  absl::StatusOr<int64_t> GrantLease(absl::Duration time);
  absl::Status RenewLease(int64_t id);
  void RevokeLease(int64_t id);

  using WatchStream = grpc::ClientReaderWriter<etcd::WatchRequest, etcd::WatchResponse>;
  // Opens a watch at a member that has a leader; the caller reads the stream on its own thread.
  // Null if no member is connected. `context` outlives the stream, and can cancel it.
  std::unique_ptr<WatchStream> Watch(grpc::ClientContext& context,
                                     const etcd::WatchCreateRequest& request);
  // Avoids the member that the last `Watch` used, so that the next watch uses another member.
  void AvoidWatchedMember() {
    AvoidEndpoint(watched_.load(std::memory_order_relaxed), kSlowPenalty);
  }

  // Makes running calls end soon instead of trying again, and makes later calls fail. No function
  // undoes `Stop`.
  void Stop() { is_stopping_.store(true, std::memory_order_relaxed); }
  bool is_stopping() const { return is_stopping_.load(std::memory_order_relaxed); }

 private:
  struct Endpoint {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<etcd::KV::Stub> kv;
    std::unique_ptr<etcd::Watch::Stub> watch;
    std::unique_ptr<etcd::Lease::Stub> lease;
    std::unique_ptr<etcd::Auth::Stub> auth;
    std::unique_ptr<etcd::Maintenance::Stub> maintenance;
    // Unix time in microseconds until which the client prefers other members to this one
    std::atomic<int64_t> avoided_until_us{0};
  };
  // The time for which the client avoids a member: `kSlowPenalty` if the member did not answer in
  // time, `kPenalty` if its call failed otherwise.
  static constexpr absl::Duration kSlowPenalty = absl::Seconds(10);
  static constexpr absl::Duration kPenalty = absl::Milliseconds(500);
  using Call = absl::FunctionRef<grpc::Status(Endpoint&, grpc::ClientContext&)>;

  EtcdClient(const EtcdClientOptions& options, std::string password,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Returns the index in `endpoints_` of the member to call: the member of the last call, unless
  // the client avoids that member (`avoided_until_us`).
  size_t ChooseEndpoint();
  // Returns the index of a connected member; -1 if no member is connected by `deadline`.
  int AwaitEndpoint(absl::Time deadline);
  void AvoidEndpoint(size_t index, absl::Duration penalty);
  static absl::Duration PenaltyOf(const grpc::Status& status) {
    return status.error_code() == grpc::DEADLINE_EXCEEDED ? kSlowPenalty : kPenalty;
  }
  // Makes `call` at one member; if the call fails because the authentication token has expired,
  // gets another token and makes `call` a second time.
  grpc::Status CallMember(Endpoint& endpoint, absl::Time deadline, Call call);
  absl::Status Repeat(absl::Duration timeout, Call call);
  // Adds the metadata of a call to its context, such as the authentication token.
  void Prepare(grpc::ClientContext& context) ABSL_LOCKS_EXCLUDED(mu_);
  grpc::Status Authenticate(Endpoint& endpoint, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);

  const EtcdClientOptions options_;
  const std::string password_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::atomic<size_t> current_;
  std::atomic<size_t> watched_{0};
  std::atomic<bool> is_stopping_{false};

  absl::Mutex mu_;
  std::string token_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
