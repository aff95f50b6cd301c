// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The checksum of bundles: CRC-32C with Castagnoli's polynomial 0x1EDC6F41, bits reflected, as in
// iSCSI (RFC 3720, section 12.1). It detects every error burst of up to 32 bits, hence every
// flipped bit.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace carom::internal {

// Returns the checksum of `bytes`; or, if `before` is the checksum of the bytes before `bytes`, the
// checksum of both parts. The checksum of no bytes is 0. O(n).
uint32_t Crc32c(absl::string_view bytes, uint32_t before = 0);

// Returns what `Crc32c` returns, computed by table lookups instead of the processor's CRC
// instruction. For tests.
uint32_t PortableCrc32c(absl::string_view bytes, uint32_t before = 0);

}  // namespace carom::internal
