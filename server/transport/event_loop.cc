// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/event_loop.h"

#include <pthread.h>
#include <time.h>

#include "server/base/host_limits.h"

namespace carom::server {
namespace {

// Whether the calling thread is in `EventLoop::RunAndHandle`.
thread_local bool is_guest = false;

}  // namespace

EventLoop::EventLoop(grpc::ServerBuilder& builder, size_t threads)
    : thread_count_(threads != 0 ? threads : ReadHostLimits().threads),
      share_(thread_count_),
      queue_(builder.AddCompletionQueue()) {}

EventLoop::~EventLoop() {
  { absl::MutexLock lock(&mu_, absl::Condition(this, &EventLoop::IsUnused)); }
  queue_->Shutdown();
  if (threads_.empty()) Loop();  // gRPC requires that a queue is empty when it is destroyed
  for (std::thread& thread : threads_) thread.join();
}

void EventLoop::Start() {
  for (size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { Loop(); });
}

std::chrono::nanoseconds EventLoop::busy_time() const {
  std::chrono::nanoseconds busy{};
  for (const std::thread& thread : threads_) {
    clockid_t clock;
    timespec used{};
    const pthread_t handle = const_cast<std::thread&>(thread).native_handle();
    if (pthread_getcpuclockid(handle, &clock) != 0 || clock_gettime(clock, &used) != 0) continue;
    busy += std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  return busy;
}

void EventLoop::RunAndHandle(absl::FunctionRef<void()> start, absl::FunctionRef<bool()> is_done,
                             int most) {
  const auto past = gpr_inf_past(GPR_CLOCK_MONOTONIC);
  void* tag = nullptr;
  bool ok = false;
  is_guest = true;
  // gRPC keeps the first event that `start` completes for this thread, and wakes no thread for it.
  auto next = queue_->DoThenAsyncNext(start, &tag, &ok, past);
  while (next == grpc::CompletionQueue::GOT_EVENT) {
    static_cast<Event*>(tag)->OnComplete(ok);
    if (--most == 0 || is_done()) break;
    next = queue_->AsyncNext(&tag, &ok, past);
  }
  is_guest = false;
}

bool EventLoop::ReserveThread() {
  if (is_guest) return false;
  // Counts the reservation before the check, so that concurrent calls of `ReserveThread` never
  // reserve all threads; one of the calls may fail although a thread is free.
  if (reserved_.fetch_add(1, std::memory_order_relaxed) + 1 < thread_count_) return true;
  ReleaseThread();
  return false;
}

void EventLoop::CountUsers(int change) {
  absl::MutexLock lock(&mu_);
  users_ += change;
}

void EventLoop::Loop() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->OnComplete(ok);
}

}  // namespace carom::server
