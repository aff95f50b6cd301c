// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do scenes live?
//
// `SceneStore` keeps named scenes, each as a chain of immutable versions of which the last one is
// visible. Services speak to this interface alone; server/store/memory_store.h is one behind it,
// which writes them down by a server/store/scene_journal.h. Names that reach a store are keys:
// well-formed names within a tenant (server/base/scene_name.h).
//
// Versions grow over the whole life of a store: every change of any scene gets a greater one than
// all changes of that scene before it, deletion included.
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

// Of an `edit_id`, at most.
inline constexpr size_t kMaxEditIdBytes = 64;

// Is notified of every change, after it is visible to `Find`.
class SceneListener {
 public:
  virtual ~SceneListener() = default;

  // Scene `name` has this version; 0: it is deleted. `change` is what made it so; null if there was
  // no scene before, or is none. Called on the writer's thread, changes of one scene in their
  // order. Must be short, and must not write to the store.
  virtual void OnSceneChanged(absl::string_view name, uint64_t version,
                              const SceneChange::Ptr& change) = 0;
};

// NOT_FOUND naming `field`: the error of every call that needs a scene.
inline absl::Status NoSuchScene(absl::string_view field = "name") {
  return Refused(absl::StatusCode::kNotFound, field, "no scene of this name");
}

// ABORTED naming `field` and the version that is current.
inline absl::Status StaleVersion(absl::string_view field, uint64_t current) {
  return Refused(absl::StatusCode::kAborted, field,
                 absl::StrCat("the current version is ", current));
}

// What an import does with a scene that is there.
enum class ImportMode { kCreate, kReplace };

struct NamedScene {
  std::string name;
  Scene::Ptr scene;
};

struct ScenePage {
  std::vector<NamedScene> scenes;  // by ascending name
  bool last = true;                // nothing follows
};

// FAILED_PRECONDITION naming `name`: what a change of a scene gets that the server was started
// with.
inline absl::Status ReadOnlyScene() {
  return Refused(absl::StatusCode::kFailedPrecondition, "name",
                 "the scene is read-only: it comes from a file that the server was started with");
}

// Thread-safe. Every writing function is FAILED_PRECONDITION for a scene that is read-only. Writers
// of one scene wait for each other; readers wait for nobody. Every writing function either makes
// its change as a whole or returns an error and changes nothing.
class SceneStore {
 public:
  virtual ~SceneStore() = default;

  // The current version, or null. Cheap: called for every group of every frame.
  virtual Scene::Ptr Find(absl::string_view name) const = 0;

  // Why `Find` had no scene of this name: NOT_FOUND naming `field`, or DATA_LOSS where what was
  // stored of it is damaged.
  virtual absl::Status WhyMissing(absl::string_view name, absl::string_view field) const = 0;

  // The versions of a scene that are known, ascending; the last one is current. Empty: no scene.
  virtual std::vector<VersionSummary> Versions(absl::string_view name) const = 0;

  // A version that is in memory as a scene: the current one, 0 too, and of a fork all that it
  // keeps. Else null. Cheap.
  virtual Scene::Ptr FindVersion(absl::string_view name, uint64_t version) const {
    Scene::Ptr current = Find(name);
    const bool is_it = current != nullptr && (version == 0 || version == current->version());
    return is_it ? current : nullptr;
  }

  // The polygons of a version that `FindVersion` does not have, by ascending id. OUT_OF_RANGE
  // naming `version` if they are not kept; NOT_FOUND naming `name`.
  virtual absl::StatusOr<std::vector<Polygon>> Load(absl::string_view name, uint64_t version,
                                                    MemoryCharge& charge) const = 0;

  // What came after a version, if that is in memory: always so for the last change while listeners
  // are notified of it, and for small ones as long as there is room. Else null. Cheap.
  virtual SceneChange::Ptr FindChange(absl::string_view name, uint64_t version) const = 0;

  // The same from where versions are kept, with `charge` for what it takes. OUT_OF_RANGE naming
  // `from_version` if `version` or the next one is not; NOT_FOUND naming `name`.
  virtual absl::StatusOr<SceneChange::Ptr> LoadChange(absl::string_view name, uint64_t version,
                                                      MemoryCharge charge) const = 0;

  // At most `limit` scenes with names above `after` that begin with `prefix`.
  virtual ScenePage List(absl::string_view after, size_t limit,
                         absl::string_view prefix = "") const = 0;

  // Errors: ALREADY_EXISTS naming `name` under kCreate; RESOURCE_EXHAUSTED over the limits; those
  // of Scene::Create. `abandoned` is asked just before the change becomes visible: true makes it
  // CANCELLED.
  virtual absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                            std::vector<Polygon> polygons,
                                            absl::FunctionRef<bool()> abandoned) = 0;

  // The scene after `edits`. A `base_version` of 0 is the current one. `edit_id` is kept with the
  // version.
  // Errors: NOT_FOUND naming `name`; INVALID_ARGUMENT for an id twice in `edits`; ABORTED naming
  // `base_version` if it is not current; those of Scene::Commit.
  virtual absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                            std::vector<SceneEdit> edits,
                                            absl::string_view edit_id = "") = 0;

  // A version with the polygons of an older one. Errors: NOT_FOUND naming `name`; ABORTED naming
  // `base_version` as above; OUT_OF_RANGE naming `version` if that is not kept.
  virtual absl::StatusOr<Scene::Ptr> Rollback(absl::string_view name, uint64_t version,
                                              uint64_t base_version) = 0;

  // Errors: NOT_FOUND naming `name`; ABORTED naming `version` if it is neither 0 nor current.
  virtual absl::Status Delete(absl::string_view name, uint64_t version) = 0;

  // Waits until all is here that any process had made of the scenes before this call; OK where
  // there is one process. UNAVAILABLE if it cannot be known.
  virtual absl::Status CatchUp() { return absl::OkStatus(); }
  // Whether every change up to this version is here, of whatever scene. Cheap.
  virtual bool HasSeen(uint64_t) const { return true; }
  // What is here is all that there was so many microseconds ago. Cheap.
  virtual uint64_t staleness_us() const { return 0; }

  // `listener` is notified from here on. It outlives the store's last change.
  virtual void AddListener(SceneListener* listener) = 0;

  // Import under kCreate that nothing abandons.
  absl::StatusOr<Scene::Ptr> Create(absl::string_view name, std::vector<Polygon> polygons) {
    return Import(name, ImportMode::kCreate, std::move(polygons), [] { return false; });
  }
};

}  // namespace carom::server
