// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/connection_acceptor.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "server/access/peer.h"
#include "server/base/refusals.h"

namespace carom::server {
namespace {

// descriptors reserved for files and sockets that are not connections of clients
constexpr size_t kOtherDescriptors = 64;
constexpr int kRetryMs = 100;  // wait before the next `accept4` when no descriptor was free
// the most connections that the thread accepts from a listening socket before it handles other
// events, such as hang-ups of clients
constexpr int kAcceptedAtOnce = 64;
// how often the thread checks each connection of a Unix socket during the time
// `ConnectionLimits::unsent_time`
constexpr int kChecksPerTimeout = 4;

// Lowers the total limit to the number of connections for which the process may have descriptors:
// two for each connection, beside `kOtherDescriptors`.
ConnectionLimits WithinDescriptors(ConnectionLimits limits) {
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return limits;
  const size_t all = std::max<size_t>(descriptors.rlim_cur, kOtherDescriptors + 2);
  const size_t others = std::min(all - 2, kOtherDescriptors + limits.reserved_descriptors);
  limits.total = std::min(limits.total, (all - others) / 2);
  return limits;
}

// Adds `fd` to the descriptors that `epoll` watches for `events`; with `operation` EPOLL_CTL_MOD,
// changes the events of `fd`, which is already watched, to `events`. epoll always reports hang-ups,
// too. Returns false if the system refuses.
bool Watch(int epoll, int fd, uint32_t events, int operation = EPOLL_CTL_ADD) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

// Returns whether the socket is writable: its buffer has room.
bool HasRoom(int socket) {
  pollfd asked{.fd = socket, .events = POLLOUT, .revents = 0};
  return poll(&asked, 1, 0) != 0;
}

}  // namespace

// Leaves no entry of 0 connections in `by_peer_` for a refused connection: the limit by peer is at
// least 1, so that a peer at its limit already has an entry.
bool ConnectionCounts::Enter(const std::string& peer) {
  if (total_ >= limits_.total) return false;
  if (!peer.empty()) {
    size_t& peer_count = by_peer_[peer];
    if (peer_count >= limits_.by_peer) return false;
    ++peer_count;
  }
  ++total_;
  return true;
}

void ConnectionCounts::Leave(const std::string& peer) {
  --total_;
  const auto peer_count = by_peer_.find(peer);
  if (peer_count != by_peer_.end() && --peer_count->second == 0) by_peer_.erase(peer_count);
}

ConnectionAcceptor::ConnectionAcceptor(Listener listener, std::unique_ptr<Grpc> grpc,
                                       const ConnectionLimits& limits)
    : listener_(std::move(listener)),
      grpc_(std::move(grpc)),
      unsent_time_(limits.unsent_time),
      is_unix_(!listener_.unix_path.empty()),
      counts_(WithinDescriptors(limits)) {}

absl::Status ConnectionAcceptor::Start() {
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  stop_event_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (epoll_.get() < 0 || !Watch(epoll_.get(), stop_event_.get(), EPOLLIN)) {
    return absl::UnavailableError("cannot accept connections: no file descriptors are left");
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void ConnectionAcceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &one, sizeof(one));
  thread_.join();
  // The destructor of `closing` closes the sockets and deletes the file of a Unix socket now, so
  // before another process can listen on the path.
  const Listener closing = std::move(listener_);
}

void ConnectionAcceptor::Run() {
  bool listens = true;
  Listen(true);
  std::array<epoll_event, 64> events;
  const auto check_ms = is_unix_ ? static_cast<int>(unsent_time_.count() / kChecksPerTimeout) : -1;
  Clock::time_point next_check = Clock::now();
  for (;;) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 listens ? check_ms : kRetryMs);
    if (!listens) Listen(listens = true);
    if (is_unix_ && Clock::now() >= next_check) {
      next_check = Clock::now() + std::chrono::milliseconds(check_ms);
      ShutDownStalled();
    }
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == stop_event_.get()) return;
      if (const auto it = connections_.find(fd); it != connections_.end()) {
        if ((events[i].events & (EPOLLHUP | EPOLLERR)) != 0) {
          Remove(fd);
        } else {
          WatchWritability(it->second, 0);
        }
      } else if (IsListening(fd) && listens && !AcceptFrom(fd)) {
        Listen(listens = false);
      }
    }
  }
}

bool ConnectionAcceptor::IsListening(int fd) const {
  return std::any_of(listener_.sockets.begin(), listener_.sockets.end(),
                     [fd](const FileDescriptor& socket) { return socket.get() == fd; });
}

void ConnectionAcceptor::Listen(bool listens) {
  for (const FileDescriptor& socket : listener_.sockets) {
    if (listens) {
      Watch(epoll_.get(), socket.get(), EPOLLIN);
    } else {
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
    }
  }
}

bool ConnectionAcceptor::AcceptFrom(int listening) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof(from);
    auto& address = reinterpret_cast<sockaddr&>(from);
    FileDescriptor connection(accept4(listening, &address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.get() < 0) {
      // Any other error means that no connection waits, or that the client has closed the waiting
      // connection.
      return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    }
    std::string peer = PeerOfConnection(address);
    if (!counts_.Enter(peer)) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      CountRefusal(Limit::kConnections, peer);
    } else if (!Add(std::move(connection), std::move(peer))) {
      return false;
    }
    open_.store(counts_.total(), std::memory_order_relaxed);
  }
  return true;
}

bool ConnectionAcceptor::Add(FileDescriptor connection, std::string peer) {
  // Unix sockets refuse both socket options and need neither: they do not delay small writes, and
  // `ShutDownStalled` replaces TCP_USER_TIMEOUT.
  const int on = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const auto unsent_ms = static_cast<unsigned>(unsent_time_.count());
  setsockopt(connection.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof(unsent_ms));
  FileDescriptor watched(fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
  // When gRPC closes a connection, it first shuts the socket down in both directions. epoll reports
  // the shutdown as a hang-up of the duplicate `watched`.
  if (watched.get() < 0 || !Watch(epoll_.get(), watched.get(), 0)) {
    counts_.Leave(peer);
    return false;
  }
  const int key = watched.get();
  connections_.emplace(key, Connection{std::move(watched), std::move(peer)});
  Grpc::NewConnectionParameters parameters;
  parameters.fd = connection.Release();
  grpc_->HandleNewConnection(&parameters);
  return true;
}

// Compares the number of unread bytes of each Unix socket whose buffer is full with the number at
// the last check. gRPC does not write to a full socket until most of its bytes are read, so that a
// client that reads either reduces the number or makes the socket writable. A socket that is not
// full has accepted all bytes that gRPC has written, so gRPC can end the calls of the connection.
void ConnectionAcceptor::ShutDownStalled() {
  const Clock::time_point now = Clock::now();
  for (auto& [fd, connection] : connections_) {
    int bytes = 0;
    if (HasRoom(fd) || ioctl(fd, SIOCOUTQ, &bytes) != 0) continue;
    if (bytes != connection.unread_bytes) {
      WatchWritability(connection, bytes);
      connection.unread_since = now;
    } else if (now - connection.unread_since >= unsent_time_) {
      shutdown(fd, SHUT_RDWR);  // gRPC detects the shutdown and closes its descriptor
    }
  }
}

void ConnectionAcceptor::WatchWritability(Connection& connection, int unread_bytes) {
  connection.unread_bytes = unread_bytes;
  Watch(epoll_.get(), connection.watched.get(), unread_bytes != 0 ? uint32_t{EPOLLOUT} : 0,
        EPOLL_CTL_MOD);
}

void ConnectionAcceptor::Remove(int watched) {
  // Removes the descriptor from epoll explicitly: closing it is not enough while gRPC's descriptor
  // of the connection is open.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched, nullptr);
  const auto at = connections_.find(watched);
  counts_.Leave(at->second.peer);
  connections_.erase(at);
  open_.store(counts_.total(), std::memory_order_relaxed);
}

}  // namespace carom::server
