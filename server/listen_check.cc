// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/listen_check.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace carom::server {
namespace {

// Whether a process listens on the socket at `path`. gRPC unlinks what is there before it binds,
// so that without this check a second server would take the path from the first.
bool IsListening(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  // EAGAIN: a process listens, but has no room for one more connection at the moment.
  const bool listening =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN;
  close(fd);
  return listening;
}

// The error of binding a socket to `address`, 0 if there is none.
int BindError(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  // As gRPC does: connections that linger after their server has ended do not matter. A process
  // that listens is an error all the same.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const int error = bind(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// Why no address of the host can be listened on; 0 if one can, or gRPC is to find out.
int BindError(absl::string_view host, absl::string_view port) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(std::string(host).c_str(), std::string(port).c_str(), &hints, &found) != 0) {
    return 0;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    error = BindError(*address);
    // Where the machine lacks IPv6, gRPC may find another way to serve the address.
    if (error != EADDRINUSE && error != EACCES && error != EADDRNOTAVAIL) return 0;
  }
  return error;
}

}  // namespace

absl::Status CheckCanListen(absl::string_view address) {
  absl::string_view rest = address;
  int error = 0;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (IsListening(rest)) error = EADDRINUSE;
  } else if (const size_t colon = rest.rfind(':'); colon != absl::string_view::npos) {
    error = BindError(rest.substr(0, colon), rest.substr(colon + 1));
  }
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ",
                   error == EADDRINUSE ? "another process does" : std::strerror(error)));
}

}  // namespace carom::server
