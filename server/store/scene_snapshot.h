// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much memory do versions of a scene take while they have readers?
//
// An export, a watch or a query frame (a client's message of queries for one tick) holds a
// reference to the version of the scene that it reads, even after a later version has become
// current. A `SceneSnapshot` holds a version, and keeps the version's memory charged to the memory
// account (server/base/memory_account.h), until the last reader releases it. The `Scene::Ptr`s that
// a store returns keep the snapshot alive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "carom/scene.h"
#include "server/base/memory_account.h"

namespace carom::server {

// An estimate of the bytes of the whole spatial index of a scene, for each polygon.
inline constexpr uint64_t kIndexBytesAPolygon = 160;

// A version of a scene, charged to the memory account. Versions that edits made from one another
// share polygons: a polygon that several versions share is charged once, and until the last of
// these versions is destroyed. The pages of the scene's spatial index that a version does not share
// with the next version are charged approximately.
//
// Thread-safe. If an older version of the scene still exists, destroying a snapshot takes O(g log
// n) time for n polygons in the snapshot, g of which the next version does not have.
class SceneSnapshot {
 public:
  using Ptr = std::shared_ptr<const SceneSnapshot>;

  // Returns the snapshot of a scene that shares no polygon with another version. `charge` is the
  // charge of the memory of the scene's polygons.
  static Ptr Create(Scene::Ptr scene, MemoryCharge charge);
  // Returns the snapshot of `scene`, the result of applying `edits` to the scene of the snapshot
  // `before`. `before` must be the newest version of its `VersionLine`. `added` is the charge of
  // the memory of the polygons that `edits` add or put in place of other polygons.
  static Ptr Follow(const Ptr& before, Scene::Ptr scene, std::span<const SceneEdit> edits,
                    MemoryCharge added);
  // Returns the scene of a snapshot, as a pointer that keeps the snapshot, and with it the memory
  // charge, alive. Returns null for null.
  static Scene::Ptr SceneOf(const Ptr& snapshot) {
    return snapshot == nullptr ? nullptr : Scene::Ptr(snapshot, snapshot->scene_.get());
  }

  ~SceneSnapshot();
  SceneSnapshot(const SceneSnapshot&) = delete;
  SceneSnapshot& operator=(const SceneSnapshot&) = delete;

 private:
  class VersionLine;  // consecutive versions of a scene, each made from the preceding one by edits

  SceneSnapshot(std::shared_ptr<VersionLine> line, Scene::Ptr scene)
      : line_(std::move(line)), scene_(std::move(scene)) {}

  const std::shared_ptr<VersionLine> line_;
  Scene::Ptr scene_;
};

}  // namespace carom::server
