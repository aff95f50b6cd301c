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

namespace carom::server {
namespace {

// Descriptors for all that is no connection.
constexpr size_t kOtherDescriptors = 64;
constexpr int kRetryMs = 100;  // after the system had no descriptor
// Accepted before closed ones are looked at again.
constexpr int kAcceptedAtOnce = 64;
// Unix sockets are looked at so many times before one is broken.
constexpr int kLooks = 4;

ConnectionLimits WithinDescriptors(ConnectionLimits limits) {
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return limits;
  const size_t all = std::max<size_t>(descriptors.rlim_cur, kOtherDescriptors + 2);
  limits.total = std::min(limits.total, (all - kOtherDescriptors) / 2);
  return limits;
}

// Asks for `events` of a descriptor; a hang-up is always among them.
bool Watch(int epoll, int fd, uint32_t events, int operation = EPOLL_CTL_ADD) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

bool HasRoom(int socket) {
  pollfd asked{.fd = socket, .events = POLLOUT, .revents = 0};
  return poll(&asked, 1, 0) != 0;
}

}  // namespace

// A peer that is refused keeps its entry only while it has connections.
bool ConnectionCounts::Enter(const std::string& peer) {
  if (total_ >= limits_.total) return false;
  if (!peer.empty()) {
    size_t& of_peer = by_peer_[peer];
    if (of_peer >= limits_.by_peer) return false;
    ++of_peer;
  }
  ++total_;
  return true;
}

void ConnectionCounts::Leave(const std::string& peer) {
  --total_;
  const auto of_peer = by_peer_.find(peer);
  if (of_peer != by_peer_.end() && --of_peer->second == 0) by_peer_.erase(of_peer);
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
    return absl::UnavailableError("cannot accept connections: no descriptors");
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void ConnectionAcceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &one, sizeof(one));
  thread_.join();
  const Listener gone = std::move(listener_);  // with its file, before another process has it
}

void ConnectionAcceptor::Run() {
  bool listens = true;
  Listen(true);
  std::array<epoll_event, 64> events;
  const auto look_ms = is_unix_ ? static_cast<int>(unsent_time_.count() / kLooks) : -1;
  Clock::time_point next_look = Clock::now();
  for (;;) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 listens ? look_ms : kRetryMs);
    if (!listens) Listen(listens = true);
    if (is_unix_ && Clock::now() >= next_look) {
      next_look = Clock::now() + std::chrono::milliseconds(look_ms);
      BreakUnread();
    }
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == stop_event_.get()) return;
      if (const auto it = connections_.find(fd); it != connections_.end()) {
        if ((events[i].events & (EPOLLHUP | EPOLLERR)) != 0) {
          Remove(fd);
        } else {
          WatchRoom(it->second, 0);
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
      // Other errors are of a connection that is gone already, or there is none.
      return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    }
    std::string peer = PeerOfConnection(address);
    if (counts_.Enter(peer) && !Add(std::move(connection), std::move(peer))) return false;
  }
  return true;
}

bool ConnectionAcceptor::Add(FileDescriptor connection, std::string peer) {
  // Unix sockets have neither of these; they do not delay anything.
  const int on = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const auto unsent_ms = static_cast<unsigned>(unsent_time_.count());
  setsockopt(connection.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof(unsent_ms));
  FileDescriptor watched(fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
  // gRPC shuts a socket down in both directions before it closes it, which is a hang-up.
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

// A socket without room takes no more until most of its bytes are read, and gRPC writes no sooner,
// so a client that reads at all makes them fewer, or room for more. Bytes that the socket has
// taken whole keep no call.
void ConnectionAcceptor::BreakUnread() {
  const Clock::time_point now = Clock::now();
  for (auto& [fd, connection] : connections_) {
    int bytes = 0;
    if (HasRoom(fd) || ioctl(fd, SIOCOUTQ, &bytes) != 0) continue;
    if (bytes != connection.unread_bytes) {
      WatchRoom(connection, bytes);
      connection.unread_since = now;
    } else if (now - connection.unread_since >= unsent_time_) {
      shutdown(fd, SHUT_RDWR);  // which gRPC comes upon, and closes its own
    }
  }
}

void ConnectionAcceptor::WatchRoom(Connection& connection, int unread_bytes) {
  connection.unread_bytes = unread_bytes;
  Watch(epoll_.get(), connection.watched.get(), unread_bytes != 0 ? uint32_t{EPOLLOUT} : 0,
        EPOLL_CTL_MOD);
}

void ConnectionAcceptor::Remove(int watched) {
  // To close it would not do: gRPC's own descriptor of the connection may be open still.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched, nullptr);
  const auto at = connections_.find(watched);
  counts_.Leave(at->second.peer);
  connections_.erase(at);
}

}  // namespace carom::server
