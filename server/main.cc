// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// caromd: the server as a process.
//
// Prints `caromd listening on ADDRESS` to stdout once it serves; everything else goes to stderr.
// SIGHUP reads the file of credentials again.
// SIGTERM and SIGINT drain and end with 0, at once while scenes are read; a second one ends at once
// with 1. A bad option ends with 2, an address that cannot be had with 1.
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
#include "server/base/thread_turns.h"
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

// Returns the signal that came.
int AwaitSignal() {
  const sigset_t signals = Signals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

// As many descriptors as the process may have: each connection takes one, and many systems give a
// process 1,024 of them though it may have more.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The first signal is for the one who awaits it, unless nobody is served yet: then there is nothing
// to drain. A second one ends the process.
class StopWatch {
 public:
  StopWatch() {
    std::thread([this] {
      AwaitStopSignal();
      if (server_ == nullptr) {
        std::fputs("caromd: stopped before it served\n", stderr);
        _exit(0);
      }
      stop_.Notify();
      AwaitStopSignal();
      std::fputs("caromd: stopped by a second signal\n", stderr);
      _exit(1);
    }).detach();
  }

  // From here until `Await` has returned.
  void Serves(carom::server::Server& server) { server_ = &server; }
  void Await() { stop_.WaitForNotification(); }

 private:
  // Until the server drains, SIGHUP reads credentials again; else it does nothing.
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
  // Debian's Abseil searches for lock cycles at every lock, gRPC's among them.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Blocked before any thread exists, so that only sigwait receives them.
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  carom::server::AskForShortTurns();
  RaiseDescriptorLimit();

  const auto parsed = carom::server::ParseServerOptions(argc, argv, std::cout, std::cerr);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<carom::server::ServerOptions>(parsed);

  // Outlives `main`, as its thread does.
  StopWatch& watch = *new StopWatch;
  auto server = carom::server::Server::Start(options);
  if (!server.ok()) {
    const std::string message(server.status().message());
    std::fprintf(stderr, "caromd: %s\n", message.c_str());
    return absl::IsInvalidArgument(server.status()) ? 2 : 1;
  }
  watch.Serves(**server);
  std::printf("caromd listening on %s\n", (*server)->address().c_str());
  std::fflush(stdout);

  watch.Await();
  std::fputs("caromd: draining\n", stderr);
  (*server)->Drain();
  std::fputs("caromd: stopped\n", stderr);
  return 0;
}
