// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which bytes of a page are the members of the page? A page is a node of the B+ tree in which a
// version's polygons are stored (server/store/page_tree.h), encoded as a protobuf message.
//
// An edit changes few members of a page and copies the bytes of all other members, so that it need
// not parse the other members. proto/carom/store/v1/pages.proto defines the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// The kinds of pages. Each value is the field number of the kind in the protobuf message Page. A
// chunk is a part of the bytes of a large polygon.
enum class PageKind : uint8_t { kLeaf = 1, kInner = 2, kChunk = 3 };

// A member of a page: a polygon (message LeafEntry) of a leaf, or a reference to a child page
// (message Child) of an inner page.
struct PageMember {
  uint64_t id = 0;          // id of the polygon, or lower bound of the ids in the child
  absl::string_view bytes;  // the encoded message, in the bytes of the page
};

struct PageMembers {
  PageKind kind = PageKind::kLeaf;
  std::vector<PageMember> members;  // in the order of the page; empty for a chunk
};

// Returns the members of a page; DATA_LOSS for bytes that are not a page. O(members).
absl::StatusOr<PageMembers> MembersOf(absl::string_view page);

// Returns the bytes of a leaf or an inner page with `members`, as protobuf encodes the page.
std::string MakePage(PageKind kind, std::span<const PageMember> members);

}  // namespace carom::server
