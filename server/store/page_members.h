// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which bytes of a page are the members of the page? A page is a node of the B+ tree in which a
// version's polygons are stored (server/store/page_tree.h), encoded as a protobuf message.
//
// A page consists of members: the polygons of a leaf, or the references to children of an inner
// page. An edit of a page changes few members and copies the bytes of the other members without
// parsing them. proto/carom/store/v1/pages.proto defines the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// The kinds of pages. Each value is the field number of the kind in the protobuf message Page. A
// chunk holds a part of the bytes of a polygon that is too large for a leaf.
enum class PageKind : uint8_t { kLeaf = 1, kInner = 2, kChunk = 3 };

// A member of a page: a polygon (message LeafEntry) of a leaf, or a reference to a child page
// (message Child) of an inner page.
struct PageMember {
  uint64_t id = 0;          // id of the polygon, or the field `first_id` of the message Child
  absl::string_view bytes;  // the encoded message; points into the page
};

// The members of a page: the polygons of a leaf, or the references to children of an inner page.
struct PageMembers {
  PageKind kind = PageKind::kLeaf;
  std::vector<PageMember> members;  // in the page's order; empty for a chunk
};

// Returns the kind and the members of the encoded page `page`; DATA_LOSS if `page` is not an
// encoded page. Takes time proportional to the number of members.
absl::StatusOr<PageMembers> MembersOf(absl::string_view page);

// Returns the protobuf encoding of a leaf or an inner page with the members `members`.
std::string MakePage(PageKind kind, std::span<const PageMember> members);

}  // namespace carom::server
