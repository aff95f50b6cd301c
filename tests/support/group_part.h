// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// A group with the items of each batch before, or from, an item on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/group.h"

namespace carom::testing {

enum class GroupPart : uint8_t { kFirst, kSecond };

// The part of each batch before item `at`, or from it on; all of the batch, or nothing, if it has
// fewer items. Points into the columns of `group`.
Group PartOf(Group group, size_t at, GroupPart part);

// The items of each batch, in the order of `ForEachKind`.
std::vector<uint32_t> SizesOf(const Group& group);

}  // namespace carom::testing
