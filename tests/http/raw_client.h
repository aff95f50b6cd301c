// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A client of HTTP and web sockets that sends any bytes, also wrong ones. Every wait is bounded.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_descriptor.h"

namespace carom::server {

struct RawResponse {
  int status = 0;  // 0: the connection was closed, or nothing came in time
  std::string head;
  std::string body;

  // The value of a header, or an empty string.
  std::string header(const std::string& name) const {
    const std::string lower = absl::AsciiStrToLower(head);
    const size_t at = lower.find(absl::StrCat("\r\n", absl::AsciiStrToLower(name), ": "));
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// A message of a web socket; `opcode` is -1 if the connection was closed, or nothing came in time.
struct RawFrame {
  int opcode = -1;  // 1 text, 2 binary, 8 close, 9 ping, 10 pong
  std::string payload;

  // The code of a close frame.
  int close_code() const {
    if (opcode != 8 || payload.size() < 2) return 0;
    return static_cast<uint8_t>(payload[0]) << 8 | static_cast<uint8_t>(payload[1]);
  }
};

class RawClient {
 public:
  // Connects to `address`, 127.0.0.1:PORT. `receive_bytes`: size of the receive buffer; 0: the
  // system's.
  explicit RawClient(const std::string& address, int receive_bytes = 0) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int port = 0;
    (void)absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port);
    to.sin_port = htons(static_cast<uint16_t>(port));
    socket_ = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_bytes != 0) {
      setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    is_connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }

  bool is_connected() const { return is_connected_; }

  // Sends all bytes; false if the server has closed the connection.
  bool Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }
  void CloseWriting() { shutdown(socket_.get(), SHUT_WR); }

  // Whether the server closes the connection within `time`, whatever it sends before.
  bool IsClosedWithin(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (More(end)) {
    }
    return is_closed_;
  }

  // The next response, by its Content-Length or its chunks.
  RawResponse Response(std::chrono::milliseconds time = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + time;
    RawResponse response;
    size_t head_end = 0;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!More(end)) return {};
    }
    response.head = buffer_.substr(0, head_end + 2);
    buffer_.erase(0, head_end + 4);
    response.status = std::atoi(response.head.c_str() + 9);
    if (response.header("transfer-encoding") == "chunked") {
      for (size_t size = 1; size != 0;) {
        std::string line;
        if (!Line(end, line)) return {};
        size = std::strtoul(line.c_str(), nullptr, 16);
        std::string chunk;
        if (!Take(size, end, chunk) || !Line(end, line)) return {};
        response.body += chunk;
      }
      return response;
    }
    const size_t length = std::strtoul(response.header("content-length").c_str(), nullptr, 10);
    if (response.status != 204 && response.status != 101 && !Take(length, end, response.body)) {
      return {};
    }
    return response;
  }

  // Sends a request and returns its response.
  RawResponse Request(const std::string& method, const std::string& path,
                      const std::string& headers = "", const std::string& body = "") {
    Send(absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: localhost\r\n", headers,
                      "Content-Length: ", body.size(), "\r\n\r\n", body));
    return Response();
  }
  RawResponse Post(const std::string& path, const std::string& json,
                   const std::string& headers = "") {
    return Request("POST", path, absl::StrCat("Content-Type: application/json\r\n", headers), json);
  }

  // Upgrades the connection to a web socket.
  RawResponse Upgrade(const std::string& headers = "",
                      const std::string& path = "/carom.v1.QueryService/Stream") {
    Send(absl::StrCat("GET ", path,
                      " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                      headers, "\r\n"));
    return Response();
  }
  static std::string Protocol() { return "Sec-WebSocket-Protocol: carom.v1\r\n"; }

  // The bytes of a frame: `first` is the first byte (0x80 for a whole message, and the opcode).
  static std::string Frame(int first, const std::string& payload, bool is_masked = true) {
    std::string frame(1, static_cast<char>(first));
    const int mask_bit = is_masked ? 0x80 : 0;
    if (payload.size() < 126) {
      frame += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
    } else {
      const int bytes = payload.size() < 65536 ? 2 : 8;
      frame += static_cast<char>(mask_bit | (bytes == 2 ? 126 : 127));
      for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>(payload.size() >> 8 * i);
    }
    if (is_masked) frame += std::string(4, '\0');  // a mask of zeros
    return frame + payload;
  }
  bool SendText(const std::string& text) { return Send(Frame(0x81, text)); }
  bool SendBinary(const std::string& bytes) { return Send(Frame(0x82, bytes)); }

  // The next frame of the server.
  RawFrame NextFrame(std::chrono::milliseconds time = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::string head;
    std::string extended;
    if (!Take(2, end, head)) return {};
    size_t size = static_cast<uint8_t>(head[1]) & 0x7F;
    if (size >= 126) {
      if (!Take(size == 126 ? 2 : 8, end, extended)) return {};
      size = 0;
      for (const char byte : extended) size = size << 8 | static_cast<uint8_t>(byte);
    }
    RawFrame frame{static_cast<uint8_t>(head[0]) & 0x0F, ""};
    return Take(size, end, frame.payload) ? frame : RawFrame();
  }

 private:
  using Time = std::chrono::steady_clock::time_point;

  // Reads more bytes; false at the end of the connection, or of the time.
  bool More(Time end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&readable, 1, static_cast<int>(left.count())) <= 0) return false;
    char bytes[65536];
    const ssize_t n = recv(socket_.get(), bytes, sizeof(bytes), 0);
    if (n <= 0) {
      is_closed_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<size_t>(n));
    return true;
  }
  bool Take(size_t size, Time end, std::string& out) {
    while (buffer_.size() < size) {
      if (!More(end)) return false;
    }
    out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return true;
  }
  bool Line(Time end, std::string& out) {
    size_t at = 0;
    while ((at = buffer_.find("\r\n")) == std::string::npos) {
      if (!More(end)) return false;
    }
    out = buffer_.substr(0, at);
    buffer_.erase(0, at + 2);
    return true;
  }

  FileDescriptor socket_;
  std::string buffer_;
  bool is_connected_ = false;
  bool is_closed_ = false;
};

}  // namespace carom::server
