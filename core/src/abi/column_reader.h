// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the columns of carom.h become those of the C++ headers?
//
// A contiguous column is read where it is. Others are copied to a `ColumnStorage`, which the next
// call uses again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/carom.h"
#include "carom/status.h"

namespace carom::abi {

// The type of the elements of a column.
template <class Column>
using ElementOf = std::remove_const_t<std::remove_pointer_t<decltype(Column::data)>>;

// Copies of columns. A copy stays where it is until `Clear`, after which its memory is used again.
class ColumnStorage {
 public:
  void Clear() {
    std::apply([](auto&... copies) { ((copies.used = 0), ...); }, copies_);
  }

  template <class Column>
  std::span<const ElementOf<Column>> Copy(const Column& column) {
    auto& copies = std::get<Copies<ElementOf<Column>>>(copies_);
    if (copies.used == copies.all.size()) copies.all.emplace_back();
    auto& copy = copies.all[copies.used++];
    copy.resize(column.length);
    for (size_t i = 0; i < column.length; ++i) copy[i] = column.data[i * column.stride];
    return copy;
  }

  // Returns the numbers 0, 1, … below `count`.
  std::span<const uint32_t> Indices(size_t count) {
    auto& copies = std::get<Copies<uint32_t>>(copies_);
    if (copies.used == copies.all.size()) copies.all.emplace_back();
    auto& indices = copies.all[copies.used++];
    indices.resize(count);
    std::iota(indices.begin(), indices.end(), 0u);
    return indices;
  }

 private:
  template <class T>
  struct Copies {
    std::vector<std::vector<T>> all;
    size_t used = 0;
  };
  std::tuple<Copies<double>, Copies<uint64_t>, Copies<uint32_t>, Copies<uint8_t>> copies_;
};

// Reads the members of one struct. Faults go to `refusal`, with field paths that begin with
// `prefix` and a dot, such as `segments.`.
class ColumnReader {
 public:
  ColumnReader(absl::string_view prefix, ColumnStorage& storage, Refusal& refusal)
      : prefix_(prefix), storage_(storage), refusal_(refusal) {}

  // Returns a reader of a struct within this one: `below` is its name and a dot, such as `movers.`.
  ColumnReader Below(absl::string_view below) const {
    ColumnReader reader = *this;
    reader.below_ = below;
    return reader;
  }

  // Sets `out` to the elements of `column`; to none if the column cannot be read.
  template <class Column>
  void Read(absl::string_view name, const Column& column, std::span<const ElementOf<Column>>& out) {
    if (column.length == 0) {
      out = {};
    } else if (column.stride <= 1 && IsReadable(column)) [[likely]] {
      out = {column.data, column.length};
    } else {
      out = ReadSlowly(name, column);
    }
  }

  // Returns the numbers 0, 1, … below `count`.
  std::span<const uint32_t> Indices(size_t count) { return storage_.Indices(count); }

  // Returns entry `value` of `values`, an array by the numbers of an enumeration of carom.h; its
  // entry 0 is the default.
  template <class T, size_t kSize>
  T ReadEnum(absl::string_view name, uint32_t value, const T (&values)[kSize]) {
    if (value < kSize) [[likely]]
      return values[value];
    Refuse(name, absl::StrCat("must be in [0, ", kSize - 1, "]"));
    return values[0];
  }

  // Returns a member that is 0 or 1.
  bool ReadFlag(absl::string_view name, uint32_t value) {
    if (value > 1) Refuse(name, "must be 0 or 1");
    return value != 0;
  }

  // Checks a member that later versions may use.
  void CheckReserved(uint32_t value) {
    if (value != 0) Refuse("reserved", "must be 0");
  }

  void Refuse(absl::string_view name, absl::string_view description) {
    refusal_.Add(absl::StrCat(prefix_, ".", below_, name), description);
  }
  Refusal& refusal() { return refusal_; }

 private:
  // Whether the elements are at addresses of their type, within the address space.
  template <class Column>
  static bool IsReadable(const Column& column) {
    return column.data != nullptr &&
           reinterpret_cast<uintptr_t>(column.data) % alignof(ElementOf<Column>) == 0 &&
           column.length <= MostOf<Column>();
  }

  // The limit of the length of a column. Where addresses have 32 bits, these bound it first.
  template <class Column>
  static constexpr size_t MostOf() {
    return std::min<size_t>(kMaxLength,
                            std::numeric_limits<ptrdiff_t>::max() / sizeof(ElementOf<Column>));
  }

  template <class Column>
  [[gnu::noinline]] std::span<const ElementOf<Column>> ReadSlowly(absl::string_view name,
                                                                  const Column& column) {
    constexpr size_t kMost = std::numeric_limits<ptrdiff_t>::max() / sizeof(ElementOf<Column>);
    if (column.data == nullptr) {
      Refuse(name, "must not be null where the length is above 0");
    } else if (column.length > MostOf<Column>()) {
      Refuse(name, absl::StrCat("must have at most ", MostOf<Column>(), " entries"));
    } else if (!IsReadable(column)) {
      Refuse(name, "must be aligned to the size of its elements");
    } else if (column.stride > kMost / column.length) {
      Refuse(name, "has a stride that exceeds the address space");
    } else {
      return storage_.Copy(column);
    }
    return {};
  }

  // The largest number of items: indices of items are of 32 bits.
  static constexpr size_t kMaxLength = std::numeric_limits<uint32_t>::max();

  const absl::string_view prefix_;
  absl::string_view below_;
  ColumnStorage& storage_;
  Refusal& refusal_;
};

}  // namespace carom::abi
