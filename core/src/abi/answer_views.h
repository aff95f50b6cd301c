// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the answers of the C++ headers become the columns of carom.h?
//
// The rows of answers are structs, so a column of carom.h is one member of all rows, with the size
// of a row as its stride: no answer is copied.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "carom/group.h"
#include "carom/group_kinds.h"

namespace carom::abi {

// Sets `out`, the struct of answers of the kind with this number, to the columns of `answers`.
// INVALID_ARGUMENT for an unknown kind or a struct that cannot be written.
absl::Status ViewAnswers(const GroupAnswers& answers, uint32_t kind, void* out);

// Returns the digest of the answers to `asked` that carom.h documents.
uint64_t DigestOf(const GroupAnswers& answers, const GroupKindSet& asked);

}  // namespace carom::abi
