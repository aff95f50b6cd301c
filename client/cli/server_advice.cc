// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/server_advice.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace carom::cli {
namespace {

constexpr int kWaitMs = 1000;

// The start of a TLS handshake: a record with a ClientHello of TLS 1.2, in hexadecimal digits, and
// 32 bytes in place of a random number. It offers what a server with a certificate of either kind
// accepts, because servers of gRPC answer a handshake that fails with silence.
std::string ClientHello() {
  constexpr char kHead[] = "1603010056010000520303";
  constexpr char kTail[] =
      "00"                        // no session
      "0004c02bc02f"              // ECDHE with ECDSA or RSA, and AES-128 in GCM
      "0100"                      // no compression
      "0025"                      // extensions:
      "000a00060004001d0017"      // groups X25519 and P-256
      "000b00020100"              // points without compression
      "000d00080006040308040401"  // signatures by ECDSA, RSA-PSS and RSA, with SHA-256
      "001000050003026832";       // the protocol h2
  return absl::StrCat(absl::HexStringToBytes(kHead), std::string(32, '\x2a'),
                      absl::HexStringToBytes(kTail));
}

// Returns what the first bytes of a server's answer belong to: a record of TLS, or a SETTINGS frame
// of HTTP/2, whose length is below 65,536 and whose type is 4.
Speech SpeechIn(std::string_view answer) {
  if (answer.empty()) return Speech::kUnknown;
  if (answer[0] == '\x15' || answer[0] == '\x16') return Speech::kTls;
  return answer.size() > 3 && answer[0] == 0 && answer[3] == 4 ? Speech::kPlaintext
                                                               : Speech::kUnknown;
}

// Waits until `events` occur on the socket, for a second at most.
bool IsReady(int socket, short events) {
  pollfd polled{.fd = socket, .events = events, .revents = 0};
  return poll(&polled, 1, kWaitMs) == 1;
}

// Connects, and reads the answer to a ClientHello.
Speech Ask(int family, const sockaddr* address, socklen_t size) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return Speech::kNone;
  Speech speech = Speech::kNone;
  int error = 0;
  socklen_t error_size = sizeof error;
  const bool is_begun = connect(socket, address, size) == 0 || errno == EINPROGRESS;
  if (is_begun && IsReady(socket, POLLOUT) &&
      getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &error_size) == 0 && error == 0) {
    const std::string hello = ClientHello();
    char answer[9];
    speech = Speech::kUnknown;
    if (send(socket, hello.data(), hello.size(), MSG_NOSIGNAL) > 0 && IsReady(socket, POLLIN)) {
      const ssize_t count = recv(socket, answer, sizeof answer, 0);
      speech = SpeechIn({answer, static_cast<size_t>(std::max<ssize_t>(count, 0))});
    }
  }
  close(socket);
  return speech;
}

Speech AskUnix(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Speech::kNone;
  std::memcpy(address.sun_path, path.data(), path.size());
  return Ask(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

Speech SpeechOf(const std::string& address) {
  if (address.starts_with("unix:")) {
    std::string_view path(address);
    path.remove_prefix(std::string_view("unix:").size());
    if (path.starts_with("//")) path.remove_prefix(2);
    return AskUnix(path);
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return Speech::kNone;
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) {
    return Speech::kNone;
  }
  Speech speech = Speech::kNone;
  for (const addrinfo* at = found; at != nullptr && speech == Speech::kNone; at = at->ai_next) {
    speech = Ask(at->ai_family, at->ai_addr, at->ai_addrlen);
  }
  freeaddrinfo(found);
  return speech;
}

std::string AdviceAbout(const ServerOptions& called) {
  const bool uses_tls = !called.client.ca_file.empty();
  for (const absl::string_view part : absl::StrSplit(called.address, ',')) {
    const std::string address(absl::StripAsciiWhitespace(part));
    const Speech speech = SpeechOf(address);
    if (speech == Speech::kNone) continue;
    if (speech == Speech::kTls && uses_tls) {
      return absl::StrCat(
          address,
          " speaks TLS, but the handshake failed: --ca must be the authority of its "
          "certificate, and the certificate must name the host of --address; a "
          "server that asks for certificates needs --certificate and --key");
    }
    if (speech == Speech::kTls) {
      return absl::StrCat(address,
                          " refuses plain text: --ca FILE, with the authority of its "
                          "certificate, enables TLS");
    }
    if (speech == Speech::kPlaintext && uses_tls) {
      return absl::StrCat(address,
                          " speaks plain text: leave out --ca, which enables TLS, also as "
                          "CAROM_CA and as `ca` of the context");
    }
    return "";
  }
  return "`caromd` starts a server on this machine; --address names another";
}

}  // namespace carom::cli
