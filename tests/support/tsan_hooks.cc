// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the thread sanitizer does not see: Debian's Abseil and gRPC are not compiled with it, so the
// order that their mutexes make between threads is unknown to it, and all that they guard looks
// like a race. This file takes the place of those functions in a test's executable, also for gRPC,
// which calls them by the same names; announces the order; and goes on to the library. It is itself
// compiled without the sanitizer.

#include <dlfcn.h>
#include <grpc/grpc.h>

#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

template <class Function>
Function* Real(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "tsan_hooks: no %s\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(found);
}

void Acquire(const void* what) { __tsan_acquire(const_cast<void*>(what)); }
void Release(const void* what) { __tsan_release(const_cast<void*>(what)); }

// A condition that is asked inside the library, by whichever thread holds the lock.
class Watched {
 public:
  Watched(absl::Mutex* mu, const absl::Condition& condition) : mu_(mu), condition_(condition) {
    Release(mu);
  }
  absl::Condition condition() { return absl::Condition(&Watched::IsTrue, this); }

 private:
  static bool IsTrue(Watched* watched) {
    Acquire(watched->mu_);
    const bool is_true = watched->condition_.Eval();
    Release(watched->mu_);
    return is_true;
  }

  absl::Mutex* const mu_;
  const absl::Condition& condition_;
};

}  // namespace

// A member function takes `this` first. `symbol` is its name in the library.
#define MUTEX "_ZN4absl7debian35Mutex"

#define TAKES(function, symbol)                                 \
  void function(absl::Mutex* mu) __asm__(symbol);               \
  void function(absl::Mutex* mu) {                              \
    static auto* const real = Real<decltype(function)>(symbol); \
    real(mu);                                                   \
    Acquire(mu);                                                \
  }
TAKES(MutexLock, MUTEX "4LockEv")
TAKES(MutexReaderLock, MUTEX "10ReaderLockEv")

#define GIVES(function, symbol)                                                \
  void function(absl::Mutex* mu) __asm__(symbol);                              \
  void function(absl::Mutex* mu) {                                             \
    static auto* const real = Real<decltype(function)>(symbol);                \
    Acquire(mu); /* what waits, with a condition to be asked by this thread */ \
    Release(mu);                                                               \
    real(mu);                                                                  \
  }
GIVES(MutexUnlock, MUTEX "6UnlockEv")
GIVES(MutexReaderUnlock, MUTEX "12ReaderUnlockEv")

bool MutexTryLock(absl::Mutex* mu) __asm__(MUTEX "7TryLockEv");
bool MutexTryLock(absl::Mutex* mu) {
  static auto* const real = Real<decltype(MutexTryLock)>(MUTEX "7TryLockEv");
  const bool taken = real(mu);
  if (taken) Acquire(mu);
  return taken;
}

// Waits for a condition, with the lock or for it.
#define WAITS(function, symbol)                                                     \
  void function(absl::Mutex* mu, const absl::Condition& condition) __asm__(symbol); \
  void function(absl::Mutex* mu, const absl::Condition& condition) {                \
    static auto* const real = Real<decltype(function)>(symbol);                     \
    Watched watched(mu, condition);                                                 \
    real(mu, watched.condition());                                                  \
    Acquire(mu);                                                                    \
  }
WAITS(MutexAwait, MUTEX "5AwaitERKNS0_9ConditionE")
WAITS(MutexLockWhen, MUTEX "8LockWhenERKNS0_9ConditionE")

#define WAITS_UNTIL(function, Limit, symbol)                                                     \
  bool function(absl::Mutex* mu, const absl::Condition& condition, Limit limit) __asm__(symbol); \
  bool function(absl::Mutex* mu, const absl::Condition& condition, Limit limit) {                \
    static auto* const real = Real<decltype(function)>(symbol);                                  \
    Watched watched(mu, condition);                                                              \
    const bool is_true = real(mu, watched.condition(), limit);                                   \
    Acquire(mu);                                                                                 \
    return is_true;                                                                              \
  }
WAITS_UNTIL(MutexAwaitWithDeadline, absl::Time,
            MUTEX "17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE")
WAITS_UNTIL(MutexAwaitWithTimeout, absl::Duration,
            MUTEX "16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE")
WAITS_UNTIL(MutexLockWhenWithDeadline, absl::Time,
            MUTEX "20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE")
WAITS_UNTIL(MutexLockWhenWithTimeout, absl::Duration,
            MUTEX "19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE")

#define COND_VAR "_ZN4absl7debian37CondVar"

void CondVarWait(absl::CondVar* cv, absl::Mutex* mu) __asm__(COND_VAR "4WaitEPNS0_5MutexE");
void CondVarWait(absl::CondVar* cv, absl::Mutex* mu) {
  static auto* const real = Real<decltype(CondVarWait)>(COND_VAR "4WaitEPNS0_5MutexE");
  Release(mu);
  real(cv, mu);
  Acquire(mu);
}

#define COND_VAR_WAITS(function, Limit, symbol)                                   \
  bool function(absl::CondVar* cv, absl::Mutex* mu, Limit limit) __asm__(symbol); \
  bool function(absl::CondVar* cv, absl::Mutex* mu, Limit limit) {                \
    static auto* const real = Real<decltype(function)>(symbol);                   \
    Release(mu);                                                                  \
    const bool timed_out = real(cv, mu, limit);                                   \
    Acquire(mu);                                                                  \
    return timed_out;                                                             \
  }
COND_VAR_WAITS(CondVarWaitWithTimeout, absl::Duration,
               COND_VAR "15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE")
COND_VAR_WAITS(CondVarWaitWithDeadline, absl::Time,
               COND_VAR "16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE")

#define NOTIFICATION "_ZN4absl7debian312Notification"

void Notify(absl::Notification* notification) __asm__(NOTIFICATION "6NotifyEv");
void Notify(absl::Notification* notification) {
  static auto* const real = Real<decltype(Notify)>(NOTIFICATION "6NotifyEv");
  Release(notification);
  real(notification);
}

#define CONST_NOTIFICATION "_ZNK4absl7debian312Notification"

void WaitForNotification(const absl::Notification* notification) __asm__(CONST_NOTIFICATION
                                                                         "19WaitForNotificationEv");
void WaitForNotification(const absl::Notification* notification) {
  static auto* const real =
      Real<decltype(WaitForNotification)>(CONST_NOTIFICATION "19WaitForNotificationEv");
  real(notification);
  Acquire(notification);
}

bool WaitForNotificationWithTimeout(
    const absl::Notification* notification,
    absl::Duration timeout) __asm__(CONST_NOTIFICATION
                                    "30WaitForNotificationWithTimeoutENS0_8DurationE");
bool WaitForNotificationWithTimeout(const absl::Notification* notification,
                                    absl::Duration timeout) {
  static auto* const real = Real<decltype(WaitForNotificationWithTimeout)>(
      CONST_NOTIFICATION "30WaitForNotificationWithTimeoutENS0_8DurationE");
  const bool notified = real(notification, timeout);
  if (notified) Acquire(notification);
  return notified;
}

// What is asked of gRPC happens before it is done.

namespace {

const char kDone = 0;

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static auto* const real = Real<decltype(grpc_call_start_batch)>("grpc_call_start_batch");
  Release(&kDone);
  return real(call, ops, count, tag, reserved);
}

grpc_call_error grpc_server_request_registered_call(
    grpc_server* server, void* method, grpc_call** call, gpr_timespec* deadline,
    grpc_metadata_array* metadata, grpc_byte_buffer** payload, grpc_completion_queue* queue,
    grpc_completion_queue* notifications, void* tag) {
  static auto* const real =
      Real<decltype(grpc_server_request_registered_call)>("grpc_server_request_registered_call");
  Release(&kDone);
  return real(server, method, call, deadline, metadata, payload, queue, notifications, tag);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  static auto* const real =
      Real<decltype(grpc_completion_queue_next)>("grpc_completion_queue_next");
  const grpc_event event = real(queue, deadline, reserved);
  Acquire(&kDone);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static auto* const real =
      Real<decltype(grpc_completion_queue_pluck)>("grpc_completion_queue_pluck");
  const grpc_event event = real(queue, tag, deadline, reserved);
  Acquire(&kDone);
  return event;
}

}  // extern "C"
