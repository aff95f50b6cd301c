// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Calls of an etcd cluster.
//
// An `EtcdClient` speaks with one member at a time, and goes on to the next one where that does not
// answer. Reads are repeated by it; a transaction that writes is sent once, and what became of it
// is said as far as it is known. Text that is no URL of a cluster is refused by `ParseEtcdUrl`.
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

// Where a cluster is, and which of its keys are ours.
struct EtcdUrl {
  std::vector<std::string> endpoints;  // HOST:PORT, at least one
  std::string user;                    // empty: nobody is asked who he is
  std::string prefix;                  // keys begin with it; it ends without a slash
};

// `etcd://[USER@]HOST:PORT[,HOST:PORT…]/PREFIX`. INVALID_ARGUMENT, of a few words, for other text.
absl::StatusOr<EtcdUrl> ParseEtcdUrl(absl::string_view url);

struct EtcdClientOptions {
  EtcdUrl url;
  // Files; empty: none. With authorities, or a certificate and its key, in PEM the client speaks
  // TLS. The password is the file's first line.
  std::string password_file;
  std::string ca;
  std::string certificate;
  std::string key;
};

// Thread-safe. Each call blocks; a task that makes one leaves its place on the executor
// (server/transport/executor.h) meanwhile. Statuses have etcd's codes; their messages
// begin with `etcd: `.
class EtcdClient {
 public:
  // How long one member is waited for before the next one is asked.
  static constexpr absl::Duration kReadTime = absl::Seconds(2);
  static constexpr absl::Duration kWriteTime = absl::Seconds(3);

  // Reads the files and connects to nobody. INVALID_ARGUMENT naming the option of a bad file.
  static absl::StatusOr<std::unique_ptr<EtcdClient>> Create(const EtcdClientOptions& options);

  const std::string& prefix() const { return options_.url.prefix; }

  // What writes nothing; repeated until `timeout`. UNAVAILABLE if nobody answers by then.
  absl::Status Range(const etcd::RangeRequest& request, etcd::RangeResponse& response,
                     absl::Duration timeout);
  absl::Status Read(const etcd::TxnRequest& request, etcd::TxnResponse& response,
                    absl::Duration timeout);
  absl::Status MemberStatus(etcd::StatusResponse& response, absl::Duration timeout);

  // Whether a transaction that writes was applied.
  enum class Outcome { kApplied, kNotApplied, kUnknown };
  // Sends it once. kNotApplied: no member was connected, or etcd has refused it; `status` says why.
  // It was applied, with whichever list, if the status is OK.
  Outcome Write(const etcd::TxnRequest& request, etcd::TxnResponse& response, absl::Status& status);

  // Leases. One whose renewal fails is taken for lost.
  absl::StatusOr<int64_t> GrantLease(absl::Duration time);
  absl::Status RenewLease(int64_t id);
  void RevokeLease(int64_t id);

  using WatchStream = grpc::ClientReaderWriter<etcd::WatchRequest, etcd::WatchResponse>;
  // A watch of a member that has a leader, on its thread of the caller's; null if none is
  // connected. `context` outlives the stream, and cancels it.
  std::unique_ptr<WatchStream> Watch(grpc::ClientContext& context,
                                     const etcd::WatchCreateRequest& request);
  // Another member than that of the last watch is asked for the next one.
  void LeaveWatchedMember() {
    LeaveEndpoint(watched_.load(std::memory_order_relaxed), kSlowPenalty);
  }

  // Calls that are repeated end soon, and none is begun. For good.
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
    std::atomic<int64_t> avoided_until_us{0};  // others are asked, if there are any
  };
  // How long a member is avoided that did not answer in time, and one that refused.
  static constexpr absl::Duration kSlowPenalty = absl::Seconds(10);
  static constexpr absl::Duration kPenalty = absl::Milliseconds(500);
  using Call = absl::FunctionRef<grpc::Status(Endpoint&, grpc::ClientContext&)>;

  EtcdClient(const EtcdClientOptions& options, std::string password,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // The member to be asked: the last one that was, unless that is avoided.
  size_t ChooseEndpoint();
  // The index of a member that is connected; none by `deadline`: -1.
  int AwaitEndpoint(absl::Time deadline);
  void LeaveEndpoint(size_t index, absl::Duration penalty);
  static absl::Duration PenaltyOf(const grpc::Status& status) {
    return status.error_code() == grpc::DEADLINE_EXCEEDED ? kSlowPenalty : kPenalty;
  }
  // One attempt, or two if the token has ended.
  grpc::Status Ask(Endpoint& endpoint, absl::Time deadline, Call call);
  absl::Status Repeat(absl::Duration timeout, Call call);
  // Metadata of a call.
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
