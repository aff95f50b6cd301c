// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_client.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/transport/executor.h"
#include "wire/pem_files.h"

namespace carom::server {
namespace {

constexpr size_t kMaxEndpoints = 16;
constexpr size_t kMaxPrefixBytes = 128;
constexpr absl::Duration kPause = absl::Milliseconds(50);  // between attempts if no member answers

// Interval and timeout of keepalive pings. Etcd permits a client at most one ping in 5 s.
constexpr int kEtcdKeepaliveMs = 6000;
constexpr int kEtcdKeepaliveTimeoutMs = 3000;

// Converts the status of a call to etcd: keeps the code, and puts `etcd: ` before the message.
absl::Status FromEtcd(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat("etcd: ", status.error_message()));
}

// Returns whether an error may be temporary, so that another member, or this member later, may
// answer. It includes INTERNAL and UNKNOWN, which gRPC returns if a connection breaks during a
// call.
bool IsTransient(grpc::StatusCode code) {
  switch (code) {
    case grpc::UNAVAILABLE:
    case grpc::DEADLINE_EXCEEDED:
    case grpc::CANCELLED:
    case grpc::UNKNOWN:
    case grpc::INTERNAL:
    case grpc::ABORTED:
      return true;
    default:
      return false;
  }
}

// Returns whether `status` is an error of etcd itself, which guarantees that etcd has not applied
// the request. An error that gRPC has generated, with an equal code but without the prefix
// `etcdserver:`, leaves open whether etcd has applied the request.
bool IsRefusal(const grpc::Status& status) {
  return !IsTransient(status.error_code()) &&
         absl::StartsWith(status.error_message(), "etcdserver:");
}

// Returns whether text has the form HOST:PORT. Does not connect to the address.
bool IsEndpoint(absl::string_view text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  return colon != absl::string_view::npos && colon != 0 &&
         absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 1 && port <= 65535;
}

// Returns the options of the connections to etcd. Each client has its own connection to each
// member, and reconnects within a second after a member has restarted. HTTP proxies that
// environment variables set are ignored, because the members are addressed directly.
grpc::ChannelArguments ArgumentsOfEtcd() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kEtcdKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kEtcdKeepaliveTimeoutMs);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return arguments;
}

// Returns the credentials of the connections to etcd: plaintext if `options` give no TLS files.
// Checks the files at once, because gRPC would only report later that connections fail.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOfEtcd(
    const EtcdClientOptions& options) {
  if (options.ca.empty() && options.certificate.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  const std::pair<wire::NamedFile, std::string*> files[] = {
      {{"--etcd-ca", options.ca}, &tls.pem_root_certs},
      {{"--etcd-certificate", options.certificate}, &tls.pem_cert_chain},
      {{"--etcd-key", options.key}, &tls.pem_private_key}};
  for (const auto& [file, text] : files) {
    if (file.path.empty()) continue;
    absl::StatusOr<std::string> read = wire::ReadNamedFile(file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  absl::Status status;
  if (!options.ca.empty()) status = wire::CheckAuthorities(files[0].first);
  if (status.ok() && !options.certificate.empty()) {
    status = wire::CheckKeyPair(files[1].first, files[2].first);
  }
  if (!status.ok()) return status;
  return grpc::SslCredentials(tls);
}

}  // namespace

// Refuses a password in the URL, which the list of processes would show.
absl::StatusOr<EtcdUrl> ParseEtcdUrl(absl::string_view url) {
  const auto wrong = [](absl::string_view why) { return absl::InvalidArgumentError(why); };
  EtcdUrl parsed;
  if (!absl::ConsumePrefix(&url, "etcd://")) return wrong("must begin with etcd://");
  const size_t slash = url.find('/');
  absl::string_view hosts = url.substr(0, slash);
  if (slash != absl::string_view::npos) parsed.prefix = std::string(url.substr(slash));
  while (absl::EndsWith(parsed.prefix, "/")) parsed.prefix.pop_back();
  if (parsed.prefix.empty() || parsed.prefix.size() > kMaxPrefixBytes) {
    return wrong(absl::StrCat("must end with /PREFIX, of at most ", kMaxPrefixBytes, " bytes"));
  }
  if (const size_t at = hosts.rfind('@'); at != absl::string_view::npos) {
    parsed.user = std::string(hosts.substr(0, at));
    hosts.remove_prefix(at + 1);
    if (parsed.user.empty() || absl::StrContains(parsed.user, ":")) {
      return wrong("must have only a user name before the @; the password is read from a file");
    }
  }
  parsed.endpoints = absl::StrSplit(hosts, ',');
  if (parsed.endpoints.size() > kMaxEndpoints ||
      !std::all_of(parsed.endpoints.begin(), parsed.endpoints.end(), IsEndpoint)) {
    return wrong(absl::StrCat("must list 1 to ", kMaxEndpoints, " HOST:PORT, separated by commas"));
  }
  return parsed;
}

absl::StatusOr<std::unique_ptr<EtcdClient>> EtcdClient::Create(const EtcdClientOptions& options) {
  std::string password;
  if (!options.password_file.empty()) {
    absl::StatusOr<std::string> read =
        wire::ReadNamedFile({"--etcd-password-file", options.password_file});
    if (!read.ok()) return read.status();
    password = read->substr(0, read->find_first_of("\r\n"));
  }
  const auto credentials = CredentialsOfEtcd(options);
  if (!credentials.ok()) return credentials.status();
  return std::unique_ptr<EtcdClient>(new EtcdClient(options, std::move(password), *credentials));
}

// Begins with a random member, so that the replicas of a server use different members.
EtcdClient::EtcdClient(const EtcdClientOptions& options, std::string password,
                       const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : options_(options),
      password_(std::move(password)),
      current_(std::random_device()() % options.url.endpoints.size()) {
  endpoints_.reserve(options.url.endpoints.size());
  for (const std::string& address : options.url.endpoints) {
    Endpoint& endpoint = *endpoints_.emplace_back(std::make_unique<Endpoint>());
    endpoint.channel = grpc::CreateCustomChannel(address, credentials, ArgumentsOfEtcd());
    endpoint.kv = etcd::KV::NewStub(endpoint.channel);
    endpoint.watch = etcd::Watch::NewStub(endpoint.channel);
    endpoint.lease = etcd::Lease::NewStub(endpoint.channel);
    endpoint.auth = etcd::Auth::NewStub(endpoint.channel);
    endpoint.maintenance = etcd::Maintenance::NewStub(endpoint.channel);
  }
}

// --- Members ------------------------------------------------------------------------------------

// All calls use one member as long as it answers: that member has mostly applied every change that
// an earlier call has returned. A member is avoided for a while after a failed call
// (`avoided_until_us`). If every member is avoided, returns the one whose avoidance ends first,
// which may be the only member that runs.
size_t EtcdClient::ChooseEndpoint() {
  const size_t first = current_.load(std::memory_order_relaxed);
  const int64_t now = absl::ToUnixMicros(absl::Now());
  size_t best = first;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const size_t index = (first + i) % endpoints_.size();
    const int64_t until = endpoints_[index]->avoided_until_us.load(std::memory_order_relaxed);
    if (until <= now) {
      best = index;
      break;
    }
    if (until < least) {
      least = until;
      best = index;
    }
  }
  current_.store(best, std::memory_order_relaxed);
  return best;
}

// Skips a member at once if it refuses connections. For a member that does not answer at all, waits
// at most `kReadTime` divided by the number of members, so that all members are tried within
// `kReadTime`.
int EtcdClient::AwaitEndpoint(absl::Time deadline) {
  for (size_t tried = 1; !is_stopping(); ++tried) {
    const size_t index = ChooseEndpoint();
    grpc::Channel& channel = *endpoints_[index]->channel;
    const absl::Time end =
        std::min(deadline, absl::Now() + kReadTime / static_cast<double>(endpoints_.size()));
    grpc_connectivity_state state = channel.GetState(true);
    while (state == GRPC_CHANNEL_IDLE || state == GRPC_CHANNEL_CONNECTING) {
      if (!channel.WaitForStateChange(state, absl::ToChronoTime(end))) break;
      state = channel.GetState(true);
    }
    if (state == GRPC_CHANNEL_READY) return static_cast<int>(index);
    AvoidEndpoint(index, kPenalty);
    if (absl::Now() >= deadline) break;
    if (tried % endpoints_.size() == 0) absl::SleepFor(kPause);
  }
  return -1;
}

// The caller chooses `penalty`, the time for which the member is avoided. The penalty is longer for
// a member that does not answer, which costs a caller a whole timeout, than for a member that
// refuses calls at once, such as a member without a leader.
void EtcdClient::AvoidEndpoint(size_t index, absl::Duration penalty) {
  endpoints_[index]->avoided_until_us.store(absl::ToUnixMicros(absl::Now() + penalty),
                                            std::memory_order_relaxed);
}

// With the metadata `hasleader`, an etcd member that has lost the leader of the cluster returns an
// error instead of waiting for a leader. `token` is the authentication token.
void EtcdClient::Prepare(grpc::ClientContext& context) {
  context.AddMetadata("hasleader", "true");
  absl::MutexLock lock(&mu_);
  if (!token_.empty()) context.AddMetadata("token", token_);
}

// Gets an authentication token. Several calls may get tokens at the same time: all of them are
// valid, and the client keeps the last one.
grpc::Status EtcdClient::Authenticate(Endpoint& endpoint, absl::Time deadline) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  etcd::AuthenticateRequest request;
  request.set_name(options_.url.user);
  request.set_password(password_);
  etcd::AuthenticateResponse response;
  grpc::Status status = endpoint.auth->Authenticate(&context, request, &response);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  token_ = response.token();
  return status;
}

// An authentication token expires after some minutes, when the member that issued it restarts, and
// when the users of etcd are changed. A call with an expired token fails with UNAUTHENTICATED or
// INVALID_ARGUMENT and changes nothing, so it can be made again with another token.
grpc::Status EtcdClient::CallMember(Endpoint& endpoint, absl::Time deadline, Call call) {
  const auto once = [&] {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    Prepare(context);
    return call(endpoint, context);
  };
  grpc::Status status = once();
  const bool is_token_over =
      status.error_code() == grpc::UNAUTHENTICATED || status.error_code() == grpc::INVALID_ARGUMENT;
  if (options_.url.user.empty() || !is_token_over) return status;
  if (grpc::Status asked = Authenticate(endpoint, deadline); !asked.ok()) return asked;
  return once();
}

// Makes `call` at one member after the other until one answers, or `timeout` is over. An error that
// is not transient (`IsTransient`) ends the function at once, because all members would return the
// error.
absl::Status EtcdClient::Repeat(absl::Duration timeout, Call call) {
  const Executor::Blocked blocked;
  const absl::Time deadline = absl::Now() + timeout;
  grpc::Status last(grpc::UNAVAILABLE, "no member is connected");
  while (!is_stopping()) {
    const int index = AwaitEndpoint(deadline);
    if (index < 0) break;
    const absl::Time end = std::min(deadline, absl::Now() + kReadTime);
    last = CallMember(*endpoints_[static_cast<size_t>(index)], end, call);
    if (!IsTransient(last.error_code())) return FromEtcd(last);
    AvoidEndpoint(static_cast<size_t>(index), PenaltyOf(last));
    if (absl::Now() + kPause >= deadline) break;
    absl::SleepFor(kPause);
  }
  return absl::UnavailableError(absl::StrCat("etcd: ", last.error_message()));
}

// --- Calls --------------------------------------------------------------------------------------

// Etcd reads a range linearizably unless the request specifies otherwise, so a member without a
// leader cannot answer the request.
absl::Status EtcdClient::Range(const etcd::RangeRequest& request, etcd::RangeResponse& response,
                               absl::Duration timeout) {
  return Repeat(timeout, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    return endpoint.kv->Range(&context, request, &response);
  });
}

absl::Status EtcdClient::Read(const etcd::TxnRequest& request, etcd::TxnResponse& response,
                              absl::Duration timeout) {
  return Repeat(timeout, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    return endpoint.kv->Txn(&context, request, &response);
  });
}

// Returns the status of one member, whichever answers. The status has the size of the database
// file, which differs between members.
absl::Status EtcdClient::MemberStatus(etcd::StatusResponse& response, absl::Duration timeout) {
  return Repeat(timeout, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    return endpoint.maintenance->Status(&context, {}, &response);
  });
}

// If the call ends with a timeout or a broken connection after the transaction was sent, the
// outcome is unknown, because the leader of the cluster may have received it. If no member is
// connected, nothing was sent, so the transaction was certainly not applied.
EtcdClient::Outcome EtcdClient::Write(const etcd::TxnRequest& request, etcd::TxnResponse& response,
                                      absl::Status& status) {
  const Executor::Blocked blocked;
  const int index = AwaitEndpoint(absl::Now() + kReadTime);
  if (index < 0) {
    status = absl::UnavailableError("etcd: no member is connected");
    return Outcome::kNotApplied;
  }
  const grpc::Status answer =
      CallMember(*endpoints_[static_cast<size_t>(index)], absl::Now() + kWriteTime,
                 [&](Endpoint& endpoint, grpc::ClientContext& context) {
                   return endpoint.kv->Txn(&context, request, &response);
                 });
  status = FromEtcd(answer);
  if (answer.ok()) return Outcome::kApplied;
  if (IsRefusal(answer)) return Outcome::kNotApplied;
  AvoidEndpoint(static_cast<size_t>(index), PenaltyOf(answer));
  return Outcome::kUnknown;
}

// If etcd grants a lease but its answer is lost, the client requests another lease, and the lost
// lease expires by itself.
absl::StatusOr<int64_t> EtcdClient::GrantLease(absl::Duration time) {
  etcd::LeaseGrantRequest request;
  request.set_ttl(absl::ToInt64Seconds(time));
  etcd::LeaseGrantResponse response;
  absl::Status status = Repeat(kWriteTime, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    return endpoint.lease->LeaseGrant(&context, request, &response);
  });
  if (!status.ok()) return status;
  return response.id();
}

// Opens a LeaseKeepAlive stream for each renewal and closes it: renewals are seconds apart, and a
// stream that stays open could break in between.
absl::Status EtcdClient::RenewLease(int64_t id) {
  etcd::LeaseKeepAliveRequest request;
  request.set_id(id);
  etcd::LeaseKeepAliveResponse response;
  absl::Status status = Repeat(kReadTime, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    const auto stream = endpoint.lease->LeaseKeepAlive(&context);
    const bool has_answered = stream->Write(request) && stream->Read(&response);
    stream->WritesDone();
    if (has_answered) context.TryCancel();
    const grpc::Status end = stream->Finish();
    return has_answered ? grpc::Status::OK : end;
  });
  if (status.ok() && response.ttl() <= 0) return absl::NotFoundError("etcd: the lease has expired");
  return status;
}

// A lease that is not revoked expires by itself.
void EtcdClient::RevokeLease(int64_t id) {
  etcd::LeaseRevokeRequest request;
  request.set_id(id);
  etcd::LeaseRevokeResponse response;
  Repeat(kReadTime, [&](Endpoint& endpoint, grpc::ClientContext& context) {
    return endpoint.lease->LeaseRevoke(&context, request, &response);
  }).IgnoreError();
}

// The stream has no deadline: it lasts until it is cancelled, or breaks.
std::unique_ptr<EtcdClient::WatchStream> EtcdClient::Watch(grpc::ClientContext& context,
                                                           const etcd::WatchCreateRequest& create) {
  const int index = AwaitEndpoint(absl::Now() + kReadTime);
  if (index < 0) return nullptr;
  Endpoint& endpoint = *endpoints_[static_cast<size_t>(index)];
  watched_.store(static_cast<size_t>(index), std::memory_order_relaxed);
  if (!options_.url.user.empty()) {
    // etcd checks the token of a stream only once, so the stream gets a fresh token.
    const absl::Time end = absl::Now() + kReadTime;
    if (!Authenticate(endpoint, end).ok()) {
      AvoidEndpoint(static_cast<size_t>(index), kPenalty);
      return nullptr;
    }
  }
  Prepare(context);
  std::unique_ptr<WatchStream> stream = endpoint.watch->Watch(&context);
  etcd::WatchRequest request;
  *request.mutable_create_request() = create;
  if (!stream->Write(request)) {
    stream->Finish();
    AvoidEndpoint(static_cast<size_t>(index), kPenalty);
    return nullptr;
  }
  return stream;
}

}  // namespace carom::server
