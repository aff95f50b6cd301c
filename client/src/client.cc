// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "carom/bundle.h"
#include "carom/status.h"
#include "client/src/addresses.h"
#include "client/src/answer_check.h"
#include "client/src/call_status.h"
#include "client/src/client_maker.h"
#include "client/src/edit_id.h"
#include "client/src/fork_log.h"
#include "client/src/frame_codec.h"
#include "client/src/lint_codec.h"
#include "client/src/scene_codec.h"
#include "client/src/security.h"
#include "client/src/stream_impl.h"
#include "client/src/unary_call.h"
#include "client/src/watch_impl.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/pieces.h"

namespace carom {
namespace {

// The number of bytes of a chunk (a message of an import): far below the server's message limit of
// 4 MiB, and large enough that the fixed cost of a message is negligible.
constexpr size_t kChunkBytes = 1 << 20;
// The greatest number of vertices in a piece of a polygon: a polygon with more vertices, which
// would not fit in a chunk, is sent as several pieces.
constexpr size_t kPieceVertices = kChunkBytes / sizeof(Vec2);

// The first and the last delay before a retry of a commit that ended with UNAVAILABLE; each delay
// is twice the preceding delay.
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLastRetry{3200};

// The backoff between attempts to connect, during which calls fail at once, and the timeout of one
// attempt.
constexpr int kFirstReconnectMs = 100;
constexpr int kLongestReconnectMs = 2000;
// timeout of one attempt; gRPC names it MIN_RECONNECT_BACKOFF
constexpr int kConnectTimeoutMs = 5000;

constexpr int64_t kMaxKeepaliveMs = 86400000;
constexpr int64_t kMaxKeepaliveAnswerMs = 20000;

// Returns a copy of `text` for protobuf setters, which may not accept absl::string_view.
std::string Text(absl::string_view text) { return std::string(text.data(), text.size()); }

// Returns INVALID_ARGUMENT unless `target` is one address that the client accepts. gRPC accepts
// further forms (schemes, service names), and reports an unusable address only when a call fails.
absl::Status CheckAddress(absl::string_view target) {
  constexpr absl::string_view kAllowed =
      "must be host:port or unix:PATH, or a comma-separated list of them";
  if (absl::StartsWith(target, "unix:")) {
    return target.size() > 5 ? absl::OkStatus() : InvalidField("target", kAllowed);
  }
  const size_t colon = target.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || colon == 0 || absl::StrContains(target, '/') ||
      !absl::SimpleAtoi(target.substr(colon + 1), &port) || port == 0 || port > 65535) {
    return InvalidField("target", kAllowed);
  }
  const absl::string_view host = target.substr(0, colon);
  // An IPv6 address contains colons, so it must have brackets: [::1]:7420.
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (absl::StrContains(host, ':') && !bracketed) return InvalidField("target", kAllowed);
  return absl::OkStatus();
}

// Counts the vertices of a transfer, and reports them.
class Tally {
 public:
  Tally(const TransferProgress* progress, uint64_t total) : progress_(progress), total_(total) {}

  // Adds the polygons of a message. Each vertex has one number in each column of its ring.
  void Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& polygons) {
    if (progress_ == nullptr) return;
    for (const v1::Polygon& polygon : polygons) {
      for (const v1::Ring& ring : polygon.rings()) done_ += static_cast<uint64_t>(ring.x_size());
    }
    (*progress_)(done_, total_);
  }

 private:
  const TransferProgress* const progress_;
  const uint64_t total_;
  uint64_t done_ = 0;
};

v1::ImportMode Encoded(ImportMode mode) {
  return mode == ImportMode::kReplace ? v1::IMPORT_MODE_REPLACE : v1::IMPORT_MODE_CREATE;
}

}  // namespace

class Client::Impl {
 public:
  Impl(const std::vector<std::shared_ptr<grpc::Channel>>& channels, std::shared_ptr<CallGate> gate,
       const ClientOptions& options)
      : options_(options), addresses_(std::make_shared<Addresses>(channels, std::move(gate))) {}

  // Makes one unary call to the current server (the server of `addresses_` that the next call uses)
  // and returns its status.
  template <typename Stub, typename Request, typename Response>
  absl::Status Call(UnaryMethod<Stub, Request, Response> method, const Request& request,
                    Response& response, const CallOptions& options) {
    return CallTo(addresses_->current(), method, request, response, options);
  }

  // Makes one call of ExportScene. Calls `take` for each chunk (message of the export) when it
  // arrives; an error of `take` cancels the call and is returned.
  absl::Status Export(const v1::ExportSceneRequest& request, const CallOptions& options,
                      absl::FunctionRef<absl::Status(const v1::ExportSceneResponse&)> take);

  // Makes one unary call to the server `address`, which was the current one, and returns its
  // status.
  template <typename Stub, typename Request, typename Response>
  absl::Status CallTo(size_t address, UnaryMethod<Stub, Request, Response> method,
                      const Request& request, Response& response, const CallOptions& options) {
    grpc::ClientContext context;
    SetDeadline(options, context);
    absl::Status status = CallUnary(
        *addresses_,
        [&](grpc::CompletionQueue* queue) {
          return (StubOf<Stub>(address).*method)(&context, request, queue);
        },
        response);
    FailOverIfUnavailable(status, address);
    return status;
  }

  // Returns the timeout of a call; 0: no timeout.
  std::chrono::milliseconds TimeoutOf(const CallOptions& options) const {
    return options.timeout.value_or(options_.call_timeout);
  }

  // Sets the deadline of a call, unless its timeout is 0.
  void SetDeadline(const CallOptions& options, grpc::ClientContext& context) const {
    const std::chrono::milliseconds timeout = TimeoutOf(options);
    if (timeout > std::chrono::milliseconds::zero()) {
      context.set_deadline(std::chrono::system_clock::now() + timeout);
    }
  }

  // Makes the next server the current one if a call to `address` ended with UNAVAILABLE. If several
  // calls to `address` fail at one time, only the first one changes the current server.
  void FailOverIfUnavailable(const absl::Status& status, size_t address) {
    if (absl::IsUnavailable(status)) addresses_->FailOver(address);
  }

  const std::shared_ptr<Addresses>& addresses() const { return addresses_; }

 private:
  // Returns the stub of type `Stub` for the server `address`.
  template <typename Stub>
  Stub& StubOf(size_t address) const {
    if constexpr (std::is_same_v<Stub, v1::SceneService::Stub>) {
      return addresses_->scenes(address);
    } else {
      return addresses_->queries(address);
    }
  }

  const ClientOptions options_;
  const std::shared_ptr<Addresses> addresses_;
};

grpc::ChannelArguments internal::ClientMaker::Arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.max_receive_bytes);
  // gRPC shares connections between channels with equal arguments unless the channels use a local
  // subchannel pool.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, options.own_connection ? 1 : 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  const int64_t interval_ms = options.keepalive_interval.count();
  if (interval_ms > 0) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                     static_cast<int>(std::min(interval_ms, kMaxKeepaliveMs)));
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     static_cast<int>(std::min(interval_ms, kMaxKeepaliveAnswerMs)));
    // By default gRPC stops sending pings after two pings without a data frame between them; 0
    // removes this limit.
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return arguments;
}

std::unique_ptr<Client> internal::ClientMaker::Make(
    const std::vector<std::shared_ptr<grpc::Channel>>& channels, std::shared_ptr<CallGate> gate,
    const ClientOptions& options) {
  return std::unique_ptr<Client>(
      new Client(std::make_unique<Client::Impl>(channels, std::move(gate), options)));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(absl::string_view target,
                                                        const ClientOptions& options) {
  const std::vector<absl::string_view> addresses = absl::StrSplit(target, ',');
  for (const absl::string_view address : addresses) {
    const absl::Status checked = CheckAddress(address);
    if (!checked.ok()) return checked;
  }
  const absl::StatusOr<ClientSecurity> security = ClientSecurity::Read(options);
  if (!security.ok()) return security.status();
  for (const absl::string_view address : addresses) {
    const absl::Status checked = security->Check(Text(address));
    if (!checked.ok()) return checked;
  }
  // A channel connects at its first call, so this returns at once.
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  channels.reserve(addresses.size());
  for (const absl::string_view address : addresses) {
    channels.push_back(security->Connect(Text(address), internal::ClientMaker::Arguments(options)));
  }
  return internal::ClientMaker::Make(channels, nullptr, options);
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::StatusOr<SceneSummary> Client::CreateScene(absl::string_view name,
                                                 std::span<const Polygon> polygons,
                                                 const CallOptions& options) {
  v1::CreateSceneRequest request;
  request.set_name(Text(name));
  for (const Polygon& polygon : polygons) wire::EncodePolygon(polygon, *request.add_polygons());
  v1::CreateSceneResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncCreateScene, request, response, options);
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::StatusOr<SceneSummary> Client::GetScene(absl::string_view name, const CallOptions& options) {
  v1::GetSceneRequest request;
  request.set_name(Text(name));
  v1::GetSceneResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncGetScene, request, response, options);
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::StatusOr<ScenePage> Client::ListScenes(int32_t page_size, absl::string_view page_token,
                                             const CallOptions& options) {
  v1::ListScenesRequest request;
  request.set_page_size(page_size);
  request.set_page_token(Text(page_token));
  v1::ListScenesResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncListScenes, request, response, options);
  if (!status.ok()) return status;
  ScenePage page{.scenes = {}, .next_page_token = response.next_page_token()};
  for (const v1::Scene& scene : response.scenes()) page.scenes.push_back(Summary(scene));
  return page;
}

// The pages are not one snapshot: the result may or may not contain a scene that another client
// creates or deletes meanwhile.
absl::StatusOr<std::vector<SceneSummary>> Client::ListAllScenes(const CallOptions& options) {
  // the largest page size that the server accepts
  constexpr int32_t kLargestPage = 1000;
  std::vector<SceneSummary> all;
  std::string token;
  do {
    absl::StatusOr<ScenePage> page = ListScenes(kLargestPage, token, options);
    if (!page.ok()) return page.status();
    for (SceneSummary& scene : page->scenes) all.push_back(std::move(scene));
    token = std::move(page->next_page_token);
  } while (!token.empty());
  return all;
}

absl::Status Client::DeleteScene(absl::string_view name, uint64_t version,
                                 const CallOptions& options) {
  v1::DeleteSceneRequest request;
  request.set_name(Text(name));
  request.set_version(version);
  v1::DeleteSceneResponse response;
  absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncDeleteScene, request, response, options);
  if (status.ok() || absl::IsNotFound(status)) impl_->addresses()->forks().Remove(request.name());
  return status;
}

absl::StatusOr<SceneSummary> Client::CommitEdits(absl::string_view name, uint64_t base_version,
                                                 std::span<const SceneEdit> edits,
                                                 const CallOptions& options) {
  v1::CommitEditsRequest request;
  request.set_name(Text(name));
  request.set_base_version(base_version);
  for (const SceneEdit& edit : edits) wire::EncodeEdit(edit, *request.add_edits());
  request.set_edit_id(NewEditId());
  v1::CommitEditsResponse response;
  const std::chrono::milliseconds timeout = impl_->TimeoutOf(options);
  const bool has_deadline = timeout != std::chrono::milliseconds::zero();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  // options of one attempt, whose timeout is the time until `deadline`
  CallOptions attempt = options;
  for (std::chrono::milliseconds delay = kFirstRetry;; delay *= 2) {
    const size_t address = impl_->addresses()->current();
    const absl::Status status = impl_->CallTo(address, &v1::SceneService::Stub::AsyncCommitEdits,
                                              request, response, attempt);
    if (status.ok()) {
      v1::GroupEdits made;
      *made.mutable_edits() = std::move(*request.mutable_edits());
      impl_->addresses()->forks().Record(request.name(), made, response.scene().version(), address);
      return Summary(response.scene());
    }
    if (!absl::IsUnavailable(status) || delay > kLastRetry) return status;
    if (has_deadline) {
      attempt.timeout = std::chrono::ceil<std::chrono::milliseconds>(
          deadline - delay - std::chrono::steady_clock::now());
      if (*attempt.timeout <= std::chrono::milliseconds::zero()) return status;
    }
    std::this_thread::sleep_for(delay);
  }
}

// If `fork` has no name, the client chooses a random one and retries once. ALREADY_EXISTS at the
// second attempt then means that the first attempt made the fork.
absl::StatusOr<SceneSummary> Client::ForkScene(absl::string_view base, const ForkOptions& fork,
                                               const CallOptions& options) {
  v1::ForkSceneRequest request;
  request.set_base(Text(base));
  request.set_version(fork.version);
  request.set_name(fork.name.empty() ? absl::StrCat("scenes/fork-", NewEditId()) : fork.name);
  request.set_lease_seconds(static_cast<uint64_t>(std::max<int64_t>(fork.lease.count(), 0)));
  v1::ForkSceneResponse response;
  const auto method = &v1::SceneService::Stub::AsyncForkScene;
  size_t address = impl_->addresses()->current();
  absl::Status status = impl_->CallTo(address, method, request, response, options);
  if (absl::IsUnavailable(status) && fork.name.empty()) {
    address = impl_->addresses()->current();
    status = impl_->CallTo(address, method, request, response, options);
    if (absl::IsAlreadyExists(status)) {
      v1::GetSceneRequest get;
      get.set_name(request.name());
      v1::GetSceneResponse got;
      status = impl_->CallTo(address, &v1::SceneService::Stub::AsyncGetScene, get, got, options);
      *response.mutable_scene() = got.scene();
      response.set_lease_seconds(request.lease_seconds());
    }
  }
  if (!status.ok()) return status;
  impl_->addresses()->forks().Add(response.scene(), response.lease_seconds(), address);
  return Summary(response.scene());
}

absl::StatusOr<std::vector<SceneVersion>> Client::ListSceneVersions(absl::string_view name,
                                                                    const CallOptions& options) {
  v1::ListSceneVersionsRequest request;
  request.set_name(Text(name));
  v1::ListSceneVersionsResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncListSceneVersions, request, response, options);
  if (!status.ok()) return status;
  std::vector<SceneVersion> versions;
  for (const v1::SceneVersion& version : response.versions()) {
    versions.push_back({.scene = Summary(version.scene()),
                        .edit_id = version.edit_id(),
                        .created = TimeOf(version.created_us()),
                        .note = version.note()});
  }
  return versions;
}

absl::StatusOr<SceneLint> Client::LintScene(absl::string_view name, const LintOptions& lint,
                                            uint64_t version, const CallOptions& options) {
  v1::LintSceneRequest request = EncodeLint(lint);
  request.set_name(Text(name));
  request.set_version(version);
  v1::LintSceneResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncLintScene, request, response, options);
  if (!status.ok()) return status;
  return DecodeLint(response);
}

absl::StatusOr<SceneSummary> Client::RollbackScene(absl::string_view name, uint64_t version,
                                                   uint64_t base_version,
                                                   const CallOptions& options) {
  v1::RollbackSceneRequest request;
  request.set_name(Text(name));
  request.set_version(version);
  request.set_base_version(base_version);
  v1::RollbackSceneResponse response;
  const absl::Status status =
      impl_->Call(&v1::SceneService::Stub::AsyncRollbackScene, request, response, options);
  if (!status.ok()) return status;
  // If the scene is a fork, removes the fork from the `ForkLog`, from which streams restore lost
  // forks. The log contains edits but no rollbacks, so a fork restored from the log would have the
  // edits that were rolled back.
  impl_->addresses()->forks().Remove(request.name());
  return Summary(response.scene());
}

// Sends the polygons in chunks (messages of about 1 MiB) over a client stream. gRPC's flow control
// limits the rate, so the client holds about one chunk in memory at a time. The server commits
// after the last chunk, or not at all.
absl::StatusOr<SceneSummary> Client::ImportScene(absl::string_view name,
                                                 std::span<const Polygon> polygons, ImportMode mode,
                                                 const CallOptions& options) {
  grpc::ClientContext context;
  impl_->SetDeadline(options, context);
  v1::ImportSceneResponse response;
  const size_t address = impl_->addresses()->current();
  std::unique_ptr<grpc::ClientWriter<v1::ImportSceneRequest>> call;
  const absl::Status begun = impl_->addresses()->BeginCall(
      [&] { call = impl_->addresses()->scenes(address).ImportScene(&context, &response); });
  if (!begun.ok()) return begun;
  v1::ImportSceneRequest chunk;
  chunk.set_name(Text(name));
  chunk.set_mode(Encoded(mode));
  chunk.set_note(Text(options.note));
  size_t bytes = 0;
  bool open = true;  // false once the server has ended the call
  uint64_t vertices = 0;
  for (const Polygon& polygon : polygons) vertices += polygon.vertex_count();
  Tally tally(options.progress, vertices);
  wire::PieceStart piece;
  for (size_t i = 0; open && i < polygons.size();) {
    v1::Polygon message;
    const bool is_last = wire::EncodePiece(polygons[i], kPieceVertices, piece, message);
    const size_t size = message.ByteSizeLong();
    // A chunk ends before a piece (a polygon, or a part of a large polygon) that would make the
    // chunk too large, and after a piece that is not the last one of its polygon.
    if (bytes != 0 && bytes + size > kChunkBytes) {
      open = call->Write(chunk);
      tally.Add(chunk.polygons());
      chunk.clear_polygons();
      bytes = 0;
    }
    *chunk.add_polygons() = std::move(message);
    bytes += size;
    chunk.set_continues(!is_last);
    i += is_last ? 1 : 0;
    if (is_last || !open) continue;
    open = call->Write(chunk);
    tally.Add(chunk.polygons());
    chunk.clear_polygons();
    bytes = 0;
  }
  if (open) call->Write(chunk);
  tally.Add(chunk.polygons());
  call->WritesDone();
  const absl::Status status = CallStatus(call->Finish());
  impl_->FailOverIfUnavailable(status, address);
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::Status Client::Impl::Export(
    const v1::ExportSceneRequest& request, const CallOptions& options,
    absl::FunctionRef<absl::Status(const v1::ExportSceneResponse&)> take) {
  grpc::ClientContext context;
  SetDeadline(options, context);
  const size_t address = addresses()->current();
  std::unique_ptr<grpc::ClientReader<v1::ExportSceneResponse>> call;
  const absl::Status begun = addresses()->BeginCall(
      [&] { call = addresses()->scenes(address).ExportScene(&context, request); });
  if (!begun.ok()) return begun;
  absl::Status malformed;
  v1::ExportSceneResponse chunk;
  while (malformed.ok() && call->Read(&chunk)) malformed = take(chunk);
  if (!malformed.ok()) context.TryCancel();
  const absl::Status status = CallStatus(call->Finish());
  if (!malformed.ok()) return malformed;
  FailOverIfUnavailable(status, address);
  return status;
}

absl::StatusOr<std::vector<Polygon>> Client::ExportScene(absl::string_view name, uint64_t version,
                                                         const CallOptions& options) {
  v1::ExportSceneRequest request;
  request.set_name(Text(name));
  request.set_version(version);
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  const PolygonLimits any{.max_vertices = kAny, .max_user_data_bytes = kAny};
  std::vector<Polygon> polygons;
  wire::PolygonJoiner joiner(any);
  const auto hold = [](size_t, size_t) { return absl::OkStatus(); };
  Tally tally(options.progress, 0);
  absl::Status status = impl_->Export(request, options, [&](const v1::ExportSceneResponse& chunk) {
    tally.Add(chunk.polygons());
    return joiner.Add(chunk.polygons(), chunk.continues(), hold, polygons);
  });
  if (status.ok()) status = joiner.Finish();
  if (!status.ok()) return status;
  return polygons;
}

absl::StatusOr<ExportedBundle> Client::ExportBundle(absl::string_view name, uint64_t version,
                                                    const CallOptions& options) {
  v1::ExportSceneRequest request;
  request.set_name(Text(name));
  request.set_version(version);
  request.set_bundle(true);
  ExportedBundle exported;
  bool has_summary = false;
  const absl::Status status =
      impl_->Export(request, options, [&](const v1::ExportSceneResponse& chunk) {
        if (chunk.has_scene()) exported.scene = Summary(chunk.scene());
        has_summary = has_summary || chunk.has_scene();
        exported.bytes += chunk.bundle();
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (!has_summary || !IsBundle(exported.bytes)) {
    return absl::InternalError("the server sent no bundle");
  }
  return exported;
}

absl::StatusOr<FrameAnswer> Client::Evaluate(const Frame& frame, const CallOptions& options) {
  v1::EvaluateRequest request;
  EncodeFrame(frame, *request.mutable_frame());
  v1::EvaluateResponse response;
  const size_t address = impl_->addresses()->current();
  const absl::Status status =
      impl_->CallTo(address, &v1::QueryService::Stub::AsyncEvaluate, request, response, options);
  if (!status.ok()) return status;
  // If the server breaks the protocol, the caller gets INTERNAL, never an answer whose columns do
  // not match the queries.
  FrameAnswer answer;
  const absl::Status decoded = DecodeFrameAnswer(response.answer(), answer);
  if (!decoded.ok()) return decoded;
  const absl::Status fits = CheckFrameAnswer(request.frame(), answer);
  if (!fits.ok()) return fits;
  for (size_t i = 0; i < answer.groups.size(); ++i) {
    const v1::Group& group = request.frame().groups(static_cast<int>(i));
    const uint64_t version = answer.groups[i].edited_version;
    if (version == 0) continue;
    impl_->addresses()->forks().Record(group.scene(), group.edits(), version, address);
  }
  return answer;
}

absl::StatusOr<Explanation> Client::Explain(absl::string_view scene, const Group& group,
                                            const ExplainOptions& explain,
                                            const ExplainContext& context,
                                            const CallOptions& options) {
  v1::ExplainRequest request;
  request.set_scene(Text(scene));
  wire::EncodeGroup(group, *request.mutable_group());
  request.mutable_group()->set_version(context.version);
  for (const TrackerDefinitions& definitions : context.trackers) {
    wire::EncodeTrackers(definitions, *request.add_trackers());
  }
  request.set_max_candidates(explain.max_candidates);
  request.set_svg_width(explain.svg_width);
  v1::ExplainResponse response;
  const absl::Status status =
      impl_->Call(&v1::QueryService::Stub::AsyncExplain, request, response, options);
  if (!status.ok()) return status;
  return wire::DecodeExplanation(response);
}

std::unique_ptr<SceneWatch> Client::WatchScene(absl::string_view name,
                                               const WatchOptions& options) {
  return std::unique_ptr<SceneWatch>(
      new SceneWatch(std::make_unique<SceneWatch::Impl>(impl_->addresses(), Text(name), options)));
}

// The stream shares the client's `Addresses`, which hold the current server, so a failover of the
// client or of any of its streams applies to all of them.
std::unique_ptr<Stream> Client::OpenStream(const StreamOptions& options) {
  return std::unique_ptr<Stream>(
      new Stream(std::make_unique<Stream::Impl>(impl_->addresses(), options)));
}

}  // namespace carom
