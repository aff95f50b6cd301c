// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/health_service.h"

#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <atomic>

#include "server/transport/async_call.h"
#include "server/transport/message_io.h"
#include "server/transport/one_answer_call.h"

namespace carom::server {

using grpc::health::v1::HealthCheckRequest;
using Response = HealthService::Response;

namespace {

constexpr size_t kMaxRequestBytes = 1024;

grpc::ByteBuffer Encoded(Response::ServingStatus status) {
  Response response;
  response.set_status(status);
  return Serialize(response);
}

Response::ServingStatus StatusOf(bool is_serving) {
  return is_serving ? Response::SERVING : Response::NOT_SERVING;
}

}  // namespace

// A Check call of the health service: answers once with the status of the service that the request
// names.
class HealthCheck : public OneAnswerCall<HealthCheck, HealthService> {
 public:
  using OneAnswerCall::OneAnswerCall;
  void Request() {
    service().RequestCheck(&context_, &request_, &writer_, &loop().queue(), &loop().queue(),
                           accepted());
  }
  void Answer() {
    const std::optional<std::string> name = service().ServiceOf(request_);
    request_.Clear();
    if (name.has_value()) {
      writer_.Finish(Encoded(StatusOf(service().is_serving(*name))), grpc::Status::OK, finished());
    } else {
      writer_.FinishWithError({grpc::NOT_FOUND, "no service of this name"}, finished());
    }
  }

 private:
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
};

// A Watch call of the health service: sends its client the status of one service, first at the
// beginning and then after each change, one message at a time. Ends when the client cancels the
// call, or with an error if there are too many watches. Reference-counted: each pending event holds
// a reference, and the release of the last reference deletes the call.
class HealthWatch {
 public:
  static void Accept(HealthService& service, EventLoop& loop) {
    auto* watch = new HealthWatch(service, loop);
    watch->context_.AsyncNotifyWhenDone(&watch->done_);
    service.RequestWatch(&watch->context_, &watch->request_, &watch->writer_, &loop.queue(),
                         &loop.queue(), &watch->accepted_);
  }

  // Returns the name of the watched service. Constant after the watch is added to the service.
  const std::string& name() const { return name_; }
  // Sets the latest status of the service. Sends the status to the client at once if no write is
  // pending, else when the pending write is complete.
  void Notify(Response::ServingStatus status) {
    absl::MutexLock lock(&mu_);
    wanted_ = status;
    MaybeWrite();
  }

 private:
  HealthWatch(HealthService& service, EventLoop& loop)
      : loop_user_(loop), service_(service), loop_(loop) {}

  void OnAccepted(bool ok) {
    if (!ok) {
      Unref();  // releases the reference of `done_`, which never happens without an accepted call
      return Unref();
    }
    Accept(service_, loop_);
    const std::string peer = PeerOf(context_, service_.trust_forwarded_for_);
    const std::optional<std::string> name = service_.ServiceOf(request_);
    const bool known = name.has_value();
    name_ = name.value_or("");
    request_.Clear();
    bool serving = false;
    const bool exceeds_limit = !service_.Add(this, peer, serving);
    bool over = false;
    {
      absl::MutexLock lock(&mu_);
      over = over_;
      if (exceeds_limit && !over_) {
        over_ = true;
        references_.fetch_add(1, std::memory_order_relaxed);
        writer_.Finish({grpc::RESOURCE_EXHAUSTED, "too many watches of the server's health"},
                       &finished_);
      }
      known_ = known;
      // If `Notify` has set `wanted_` since `Add` returned, that status is newer than `serving`.
      if (wanted_ == Response::UNKNOWN) wanted_ = StatusOf(serving);
      MaybeWrite();
    }
    // If the call is over, `OnDone` may have run before `Add`, so that the `Remove` in `OnDone` had
    // no effect.
    if (over) service_.Remove(this);
    Unref();
  }

  void OnWritten(bool ok) {
    {
      absl::MutexLock lock(&mu_);
      writing_ = false;
      if (!ok) over_ = true;
      MaybeWrite();
    }
    Unref();
  }

  void OnFinished(bool) { Unref(); }

  void OnDone(bool) {
    {
      absl::MutexLock lock(&mu_);
      over_ = true;
    }
    service_.Remove(this);
    Unref();
  }

  // Writes the latest status, unless it was sent, a write is pending or the call is over.
  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Response::ServingStatus status = known_ ? wanted_ : Response::SERVICE_UNKNOWN;
    // gRPC allows one write at a time. A status that is replaced while a write is pending is never
    // sent.
    if (writing_ || over_ || wanted_ == Response::UNKNOWN || status == sent_) return;
    writing_ = true;
    sent_ = status;
    references_.fetch_add(1, std::memory_order_relaxed);
    writer_.Write(Encoded(status), &written_);
  }

  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const EventLoop::User loop_user_;
  HealthService& service_;
  EventLoop& loop_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  std::string name_;
  EventOf<HealthWatch, &HealthWatch::OnAccepted> accepted_{this};
  EventOf<HealthWatch, &HealthWatch::OnWritten> written_{this};
  EventOf<HealthWatch, &HealthWatch::OnDone> done_{this};
  EventOf<HealthWatch, &HealthWatch::OnFinished> finished_{this};
  // one reference for each of the events `accepted_` and `done_`, which happen in any order
  std::atomic<int> references_{2};

  absl::Mutex mu_;
  bool known_ ABSL_GUARDED_BY(mu_) = true;
  Response::ServingStatus wanted_ ABSL_GUARDED_BY(mu_) = Response::UNKNOWN;
  Response::ServingStatus sent_ ABSL_GUARDED_BY(mu_) = Response::UNKNOWN;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
};

void HealthService::Accept(EventLoop& loop) {
  HealthCheck::Accept(*this, loop);
  HealthWatch::Accept(*this, loop);
}

void HealthService::SetServing(bool serving) {
  absl::MutexLock lock(&mu_);
  serving_ = serving;
  NotifyAll();
}

void HealthService::Set(const std::string& service, bool is_available) {
  absl::MutexLock lock(&mu_);
  const bool is_other =
      is_available ? unavailable_.erase(service) != 0 : unavailable_.insert(service).second;
  if (is_other) NotifyAll();
}

void HealthService::NotifyAll() {
  for (const auto& [watch, peer] : watches_) watch->Notify(StatusOf(IsServing(watch->name())));
}

std::optional<std::string> HealthService::ServiceOf(const grpc::ByteBuffer& request) const {
  HealthCheckRequest parsed;
  if (request.Length() > kMaxRequestBytes || !Parse(request, parsed)) return std::nullopt;
  const bool is_one =
      parsed.service().empty() || std::ranges::find(services_, parsed.service()) != services_.end();
  if (!is_one) return std::nullopt;
  return parsed.service();
}

bool HealthService::Add(HealthWatch* watch, const std::string& peer, bool& serving) {
  absl::MutexLock lock(&mu_);
  serving = IsServing(watch->name());
  if (watches_.size() >= kMaxWatches) return false;
  // The call of a peer without a name (`PeerOf` found neither a client address nor a connection)
  // counts only against `kMaxWatches`.
  if (!peer.empty()) {
    size_t& peer_count = watches_of_peer_[peer];
    if (peer_count >= kMaxWatchesOfPeer) return false;
    ++peer_count;
  }
  watches_.emplace(watch, peer);
  return true;
}

void HealthService::Remove(HealthWatch* watch) {
  absl::MutexLock lock(&mu_);
  const auto at = watches_.find(watch);
  if (at == watches_.end()) return;
  const auto peer_count = watches_of_peer_.find(at->second);
  if (peer_count != watches_of_peer_.end() && --peer_count->second == 0)
    watches_of_peer_.erase(peer_count);
  watches_.erase(at);
}

}  // namespace carom::server
