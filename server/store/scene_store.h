// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does the server keep scenes?
//
// A `SceneStore` keeps named scenes. A scene is a sequence of immutable versions, the last of which
// is the current one, which queries see. The gRPC services use only this interface. `MemoryStore`
// (server/store/memory_store.h) implements it, and makes changes durable with a `SceneJournal`
// (server/store/scene_journal.h). The name that a function of a store takes is the key of a scene:
// the scene's well-formed name, with a prefix for its tenant (server/base/scene_name.h).
//
// Version numbers grow over the whole life of a store: a version has a greater number than every
// earlier version of a scene with its name, even if the scene was deleted and created again.
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

// Maximum length in bytes of an `edit_id`, the id that a client may give to a commit. By this id
// the server recognizes edits that the client sends a second time, and does not apply them again.
inline constexpr size_t kMaxEditIdBytes = 64;

// Maximum length in bytes of a note, which says how a version was made.
inline constexpr size_t kMaxNoteBytes = 1024;

// Returns INVALID_ARGUMENT naming `note` if a note is too long.
inline absl::Status CheckNote(absl::string_view note) {
  if (note.size() <= kMaxNoteBytes) return absl::OkStatus();
  return InvalidField("note", absl::StrCat("must have at most ", kMaxNoteBytes, " bytes"));
}

// Receives a notification of every change of a scene, once the change is visible:
// `SceneStore::Find` then returns the changed scene.
class SceneListener {
 public:
  virtual ~SceneListener() = default;

  // Receives `version`, the number of the version that the scene `name` has after the change (0:
  // the scene was deleted), and `change`, the difference from the preceding version (null: the
  // scene was created or deleted, or the store does not have the difference). The store calls
  // `OnSceneChanged` on the thread that makes the change; the calls for one scene are in the order
  // of the scene's changes. The function must return quickly, and must not change scenes of the
  // store.
  virtual void OnSceneChanged(absl::string_view name, uint64_t version,
                              const SceneChange::Ptr& change) = 0;
};

// Returns NOT_FOUND naming the request field `field`, the error of every call that needs an
// existing scene.
inline absl::Status NoSuchScene(absl::string_view field = "name") {
  return Refused(absl::StatusCode::kNotFound, field, "no scene of this name");
}

// Returns ABORTED naming the request field `field`: the error of a change that a client based on
// another version than the scene's current version, `current`.
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
  std::vector<NamedScene> scenes;  // a part of a list of scenes, by ascending name
  bool last = true;                // true: no scene of the list follows these scenes
};

// Returns FAILED_PRECONDITION naming the request field `name`: the error of a change of a read-only
// scene, which the server loaded from a file when it started.
inline absl::Status ReadOnlyScene() {
  return Refused(absl::StatusCode::kFailedPrecondition, "name",
                 "the scene is read-only: it comes from a file that the server was started with");
}

// A store of named scenes. Thread-safe. Calls that change one scene run one after the other; calls
// that read a scene do not wait for calls that change it. A function that changes a scene either
// makes the whole change, or returns an error and changes nothing. For a read-only scene, every
// function that would change it returns FAILED_PRECONDITION.
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

  // Returns the summaries of the scene's versions, as far as the store still has them, by ascending
  // version number; the last one is that of the current version. Empty if the scene does not exist.
  virtual std::vector<VersionSummary> Versions(absl::string_view name) const = 0;

  // Returns version `version` of the scene (0: the current version) if the version's polygons are
  // in memory; else null. Finds only the current version, unless the scene is a fork (a temporary
  // copy of a scene; server/store/fork.h): then it finds every version that the fork keeps. Cheap.
  virtual Scene::Ptr FindVersion(absl::string_view name, uint64_t version) const {
    Scene::Ptr current = Find(name);
    const bool is_current = current != nullptr && (version == 0 || version == current->version());
    return is_current ? current : nullptr;
  }

  // Returns the polygons of version `version`, by ascending id; called for a version that
  // `FindVersion` does not return. Adds the memory of the polygons to `charge`. OUT_OF_RANGE naming
  // `version` if the store does not keep the polygons of the version, or if the scene does not
  // exist.
  virtual absl::StatusOr<std::vector<Polygon>> Load(absl::string_view name, uint64_t version,
                                                    MemoryCharge& charge) const = 0;

  // Returns the difference between version `version` and the next version if the difference is in
  // memory; else null. The difference that a scene's last change made is in memory at least until
  // all listeners were notified of the change; a small difference stays in memory as long as there
  // is room. Cheap.
  virtual SceneChange::Ptr FindChange(absl::string_view name, uint64_t version) const = 0;

  // Returns the difference between version `version` and the next version, computed from the stored
  // polygons of both versions. Charges the memory of the difference to `charge`. OUT_OF_RANGE
  // naming `from_version` if the store does not keep both versions; NOT_FOUND naming `name` if the
  // scene does not exist.
  virtual absl::StatusOr<SceneChange::Ptr> LoadChange(absl::string_view name, uint64_t version,
                                                      MemoryCharge charge) const = 0;

  // Returns the first `limit` scenes, by ascending name, of those whose names are greater than
  // `after` and begin with `prefix`.
  virtual ScenePage List(absl::string_view after, size_t limit,
                         absl::string_view prefix = "") const = 0;

  // Creates the scene `name`, or replaces all its polygons, and returns the version that this
  // makes. Errors: ALREADY_EXISTS naming `name` if `mode` is kCreate and the scene exists;
  // RESOURCE_EXHAUSTED if a limit of the number of scenes or of memory would be exceeded; those of
  // Scene::Create. Calls `abandoned` just before it writes the change; if `abandoned` returns true,
  // changes nothing and returns CANCELLED. The store puts `note` into the summary of the version.
  virtual absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                            std::vector<Polygon> polygons,
                                            absl::FunctionRef<bool()> abandoned,
                                            absl::string_view note = "") = 0;

  // Applies `edits` to a scene and returns the resulting version. A `base_version` of 0 stands for
  // the current version. The store puts `edit_id` into the summary of the resulting version.
  // Errors: NOT_FOUND naming `name`; INVALID_ARGUMENT if two of `edits` have the same polygon id;
  // ABORTED naming `base_version` if `base_version` is neither 0 nor the current version; those of
  // Scene::Commit.
  virtual absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                            std::vector<SceneEdit> edits,
                                            absl::string_view edit_id = "") = 0;

  // Makes and returns a version of the scene that has the polygons of the older version `version`.
  // Errors: NOT_FOUND naming `name`; ABORTED naming `base_version` if `base_version` is neither 0
  // nor the current version; OUT_OF_RANGE naming `version` if the store does not keep that version.
  virtual absl::StatusOr<Scene::Ptr> Rollback(absl::string_view name, uint64_t version,
                                              uint64_t base_version) = 0;

  // Deletes the scene `name`. Errors: NOT_FOUND naming `name`; ABORTED naming `version` if
  // `version` is neither 0 nor the current version.
  virtual absl::Status Delete(absl::string_view name, uint64_t version) = 0;

  // For a store that several server processes share: blocks until this process has received every
  // change that any process made before the call. UNAVAILABLE if the process cannot find out what
  // the other processes have changed. A store of one process returns OK at once.
  virtual absl::Status CatchUp() { return absl::OkStatus(); }
  // Returns whether this process has received every change, of any scene, that made a version with
  // at most the given version number. Cheap.
  virtual bool HasReached(uint64_t) const { return true; }
  // Returns a time in microseconds: this process has received every change that was made at least
  // that long ago. Cheap.
  virtual uint64_t staleness_us() const { return 0; }

  // Notifies `listener` of every change from this call on. `listener` must outlive the store's last
  // change.
  virtual void AddListener(SceneListener* listener) = 0;

  // Calls `Import` with `ImportMode::kCreate`, and with a callback that never abandons the import.
  absl::StatusOr<Scene::Ptr> Create(absl::string_view name, std::vector<Polygon> polygons,
                                    absl::string_view note = "") {
    return Import(
        name, ImportMode::kCreate, std::move(polygons), [] { return false; }, note);
  }
};

}  // namespace carom::server
