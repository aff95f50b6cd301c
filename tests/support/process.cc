// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;

namespace carom::testing {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point After(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

int MillisecondsUntil(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1000));
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
};

void Close(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

// Starts `command` with the given descriptors; −1 leaves the parent's own. Returns errno's value, 0
// on success.
int Spawn(const std::vector<std::string>& command, int input, int output, int error, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int wanted[3] = {input, output, error};
  for (int target = 0; target < 3; ++target) {
    if (wanted[target] >= 0) posix_spawn_file_actions_adddup2(&actions, wanted[target], target);
  }
  posix_spawnattr_t
      attributes;  // the child starts with the usual SIGPIPE, which this process ignores
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int failure =
      posix_spawnp(pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

int ExitCodeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Waits until the child ends or the deadline passes; returns whether it ended.
bool Wait(pid_t pid, Clock::time_point deadline, int* exit_code) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) {
      *exit_code = ended == pid ? ExitCodeOf(status) : -1;
      return true;
    }
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void Kill(pid_t pid) {
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

// Reads what is there; closes the descriptor at the end of the stream.
void Drain(int& descriptor, std::string& text) {
  char buffer[65536];
  const ssize_t count = read(descriptor, buffer, sizeof buffer);
  if (count > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    Close(descriptor);
  }
}

// Writes what fits; closes the descriptor when all is written or the reader is gone.
void Feed(int& descriptor, const std::string& text, std::size_t& position) {
  const ssize_t count = write(descriptor, text.data() + position, text.size() - position);
  if (count > 0) position += static_cast<std::size_t>(count);
  if (position == text.size() || (count < 0 && errno != EINTR && errno != EAGAIN))
    Close(descriptor);
}

// Our ends of the pipes to a child; below 0 once closed.
struct Ends {
  int& input;
  int& output;
  int& error;
};

// Moves input and outputs until the child has closed both outputs; returns false when the deadline
// passes first.
bool Exchange(const Ends& ends, const std::string& text, Clock::time_point deadline,
              ProcessResult* result) {
  const auto& [input, output, error] = ends;
  std::size_t position = 0;
  if (text.empty()) Close(input);
  while (output >= 0 || error >= 0) {
    if (Clock::now() >= deadline) return false;
    pollfd waits[3] = {{input, POLLOUT, 0}, {output, POLLIN, 0}, {error, POLLIN, 0}};
    if (poll(waits, 3, MillisecondsUntil(deadline)) <= 0) continue;
    if (input >= 0 && waits[0].revents != 0) Feed(input, text, position);
    if (output >= 0 && waits[1].revents != 0) Drain(output, result->standard_output);
    if (error >= 0 && waits[2].revents != 0) Drain(error, result->standard_error);
  }
  return true;
}

// A child that ends early closes its input: the write must fail, not end the test.
void IgnoreBrokenPipes() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

// Reads lines from `descriptor` until one starts with `prefix`, and returns the rest of it; empty
// on failure.
std::string AwaitLine(int descriptor, const std::string& prefix, Clock::time_point deadline) {
  std::string text;
  while (Clock::now() < deadline) {
    pollfd wait = {descriptor, POLLIN, 0};
    if (poll(&wait, 1, MillisecondsUntil(deadline)) <= 0) continue;
    char letter = 0;
    if (read(descriptor, &letter, 1) != 1) return "";
    if (letter != '\n') {
      text += letter;
      continue;
    }
    if (text.starts_with(prefix)) return text.substr(prefix.size());
    text.clear();
  }
  return "";
}

}  // namespace

ProcessResult RunProcess(const std::vector<std::string>& command, const std::string& standard_input,
                         double timeout_seconds) {
  IgnoreBrokenPipes();
  const Clock::time_point deadline = After(timeout_seconds);
  ProcessResult result;
  Pipe input, output, error;
  pid_t pid = -1;
  int failure = input.Open() && output.Open() && error.Open() ? 0 : errno;
  if (failure == 0)
    failure = Spawn(command, input.read_end, output.write_end, error.write_end, &pid);
  Close(input.read_end);
  Close(output.write_end);
  Close(error.write_end);
  if (failure == 0) {
    fcntl(input.write_end, F_SETFL, O_NONBLOCK);
    result.timed_out = !Exchange({input.write_end, output.read_end, error.read_end}, standard_input,
                                 deadline, &result) ||
                       !Wait(pid, deadline, &result.exit_code);
    if (result.timed_out) Kill(pid);
  } else {
    result.standard_error = command[0] + ": " + std::strerror(failure);
  }
  Close(input.write_end);
  Close(output.read_end);
  Close(error.read_end);
  return result;
}

std::unique_ptr<ServerProcess> ServerProcess::Start(const std::string& binary,
                                                    const std::vector<std::string>& extra,
                                                    double timeout_seconds,
                                                    const std::string& address) {
  IgnoreBrokenPipes();
  std::vector<std::string> command = {binary, "--address", address};
  command.insert(command.end(), extra.begin(), extra.end());
  Pipe output;
  if (!output.Open()) return nullptr;
  pid_t pid = -1;
  const int failure = Spawn(command, -1, output.write_end, -1, &pid);
  Close(output.write_end);
  if (failure != 0) {
    Close(output.read_end);
    return nullptr;
  }
  std::unique_ptr<ServerProcess> server(new ServerProcess(pid, output.read_end));
  server->address_ = AwaitLine(output.read_end, "caromd listening on ", After(timeout_seconds));
  return server->address_.empty() ? nullptr : std::move(server);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) Kill(pid_);
  Close(output_);
}

int ServerProcess::Stop(double timeout_seconds) {
  if (pid_ <= 0) return -1;
  kill(pid_, SIGTERM);
  int exit_code = -1;
  if (!Wait(pid_, After(timeout_seconds), &exit_code)) {
    Kill(pid_);
    exit_code = -1;
  }
  pid_ = -1;
  return exit_code;
}

}  // namespace carom::testing
