// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/inflate.h"
#include "client/maps/tiled/tiled_map.h"

namespace carom {
namespace {

// The greatest magnitude of the place of a chunk, and the greatest size, in cells. Twice a place
// and a size fit a lattice point.
constexpr TiledRange kChunkPlaces{-(int64_t{1} << 26), int64_t{1} << 26};
constexpr TiledRange kChunkSizes{0, int64_t{1} << 26};

// How the cells of a layer are written.
struct CellEncoding {
  bool is_base64 = false;
  Compression compression = Compression::kNone;
};

// Reads the encoding of the element `data`, or of a layer in JSON.
absl::StatusOr<CellEncoding> EncodingOf(const TiledNode& node) {
  const absl::StatusOr<std::string> encoding = node.Text("encoding");
  const absl::StatusOr<std::string> name = node.Text("compression");
  if (!encoding.ok()) return encoding.status();
  if (!name.ok()) return name.status();
  const std::optional<Compression> compression = CompressionOf(*name);
  if (!compression) {
    return node.Error("compression", "must be \"gzip\", \"zlib\", \"zstd\" or absent");
  }
  if (!encoding->empty() && *encoding != "csv" && *encoding != "base64") {
    return node.Error("encoding", "must be \"csv\", \"base64\" or absent");
  }
  return CellEncoding{*encoding == "base64", *compression};
}

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Returns numbers separated by commas; blanks and a last comma are ignored. Nullopt if the text is
// something else.
std::optional<std::vector<uint32_t>> NumbersOfCsv(std::string_view text) {
  std::vector<uint32_t> numbers;
  size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && IsBlank(text[i])) ++i;
  };
  for (skip_blanks(); i < text.size(); skip_blanks()) {
    uint64_t number = 0;
    const size_t begin = i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = number * 10 + static_cast<uint64_t>(text[i] - '0');
      if (number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    }
    if (i == begin) return std::nullopt;
    numbers.push_back(static_cast<uint32_t>(number));
    skip_blanks();
    if (i == text.size()) break;
    if (text[i] != ',') return std::nullopt;
    ++i;
  }
  return numbers;
}

// Returns the numbers of a base64 text: 4 bytes each, the least significant first.
absl::StatusOr<std::vector<uint32_t>> NumbersOfBase64(std::string_view text,
                                                      Compression compression, size_t expected,
                                                      size_t& budget) {
  absl::StatusOr<std::string> bytes = DecodeBase64(text);
  if (bytes.ok() && compression != Compression::kNone) {
    // The size in cells is known, so nothing beyond it is decompressed.
    if (expected > budget) {
      return absl::InvalidArgumentError("is beyond the limit of bytes of decompressed layers");
    }
    bytes = Inflate(*bytes, compression, expected);
    budget -= expected;
  }
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", bytes->size(), " bytes; its size in cells needs ", expected));
  }
  std::vector<uint32_t> numbers(expected / 4);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto byte = [&](size_t k) {
      return static_cast<uint32_t>(static_cast<uint8_t>((*bytes)[4 * i + k])) << (8 * k);
    };
    numbers[i] = byte(0) | byte(1) | byte(2) | byte(3);
  }
  return numbers;
}

// Reads the cells of a layer or chunk, which `data` has, into `chunk`.
absl::Status ReadNumbersOfChunk(const TiledNode& data, const CellEncoding& encoding, size_t& budget,
                                TiledChunk& chunk) {
  const size_t count = static_cast<size_t>(int64_t{chunk.width} * chunk.height);
  if (!data.HasCellText()) {
    const auto numbers = data.CellNumbers(chunk.decoded);
    if (!numbers.ok()) return numbers.status();
    chunk.numbers = *numbers;
  } else if (encoding.is_base64) {
    auto numbers = NumbersOfBase64(data.CellText(), encoding.compression, 4 * count, budget);
    if (!numbers.ok()) return data.Error("data", std::string(numbers.status().message()));
    chunk.decoded = *std::move(numbers);
    chunk.numbers = chunk.decoded;
  } else {
    std::optional<std::vector<uint32_t>> numbers = NumbersOfCsv(data.CellText());
    if (!numbers) {
      return data.Error("data", "must be unsigned 32-bit integers, separated by commas");
    }
    chunk.decoded = *std::move(numbers);
    chunk.numbers = chunk.decoded;
  }
  if (chunk.numbers.size() == count) return absl::OkStatus();
  return data.Error("data", absl::StrCat("has ", chunk.numbers.size(), " cells; its size is ",
                                         chunk.width, " x ", chunk.height));
}

// Returns a chunk with its place and size, without numbers.
absl::StatusOr<TiledChunk> PlaceOfChunk(const TiledNode& node) {
  const auto x = node.Integer("x", 0, kChunkPlaces);
  const auto y = node.Integer("y", 0, kChunkPlaces);
  const auto width = node.Integer("width", 0, kChunkSizes);
  const auto height = node.Integer("height", 0, kChunkSizes);
  for (const absl::Status& status : {x.status(), y.status(), width.status(), height.status()}) {
    if (!status.ok()) return status;
  }
  TiledChunk chunk;
  chunk.x = static_cast<int32_t>(*x);
  chunk.y = static_cast<int32_t>(*y);
  chunk.width = static_cast<int32_t>(*width);
  chunk.height = static_cast<int32_t>(*height);
  return chunk;
}

}  // namespace

// In XML the element `data` has the encoding and the chunks; in JSON the layer itself has them.
absl::StatusOr<std::vector<TiledChunk>> ReadTiledCells(const TiledNode& layer, size_t& budget) {
  const TiledNode element = layer.Child("data");
  const TiledNode& data = element ? element : layer;
  const absl::StatusOr<CellEncoding> encoding = EncodingOf(data);
  if (!encoding.ok()) return encoding.status();
  const auto parts = data.List("chunk", "chunks");
  if (!parts.ok()) return parts.status();
  std::vector<TiledChunk> chunks;
  if (parts->empty() && !data.HasCells()) return chunks;
  for (const TiledNode& node : parts->empty() ? std::vector<TiledNode>{layer} : *parts) {
    absl::StatusOr<TiledChunk> chunk = PlaceOfChunk(node);
    if (!chunk.ok()) return chunk.status();
    const absl::Status read =
        ReadNumbersOfChunk(parts->empty() ? data : node, *encoding, budget, *chunk);
    if (!read.ok()) return read;
    chunks.push_back(*std::move(chunk));
  }
  return chunks;
}

}  // namespace carom
