// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which keys of etcd contain which data of a scene?
//
// Below the prefix of a store:
//
//   /scene/KEY            the current version of a scene; etcd's `mod_revision` of this key is the
//                         version number that clients see
//   /version/KEY/NUMBER   each kept version, put by the transaction that made the version
//   /page/HASH            a page of polygons (server/store/page_tree.h)
//   /epoch                a value that all commits compare (server/store/etcd/etcd_commits.h)
//   /head                 put by each change of any scene; its revision: that of the last change
//   /sweeper              exists while a server deletes unused pages
//
// KEY is the key of a scene (server/base/scene_name.h); NUMBER counts the versions of a scene from
// 1 and is not the version number that clients see; HASH is the hash of a page. NUMBER and HASH are
// hexadecimal. The values of /scene and /version are a
// SharedVersion (proto/carom/store/v1/pages.proto). All functions of this file are pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/page_tree.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// Returns the first key after all keys that begin with `prefix`: the exclusive end of their range.
std::string EndOfPrefix(std::string prefix);

// The keys of a store in etcd, all of which begin with the prefix of the store.
class EtcdKeys {
 public:
  explicit EtcdKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string epoch() const { return prefix_ + "/epoch"; }
  std::string head() const { return prefix_ + "/head"; }
  std::string sweeper() const { return prefix_ + "/sweeper"; }
  std::string scenes() const { return prefix_ + "/scene/"; }
  std::string versions() const { return prefix_ + "/version/"; }
  std::string pages() const { return prefix_ + "/page/"; }
  std::string SceneKey(absl::string_view name) const;
  // Returns the prefix of the keys of all versions of a scene.
  std::string VersionsOf(absl::string_view name) const;
  std::string VersionKey(absl::string_view name, uint64_t number) const;
  std::string PageKey(const PageHash& hash) const;

  // Returns the name of the scene that a key below /scene belongs to; none for other keys.
  std::optional<std::string> SceneOf(absl::string_view key) const;
  // Returns the name of the scene that a key below /version belongs to; none for other keys.
  std::optional<std::string> SceneOfVersion(absl::string_view key) const;
  std::optional<PageHash> PageOf(absl::string_view key) const;

 private:
  const std::string prefix_;
};

// One version of a scene as etcd stores it (message SharedVersion in
// proto/carom/store/v1/pages.proto).
struct StoredVersion {
  VersionSummary summary = {};
  PageHash root = {};
  uint64_t number = 0;  // sequence number in the scene, from 1
  // `number` of the oldest version of the scene that is kept while this version is current
  uint64_t oldest = 0;
  uint64_t tree_bytes = 0;  // bytes of all pages of the version's tree
  // bytes of the pages that the preceding version has and this version does not have
  uint64_t replaced_bytes = 0;
  std::string writer = {};  // a random name that identifies the commit
};

// Encodes a version of the scene `name` as the value of a key. Leaves out `summary.version`, the
// revision of the transaction that puts the key: it is known only after the commit.
std::string EncodeVersion(absl::string_view name, const StoredVersion& version);
// Decodes version `version` of the scene `name` from the value of a key; DATA_LOSS if `value` is
// not a valid version.
absl::StatusOr<StoredVersion> DecodeVersion(absl::string_view name, const std::string& value,
                                            uint64_t version);

// The state of a scene in etcd, without its polygons. Immutable.
struct SharedScene {
  using Ptr = std::shared_ptr<const SharedScene>;

  uint64_t version = 0;             // number of the current version
  std::string value;                // value of the scene's key
  absl::Status status;              // DATA_LOSS: the current version is damaged, and not in `kept`
  std::vector<StoredVersion> kept;  // versions that etcd keeps, ascending

  const StoredVersion* Find(uint64_t wanted) const;
  const StoredVersion& current() const { return kept.back(); }
  std::vector<VersionSummary> Summaries() const;
};

// Returns the state of the scene `name` after the state `before` (null: the scene did not exist)
// and the next version, `version`, which `value` encodes. The returned state lacks the older
// versions that are no longer kept once `version` is current.
SharedScene::Ptr FollowingScene(const SharedScene::Ptr& before, absl::string_view name,
                                const std::string& value, uint64_t version);

}  // namespace carom::server
