// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Columns of messages beside what the core has for them. Private to this folder.
//
// A list of columns is a std::tuple of `Column` (questions) or of `RowColumn` (answers). It is
// written down once and read in both directions, so that what is encoded is what is decoded.
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

template <class T>
std::span<const T> View(const RepeatedField<T>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

// Makes `column` `count` entries long, with memory it had, and returns them to be written.
template <class T>
T* Cells(RepeatedField<T>* column, size_t count) {
  column->Clear();
  column->Reserve(static_cast<int>(count));
  return column->AddNAlreadyReserved(static_cast<int>(count));
}

template <class T, class Values>
void CopyColumn(const Values& values, RepeatedField<T>* column) {
  std::copy(std::begin(values), std::end(values), Cells(column, std::size(values)));
}

// A column of a question: a span of the core, which views the message where their types agree.
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

template <class Core, class Message, class... Columns>
void ViewColumns(const Message& message, const std::tuple<Columns...>& columns, Core& core) {
  std::apply(
      [&](const Columns&... column) {
        ((core.*column.core = View((message.*column.read)())), ...);
      },
      columns);
}

template <class Core, class Message, class... Columns>
void EncodeColumns(const Core& core, const std::tuple<Columns...>& columns, Message& message) {
  std::apply(
      [&](const Columns&... column) {
        (CopyColumn(core.*column.core, (message.*column.write)()), ...);
      },
      columns);
}

// Of a column whose rows all have a value.
struct Always {
  template <class Row>
  constexpr bool operator()(const Row&) const {
    return true;
  }
};

// A column of answers. `member` takes a row to its value, by reference; where `present` is false
// of a row, the value means nothing and is sent as 0.
template <class Member, class Message, class T, class Present = Always>
struct RowColumn {
  using Read = const RepeatedField<T>& (Message::*)() const;
  using Write = RepeatedField<T>* (Message::*)();

  constexpr RowColumn(const char* name, Member member, Read read, Write write, Present present = {})
      : name(name), member(member), read(read), write(write), present(present) {}

  template <class Row>
  using Value = std::remove_cvref_t<decltype(std::declval<Member>()(std::declval<Row&>()))>;

  template <class Row>
  void Put(const Row& row, T& cell) const {
    if constexpr (std::is_enum_v<Value<Row>>) {
      cell = EnumToWire(member(row));
    } else {
      cell = present(row) ? static_cast<T>(member(row)) : T{};
    }
  }

  // Reads a cell that `Fits`.
  template <class Row>
  void Take(const T& cell, Row& row) const {
    if constexpr (std::is_enum_v<Value<Row>>) {
      member(row) = EnumFromWire<Value<Row>>(cell);
    } else {
      member(row) = cell;
    }
  }

  // Whether the column has `count` entries that can be read.
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

// A column and its entries.
template <class Column, class T>
struct BoundColumn {
  const Column& column;
  T* cells;
};
template <class Column, class T>
BoundColumn(const Column&, T*) -> BoundColumn<Column, T>;

// Writes all columns in one pass over the rows, which are the larger side.
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

// A column that does not fit the others of its batch.
inline absl::Status Misfit(absl::string_view batch, absl::string_view column) {
  return Refused(absl::StatusCode::kInternal, absl::StrCat(batch, ".", column),
                 "does not fit the other columns of the answer");
}

// Reads `count` rows, or names the first column of the batch that does not have them.
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
