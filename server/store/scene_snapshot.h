// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much memory do versions of a scene take while they have readers?
//
// An export, a watch or a query frame (a client's message of queries for one tick) keeps the
// version of the scene that it reads until it ends, even if a later version becomes current
// meanwhile. A `SceneSnapshot` is a version that is charged to the account
// (server/base/memory_account.h) until its last reader releases it: the scenes of a store are
// pointers into their snapshots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "carom/scene.h"
#include "server/base/memory_account.h"

namespace carom::server {

// A version of a scene, charged to the account. A version that edits made from another version
// shares polygons with it: a polygon is charged once, as long as any version that has it exists.
// The pages of the index that a version does not share are charged approximately.
//
// Thread-safe. Destroying a snapshot costs O(g log n) if an older version that may share polygons
// with it still exists: g is the number of the snapshot's polygons that the next version does not
// have, n the number of all polygons of the snapshot.
class SceneSnapshot {
 public:
  using Ptr = std::shared_ptr<const SceneSnapshot>;

  // Returns the snapshot of a scene that shares no polygon with another version. `charge` accounts
  // for the scene's polygons.
  static Ptr Create(Scene::Ptr scene, MemoryCharge charge);
  // Returns the snapshot of the scene that `edits` made of the scene of `before`, which must be the
  // newest version of its `VersionLine`. `added` accounts for the memory of the polygons that
  // `edits` add or put in place of other polygons.
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
