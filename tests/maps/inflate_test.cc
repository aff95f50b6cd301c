// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Decompression and base64 (client/maps/inflate.h), and JSON in little memory
// (client/maps/packed_json.h).

#include "client/maps/inflate.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/maps/packed_json.h"
#include "tests/maps/deflate.h"
#include "tests/support/random.h"

namespace carom::testing {
namespace inflate_test {

std::string Packed(const std::string& bytes, Compression compression) {
  if (compression == Compression::kNone) return bytes;
  if (compression != Compression::kZstd) {
    return Deflated(bytes, compression == Compression::kGzip ? 31 : 15);
  }
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

constexpr Compression kCompressions[] = {Compression::kNone, Compression::kZlib, Compression::kGzip,
                                         Compression::kZstd};

// Sizes around those of the first result and its doubles, with bounds that fit or are one too
// small.
TEST(Inflate, ReturnsTheBytesUpToTheBound) {
  SplitMix64 random(431);
  for (const size_t size : {0, 1, 1000, 65535, 65536, 65537, 131072, 500000}) {
    std::string bytes(size, 'a');
    for (size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(random.Next());
    for (const Compression compression : kCompressions) {
      const std::string packed = Packed(bytes, compression);
      for (const size_t bound : {size, size + 1, size + 1000000, SIZE_MAX}) {
        const absl::StatusOr<std::string> found = Inflate(packed, compression, bound);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(*found, bytes);
      }
      if (size == 0) continue;
      EXPECT_FALSE(Inflate(packed, compression, size - 1).ok());
      EXPECT_FALSE(Inflate(packed, compression, 0).ok());
      if (compression == Compression::kNone) continue;
      EXPECT_FALSE(Inflate(packed.substr(0, packed.size() - 5), compression, size).ok());
      EXPECT_FALSE(Inflate(bytes, compression, size).ok());
      EXPECT_FALSE(Inflate("", compression, size).ok());
    }
  }
}

TEST(Inflate, DamagedDataEnds) {
  SplitMix64 random(432);
  const std::string bytes(100000, 'x');
  for (const Compression compression : kCompressions) {
    const std::string packed = Packed(bytes, compression);
    for (int round = 0; round < 300; ++round) {
      std::string damaged = packed;
      for (int i = 0; i < 3; ++i) {
        damaged[random.Next() % damaged.size()] = static_cast<char>(random.Next());
      }
      const absl::StatusOr<std::string> found = Inflate(damaged, compression, 200000);
      EXPECT_LE(found.ok() ? found->size() : 0, 200000u);
    }
  }
}

TEST(Inflate, NamesOfCompressions) {
  EXPECT_EQ(CompressionOf(""), Compression::kNone);
  EXPECT_EQ(CompressionOf("zlib"), Compression::kZlib);
  EXPECT_EQ(CompressionOf("gzip"), Compression::kGzip);
  EXPECT_EQ(CompressionOf("zstd"), Compression::kZstd);
  EXPECT_FALSE(CompressionOf("lzma").has_value());
}

TEST(Inflate, Base64IgnoresBlanks) {
  EXPECT_EQ(DecodeBase64("\n  AQID\r\n BA==\n").value(), "\1\2\3\4");
  EXPECT_EQ(DecodeBase64("AQIDBA").value(), "\1\2\3\4");
  EXPECT_EQ(DecodeBase64("").value(), "");
  for (const char* text : {"A", "AQ=", "A*ID", "AQ==ID"}) EXPECT_FALSE(DecodeBase64(text).ok());
}

// --- Packed JSON -------------------------------------------------------------------------------

// Returns a random document with all kinds of values, and lists around the least packed length.
nlohmann::json RandomJson(SplitMix64& random, int depth) {
  switch (random.Next() % (depth > 0 ? 9 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random.Next() % 2 == 0;
    case 2:
      return random.Next() >> (random.Next() % 64);
    case 3:
      return -static_cast<int64_t>(random.Next() >> 20);
    case 4:
      return 1000 * random.Unit() - 500;
    case 5:
      return std::string(random.Next() % 40, 's');
    case 6: {
      nlohmann::json list = nlohmann::json::array();
      for (size_t i = 0, size = random.Next() % 40; i < size; ++i) {
        list.push_back(random.Next() >> (31 + random.Next() % 33));
      }
      return list;
    }
    case 7: {
      nlohmann::json array = nlohmann::json::array();
      for (size_t i = 0, size = random.Next() % 6; i < size; ++i) {
        array.push_back(RandomJson(random, depth - 1));
      }
      return array;
    }
    default: {
      nlohmann::json object = nlohmann::json::object();
      for (size_t i = 0, size = random.Next() % 6; i < size; ++i) {
        object[std::string(1, static_cast<char>('a' + random.Next() % 12))] =
            RandomJson(random, depth - 1);
      }
      return object;
    }
  }
}

void ExpectSame(PackedValue found, const nlohmann::json& expected) {
  EXPECT_EQ(found.is_array(), expected.is_array());
  EXPECT_EQ(found.is_object(), expected.is_object());
  EXPECT_EQ(found.is_true(), expected.is_boolean() && expected.get<bool>());
  EXPECT_EQ(found.is_string(), expected.is_string());
  EXPECT_EQ(found.Text().has_value(), expected.is_string());
  EXPECT_EQ(found.Text().value_or(""), expected.is_string() ? expected.get<std::string>() : "");
  if (expected.is_number()) {
    const double number = expected.get<double>();
    EXPECT_EQ(found.Number().value_or(HUGE_VAL), std::abs(number) <= 0x1p53 ? number : HUGE_VAL);
  }
  EXPECT_EQ(found.Unsigned().has_value(), expected.is_number_unsigned());
  EXPECT_EQ(found.Unsigned().value_or(0),
            expected.is_number_unsigned() ? expected.get<uint64_t>() : 0);
  std::vector<uint32_t> buffer;
  const auto numbers = found.Numbers(buffer);
  const bool is_list =
      expected.is_array() && std::ranges::all_of(expected, [](const auto& value) {
        return value.is_number_unsigned() && value.template get<uint64_t>() <= UINT32_MAX;
      });
  ASSERT_EQ(numbers.has_value(), is_list);
  if (is_list) {
    EXPECT_EQ(std::vector<uint32_t>(numbers->begin(), numbers->end()),
              expected.get<std::vector<uint32_t>>());
    return;
  }
  size_t count = 0;
  for (const PackedValue value : found) {
    if (expected.is_array()) ExpectSame(value, expected[count]);
    if (expected.is_object()) ExpectSame(value, expected.at(std::string(value.key())));
    ++count;
  }
  EXPECT_EQ(count, expected.is_structured() ? expected.size() : 0);
  for (char name = 'a'; name < 'm'; ++name) {
    const bool has = expected.is_object() && expected.contains(std::string(1, name)) &&
                     !expected[std::string(1, name)].is_null();
    EXPECT_EQ(static_cast<bool>(found.Member(std::string(1, name))), has);
  }
}

TEST(PackedJson, HasTheValuesOfTheDocument) {
  SplitMix64 random(433);
  for (int round = 0; round < 500; ++round) {
    const nlohmann::json expected = {{"root", RandomJson(random, 5)}};
    const absl::StatusOr<PackedJson> found = PackedJson::Parse(expected.dump());
    ASSERT_TRUE(found.ok()) << found.status();
    for (const PackedValue value : found->root()) ExpectSame(value, expected["root"]);
    if (HasFailure()) FAIL() << expected.dump();
  }
}

TEST(PackedJson, TheLastOfEqualMembersCounts) {
  const PackedJson json = PackedJson::Parse(R"({"a": 1, "b": {"a": 3}, "a": 2})").value();
  EXPECT_EQ(json.root().Member("a").Unsigned(), 2u);
}

TEST(PackedJson, EmptyDocumentsHaveNoRoot) {
  EXPECT_FALSE(PackedJson().root());
  EXPECT_FALSE(PackedJson::Parse("null")->root());
}

TEST(PackedJson, ErrorsNameTheLine) {
  EXPECT_EQ(PackedJson::Parse("{\n\"a\": ]").status().message(), "line 2: not JSON");
  EXPECT_EQ(PackedJson::Parse("[1,\n2,\n1e999]").status().message(),
            "line 3: a number above every double");
  EXPECT_EQ(PackedJson::Parse("").status().message(), "line 1: not JSON");
  EXPECT_TRUE(PackedJson::Parse(std::string(256, '[') + std::string(256, ']')).ok());
  EXPECT_EQ(PackedJson::Parse(std::string(100000, '[')).status().message(),
            "arrays and objects are nested deeper than 256");
}

}  // namespace inflate_test
}  // namespace carom::testing
