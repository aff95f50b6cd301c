// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/health_service.h"

#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <atomic>

namespace carom::server {

using grpc::health::v1::HealthCheckRequest;
using Response = HealthService::Response;

// One Check call. Deletes itself.
class HealthCheck {
 public:
  static void Accept(HealthService& service, EventLoop& loop) {
    auto* check = new HealthCheck(service, loop);
    service.RequestCheck(&check->context_, &check->request_, &check->writer_, &loop.queue(),
                         &loop.queue(), &check->accepted_);
  }

 private:
  HealthCheck(HealthService& service, EventLoop& loop)
      : loop_user_(loop), service_(service), loop_(loop) {}

  void OnAccepted(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    Accept(service_, loop_);
    Response response;
    const grpc::Status status = service_.StatusOf(request_.service(), response);
    writer_.Finish(response, status, &finished_);
  }

  void OnFinished(bool) { delete this; }

  const EventLoop::User loop_user_;
  HealthService& service_;
  EventLoop& loop_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncResponseWriter<Response> writer_{&context_};
  EventOf<HealthCheck, &HealthCheck::OnAccepted> accepted_{this};
  EventOf<HealthCheck, &HealthCheck::OnFinished> finished_{this};
};

// One Watch call. It sends the status that it was last notified of, one message at a time, and ends
// when its client cancels. Owns itself by counted references: one for each event that is
// outstanding.
class HealthWatch {
 public:
  static void Accept(HealthService& service, EventLoop& loop) {
    auto* watch = new HealthWatch(service, loop);
    watch->context_.AsyncNotifyWhenDone(&watch->done_);
    service.RequestWatch(&watch->context_, &watch->request_, &watch->writer_, &loop.queue(),
                         &loop.queue(), &watch->accepted_);
  }

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
      Unref();  // there is no call, so `done_` never happens
      return Unref();
    }
    Accept(service_, loop_);
    bool serving = false;
    const bool is_one_too_many = !service_.Add(this, serving);
    const bool known = service_.Knows(request_.service());
    bool over = false;
    {
      absl::MutexLock lock(&mu_);
      over = over_;
      if (is_one_too_many && !over_) {
        over_ = true;
        references_.fetch_add(1, std::memory_order_relaxed);
        writer_.Finish({grpc::RESOURCE_EXHAUSTED, "too many watches of the server's health"},
                       &finished_);
      }
      known_ = known;
      // A notification that came meanwhile is newer.
      if (wanted_ == Response::UNKNOWN) {
        wanted_ = serving ? Response::SERVING : Response::NOT_SERVING;
      }
      MaybeWrite();
    }
    // `OnDone` may have come before `Add`, when there was nothing to remove.
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

  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Response::ServingStatus status = known_ ? wanted_ : Response::SERVICE_UNKNOWN;
    // One write at a time; a status that is passed over was replaced before it could be sent.
    if (writing_ || over_ || wanted_ == Response::UNKNOWN || status == sent_) return;
    writing_ = true;
    sent_ = status;
    references_.fetch_add(1, std::memory_order_relaxed);
    Response response;
    response.set_status(status);
    writer_.Write(response, &written_);
  }

  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const EventLoop::User loop_user_;
  HealthService& service_;
  EventLoop& loop_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncWriter<Response> writer_{&context_};
  EventOf<HealthWatch, &HealthWatch::OnAccepted> accepted_{this};
  EventOf<HealthWatch, &HealthWatch::OnWritten> written_{this};
  EventOf<HealthWatch, &HealthWatch::OnDone> done_{this};
  EventOf<HealthWatch, &HealthWatch::OnFinished> finished_{this};
  std::atomic<int> references_{2};  // of `accepted_` and `done_`, in any order

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
  for (HealthWatch* watch : watches_) {
    watch->Notify(serving ? Response::SERVING : Response::NOT_SERVING);
  }
}

grpc::Status HealthService::StatusOf(const std::string& service, Response& response) const {
  if (!Knows(service)) return {grpc::NOT_FOUND, "no service of this name"};
  absl::MutexLock lock(&mu_);
  response.set_status(serving_ ? Response::SERVING : Response::NOT_SERVING);
  return grpc::Status::OK;
}

bool HealthService::Knows(const std::string& service) const {
  return service.empty() ||
         std::find(services_.begin(), services_.end(), service) != services_.end();
}

bool HealthService::Add(HealthWatch* watch, bool& serving) {
  absl::MutexLock lock(&mu_);
  serving = serving_;
  if (watches_.size() >= kMaxWatches) return false;
  watches_.insert(watch);
  return true;
}

void HealthService::Remove(HealthWatch* watch) {
  absl::MutexLock lock(&mu_);
  watches_.erase(watch);
}

}  // namespace carom::server
