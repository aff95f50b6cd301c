// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace carom {
namespace {

// The first size of a result; it doubles until the end of the data or the bound.
constexpr size_t kFirstBytes = size_t{1} << 16;

// The errors have no path: the caller knows the place.
absl::Status DamagedData() {
  return absl::InvalidArgumentError("is no compressed data, or damaged or cut");
}
absl::Status TooLarge(size_t max_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("has more than ", max_bytes, " bytes when decompressed"));
}

// Enlarges `result` for more data. Makes room for one byte beyond the bound, which shows that the
// data is larger. Returns false if there is data beyond the bound.
bool Grow(std::string& result, size_t max_bytes) {
  if (result.size() > max_bytes) return false;
  const size_t most = std::min(max_bytes, std::numeric_limits<size_t>::max() / 2) + 1;
  result.resize(std::min(most, std::max(kFirstBytes, 2 * result.size())));
  return true;
}

// The state of zlib, which is freed at the end.
struct ZlibStream {
  z_stream stream = {};
  bool is_open = false;

  ZlibStream() = default;
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;
  ~ZlibStream() {
    if (is_open) inflateEnd(&stream);
  }
};

// zlib counts the bytes of a step in 32 bits.
uInt StepSize(size_t left) {
  return static_cast<uInt>(std::min<size_t>(left, std::numeric_limits<int32_t>::max()));
}

// Decompresses in steps, each of which either makes progress or ends the loop.
absl::StatusOr<std::string> InflateZlib(std::string_view bytes, size_t max_bytes) {
  ZlibStream zlib;
  // 32 added to the window size makes zlib read the heads of both zlib and gzip.
  if (inflateInit2(&zlib.stream, 15 + 32) != Z_OK) return DamagedData();
  zlib.is_open = true;
  std::string result;
  size_t read = 0;
  size_t written = 0;
  while (true) {
    if (written == result.size() && !Grow(result, max_bytes)) return TooLarge(max_bytes);
    const uInt in = StepSize(bytes.size() - read);
    const uInt out = StepSize(result.size() - written);
    // zlib does not change its input, though its interface does not say so.
    zlib.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    zlib.stream.avail_in = in;
    zlib.stream.next_out = reinterpret_cast<Bytef*>(result.data() + written);
    zlib.stream.avail_out = out;
    const int state = inflate(&zlib.stream, Z_NO_FLUSH);
    const size_t consumed = in - zlib.stream.avail_in;
    const size_t produced = out - zlib.stream.avail_out;
    read += consumed;
    written += produced;
    if (state == Z_STREAM_END) break;
    if (state != Z_OK || (consumed == 0 && produced == 0)) return DamagedData();
  }
  if (written > max_bytes) return TooLarge(max_bytes);
  result.resize(written);
  return result;
}

// Frees the state of zstd.
struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Decompresses one frame: `left` is 0 at its end.
absl::StatusOr<std::string> InflateZstd(std::string_view bytes, size_t max_bytes) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  std::string result;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t written = 0;
  while (true) {
    if (written == result.size() && !Grow(result, max_bytes)) return TooLarge(max_bytes);
    ZSTD_outBuffer out{result.data(), result.size(), written};
    const size_t consumed = in.pos;
    const size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return DamagedData();
    const bool has_progress = out.pos > written || in.pos > consumed;
    written = out.pos;
    if (left == 0) break;
    if (!has_progress && written < result.size()) return DamagedData();
  }
  if (written > max_bytes) return TooLarge(max_bytes);
  result.resize(written);
  return result;
}

}  // namespace

std::optional<Compression> CompressionOf(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "zlib") return Compression::kZlib;
  if (name == "gzip") return Compression::kGzip;
  if (name == "zstd") return Compression::kZstd;
  return std::nullopt;
}

absl::StatusOr<std::string> Inflate(std::string_view bytes, Compression compression,
                                    size_t max_bytes) {
  switch (compression) {
    case Compression::kZlib:
    case Compression::kGzip:
      return InflateZlib(bytes, max_bytes);
    case Compression::kZstd:
      return InflateZstd(bytes, max_bytes);
    case Compression::kNone:
      break;
  }
  if (bytes.size() > max_bytes) return TooLarge(max_bytes);
  return std::string(bytes);
}

absl::StatusOr<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::string_view(text.data(), text.size()), &bytes)) {
    return absl::InvalidArgumentError("must be base64");
  }
  return bytes;
}

}  // namespace carom
