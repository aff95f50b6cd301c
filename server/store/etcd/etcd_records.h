// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which keys of etcd have what of a scene?
//
// Below the prefix of a store:
//
//   /scene/KEY            the current version of a scene; its `mod_revision` is the version
//   /version/KEY/NUMBER   each version that is kept, made by the transaction that made it current
//   /page/HASH            a page of polygons (server/store/page_tree.h)
//   /epoch                what all commits compare (server/store/etcd/etcd_journal.h)
//   /head                 put by every commit and deletion: its `mod_revision` is the last of them
//   /sweeper              there as long as somebody deletes pages that nobody has
//
// KEY is that of server/base/scene_name.h, NUMBER and HASH are hexadecimal. Values of the first two
// are a SharedVersion (proto/carom/store/v1/pages.proto). Pure functions.
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

// Above all keys that begin with `prefix`, as the end of a range.
std::string EndOfPrefix(std::string prefix);

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
  // What the keys of all versions of a scene begin with.
  std::string VersionsOf(absl::string_view name) const;
  std::string VersionKey(absl::string_view name, uint64_t number) const;
  std::string PageKey(const PageHash& hash) const;

  // Which scene, or page, a key is of; none for keys of another kind.
  std::optional<std::string> SceneOf(absl::string_view key) const;
  // The scene of a version.
  std::optional<std::string> SceneOfVersion(absl::string_view key) const;
  std::optional<PageHash> PageOf(absl::string_view key) const;

 private:
  const std::string prefix_;
};

// A version as it is stored.
struct StoredVersion {
  VersionSummary summary = {};
  PageHash root = {};
  uint64_t number = 0;          // among those of the scene, from 1
  uint64_t oldest = 0;          // number of the oldest that is kept, once this one is there
  uint64_t tree_bytes = 0;      // of its pages
  uint64_t replaced_bytes = 0;  // of pages that the version before has and it has not
  std::string writer = {};      // of no other version
};

// `summary.version` is not in it: nobody knows it before the transaction is made.
std::string EncodeVersion(absl::string_view name, const StoredVersion& version);
// DATA_LOSS for what is no version of that scene.
absl::StatusOr<StoredVersion> DecodeVersion(absl::string_view name, const std::string& value,
                                            uint64_t version);

// What etcd has of a scene, without its polygons. Immutable.
struct SharedScene {
  using Ptr = std::shared_ptr<const SharedScene>;

  uint64_t version = 0;             // the current one
  std::string value;                // of the scene's key
  absl::Status status;              // DATA_LOSS: that is damaged, and `kept` does not end with it
  std::vector<StoredVersion> kept;  // ascending

  const StoredVersion* Find(uint64_t wanted) const;
  const StoredVersion& current() const { return kept.back(); }
  std::vector<VersionSummary> Summaries() const;
};

// The scene after a version that follows `before`, which is null if there was none. Versions that
// the new one does not keep are gone.
SharedScene::Ptr FollowingScene(const SharedScene::Ptr& before, absl::string_view name,
                                const std::string& value, uint64_t version);

}  // namespace carom::server
