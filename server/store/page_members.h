// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The members of a page, where they lie in its bytes.
//
// An edit changes few members of a page and keeps the others byte for byte, so it does not parse
// them. The form is that of proto/carom/store/v1/pages.proto.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// By the field of Page.
enum class PageKind : uint8_t { kLeaf = 1, kInner = 2, kChunk = 3 };

// A LeafEntry of a leaf, or a Child of an inner page.
struct PageMember {
  uint64_t id = 0;          // of the polygon, or the first of the child
  absl::string_view bytes;  // of the message; someone else keeps them
};

struct PageMembers {
  PageKind kind = PageKind::kLeaf;
  std::vector<PageMember> members;  // of a chunk none
};

// DATA_LOSS for bytes that are no page. O(members).
absl::StatusOr<PageMembers> MembersOf(absl::string_view page);

// The bytes of a leaf or an inner page, as protobuf writes them.
std::string MakePage(PageKind kind, std::span<const PageMember> members);

}  // namespace carom::server
