// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the versions of a scene take that somebody reads?
//
// An export, a watch or a frame in flight has its version of a scene for as long as it lasts,
// whatever replaced it. A `SceneSnapshot` is a version that counts on the account
// (server/base/memory_account.h) until the last reader lets it go: scenes of a store are pointers
// into their snapshots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "carom/scene.h"
#include "server/base/memory_account.h"

namespace carom::server {

// Versions that edits made of each other share polygons: what several of them have counts once, as
// long as one of them is there. What a version has alone of the index counts by its pages, about.
//
// Thread-safe. Destroying one costs O(g log n) where an older one of the same line is there: g the
// polygons that the next version does not have, of n.
class SceneSnapshot {
 public:
  using Ptr = std::shared_ptr<const SceneSnapshot>;

  // A scene that shares no polygon with another one. `charge` has what its polygons take.
  static Ptr Create(Scene::Ptr scene, MemoryCharge charge);
  // The scene that `edits` made of that of `before`, which no other one follows that is there.
  // `added` has what the polygons of the edits take.
  static Ptr Follow(const Ptr& before, Scene::Ptr scene, std::span<const SceneEdit> edits,
                    MemoryCharge added);
  // The scene, which keeps its snapshot; null of null.
  static Scene::Ptr SceneOf(const Ptr& snapshot) {
    return snapshot == nullptr ? nullptr : Scene::Ptr(snapshot, snapshot->scene_.get());
  }

  ~SceneSnapshot();
  SceneSnapshot(const SceneSnapshot&) = delete;
  SceneSnapshot& operator=(const SceneSnapshot&) = delete;

 private:
  class Line;  // the versions that share polygons

  SceneSnapshot(std::shared_ptr<Line> line, Scene::Ptr scene)
      : line_(std::move(line)), scene_(std::move(scene)) {}

  const std::shared_ptr<Line> line_;
  Scene::Ptr scene_;
};

}  // namespace carom::server
