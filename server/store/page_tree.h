// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The polygons of a scene as pages for a store that lasts.
//
// A B+ tree by polygon id whose pages never change and are named by a hash of their bytes (Merkle,
// 1987): an edit writes the pages from its leaf to a new root, and shares all others with the
// version before. The form of a page is proto/carom/store/v1/pages.proto.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"

namespace carom::server {

// The first 160 bits of SHA-256: nobody finds two pages of the same hash.
using PageHash = std::array<char, 20>;

PageHash HashOf(const std::string& bytes);
// The bytes of a hash, as a message has them.
std::string TextOf(const PageHash& hash);

// DATA_LOSS: what is stored of a scene is not what was written.
absl::Status DamagedScene(absl::string_view what);

struct Page {
  PageHash hash;
  std::string bytes;
};

// Where pages are. The bytes of a page, checked against its hash; DATA_LOSS if they are missing or
// others.
using PageReader = absl::FunctionRef<absl::StatusOr<std::string>(const PageHash&)>;

// DATA_LOSS for bytes that are not those of the hash.
absl::Status CheckPage(const PageHash& hash, const std::string& bytes);

// How a tree came from another one. A page may be in both lists.
struct TreeChange {
  PageHash root = {};
  std::vector<Page> added;        // pages of the new tree that it does not share
  std::vector<PageHash> dropped;  // pages of the old tree that are not shared
};

// A tree of polygons, which have ascending ids. O(bytes).
TreeChange BuildTree(std::span<const Polygon* const> polygons);

// What becomes of a polygon, by its id: another one in its place, or null: it goes.
using TreeEdits = std::map<uint64_t, const Polygon*>;

// The tree below `root` after `edits`. Reads and writes O(edits * log n) pages, at most 4 KiB each
// but for polygons of more than 1 KiB, which lie in pages of their own.
absl::StatusOr<TreeChange> EditTree(const PageHash& root, const TreeEdits& edits, PageReader read);

// All polygons below `root`, by ascending id, until `visit` fails. DATA_LOSS for what is no tree.
absl::Status ReadTree(const PageHash& root, PageReader read,
                      absl::FunctionRef<absl::Status(Polygon)> visit);

// The polygons in which two trees differ, by ascending id, as they are below the one root and below
// the other, null where they are not there; equal ones may be among them. Reads no page that both
// have, but for a few beside those that differ. DATA_LOSS as above.
absl::Status CompareTrees(
    const PageHash& before, const PageHash& after, PageReader read,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit);

// Adds all pages below `root`, and itself, to `pages`. What is below one that is there is not read.
absl::Status CollectNewPages(const PageHash& root, PageReader read,
                             absl::flat_hash_set<PageHash>& pages);

// All pages below `root`, itself among them, or those before an error.
absl::Status CollectPages(const PageHash& root, PageReader read, std::vector<PageHash>& pages);

}  // namespace carom::server
