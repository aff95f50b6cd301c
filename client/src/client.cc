// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "carom/status.h"
#include "carom/v1/query_service.grpc.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "client/src/call_status.h"
#include "client/src/frame_codec.h"
#include "client/src/stream_impl.h"
#include "wire/encode.h"

namespace carom {
namespace {

// A part of an import is sent once it is this large: far below the server's message limit, large
// enough that the cost of a message does not show.
constexpr size_t kPartBytes = 1 << 20;

constexpr int64_t kMaxKeepaliveMs = 86400000;
constexpr int64_t kMaxKeepaliveAnswerMs = 20000;

std::string Text(absl::string_view text) { return std::string(text.data(), text.size()); }

absl::Status CheckTarget(absl::string_view target) {
  constexpr absl::string_view kAllowed = "must be host:port or unix:PATH";
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
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (absl::StrContains(host, ':') && !bracketed) return InvalidField("target", kAllowed);
  return absl::OkStatus();
}

SceneSummary Summary(const v1::Scene& scene) {
  SceneSummary summary{.name = scene.name(),
                       .version = scene.version(),
                       .polygon_count = scene.polygon_count(),
                       .vertex_count = scene.vertex_count(),
                       .bounds = {}};
  if (scene.has_bounds()) {
    const v1::Bounds& bounds = scene.bounds();
    summary.bounds.min = {bounds.min_x(), bounds.min_y()};
    summary.bounds.max = {bounds.max_x(), bounds.max_y()};
  }
  return summary;
}

v1::ImportMode Encoded(ImportMode mode) {
  return mode == ImportMode::kReplace ? v1::IMPORT_MODE_REPLACE : v1::IMPORT_MODE_CREATE;
}

grpc::ChannelArguments Arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.max_receive_bytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, options.own_connection ? 1 : 0);
  const int64_t interval_ms = options.keepalive_interval.count();
  if (interval_ms > 0) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                     static_cast<int>(std::min(interval_ms, kMaxKeepaliveMs)));
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     static_cast<int>(std::min(interval_ms, kMaxKeepaliveAnswerMs)));
    // gRPC would give up asking after two questions without a frame in between.
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return arguments;
}

}  // namespace

class Client::Impl {
 public:
  Impl(const std::shared_ptr<grpc::Channel>& channel, const ClientOptions& options)
      : options_(options),
        scenes_(v1::SceneService::NewStub(channel)),
        queries_(v1::QueryService::NewStub(channel)) {}

  // Makes one unary call.
  template <typename Stub, typename Request, typename Response>
  absl::Status Call(Stub& stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response& response, const CallOptions& options) const {
    grpc::ClientContext context;
    SetDeadline(options, context);
    return CallStatus((stub.*method)(&context, request, &response));
  }

  void SetDeadline(const CallOptions& options, grpc::ClientContext& context) const {
    const std::chrono::milliseconds timeout = options.timeout.value_or(options_.call_timeout);
    if (timeout > std::chrono::milliseconds::zero()) {
      context.set_deadline(std::chrono::system_clock::now() + timeout);
    }
  }

  v1::SceneService::Stub& scenes() { return *scenes_; }
  v1::QueryService::Stub& queries() { return *queries_; }
  const std::shared_ptr<v1::QueryService::Stub>& shared_queries() { return queries_; }

 private:
  const ClientOptions options_;
  const std::unique_ptr<v1::SceneService::Stub> scenes_;
  const std::shared_ptr<v1::QueryService::Stub> queries_;
};

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(absl::string_view target,
                                                        const ClientOptions& options) {
  const absl::Status checked = CheckTarget(target);
  if (!checked.ok()) return checked;
  const auto channel = grpc::CreateCustomChannel(Text(target), grpc::InsecureChannelCredentials(),
                                                 Arguments(options));
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(channel, options)));
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
  const absl::Status status = impl_->Call(impl_->scenes(), &v1::SceneService::Stub::CreateScene,
                                          request, response, options);
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::StatusOr<SceneSummary> Client::GetScene(absl::string_view name, const CallOptions& options) {
  v1::GetSceneRequest request;
  request.set_name(Text(name));
  v1::GetSceneResponse response;
  const absl::Status status =
      impl_->Call(impl_->scenes(), &v1::SceneService::Stub::GetScene, request, response, options);
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
      impl_->Call(impl_->scenes(), &v1::SceneService::Stub::ListScenes, request, response, options);
  if (!status.ok()) return status;
  ScenePage page{.scenes = {}, .next_page_token = response.next_page_token()};
  for (const v1::Scene& scene : response.scenes()) page.scenes.push_back(Summary(scene));
  return page;
}

absl::StatusOr<std::vector<SceneSummary>> Client::ListAllScenes(const CallOptions& options) {
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
  return impl_->Call(impl_->scenes(), &v1::SceneService::Stub::DeleteScene, request, response,
                     options);
}

absl::StatusOr<SceneSummary> Client::CommitEdits(absl::string_view name, uint64_t base_version,
                                                 std::span<const SceneEdit> edits,
                                                 const CallOptions& options) {
  v1::CommitEditsRequest request;
  request.set_name(Text(name));
  request.set_base_version(base_version);
  for (const SceneEdit& edit : edits) wire::EncodeEdit(edit, *request.add_edits());
  v1::CommitEditsResponse response;
  const absl::Status status = impl_->Call(impl_->scenes(), &v1::SceneService::Stub::CommitEdits,
                                          request, response, options);
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::StatusOr<SceneSummary> Client::ImportScene(absl::string_view name,
                                                 std::span<const Polygon> polygons, ImportMode mode,
                                                 const CallOptions& options) {
  grpc::ClientContext context;
  impl_->SetDeadline(options, context);
  v1::ImportSceneResponse response;
  const auto call = impl_->scenes().ImportScene(&context, &response);
  v1::ImportSceneRequest part;
  part.set_name(Text(name));
  part.set_mode(Encoded(mode));
  size_t bytes = 0;
  bool open = true;  // a call that the server has ended takes no more parts
  for (const Polygon& polygon : polygons) {
    v1::Polygon message;
    wire::EncodePolygon(polygon, message);
    const size_t size = message.ByteSizeLong();
    // A large polygon goes alone, so that only its own size counts against the server's limit.
    if (bytes != 0 && bytes + size > kPartBytes) {
      open = call->Write(part);
      if (!open) break;
      part.clear_polygons();
      bytes = 0;
    }
    *part.add_polygons() = std::move(message);
    bytes += size;
  }
  if (open) call->Write(part);
  call->WritesDone();
  const absl::Status status = CallStatus(call->Finish());
  if (!status.ok()) return status;
  return Summary(response.scene());
}

absl::StatusOr<FrameAnswer> Client::Evaluate(const Frame& frame, const CallOptions& options) {
  v1::EvaluateRequest request;
  EncodeFrame(frame, *request.mutable_frame());
  v1::EvaluateResponse response;
  const absl::Status status =
      impl_->Call(impl_->queries(), &v1::QueryService::Stub::Evaluate, request, response, options);
  if (!status.ok()) return status;
  FrameAnswer answer;
  const absl::Status decoded = DecodeFrameAnswer(response.answer(), answer);
  if (!decoded.ok()) return decoded;
  return answer;
}

std::unique_ptr<Stream> Client::OpenStream(const StreamOptions& options) {
  return std::unique_ptr<Stream>(
      new Stream(std::make_unique<Stream::Impl>(impl_->shared_queries(), options)));
}

}  // namespace carom
