// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the client tests share: a server in this process with a client of it, polygons, and a
// matcher of refusals.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "carom/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/server.h"

namespace carom {

// Whether `status` has `code` and names `field` first.
inline ::testing::AssertionResult Refuses(const absl::Status& status, absl::StatusCode code,
                                          const std::string& field) {
  const std::vector<Violation> violations = Violations(status);
  if (status.code() == code && !violations.empty() && violations[0].field == field) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << status << " naming \"" << (violations.empty() ? "nothing" : violations[0].field)
         << "\", in place of " << absl::StatusCodeToString(code) << " naming \"" << field << "\"";
}

// A polygon of one ring.
inline Polygon PolygonOf(uint64_t id, std::vector<Vec2> vertices) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back({std::move(vertices), false});
  absl::StatusOr<Polygon> polygon = Polygon::Create(std::move(spec));
  EXPECT_TRUE(polygon.ok()) << polygon.status();
  return *std::move(polygon);
}

// The square with corners (x, y) and (x + side, y + side).
inline Polygon Square(uint64_t id, double x, double y, double side = 1) {
  return PolygonOf(id, {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}});
}

// `count` squares with ids from 0, two apart, along the x axis.
inline std::vector<Polygon> Squares(size_t count) {
  std::vector<Polygon> polygons;
  for (size_t i = 0; i < count; ++i) polygons.push_back(Square(i, 2.0 * static_cast<double>(i), 0));
  return polygons;
}

// A file name in the test's own folder, removed with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = ::testing::TempDir() + "/carom-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~ScratchFolder() {
    const std::string command = "rm -rf '" + path_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  std::string path_;
};

// A server on a Unix socket, and a client of it.
class ClientTest : public ::testing::Test {
 protected:
  // In place of the one before, if any.
  void StartServer(server::ServerOptions options = {}) {
    options.address = "unix:" + (folder_ / "socket");
    options.threads = 2;
    server_.reset();
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    auto connected = Client::Connect(server_->address());
    ASSERT_TRUE(connected.ok()) << connected.status();
    client_ = *std::move(connected);
  }
  void SetUp() override { StartServer(); }

  ScratchFolder folder_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Client> client_;
};

inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The whole of a file.
inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace carom
