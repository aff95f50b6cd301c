// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/connect_service.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/rpc_status.h"
#include "server/http/connect_protocol.h"
#include "server/http/json_messages.h"
#include "server/http/page_response.h"
#include "server/http/web_socket_session.h"
#include "server/transport/message_bytes.h"

namespace carom::server {
namespace {

using google::protobuf::MethodDescriptor;

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  MessageBytes bytes(buffer);
  bytes.Join();
  const auto joined = bytes.joined();
  return {reinterpret_cast<const char*>(joined.data()), joined.size()};
}

// The answer to one request: the messages of a forwarded call, as the codec writes them. All
// functions run on the thread of the connection, but the notification of the call.
class ConnectCall final : public HttpCall, public std::enable_shared_from_this<ConnectCall> {
 public:
  ConnectCall(const MethodDescriptor& method, const ConnectCodec& codec, HttpHeaders headers,
              std::shared_ptr<HttpResponder> responder)
      : method_(method),
        codec_(codec),
        headers_(std::move(headers)),
        responder_(std::move(responder)),
        memory_(responder_->NewCharge()) {}

  // Sends `message` to the server within the process. Returns false if the server shuts down.
  bool Start(CallForwarder& calls, const ForwardedHeaders& headers, const std::string& message) {
    const std::weak_ptr<ConnectCall> weak = weak_from_this();
    const std::string path = "/" + method_.service()->full_name() + "/" + method_.name();
    const auto notify = [this, weak] {
      if (is_posted_.exchange(true)) return;
      responder_->Post([weak] {
        if (const auto self = weak.lock()) self->OnCallEvent();
      });
    };
    if (!codec_.is_streaming) {
      call_ = calls.StartUnary(path, headers, ToBuffer(message), notify);
      return call_ != nullptr;
    }
    call_ = calls.Start(path, headers, notify);
    if (call_ == nullptr) return false;
    call_->Send(ToBuffer(message));
    call_->CloseSend();
    return true;
  }

  // Ends the call with an error before it is sent to the server.
  void Fail(const absl::Status& status) { End(ToGrpcStatus(status)); }

  void OnWritten() override {
    memory_.Set(0);
    is_writing_ = false;
    OnCallEvent();
  }
  void OnDisconnect() override { Abandon(); }
  ~ConnectCall() override { Abandon(); }

 private:
  void Abandon() {
    if (call_ != nullptr) std::exchange(call_, nullptr)->Abandon();
  }

  void OnCallEvent() {
    is_posted_ = false;
    while (call_ != nullptr && !is_writing_) {
      if (std::optional<grpc::ByteBuffer> message = call_->Receive()) {
        if (!Take(ToString(*message))) return;
      } else if (const std::optional<grpc::Status> status = call_->status()) {
        return End(*status);
      } else {
        return;
      }
    }
  }

  // Takes a message of the server: writes it, or keeps it until the call ends. Returns false if the
  // message ends the call with an error.
  bool Take(std::string message) {
    const size_t size = message.size();
    if (absl::Status status = memory_.Add(codec_.is_json ? ConversionBytes(size) : size);
        !status.ok()) {
      End(ToGrpcStatus(status));
      return false;
    }
    if (codec_.is_json) {
      absl::StatusOr<std::string> json = BytesToJson(*method_.output_type(), message);
      if (!json.ok()) {
        End(ToGrpcStatus(json.status()));
        return false;
      }
      message = *std::move(json);
    }
    if (codec_.is_streaming) {
      Begin();
      is_writing_ = true;
      responder_->WriteBody(Envelope(0, message));
    } else {
      answer_ = std::move(message);
    }
    return true;
  }

  void Begin() {
    if (std::exchange(begun_, true)) return;
    HttpResponse head{.headers = headers_, .body = ""};
    head.headers.emplace_back("Content-Type", ContentTypeOf(codec_));
    responder_->BeginBody(std::move(head));
  }

  void End(const grpc::Status& status) {
    Abandon();
    if (codec_.is_streaming) {
      Begin();
      responder_->EndBody(EndOfStream(status));
      return;
    }
    HttpResponse response =
        status.ok()
            ? HttpResponse{.headers = {{"Content-Type", std::string(ContentTypeOf(codec_))}},
                           .body = std::move(answer_)}
            : ErrorResponse(status);
    response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
    responder_->Reply(std::move(response));
  }

  const MethodDescriptor& method_;
  const ConnectCodec codec_;
  const HttpHeaders headers_;  // headers of the response beside those of the codec
  const std::shared_ptr<HttpResponder> responder_;
  MemoryCharge memory_;  // memory of the message that is written, or of the answer
  std::shared_ptr<ForwardedCall> call_;
  std::atomic<bool> is_posted_{false};  // `OnCallEvent` will run
  std::string answer_;
  bool begun_ = false;       // the head of the response is sent
  bool is_writing_ = false;  // a part of the body is being written
};

// Returns the request message of a body in `codec`, as bytes on the wire.
absl::StatusOr<std::string> MessageOf(const MethodDescriptor& method, const ConnectCodec& codec,
                                      std::string body) {
  if (codec.is_streaming) {
    absl::StatusOr<absl::string_view> opened = OpenEnvelope(body);
    if (!opened.ok()) return opened.status();
    body = std::string(*opened);
  }
  if (!codec.is_json) return body;
  return JsonToBytes(*method.input_type(), body.empty() ? "{}" : body);
}

// Returns the refusal of a request before its method is called, or nullopt: another method than
// POST (405), another content type (415), or a compressed body.
std::optional<HttpResponse> CheckRequest(const HttpRequest& request, const MethodDescriptor& method,
                                         const std::optional<ConnectCodec>& codec) {
  if (request.method != "POST") {
    HttpResponse response =
        ErrorResponse({grpc::StatusCode::UNIMPLEMENTED, "the method of the request must be POST"});
    response.status = 405;
    response.headers.emplace_back("Allow", "POST, OPTIONS");
    return response;
  }
  if (method.client_streaming()) {
    return ErrorResponse({grpc::StatusCode::UNIMPLEMENTED,
                          method.server_streaming()
                              ? "Stream is served by gRPC, and over a web socket at this path"
                              : "ImportScene is served by gRPC only; CommitEdits adds polygons"});
  }
  if (!codec.has_value() || codec->is_streaming != method.server_streaming()) {
    const char* const accepted = method.server_streaming()
                                     ? "application/connect+json, application/connect+proto"
                                     : "application/json, application/proto";
    HttpResponse response =
        ErrorResponse({grpc::StatusCode::UNIMPLEMENTED,
                       absl::StrCat("the content type must be one of ", accepted)});
    response.status = 415;
    response.headers.emplace_back("Accept-Post", accepted);
    return response;
  }
  for (const char* name : {"content-encoding", "connect-content-encoding"}) {
    const absl::string_view encoding = request.header(name);
    if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
      return ErrorResponse({grpc::StatusCode::UNIMPLEMENTED,
                            "the body must not be compressed: the encoding must be identity"});
    }
  }
  return std::nullopt;
}

// Returns whether a list of tokens, separated by commas, has `token`.
bool HasToken(absl::string_view list, absl::string_view token) {
  for (const absl::string_view entry : absl::StrSplit(list, ',')) {
    if (absl::StripAsciiWhitespace(entry) == token) return true;
  }
  return false;
}

HttpResponse WithHeaders(HttpResponse response, const HttpHeaders& headers) {
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  return response;
}

}  // namespace

bool ConnectService::AcceptsBody(const HttpRequest& request) const {
  return request.method == "POST" && FindMethod(request.path) != nullptr;
}

std::shared_ptr<HttpCall> ConnectService::Handle(HttpRequest request,
                                                 std::shared_ptr<HttpResponder> responder) {
  const auto refuse = [&](HttpResponse response) {
    responder->Reply(std::move(response));
    return nullptr;
  };
  if (const absl::Status allowed = origins_.Allow(request); !allowed.ok()) {
    return refuse(ErrorResponse(ToGrpcStatus(allowed)));
  }
  if (request.method == "OPTIONS") return refuse(origins_.Preflight(request));
  HttpHeaders headers = origins_.HeadersFor(request);
  const MethodDescriptor* const method = FindMethod(request.path);
  if (method == nullptr) {
    if (std::optional<HttpResponse> page = PageResponse(request, page_)) {
      return refuse(WithHeaders(*std::move(page), headers));
    }
    HttpResponse response =
        ErrorResponse({grpc::StatusCode::UNIMPLEMENTED, "the path is no method of a service"});
    response.status = 404;
    return refuse(WithHeaders(std::move(response), headers));
  }
  const std::optional<ConnectCodec> codec = CodecOf(request.header("content-type"));
  if (std::optional<HttpResponse> refusal = CheckRequest(request, *method, codec)) {
    return refuse(WithHeaders(*std::move(refusal), headers));
  }
  ForwardedHeaders forwarded{.client = std::move(request.client),
                             .authorization = std::string(request.header("authorization")),
                             .traceparent = std::string(request.header("traceparent"))};
  const auto timeout = TimeoutOf(request.header("connect-timeout-ms"));
  absl::Status status = timeout.status();
  if (status.ok() && timeout->has_value()) {
    if (**timeout == std::chrono::milliseconds(0)) {
      status = absl::DeadlineExceededError("the call's deadline has passed");
    }
    forwarded.deadline = std::chrono::system_clock::now() + **timeout;
  }
  MemoryCharge memory = responder->NewCharge();
  if (status.ok()) {
    status =
        memory.Add(codec->is_json ? ConversionBytes(request.body.size()) : request.body.size());
  }
  absl::StatusOr<std::string> message = std::string();
  if (!status.ok()) {
    message = status;
  } else {
    message = MessageOf(*method, *codec, std::move(request.body));
  }
  const auto call = std::make_shared<ConnectCall>(*method, *codec, std::move(headers), responder);
  if (!message.ok()) {
    call->Fail(message.status());
    return nullptr;
  }
  if (!call->Start(calls_, forwarded, *message)) {
    call->Fail(Draining());
    return nullptr;
  }
  return call;
}

HttpResponse ConnectService::Refusal(const HttpRequest& request, unsigned status,
                                     const char* why) const {
  const bool is_limit = status == 413 || status == 429 || status == 431;
  HttpResponse response = ErrorResponse(
      {is_limit ? grpc::StatusCode::RESOURCE_EXHAUSTED : grpc::StatusCode::INVALID_ARGUMENT, why});
  response.status = status;
  return origins_.Allow(request).ok()
             ? WithHeaders(std::move(response), origins_.HeadersFor(request))
             : response;
}

std::optional<HttpResponse> ConnectService::RefuseUpgrade(const HttpRequest& request) const {
  if (const absl::Status allowed = origins_.Allow(request); !allowed.ok()) {
    return ErrorResponse(ToGrpcStatus(allowed));
  }
  if (request.path != kWebSocketPath) {
    HttpResponse response = ErrorResponse(
        {grpc::StatusCode::UNIMPLEMENTED, absl::StrCat("web sockets are at ", kWebSocketPath)});
    response.status = 404;
    return response;
  }
  if (!HasToken(request.header("sec-websocket-protocol"), kWebSocketProtocol)) {
    return ErrorResponse({grpc::StatusCode::INVALID_ARGUMENT,
                          absl::StrCat("Sec-WebSocket-Protocol must name ", kWebSocketProtocol)});
  }
  return std::nullopt;
}

}  // namespace carom::server
