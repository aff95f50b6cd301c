// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// caromd: runs the server as a process.
//
// Prints `caromd listening on ADDRESS` to stdout when the server accepts calls, then a line for
// each HTTP port; all other output goes to stderr (server/base/log.h). SIGHUP makes the server
// reload its settings and the credentials file. SIGTERM or SIGINT drains the server and ends the
// process with exit code 0; while the server still reads its scenes, the process exits at once. A
// second SIGTERM or SIGINT ends the process at once with exit code 1. A bad option ends the process
// with exit code 2, and any other error of the start, such as an address on which another process
// listens, with exit code 1.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/base/log.h"
#include "server/base/thread_scheduling.h"
#include "server/config_file.h"
#include "server/options.h"
#include "server/probe.h"
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

// Reads the settings again from the command line, the environment and the configuration file, and
// applies those that may change in a running server.
void Reload(carom::server::Server& server, int argc, char** argv) {
  using carom::server::LogLevel;
  using carom::server::LogLine;
  std::ostringstream out;
  std::ostringstream err;
  const auto parsed = carom::server::ParseServerOptions(argc, argv, out, err);
  const auto* const line = std::get_if<carom::server::CommandLine>(&parsed);
  const absl::Status status =
      line == nullptr ? absl::InvalidArgumentError(err.str()) : CheckServerOptions(line->options);
  if (!status.ok()) {
    LogLine(LogLevel::kError, "reload_failed").With("detail", status.message());
    return;
  }
  SetLogLevel(*carom::server::ParseLogLevel(line->options.log_level));
  const carom::server::ReloadResult result = server.Reload(line->options);
  LogLine(LogLevel::kInfo, "reload")
      .With("changed", absl::StrJoin(result.changed, " "))
      .With("needs_restart", absl::StrJoin(result.needs_restart, " "));
}

// Waits for signals on a thread. The first SIGTERM or SIGINT makes `Await` return, so that `main`
// drains the server; without a server yet, there is nothing to drain and the process exits with 0.
// A second one ends the process with exit code 1. SIGHUP reloads the settings.
class ShutdownSignals {
 public:
  ShutdownSignals(int argc, char** argv) {
    std::thread([this, argc, argv] {
      AwaitStopSignal(argc, argv);
      if (server_ == nullptr) {
        carom::server::LogLine(carom::server::LogLevel::kInfo, "stopped")
            .With("detail", "stopped during startup");
        _exit(0);
      }
      stop_.Notify();
      AwaitStopSignal(argc, argv);
      carom::server::LogLine(carom::server::LogLevel::kWarning, "stopped")
          .With("detail", "stopped by a second signal");
      _exit(1);
    }).detach();
  }

  // Sets the server that `main` drains on the first signal and that SIGHUP reloads.
  void set_server(carom::server::Server& server) { server_ = &server; }
  void Await() { stop_.WaitForNotification(); }

 private:
  // Waits for SIGTERM or SIGINT. Until then, SIGHUP reloads the settings of the server; without a
  // server yet, and while the server drains, SIGHUP has no effect.
  void AwaitStopSignal(int argc, char** argv) {
    while (AwaitSignal() == SIGHUP) {
      if (server_ != nullptr && !stop_.HasBeenNotified()) Reload(*server_.load(), argc, argv);
    }
  }

  std::atomic<carom::server::Server*> server_{nullptr};
  absl::Notification stop_;
};

// Returns the exit code of `--probe`.
int RunProbe(const std::string& address) {
  const absl::Status status = carom::server::Probe(address);
  if (status.ok()) return 0;
  std::cerr << "caromd: not ready: " << status.message() << '\n';
  return 1;
}

// Prints the addresses on which the server listens, one line each, in one write.
void PrintAddresses(const carom::server::Server& server) {
  const std::string admin = server.admin_address();
  const std::string http = server.http_address();
  std::string lines = absl::StrCat("caromd listening on ", server.address(), "\n");
  if (!admin.empty()) absl::StrAppend(&lines, "caromd admin on ", admin, "\n");
  if (!http.empty()) absl::StrAppend(&lines, "caromd http on ", http, "\n");
  std::cout << lines << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  using carom::server::LogLevel;
  using carom::server::LogLine;
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
  const auto& line = std::get<carom::server::CommandLine>(parsed);
  const carom::server::ServerOptions& options = line.options;
  if (line.probe.has_value()) return RunProbe(*line.probe);
  carom::server::SetLogFormat(options.log_format == "json");
  carom::server::SetLogLevel(*carom::server::ParseLogLevel(options.log_level));

  // The object is never deleted, because the detached thread that uses it may outlive `main`.
  ShutdownSignals& watch = *new ShutdownSignals(argc, argv);
  auto server = carom::server::Server::Start(options);
  if (!server.ok()) {
    std::cerr << "caromd: " << server.status().message() << '\n';
    return absl::IsInvalidArgument(server.status()) ? 2 : 1;
  }
  watch.set_server(**server);
  LogLine(LogLevel::kInfo, "start")
      .With("version", carom::server::Version())
      .With("settings", carom::server::FormatChanged(options));
  LogLine(LogLevel::kInfo, "listening")
      .With("address", (*server)->address())
      .WithIfAny("admin_address", (*server)->admin_address())
      .WithIfAny("http_address", (*server)->http_address());
  PrintAddresses(**server);

  watch.Await();
  LogLine(LogLevel::kInfo, "draining").With("seconds", options.drain_seconds);
  (*server)->Drain();
  LogLine(LogLevel::kInfo, "stopped").With("detail", "drained");
  return 0;
}
