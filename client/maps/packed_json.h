// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a JSON map with millions of cells and objects read into little memory?
//
// `PackedJson::Parse` parses a document into one array of values of 16 bytes, with all strings in
// one text and all long lists of unsigned 32-bit integers, such as the cells of a tile layer, in
// one list of 4 bytes each. `PackedValue` reads it. For small documents see map_json.h.
//
//   const absl::StatusOr<PackedJson> map = PackedJson::Parse(bytes);
//   for (const PackedValue layer : map->root().Member("layers")) { ... layer.Member("name").Text()
//   }
//
// Errors are INVALID_ARGUMENT with the line of a syntax error. Thread-safe for reading. Cost:
// linear in the text; memory: about 2 bytes for each byte of the text, at most 8. `Member` is
// linear in the size of the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/maps/map_import.h"

namespace carom {

class PackedValue;

// A parsed document.
class PackedJson {
 public:
  // An empty document, whose root is null.
  PackedJson();
  // `progress` may be null. Errors: `bytes` are not JSON, contain a number above every double, or
  // are nested deeper than `kMaxDepth` (json_text.h).
  static absl::StatusOr<PackedJson> Parse(std::string_view bytes,
                                          const ReadProgress* progress = nullptr);

  PackedValue root() const;

 private:
  friend class PackedValue;
  friend class PackedBuilder;

  enum class Kind : uint8_t {
    kNull,
    kFalse,
    kTrue,
    kUnsigned,
    kNumber,
    kString,
    kList,
    kArray,
    kObject
  };

  struct Node {
    uint32_t key = 0;  // the number of its name in `keys_`, if it is a member
    Kind kind = Kind::kNull;
    // kString: the place of its length and text in `texts_`. kList: its place in `lists_`, where
    // its length is in front. kArray, kObject: the number of the nodes inside. kUnsigned: the
    // number. kNumber: the bits of a double.
    uint64_t bits = 0;
  };

  std::vector<Node> nodes_;  // each array and object in front of its values
  std::vector<std::string> keys_;
  std::string texts_;
  std::vector<uint32_t> lists_;
};

// A value of a document, or nothing.
class PackedValue {
 public:
  PackedValue() = default;

  // Returns whether there is a value that is not `null`.
  explicit operator bool() const { return node_ != nullptr; }
  bool is_array() const { return Is(Kind::kArray) || Is(Kind::kList); }
  bool is_object() const { return Is(Kind::kObject); }
  bool is_structured() const { return is_array() || is_object(); }
  bool is_true() const { return Is(Kind::kTrue); }
  bool is_string() const { return Is(Kind::kString); }

  // Returns the last member with a name; nothing if there is none, or it is null.
  PackedValue Member(std::string_view name) const;
  // Returns the name of a member of an object.
  std::string_view key() const { return json_->keys_[node_->key]; }
  // Returns a coordinate (`IsAccepted`), a non-negative integer, or a string.
  std::optional<double> Number() const;
  std::optional<uint64_t> Unsigned() const;
  std::optional<std::string_view> Text() const;
  // Returns the numbers of an array of unsigned 32-bit integers: those of a long one refer to the
  // document, those of a short one are copied to `buffer`. Nullopt for another value.
  std::optional<std::span<const uint32_t>> Numbers(std::vector<uint32_t>& buffer) const;

  // Goes through the values of an array or object that is no list of numbers; null values too.
  class Iterator {
   public:
    Iterator(const PackedJson* json, size_t at) : json_(json), at_(at) {}
    PackedValue operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const PackedJson* json_;
    size_t at_;
  };
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class PackedJson;
  using Kind = PackedJson::Kind;

  PackedValue(const PackedJson* json, const PackedJson::Node* node) : json_(json), node_(node) {}
  bool Is(Kind kind) const { return node_ != nullptr && node_->kind == kind; }
  bool has_nodes() const { return Is(Kind::kArray) || Is(Kind::kObject); }

  const PackedJson* json_ = nullptr;
  const PackedJson::Node* node_ = nullptr;
};

}  // namespace carom
