// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bytes does a compressed or base64 text of a map stand for?
//
// `Inflate` decompresses and `DecodeBase64` decodes, with a bound on the size of the result: a
// small hostile file cannot ask for more memory than the bound. Start with `Inflate`.
//
//   const absl::StatusOr<std::string> bytes = DecodeBase64(text);
//   const absl::StatusOr<std::string> cells = Inflate(*bytes, Compression::kZlib, 4 * cell_count);
//
// Sizes are in bytes. Errors are INVALID_ARGUMENT without a path: the text is damaged or cut, or
// the result is larger than the bound. Bytes after the end of the compressed data are ignored.
// Thread-safe. Cost: linear in the result; memory: the result, and a window of at most 128 MiB for
// zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace carom {

// How bytes are compressed. `Inflate` detects zlib and gzip by the header of the bytes, whichever
// of the two is named.
enum class Compression : uint8_t { kNone, kZlib, kGzip, kZstd };

// Returns the compression that a map calls `name`: "" (none), "zlib", "gzip" or "zstd"; nullopt for
// another name.
std::optional<Compression> CompressionOf(std::string_view name);

// Returns the decompressed bytes, at most `max_bytes`.
absl::StatusOr<std::string> Inflate(std::string_view bytes, Compression compression,
                                    size_t max_bytes);

// Returns the bytes of a base64 text. Blanks and line breaks are ignored; padding may be absent.
absl::StatusOr<std::string> DecodeBase64(std::string_view text);

}  // namespace carom
