// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace carom::internal {
namespace {

// Eight bytes are taken at a time: table k has the remainders of a byte that k bytes follow
// (Sarwate 1988 for one table; Kounavis and Berry 2005, "slicing by 8").
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables MakeTables() {
  constexpr uint32_t kReflectedPolynomial = 0x82F63B78;
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1) * kReflectedPolynomial;
    tables[0][byte] = rest;
  }
  for (size_t k = 1; k < kSlices; ++k) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t rest = tables[k - 1][byte];
      tables[k][byte] = rest >> 8 ^ tables[0][rest & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");

// Eight bytes at any place.
uint64_t LoadWord(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// The remainder after `words` times eight bytes more.
uint32_t BySlices(const char* bytes, size_t words, uint32_t rest) {
  for (size_t at = 0; at < words; ++at) {
    const uint64_t word = LoadWord(bytes + kSlices * at) ^ rest;
    rest = 0;
    for (size_t i = 0; i < kSlices; ++i) {
      rest ^= kTables[kSlices - 1 - i][word >> (8 * i) & 0xFF];
    }
  }
  return rest;
}

#if defined(__x86_64__)
// Processors since 2008 have an instruction for it, ten times as fast.
__attribute__((target("sse4.2"))) uint32_t ByInstruction(const char* bytes, size_t words,
                                                         uint32_t rest) {
  uint64_t rest64 = rest;
  for (size_t at = 0; at < words; ++at) {
    rest64 = _mm_crc32_u64(rest64, LoadWord(bytes + kSlices * at));
  }
  return static_cast<uint32_t>(rest64);
}
#endif

using TakeWords = uint32_t (*)(const char* bytes, size_t words, uint32_t rest);

// What this processor has.
TakeWords FastestWay() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ByInstruction;
#endif
  return BySlices;
}

// What is left after whole words is taken byte by byte.
uint32_t Crc(TakeWords take_words, absl::string_view bytes, uint32_t before) {
  const size_t words = bytes.size() / kSlices;
  uint32_t rest = take_words(bytes.data(), words, ~before);
  for (const char byte : bytes.substr(words * kSlices)) {
    rest = rest >> 8 ^ kTables[0][(rest ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~rest;
}

}  // namespace

uint32_t Crc32c(absl::string_view bytes, uint32_t before) {
  static const TakeWords fastest = FastestWay();
  return Crc(fastest, bytes, before);
}

uint32_t PortableCrc32c(absl::string_view bytes, uint32_t before) {
  return Crc(BySlices, bytes, before);
}

}  // namespace carom::internal
