// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the questions of carom.h become those of a `Group`?
#pragma once

#include <cstddef>

#include "abi/column_reader.h"
#include "absl/status/status.h"
#include "carom/body_history.h"
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

// Sets `world` to the struct of the caller, or to `copy`: see `Whole`. INVALID_ARGUMENT for members
// that must be 0, and if `scene` is no living handle; the other handles are not checked.
absl::Status ReadWorld(const carom_world* given, carom_world& copy, const carom_world*& world);

// Reads how the bodies of a world turn, whose history, if there is one, is in use. INVALID_ARGUMENT
// for bodies beside a history, and for a rotation that the history does not allow.
absl::Status ReadRotation(const carom_world& world, BodyRotation& rotation);

// Reads shapes at poses by `reader`, a reader of this struct within another.
void ReadPlaced(const carom_placed& placed, ColumnReader reader, ShapeColumns& out);

}  // namespace carom::abi
