// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the questions of carom.h become those of a `Group`?
#pragma once

#include <cstddef>

#include "abi/column_reader.h"
#include "absl/status/status.h"
#include "carom/carom.h"
#include "carom/group.h"
#include "carom/group_kinds.h"

namespace carom::abi {

// Reads `count` batches into `group`, whose spans then point to the caller's columns and to
// `storage`, and sets `asked` to their kinds. Each batch sets all columns and options of its kind;
// the members of other kinds stay as they are. INVALID_ARGUMENT for what cannot be read;
// `CheckGroup` checks the rest.
absl::Status ReadBatches(const carom_batch* batches, size_t count, ColumnStorage& storage,
                         Group& group, GroupKindSet& asked);

// Reads shapes at poses by `reader`, a reader of this struct within another.
void ReadPlaced(const carom_placed& placed, ColumnReader reader, ShapeColumns& out);

}  // namespace carom::abi
