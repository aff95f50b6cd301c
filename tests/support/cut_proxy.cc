// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/cut_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace carom::testing {
namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Without this the kernels wait for each other's small packets, 40 ms at a time.
void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class CutProxy::Connection {
  // One direction of a connection: bytes that were read and are yet to be written.
  struct Pipe {
    int from;
    int to;
    uint64_t left;  // bytes until the cut
    std::array<char, 65536> buffer;
    size_t begin = 0;
    size_t end = 0;

    bool is_empty() const { return begin == end; }

    // False once the connection is to be closed.
    bool Read() {
      const size_t most = std::min<uint64_t>(buffer.size(), left);
      const ssize_t got = read(from, buffer.data(), most);
      if (got <= 0) return got < 0 && WouldBlock();
      begin = 0;
      end = static_cast<size_t>(got);
      return true;
    }
    bool Write() {
      const ssize_t put = send(to, buffer.data() + begin, end - begin, MSG_NOSIGNAL);
      if (put < 0) return WouldBlock();
      begin += static_cast<size_t>(put);
      left -= static_cast<uint64_t>(put);
      return left > 0;
    }
  };

 public:
  Connection(int client, int server, const Plan& plan)
      : up_{client, server, plan.to_server, {}}, down_{server, client, plan.to_client, {}} {}
  ~Connection() {
    close(up_.from);
    close(up_.to);
  }

  // What to wait for: the client's side, then the server's.
  void Wait(std::vector<pollfd>& polls) const {
    polls.push_back({up_.from, Events(up_, down_), 0});
    polls.push_back({up_.to, Events(down_, up_), 0});
  }

  // Forwards what can be; false once the connection is over.
  bool Forward(const pollfd& client, const pollfd& server) {
    return Step(up_, client, server) && Step(down_, server, client);
  }

  // Whether its plan ended it.
  bool is_cut() const { return up_.left == 0 || down_.left == 0; }

 private:
  static short Events(const Pipe& out, const Pipe& in) {
    return static_cast<short>((out.is_empty() ? POLLIN : 0) | (in.is_empty() ? 0 : POLLOUT));
  }
  static bool Step(Pipe& pipe, const pollfd& from, const pollfd& to) {
    if (pipe.is_empty() && (from.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      if (!pipe.Read()) return false;
    }
    if (pipe.is_empty() || (to.revents & (POLLOUT | POLLHUP | POLLERR)) == 0) return true;
    return pipe.Write();
  }

  Pipe up_;
  Pipe down_;
};

std::unique_ptr<CutProxy> CutProxy::Start(uint16_t port, std::function<Plan()> next_plan) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const sockaddr_in any = Loopback(0);
  if (listener < 0 || wake < 0 ||
      bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    close(listener);
    close(wake);
    return nullptr;
  }
  return std::unique_ptr<CutProxy>(new CutProxy(listener, wake, port, std::move(next_plan)));
}

CutProxy::CutProxy(int listener, int wake, uint16_t port, std::function<Plan()> next_plan)
    : listener_(listener), wake_(wake), port_(port), next_plan_(std::move(next_plan)) {
  sockaddr_in bound{};
  socklen_t size = sizeof(bound);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
  address_ = "127.0.0.1:" + std::to_string(ntohs(bound.sin_port));
  thread_ = std::thread([this] { Run(); });
}

CutProxy::~CutProxy() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  Wake();
  thread_.join();
  close(listener_);
  close(wake_);
}

void CutProxy::Wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

void CutProxy::CutAll() {
  std::unique_lock lock(mutex_);
  cut_all_ = true;
  Wake();
  cut_.wait(lock, [this] { return !cut_all_; });
}

uint64_t CutProxy::cuts() const {
  const std::lock_guard lock(mutex_);
  return cuts_;
}

void CutProxy::Run() {
  std::vector<pollfd> polls;
  while (true) {
    polls.assign({{wake_, POLLIN, 0}, {listener_, POLLIN, 0}});
    for (const auto& connection : connections_) connection->Wait(polls);
    poll(polls.data(), polls.size(), -1);
    uint64_t cuts = 0;
    std::vector<std::unique_ptr<Connection>> open;
    for (size_t i = 0; i < connections_.size(); ++i) {
      if (connections_[i]->Forward(polls[2 + 2 * i], polls[3 + 2 * i])) {
        open.push_back(std::move(connections_[i]));
      } else if (connections_[i]->is_cut()) {
        ++cuts;
      }
    }
    connections_ = std::move(open);
    if (polls[1].revents != 0) Accept();
    uint64_t woken = 0;
    [[maybe_unused]] const ssize_t got = read(wake_, &woken, sizeof(woken));
    const std::lock_guard lock(mutex_);
    if (cut_all_) {
      cuts += connections_.size();
      connections_.clear();
    }
    cuts_ += cuts;
    cut_all_ = false;
    cut_.notify_all();
    if (stop_) return connections_.clear();
  }
}

void CutProxy::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port_);
  if (connections_.size() >= kMaxConnections || server < 0 ||
      connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(client);
    close(server);
    return;
  }
  fcntl(server, F_SETFL, O_NONBLOCK);
  SendAtOnce(client);
  SendAtOnce(server);
  connections_.push_back(std::make_unique<Connection>(client, server, next_plan_()));
}

}  // namespace carom::testing
