// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the polygons of a scene stored as pages?
//
// The pages form a B+ tree by polygon id. A page never changes, and the hash of its bytes
// identifies it (Merkle, 1987): an edit writes the pages on the path from the leaf of the edited
// polygon to a new root; the edited version shares all other pages with the preceding version.
// proto/carom/store/v1/pages.proto defines the format of a page.
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

// Returns DATA_LOSS with the description `what`: the error for stored data of a scene that differs
// from what was written.
absl::Status DamagedScene(absl::string_view what);

struct Page {
  PageHash hash;
  std::string bytes;
};

// Returns the bytes of a page, checked against the page's hash; DATA_LOSS if the page is missing or
// has another hash.
using PageReader = absl::FunctionRef<absl::StatusOr<std::string>(const PageHash&)>;

// Returns DATA_LOSS if `bytes` have another hash than `hash`.
absl::Status CheckPage(const PageHash& hash, const std::string& bytes);

// A tree of pages that was written, and its difference from the tree that an edit made it from. A
// page may be in both `added` and `dropped`.
struct TreeChange {
  PageHash root = {};
  std::vector<Page> added;        // pages that were written for the new tree
  std::vector<PageHash> dropped;  // hashes of replaced pages of the old tree
};

// Builds a tree of polygons, which must have ascending ids. Takes time O(bytes of the polygons).
TreeChange BuildTree(std::span<const Polygon* const> polygons);

// Maps the id of a polygon to the polygon that takes its place; null: the polygon is removed.
using TreeEdits = std::map<uint64_t, const Polygon*>;

// Applies `edits` to the tree below `root`. With n polygons in the tree, reads and writes O(edits *
// log n) pages of at most 4 KiB each. In addition, writes the chunks (pages with a part of a
// polygon's bytes) of polygons of more than 1 KiB.
absl::StatusOr<TreeChange> EditTree(const PageHash& root, const TreeEdits& edits, PageReader read);

// Calls `visit` for all polygons below `root`, by ascending id, until `visit` returns an error.
// DATA_LOSS if the pages are not a tree.
absl::Status ReadTree(const PageHash& root, PageReader read,
                      absl::FunctionRef<absl::Status(Polygon)> visit);

// Calls `visit` for the polygons in which two trees differ, by ascending id, with null for a
// polygon that a tree does not have, until `visit` returns an error. May call `visit` for pairs of
// equal polygons, too. Reads no page that both trees share, except for a few next to pages that
// differ. DATA_LOSS if the pages are not a tree.
absl::Status CompareTrees(
    const PageHash& before, const PageHash& after, PageReader read,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit);

// Adds the hashes of the page `root` and of all pages below it to `pages`. Does not read a page
// that `pages` already contains, or the pages below such a page.
absl::Status CollectNewPages(const PageHash& root, PageReader read,
                             absl::flat_hash_set<PageHash>& pages);

// Appends the hashes of the page `root` and of all pages below it to `pages`. After an error,
// `pages` has the hashes that were found before the error.
absl::Status CollectPages(const PageHash& root, PageReader read, std::vector<PageHash>& pages);

}  // namespace carom::server
