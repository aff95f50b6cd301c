// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What does a client do when its connection is cut, at any byte? A `CutProxy` listens on loopback,
// forwards to a port there, and cuts connections as its plan says, or on demand.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace carom::testing {

// Thread-safe. One thread forwards for all connections, and sleeps in poll.
class CutProxy {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;
  static constexpr size_t kMaxConnections = 64;  // more are closed as they come

  // A connection is cut once it has forwarded so many bytes in one of the directions.
  struct Plan {
    uint64_t to_server = kNever;
    uint64_t to_client = kNever;
  };

  // Forwards to 127.0.0.1:`port`. `next_plan` is asked for the plan of each connection, by the
  // proxy's thread. Null if there is no socket to be had.
  static std::unique_ptr<CutProxy> Start(uint16_t port, std::function<Plan()> next_plan);

  // Cuts what is open.
  ~CutProxy();
  CutProxy(const CutProxy&) = delete;
  CutProxy& operator=(const CutProxy&) = delete;

  // `127.0.0.1:PORT`.
  const std::string& address() const { return address_; }

  // Cuts every connection there is, and returns when that is done.
  void CutAll();

  // Connections that were cut, by their plan or by `CutAll`.
  uint64_t cuts() const;

 private:
  class Connection;

  CutProxy(int listener, int wake, uint16_t port, std::function<Plan()> next_plan);

  void Run();
  void Accept();
  void Wake() const;

  const int listener_;
  const int wake_;  // an eventfd
  const uint16_t port_;
  const std::function<Plan()> next_plan_;
  std::string address_;
  std::vector<std::unique_ptr<Connection>> connections_;  // of the thread

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable cut_;
  uint64_t cuts_ = 0;
  bool cut_all_ = false;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace carom::testing
