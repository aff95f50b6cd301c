// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The checksum of bundles: CRC-32C, Castagnoli's polynomial 0x1EDC6F41, bits reflected, as iSCSI
// has it (RFC 3720, section 12.1). It finds every error burst of up to 32 bits, hence every flipped
// bit.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace carom::internal {

// Of `bytes`; or, given the checksum of what comes before them, of both. That of nothing is 0.
// O(n).
uint32_t Crc32c(absl::string_view bytes, uint32_t before = 0);

// The same without the processor's instruction, for its test.
uint32_t PortableCrc32c(absl::string_view bytes, uint32_t before = 0);

}  // namespace carom::internal
