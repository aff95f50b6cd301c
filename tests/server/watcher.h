// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The client's side of WatchScene calls in tests.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "carom/v1/scene_service.grpc.pb.h"
#include "tests/server/fixture.h"
#include "wire/pieces.h"

namespace carom::server {

// One version of a watch, its parts put together.
struct WatchedVersion {
  v1::WatchSceneResponse head;  // the first part, without what all parts have
  std::vector<uint64_t> ids;
  std::vector<v1::PolygonChange> changes;
  std::vector<Box> boxes;
  std::vector<Polygon> polygons;
  size_t parts = 0;
  size_t largest_part = 0;  // bytes

  uint64_t version() const { return head.scene().version(); }
  uint64_t base() const { return head.base_version(); }
};

class Watcher {
 public:
  // `request` is text of a WatchSceneRequest.
  Watcher(v1::SceneService::Stub& scenes, const std::string& request)
      : reader_(scenes.WatchScene(&context_, FromText<v1::WatchSceneRequest>(request))) {}
  ~Watcher() {
    context_.TryCancel();
    if (!is_over_) reader_->Finish();
  }

  // Until the server has the call.
  void AwaitBegin() { reader_->WaitForInitialMetadata(); }
  // False at the end.
  bool Next(WatchedVersion& version) {
    version = {};
    wire::PolygonJoiner joiner({});
    const auto hold = [](size_t, size_t) { return absl::OkStatus(); };
    v1::WatchSceneResponse part;
    do {
      if (!reader_->Read(&part)) return false;
      version.largest_part = std::max(version.largest_part, part.ByteSizeLong());
      if (version.parts++ == 0) version.head = part;
      for (int i = 0; i < part.polygon_id_size(); ++i) {
        version.ids.push_back(part.polygon_id(i));
        version.changes.push_back(part.change(i));
        version.boxes.push_back({{part.min_x(i), part.min_y(i)}, {part.max_x(i), part.max_y(i)}});
      }
      EXPECT_TRUE(joiner.Add(part.polygons(), part.continues(), hold, version.polygons).ok());
    } while (part.more());
    EXPECT_TRUE(joiner.Finish().ok());
    return true;
  }
  // The next one; there is one.
  WatchedVersion Next() {
    WatchedVersion version;
    EXPECT_TRUE(Next(version)) << Finish().error_message();
    return version;
  }
  void Cancel() { context_.TryCancel(); }
  // How the watch ended; what is left is read.
  grpc::Status Finish() {
    v1::WatchSceneResponse part;
    while (reader_->Read(&part)) {
    }
    is_over_ = true;
    return reader_->Finish();
  }

 private:
  Context context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchSceneResponse>> reader_;
  bool is_over_ = false;
};

// A copy of a scene that is kept up to date by a watch with polygons.
class Replica {
 public:
  void Apply(const WatchedVersion& version) {
    if (version.base() == 0) polygons_.clear();
    EXPECT_TRUE(version.base() == 0 || version.base() == version_) << version.base();
    for (size_t i = 0; i < version.ids.size(); ++i) {
      const bool was_there = polygons_.contains(version.ids[i]);
      EXPECT_EQ(was_there, version.changes[i] != v1::POLYGON_CHANGE_ADDED) << version.ids[i];
      if (version.changes[i] == v1::POLYGON_CHANGE_REMOVED) polygons_.erase(version.ids[i]);
    }
    for (const Polygon& polygon : version.polygons) {
      polygons_.insert_or_assign(polygon.id(), polygon);
    }
    version_ = version.version();
    EXPECT_EQ(version.head.scene().polygon_count(), polygons_.size());
  }

  uint64_t version() const { return version_; }
  const std::map<uint64_t, Polygon>& polygons() const { return polygons_; }

 private:
  uint64_t version_ = 0;
  std::map<uint64_t, Polygon> polygons_;
};

// Squares with ids from `first`, as a request to import them in place of what is there.
inline v1::ImportSceneRequest ManySquares(const std::string& name, int count, uint64_t first,
                                          double half = 1) {
  v1::ImportSceneRequest request;
  request.set_name(name);
  request.set_mode(v1::IMPORT_MODE_REPLACE);
  for (int i = 0; i < count; ++i) {
    v1::Polygon& polygon = *request.add_polygons();
    polygon.set_id(first + static_cast<uint64_t>(i));
    v1::Ring& ring = *polygon.add_rings();
    for (const double x : {3.0 * i - half, 3.0 * i + half, 3.0 * i + half, 3.0 * i - half}) {
      ring.add_x(x);
    }
    for (const double y : {-half, -half, half, half}) ring.add_y(y);
  }
  return request;
}

inline grpc::Status Import(v1::SceneService::Stub& scenes,
                           const std::vector<v1::ImportSceneRequest>& parts,
                           v1::Scene* scene = nullptr) {
  Context context;
  v1::ImportSceneResponse response;
  auto writer = scenes.ImportScene(&context, &response);
  for (const v1::ImportSceneRequest& part : parts) {
    if (!writer->Write(part)) break;
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (scene != nullptr) *scene = response.scene();
  return status;
}

}  // namespace carom::server
