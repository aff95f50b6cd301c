// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// caromd: runs the server as a process.
//
// Prints `caromd listening on ADDRESS` to stdout when the server accepts calls; all other output
// goes to stderr. SIGHUP makes the server reload the credentials file. SIGTERM or SIGINT drains the
// server and ends the process with exit code 0; while the server still reads its scenes, the
// process exits at once. A second SIGTERM or SIGINT ends the process at once with exit code 1. A
// bad option ends the process with exit code 2, and any other error of the start, such as an
// address on which another process listens, with exit code 1.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/base/thread_scheduling.h"
#include "server/options.h"
#include "server/server.h"

namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

// Waits for one of `Signals()` and returns its number.
int AwaitSignal() {
  const sigset_t signals = Signals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

// Raises the soft limit of file descriptors to the hard limit: each connection takes descriptors,
// and on many systems the soft limit is only 1,024.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Waits for SIGTERM and SIGINT on a thread. The first signal makes `Await` return, so that `main`
// drains the server; without a server yet, there is nothing to drain and the process exits with 0.
// A second signal ends the process with exit code 1.
class ShutdownSignals {
 public:
  ShutdownSignals() {
    std::thread([this] {
      AwaitStopSignal();
      if (server_ == nullptr) {
        std::fputs("caromd: stopped during startup\n", stderr);
        _exit(0);
      }
      stop_.Notify();
      AwaitStopSignal();
      std::fputs("caromd: stopped by a second signal\n", stderr);
      _exit(1);
    }).detach();
  }

  // Sets the server that `main` drains on the first signal and that SIGHUP reloads.
  void set_server(carom::server::Server& server) { server_ = &server; }
  void Await() { stop_.WaitForNotification(); }

 private:
  // Waits for SIGTERM or SIGINT. Until then, SIGHUP reloads the credentials of the server; without
  // a server yet, and while the server drains, SIGHUP has no effect.
  void AwaitStopSignal() {
    while (AwaitSignal() == SIGHUP) {
      if (server_ != nullptr && !stop_.HasBeenNotified()) server_.load()->Reload();
    }
  }

  std::atomic<carom::server::Server*> server_{nullptr};
  absl::Notification stop_;
};

}  // namespace

int main(int argc, char** argv) {
  // Turns off the search for lock cycles, which Debian's build of Abseil does on every lock,
  // including the locks of gRPC.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Blocks the signals before any thread starts, so that only `sigwait` receives them.
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  carom::server::RequestShortTimeSlices();
  RaiseDescriptorLimit();

  const auto parsed = carom::server::ParseServerOptions(argc, argv, std::cout, std::cerr);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<carom::server::ServerOptions>(parsed);

  // The object is never deleted, because the detached thread that uses it may outlive `main`.
  ShutdownSignals& watch = *new ShutdownSignals;
  auto server = carom::server::Server::Start(options);
  if (!server.ok()) {
    const std::string message(server.status().message());
    std::fprintf(stderr, "caromd: %s\n", message.c_str());
    return absl::IsInvalidArgument(server.status()) ? 2 : 1;
  }
  watch.set_server(**server);
  std::printf("caromd listening on %s\n", (*server)->address().c_str());
  std::fflush(stdout);

  watch.Await();
  std::fputs("caromd: draining\n", stderr);
  (*server)->Drain();
  std::fputs("caromd: stopped\n", stderr);
  return 0;
}
