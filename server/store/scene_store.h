// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does the server keep scenes?
//
// A `SceneStore` keeps named scenes, each as a chain of immutable versions of which the last one is
// visible. The gRPC services use only this interface. `MemoryStore` (server/store/memory_store.h)
// implements it, and makes changes durable with a `SceneJournal` (server/store/scene_journal.h).
// The name that a function of a store takes is the key of a scene: the scene's well-formed name,
// with a prefix for its tenant (server/base/scene_name.h).
//
// Version numbers grow over the whole life of a store: a version has a greater number than all
// earlier versions under its scene's name, also after the scene was deleted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/status.h"
#include "server/base/memory_account.h"
#include "server/store/scene_change.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// Maximum length in bytes of an `edit_id`, the id that a client gives a commit, so that the store
// makes edits that the client sends twice only once.
inline constexpr size_t kMaxEditIdBytes = 64;

// Receives a notification of every change of a scene, once the change is visible:
// `SceneStore::Find` then returns the changed scene.
class SceneListener {
 public:
  virtual ~SceneListener() = default;

  // Receives the number of the version that scene `name` has after the change; 0: the scene was
  // deleted. `change` is the difference from the version before; null if the scene was created or
  // deleted, or if the store does not have the difference. The store calls `OnSceneChanged` on the
  // writer's thread, for one scene in the order of its changes. The function must be short, and
  // must not write to the store.
  virtual void OnSceneChanged(absl::string_view name, uint64_t version,
                              const SceneChange::Ptr& change) = 0;
};

// Returns NOT_FOUND naming the request field `field`, the error of every call that needs an
// existing scene.
inline absl::Status NoSuchScene(absl::string_view field = "name") {
  return Refused(absl::StatusCode::kNotFound, field, "no scene of this name");
}

// Returns ABORTED naming the request field `field`, the error of a change that was based on another
// version than the current version `current`.
inline absl::Status StaleVersion(absl::string_view field, uint64_t current) {
  return Refused(absl::StatusCode::kAborted, field,
                 absl::StrCat("the current version is ", current));
}

// What an import does if the scene exists: kCreate fails, kReplace replaces the scene.
enum class ImportMode { kCreate, kReplace };

struct NamedScene {
  std::string name;
  Scene::Ptr scene;
};

struct ScenePage {
  std::vector<NamedScene> scenes;  // scenes by ascending name
  bool last = true;                // the listing has no scenes after these
};

// Returns FAILED_PRECONDITION naming `name`, the error of a change of a scene that the server
// loaded from a file when it started.
inline absl::Status ReadOnlyScene() {
  return Refused(absl::StatusCode::kFailedPrecondition, "name",
                 "the scene is read-only: it comes from a file that the server was started with");
}

// A store of named scenes. Thread-safe. Writers of one scene wait for each other; readers wait for
// no writer. Every writing function either makes its change as a whole, or returns an error and
// changes nothing. Every writing function returns FAILED_PRECONDITION for a read-only scene.
class SceneStore {
 public:
  virtual ~SceneStore() = default;

  // Returns the current version of the scene; null if the scene does not exist, or if its stored
  // data is damaged. Cheap: the server calls it for each group of queries in a query frame (a
  // client's message of queries for one tick).
  virtual Scene::Ptr Find(absl::string_view name) const = 0;

  // Returns the reason why `Find` returned null, as an error that names the request field `field`:
  // DATA_LOSS if the stored data of the scene is damaged, else NOT_FOUND.
  virtual absl::Status WhyMissing(absl::string_view name, absl::string_view field) const = 0;

  // Returns the summaries of a scene's versions that the store still has, ascending; the last one
  // is the current version. Empty if the scene does not exist.
  virtual std::vector<VersionSummary> Versions(absl::string_view name) const = 0;

  // Returns a version whose polygons are in memory; null if they are not. For a scene that is not a
  // fork, this is only the current version (`version` is its number, or 0). For a fork, a temporary
  // copy of a scene (server/store/fork.h), it is every version that the fork keeps (0: the current
  // one). Cheap.
  virtual Scene::Ptr FindVersion(absl::string_view name, uint64_t version) const {
    Scene::Ptr current = Find(name);
    const bool is_current = current != nullptr && (version == 0 || version == current->version());
    return is_current ? current : nullptr;
  }

  // Returns the polygons of a version, by ascending id, for versions that `FindVersion` does not
  // return. Adds the memory of the polygons to `charge`. OUT_OF_RANGE naming `version` if the store
  // does not keep the polygons, also if the scene does not exist.
  virtual absl::StatusOr<std::vector<Polygon>> Load(absl::string_view name, uint64_t version,
                                                    MemoryCharge& charge) const = 0;

  // Returns the difference between `version` and the version after it, if memory holds it; null
  // otherwise. Memory holds the last change while listeners are notified of it, and small changes
  // as long as there is room. Cheap.
  virtual SceneChange::Ptr FindChange(absl::string_view name, uint64_t version) const = 0;

  // Returns the difference between `version` and the version after it, computed from the stored
  // versions; `charge` accounts for its memory. OUT_OF_RANGE naming `from_version` if the store
  // does not keep both versions; NOT_FOUND naming `name` if the scene does not exist.
  virtual absl::StatusOr<SceneChange::Ptr> LoadChange(absl::string_view name, uint64_t version,
                                                      MemoryCharge charge) const = 0;

  // Returns at most `limit` scenes with names above `after` that begin with `prefix`, by ascending
  // name.
  virtual ScenePage List(absl::string_view after, size_t limit,
                         absl::string_view prefix = "") const = 0;

  // Creates or replaces a scene, and returns its version. Errors: ALREADY_EXISTS naming `name` if
  // `mode` is kCreate and the scene exists; RESOURCE_EXHAUSTED above the limits; those of
  // Scene::Create. Calls `abandoned` just before it writes the change; if `abandoned` returns true,
  // changes nothing and returns CANCELLED.
  virtual absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                            std::vector<Polygon> polygons,
                                            absl::FunctionRef<bool()> abandoned) = 0;

  // Applies `edits` to a scene and returns the resulting version. A `base_version` of 0 stands for
  // the current version. The store keeps `edit_id` with the resulting version. Errors: NOT_FOUND
  // naming `name`; INVALID_ARGUMENT if two of `edits` have the id of one polygon; ABORTED naming
  // `base_version` if it is not the current version; those of Scene::Commit.
  virtual absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                            std::vector<SceneEdit> edits,
                                            absl::string_view edit_id = "") = 0;

  // Makes and returns a version with the polygons of the older version `version`. Errors: NOT_FOUND
  // naming `name`; ABORTED naming `base_version` if `base_version` is neither 0 nor the current
  // version; OUT_OF_RANGE naming `version` if the store does not keep that version.
  virtual absl::StatusOr<Scene::Ptr> Rollback(absl::string_view name, uint64_t version,
                                              uint64_t base_version) = 0;

  // Deletes a scene. Errors: NOT_FOUND naming `name`; ABORTED naming `version` if `version` is
  // neither 0 nor the current version.
  virtual absl::Status Delete(absl::string_view name, uint64_t version) = 0;

  // Blocks until this process has every change that any process made before the call; returns OK at
  // once in a store with one process. UNAVAILABLE if it cannot be determined what other processes
  // have changed.
  virtual absl::Status CatchUp() { return absl::OkStatus(); }
  // Returns whether this process has every change of every scene up to the given version number.
  // Cheap.
  virtual bool HasReached(uint64_t) const { return true; }
  // Returns an age in microseconds: this process has every change that was made at least that long
  // ago. Cheap.
  virtual uint64_t staleness_us() const { return 0; }

  // Notifies `listener` of every change from this call on. `listener` must outlive the store's last
  // change.
  virtual void AddListener(SceneListener* listener) = 0;

  // Imports a scene under kCreate; no caller can abandon the import.
  absl::StatusOr<Scene::Ptr> Create(absl::string_view name, std::vector<Polygon> polygons) {
    return Import(name, ImportMode::kCreate, std::move(polygons), [] { return false; });
  }
};

}  // namespace carom::server
