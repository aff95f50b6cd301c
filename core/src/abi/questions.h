// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the questions of carom.h become those of a `Group`?
#pragma once

#include "abi/column_reader.h"
#include "absl/status/status.h"
#include "carom/carom.h"
#include "carom/group.h"

namespace carom::abi {

// Reads one batch into `group`. The spans of `group` point to the caller's columns and to
// `storage`. Faults go to `refusal`; the columns are also to be checked by `CheckGroup`.
// INVALID_ARGUMENT for an unknown kind or a null question.
absl::Status ReadBatch(const carom_batch& batch, ColumnStorage& storage, Refusal& refusal,
                       Group& group);

// Reads shapes at poses by `reader`, a reader of this struct within another.
void ReadPlaced(const carom_placed& placed, ColumnReader reader, ShapeColumns& out);

}  // namespace carom::abi
