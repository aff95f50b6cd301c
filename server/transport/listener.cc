// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace carom::server {
namespace {

absl::Status CannotListen(absl::string_view address, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", reason));
}

absl::Status CannotListen(absl::string_view address, int error) {
  return CannotListen(address, error == EADDRINUSE ? "another process does" : std::strerror(error));
}

FileDescriptor StreamSocket(int family) {
  return FileDescriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Returns whether `address` is a Unix socket on which no process listens, such as one of a process
// that was killed.
bool IsAbandoned(const sockaddr_un& address) {
  struct stat file;
  if (stat(address.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const FileDescriptor client = StreamSocket(AF_UNIX);
  return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

absl::StatusOr<Listener> ListenOnPath(absl::string_view address, absl::string_view path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.size() >= sizeof(where.sun_path)) return CannotListen(address, ENAMETOOLONG);
  std::memcpy(where.sun_path, path.data(), path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&where);
  FileDescriptor listening = StreamSocket(AF_UNIX);
  int error = bind(listening.get(), generic, sizeof(where)) == 0 ? 0 : errno;
  if (error == EADDRINUSE && IsAbandoned(where)) {
    unlink(where.sun_path);
    error = bind(listening.get(), generic, sizeof(where)) == 0 ? 0 : errno;
  }
  if (error == 0 && listen(listening.get(), SOMAXCONN) != 0) error = errno;
  if (error != 0) return CannotListen(address, error);
  Listener listener;
  listener.sockets.push_back(std::move(listening));
  listener.address = std::string(address);
  listener.unix_path = std::string(path);
  return listener;
}

// Returns a reference to the port in the internet address `address`; the port is in network byte
// order.
in_port_t& PortOf(sockaddr& address) {
  return address.sa_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

// Listens on one address of a host, and sets the port of `address` to the port actually bound. If
// listening fails, sets `error` to errno and returns an object without a descriptor (its `get` is
// -1).
FileDescriptor ListenOn(const addrinfo& address, int& error) {
  FileDescriptor listening = StreamSocket(address.ai_family);
  const int on = 1;
  // Allows `bind` while closed connections of an earlier server are in TIME_WAIT. If another
  // process listens on the address, `bind` still fails.
  setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // Without IPV6_V6ONLY, a socket on the IPv6 wildcard address also accepts IPv4 connections. If
  // further addresses of the host follow in the list of getaddrinfo, the socket is limited to IPv6,
  // as each IPv4 address of the list gets a separate socket.
  const int only_v6 = address.ai_next != nullptr ? 1 : 0;
  if (address.ai_family == AF_INET6) {
    setsockopt(listening.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof(only_v6));
  }
  socklen_t size = address.ai_addrlen;
  if (bind(listening.get(), address.ai_addr, size) == 0 &&
      listen(listening.get(), SOMAXCONN) == 0 &&
      getsockname(listening.get(), address.ai_addr, &size) == 0) {
    return listening;
  }
  error = errno;
  return FileDescriptor();
}

absl::StatusOr<Listener> ListenOnHost(absl::string_view address) {
  const size_t colon = address.rfind(':');
  const absl::string_view given = address.substr(0, colon);
  absl::string_view host = given;
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(std::string(host).c_str(),
                                   std::string(address.substr(colon + 1)).c_str(), &hints, &found);
  if (resolved != 0) return CannotListen(address, gai_strerror(resolved));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);

  Listener listener;
  in_port_t port = 0;
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    in_port_t& at_port = PortOf(*at->ai_addr);
    if (port != 0) at_port = port;
    FileDescriptor listening = ListenOn(*at, error);
    if (listening.get() < 0) {
      // Skips an address that this machine does not have or whose family it does not support.
      if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) continue;
      return CannotListen(address, error);
    }
    port = at_port;
    listener.sockets.push_back(std::move(listening));
  }
  if (listener.sockets.empty()) return CannotListen(address, error);
  listener.address = absl::StrCat(given, ":", ntohs(port));
  return listener;
}

}  // namespace

Listener::~Listener() {
  if (!unix_path.empty()) unlink(unix_path.c_str());
}

absl::StatusOr<Listener> Listen(absl::string_view address) {
  absl::string_view path = address;
  return absl::ConsumePrefix(&path, "unix:") ? ListenOnPath(address, path) : ListenOnHost(address);
}

}  // namespace carom::server
