// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the polygons of a scene stored as pages?
//
// The pages form a B+ tree by polygon id. A page never changes, and the hash of its bytes
// identifies it (Merkle, 1987): an edit of a polygon replaces the pages on the path from the
// polygon's leaf to the root by new pages. The version that the edit makes shares all other pages
// with the version before the edit. proto/carom/store/v1/pages.proto defines the format of a page.
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

// Hash of the bytes of a page: the first 160 bits of SHA-256, for which it is infeasible to find
// two different pages with equal hashes.
using PageHash = std::array<char, 20>;

PageHash HashOf(const std::string& bytes);
// Returns the bytes of a hash as a string, the type of hashes in protobuf messages.
std::string TextOf(const PageHash& hash);

// Returns DATA_LOSS, the error for stored data of a scene that is not as it was written; `what`
// says what is wrong.
absl::Status DamagedScene(absl::string_view what);

struct Page {
  PageHash hash;
  std::string bytes;
};

// A function that returns the bytes of the page with the given hash, after it has checked the bytes
// against the hash; DATA_LOSS if the page is missing or its bytes have another hash.
using PageReader = absl::FunctionRef<absl::StatusOr<std::string>(const PageHash&)>;

// Returns OK if `hash` is the hash of `bytes`, else DATA_LOSS.
absl::Status CheckPage(const PageHash& hash, const std::string& bytes);

// A tree of pages that `BuildTree` or `EditTree` made, and its difference from the tree before the
// edits (for `BuildTree`, all pages are `added`). A page may be in both `added` and `dropped`. A
// chunk is a page with a part of the bytes of a large polygon.
struct TreeChange {
  PageHash root = {};
  std::vector<Page> added;  // pages that were written for the new tree
  // hashes of the pages of the earlier tree that were replaced, and of the chunks of polygons that
  // were replaced or removed
  std::vector<PageHash> dropped;
};

// Builds a tree of `polygons`, which must be in ascending order of their ids. Takes time O(bytes of
// the polygons).
TreeChange BuildTree(std::span<const Polygon* const> polygons);

// Maps a polygon id to the polygon that the tree has under this id after the edits; null: the tree
// has no polygon with this id after the edits.
using TreeEdits = std::map<uint64_t, const Polygon*>;

// Applies `edits` to the tree with the root page `root`. With n polygons in the tree, reads and
// writes O(edits * log n) pages of at most 4 KiB each. In addition, writes the chunks (pages with a
// part of a polygon's bytes) of polygons of more than 1 KiB.
absl::StatusOr<TreeChange> EditTree(const PageHash& root, const TreeEdits& edits, PageReader read);

// Calls `visit` for all polygons of the tree with the root page `root`, by ascending id, until
// `visit` returns an error. DATA_LOSS if the pages do not form a tree of polygons.
absl::Status ReadTree(const PageHash& root, PageReader read,
                      absl::FunctionRef<absl::Status(Polygon)> visit);

// Compares the trees with the root pages `before` and `after`. Calls `visit` for each polygon id
// under which the trees differ, in ascending order, with the polygon of each tree (null: the tree
// has no polygon with the id), until `visit` returns an error. May call `visit` for two equal
// polygons, too. Of the pages that both trees share, reads only a few next to pages that differ.
// DATA_LOSS if the pages do not form two trees of polygons.
absl::Status CompareTrees(
    const PageHash& before, const PageHash& after, PageReader read,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit);

// Adds the hashes of all pages of the tree with the root page `root` to `pages`. Reads neither a
// page whose hash `pages` already contains, nor the pages below that page.
absl::Status CollectNewPages(const PageHash& root, PageReader read,
                             absl::flat_hash_set<PageHash>& pages);

// Appends the hashes of all pages of the tree with the root page `root` to `pages`. After an error,
// `pages` has the hashes that were found before the error.
absl::Status CollectPages(const PageHash& root, PageReader read, std::vector<PageHash>& pages);

}  // namespace carom::server
