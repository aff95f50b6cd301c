// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do columns of messages (repeated fields of a protobuf message) map to values of the core, the
// geometry library below core/? Private to this folder.
//
// A list of columns is a std::tuple of `Column` (queries) or of `RowColumn` (answers). One list
// serves encoding and decoding, so that both handle the same columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/status.h"
#include "google/protobuf/repeated_field.h"
#include "wire/enums.h"

namespace carom::wire {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

// Returns a view of `column`.
template <class T>
std::span<const T> View(const RepeatedField<T>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

// Resizes `column` to `count` entries, reusing its memory, and returns a pointer to the entries,
// which the caller must write.
template <class T>
T* Cells(RepeatedField<T>* column, size_t count) {
  column->Clear();
  column->Reserve(static_cast<int>(count));
  return column->AddNAlreadyReserved(static_cast<int>(count));
}

// Sets `column` to a copy of `values`.
template <class T, class Values>
void CopyColumn(const Values& values, RepeatedField<T>* column) {
  std::copy(std::begin(values), std::end(values), Cells(column, std::size(values)));
}

// A column of queries, with one entry for each query: `core` is a member of a struct of the
// geometry core, a span; `read` and `write` are the accessors of the repeated field in the message.
// If the entries of the span and of the field have one type, decoding sets the span to a view of
// the field.
template <class Core, class Message, class T, class Cell = T>
struct Column {
  using Read = const RepeatedField<Cell>& (Message::*)() const;
  using Write = RepeatedField<Cell>* (Message::*)();

  constexpr Column(std::span<const T> Core::*core, Read read, Write write)
      : core(core), read(read), write(write) {}

  std::span<const T> Core::*core;
  Read read;
  Write write;
};

// Sets the spans of `core`, a struct of the geometry core, to views of the columns (repeated
// fields) of `message`.
template <class Core, class Message, class... Columns>
void ViewColumns(const Message& message, const std::tuple<Columns...>& columns, Core& core) {
  std::apply(
      [&](const Columns&... column) {
        ((core.*column.core = View((message.*column.read)())), ...);
      },
      columns);
}

// Copies the spans of `core`, a struct of the geometry core, to the columns (repeated fields) of
// `message`.
template <class Core, class Message, class... Columns>
void EncodeColumns(const Core& core, const std::tuple<Columns...>& columns, Message& message) {
  std::apply(
      [&](const Columns&... column) {
        (CopyColumn(core.*column.core, (message.*column.write)()), ...);
      },
      columns);
}

// The `Present` predicate of a `RowColumn` in which every row has a value.
struct Always {
  template <class Row>
  constexpr bool operator()(const Row&) const {
    return true;
  }
};

// A column of answers: a repeated field with one entry for each row. `member(row)` returns a
// reference to the value of a row. If `present(row)` is false, the row has no value and its entry
// is 0.
template <class Member, class Message, class T, class Present = Always>
struct RowColumn {
  using Read = const RepeatedField<T>& (Message::*)() const;
  using Write = RepeatedField<T>* (Message::*)();

  constexpr RowColumn(const char* name, Member member, Read read, Write write, Present present = {})
      : name(name), member(member), read(read), write(write), present(present) {}

  template <class Row>
  using Value = std::remove_cvref_t<decltype(std::declval<Member>()(std::declval<Row&>()))>;

  // Writes the value of `row` to `cell`, its entry in the repeated field.
  template <class Row>
  void Put(const Row& row, T& cell) const {
    if constexpr (std::is_enum_v<Value<Row>>) {
      cell = EnumToWire(member(row));
    } else {
      cell = present(row) ? static_cast<T>(member(row)) : T{};
    }
  }

  // Sets the value of `row` from `cell`, its entry in the repeated field, whose entries `Fits` has
  // checked.
  template <class Row>
  void Take(const T& cell, Row& row) const {
    if constexpr (std::is_enum_v<Value<Row>>) {
      member(row) = EnumFromWire<Value<Row>>(cell);
    } else {
      member(row) = cell;
    }
  }

  // Returns whether the repeated field in `message` has `count` entries, all of them valid: only
  // the entries of enums can be invalid.
  template <class Row>
  bool Fits(const Message& message, size_t count) const {
    const RepeatedField<T>& column = (message.*read)();
    if (static_cast<size_t>(column.size()) != count) return false;
    if constexpr (std::is_enum_v<Value<Row>>) {
      using Core = Value<Row>;
      return std::all_of(column.begin(), column.end(), [](int wire) {
        return wire >= EnumTable<Core>::kFirstAnswer && IsKnown<Core>(wire);
      });
    }
    return true;
  }

  const char* name;
  Member member;
  Read read;
  Write write;
  Present present;
};

// A column of a message and a pointer to the first of its entries.
template <class Column, class T>
struct BoundColumn {
  const Column& column;
  T* cells;
};
template <class Column, class T>
BoundColumn(const Column&, T*) -> BoundColumn<Column, T>;

// Writes the values of `rows` to all columns of `message`, in one pass over the rows instead of one
// pass per column, because the rows take more memory than the columns.
template <class Row, class Message, class... Columns>
void EncodeRows(std::span<const Row> rows, const std::tuple<Columns...>& columns,
                Message& message) {
  std::apply(
      [&](const Columns&... column) {
        const auto fill = [&](const auto&... bound) {
          for (size_t i = 0; i < rows.size(); ++i) {
            (bound.column.Put(rows[i], bound.cells[i]), ...);
          }
        };
        fill(BoundColumn{column, Cells((message.*column.write)(), rows.size())}...);
      },
      columns);
}
template <class Row, class Message, class... Columns>
void EncodeRows(const std::vector<Row>& rows, const std::tuple<Columns...>& columns,
                Message& message) {
  EncodeRows(std::span<const Row>(rows), columns, message);
}

// Returns the error INTERNAL for the column `column`, whose length or entries do not match the
// other columns of the answers to one kind of query; `batch` is the name of the kind.
inline absl::Status Misfit(absl::string_view batch, absl::string_view column) {
  return Refused(absl::StatusCode::kInternal, absl::StrCat(batch, ".", column),
                 "does not fit the other columns of the answer");
}

// Sets `rows` to the `count` rows whose values the columns of `message` contain, or returns an
// error that names the first column that does not have `count` entries, all of them valid.
template <class Row, class Message, class... Columns>
absl::Status DecodeRows(absl::string_view batch, const Message& message, size_t count,
                        const std::tuple<Columns...>& columns, std::vector<Row>& rows) {
  const char* misfit = nullptr;
  std::apply(
      [&](const Columns&... column) {
        ((misfit == nullptr && !column.template Fits<Row>(message, count)
              ? void(misfit = column.name)
              : void()),
         ...);
      },
      columns);
  if (misfit != nullptr) return Misfit(batch, misfit);
  rows.resize(count);
  std::apply(
      [&](const Columns&... column) {
        const auto fill = [&](const auto&... bound) {
          for (size_t i = 0; i < count; ++i) (bound.column.Take(bound.cells[i], rows[i]), ...);
        };
        fill(BoundColumn{column, (message.*column.read)().data()}...);
      },
      columns);
  return absl::OkStatus();
}

}  // namespace carom::wire
