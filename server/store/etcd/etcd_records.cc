// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_records.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "carom/store/v1/pages.pb.h"
#include "server/store/version_record.h"

namespace carom::server {

// Increments the last character. All prefixes that the server uses end with a slash, which is not
// the greatest character.
std::string EndOfPrefix(std::string prefix) {
  ++prefix.back();
  return prefix;
}

// `name` is `scenes/` and a part without a slash, perhaps preceded by a tenant and a colon. So the
// key of one scene never begins with the key of another scene and a slash.
std::string EtcdKeys::SceneKey(absl::string_view name) const {
  return absl::StrCat(scenes(), name);
}

std::string EtcdKeys::VersionsOf(absl::string_view name) const {
  return absl::StrCat(versions(), name, "/");
}

// Pads the hexadecimal number with zeros, so that the order of keys is the order of their numbers.
std::string EtcdKeys::VersionKey(absl::string_view name, uint64_t number) const {
  return absl::StrCat(VersionsOf(name), absl::Hex(number, absl::kZeroPad16));
}

std::string EtcdKeys::PageKey(const PageHash& hash) const {
  return absl::StrCat(pages(), absl::BytesToHexString({hash.data(), hash.size()}));
}

std::optional<std::string> EtcdKeys::SceneOf(absl::string_view key) const {
  if (!absl::ConsumePrefix(&key, scenes())) return std::nullopt;
  return std::string(key);
}

// Below /version/, the part of the key after the last slash is the number of the version, and the
// part before it is the scene's name, which contains a slash itself.
std::optional<std::string> EtcdKeys::SceneOfVersion(absl::string_view key) const {
  if (!absl::ConsumePrefix(&key, versions())) return std::nullopt;
  return std::string(key.substr(0, key.rfind('/')));
}

// Returns none also for a key that begins with /page/ and does not end with a valid hash: the
// server has not written such a key, and must not delete it.
std::optional<PageHash> EtcdKeys::PageOf(absl::string_view key) const {
  PageHash hash;
  if (!absl::ConsumePrefix(&key, pages()) || key.size() != 2 * hash.size() ||
      !std::all_of(key.begin(), key.end(), absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  const std::string bytes = absl::HexStringToBytes(key);
  std::memcpy(hash.data(), bytes.data(), hash.size());
  return hash;
}

// The value has the record with a checksum, as the SQLite store has them
// (server/store/version_record.h), and the members of StoredVersion that only the etcd store needs.
std::string EncodeVersion(absl::string_view name, const StoredVersion& version) {
  VersionSummary summary = version.summary;
  summary.version = 0;
  VersionRow row = MakeRow(name, summary, version.root);
  store::v1::SharedVersion message;
  message.set_record(std::move(row.bytes));
  message.set_checksum(std::move(row.checksum));
  message.set_number(version.number);
  message.set_oldest(version.oldest);
  message.set_tree_bytes(version.tree_bytes);
  message.set_replaced_bytes(version.replaced_bytes);
  message.set_writer(version.writer);
  return message.SerializeAsString();
}

// The stored record has version 0, because its checksum was computed before the version number,
// which is the revision at which the key was put, was known.
absl::StatusOr<StoredVersion> DecodeVersion(absl::string_view name, const std::string& value,
                                            uint64_t version) {
  store::v1::SharedVersion message;
  if (!message.ParseFromString(value)) return DamagedScene("a version that does not parse");
  StoredVersion read;
  read.number = message.number();
  read.oldest = message.oldest();
  read.tree_bytes = message.tree_bytes();
  read.replaced_bytes = message.replaced_bytes();
  read.writer = message.writer();
  absl::Status status =
      ReadRow(name, 0, {message.record(), message.checksum()}, read.summary, read.root);
  if (!status.ok()) return status;
  read.summary.version = version;
  return read;
}

// `kept` ascends by version, so a binary search finds a version.
const StoredVersion* SharedScene::Find(uint64_t wanted) const {
  const auto found =
      std::lower_bound(kept.begin(), kept.end(), wanted,
                       [](const StoredVersion& a, uint64_t b) { return a.summary.version < b; });
  return found != kept.end() && found->summary.version == wanted ? &*found : nullptr;
}

std::vector<VersionSummary> SharedScene::Summaries() const {
  std::vector<VersionSummary> summaries;
  summaries.reserve(kept.size());
  for (const StoredVersion& version : kept) summaries.push_back(version.summary);
  return summaries;
}

// If `value` cannot be decoded, `kept` stays that of `before`, because it is not known which
// versions the scene still keeps.
SharedScene::Ptr FollowingScene(const SharedScene::Ptr& before, absl::string_view name,
                                const std::string& value, uint64_t version) {
  auto scene = std::make_shared<SharedScene>();
  scene->version = version;
  scene->value = value;
  if (before != nullptr) scene->kept = before->kept;
  absl::StatusOr<StoredVersion> last = DecodeVersion(name, value, version);
  if (!last.ok()) {
    scene->status = last.status();
    return scene;
  }
  last->summary.follows_damage = before != nullptr && !before->status.ok();
  const auto is_gone = [&](const StoredVersion& old) { return old.number < last->oldest; };
  scene->kept.erase(scene->kept.begin(),
                    std::find_if_not(scene->kept.begin(), scene->kept.end(), is_gone));
  scene->kept.push_back(*std::move(last));
  return scene;
}

}  // namespace carom::server
