// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are the members of a page in its bytes?
//
// An edit changes few members of a page and keeps all other members byte for byte, so it does not
// parse them. proto/carom/store/v1/pages.proto defines the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// The kinds of pages. Each value is the field number of the kind in the message Page.
enum class PageKind : uint8_t { kLeaf = 1, kInner = 2, kChunk = 3 };

// A LeafEntry of a leaf, or a Child of an inner page.
struct PageMember {
  uint64_t id = 0;          // id of the polygon, or the first id below the child
  absl::string_view bytes;  // the encoded message, which the caller keeps
};

struct PageMembers {
  PageKind kind = PageKind::kLeaf;
  std::vector<PageMember> members;  // empty for a chunk
};

// Returns the members of a page; DATA_LOSS for bytes that are not a page. O(members).
absl::StatusOr<PageMembers> MembersOf(absl::string_view page);

// Returns the bytes of a leaf or an inner page with `members`, as protobuf encodes the page.
std::string MakePage(PageKind kind, std::span<const PageMember> members);

}  // namespace carom::server
