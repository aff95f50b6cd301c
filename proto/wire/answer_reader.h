// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the columns of answers read and checked against each other? A client does not trust the
// server. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "wire/answer_columns.h"
#include "wire/columns.h"

namespace carom::wire {

// Returns the sum of `counts`, which is below 2^63, as a message has fewer than 2^31 entries.
inline uint64_t Sum(const RepeatedField<uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

// Sets `out` to the column of queries with the name `name`; an error of a query names the faulty
// column so. Returns false if no column has the name.
inline bool DecodeColumn(absl::string_view name, ItemColumn& out) {
  for (int i = 0; i < kItemColumnCount; ++i) {
    out = static_cast<ItemColumn>(i);
    if (name == Name(out)) return true;
  }
  return false;
}

// Returns how many entries each of some optional columns must have: `rows`, one for each row, or 0
// if `first`, the number of entries of the first of these columns in the message, is 0.
inline int OptionalRows(int first, int rows) { return first == 0 ? 0 : rows; }

// Reads the columns (repeated fields, most with one entry for each row of answers) of the answers
// to one kind of query from `message`. After the first column that does not match the columns
// before it, `status` is an error and `Rows` reads nothing.
template <class Message>
class Reader {
 public:
  Reader(absl::string_view batch, const Message& message) : batch_(batch), message_(message) {}

  // Returns OK, or the error of the first column that does not match.
  const absl::Status& status() const { return status_; }

  // Records an error for `column` unless `fits` is true or an earlier column had an error.
  void Require(bool fits, const char* column) {
    if (status_.ok() && !fits) status_ = Misfit(batch_, column);
  }

  // Reads the counts (number of rows of each query), whose sum must be `rows`.
  void Counts(int rows, std::vector<uint32_t>& out) {
    Require(Sum(message_.counts()) == static_cast<uint64_t>(rows), "counts");
    out.assign(message_.counts().begin(), message_.counts().end());
  }

  // Reads `count` rows, unless an earlier column had an error.
  template <class Row, class Columns>
  void Rows(int count, const Columns& columns, std::vector<Row>& out) {
    if (!status_.ok()) return;
    status_ = DecodeRows(batch_, message_, static_cast<size_t>(count), columns, out);
  }

  // Reads the optional columns `columns` into `rows`. If `first`, the number of entries of their
  // first column, is 0, the columns are absent: all of them must be empty, and `rows` does not
  // change.
  template <class Row, class Columns>
  void RowsIfPresent(int first, const Columns& columns, std::vector<Row>& rows) {
    std::vector<Row> none;
    Rows(first == 0 ? 0 : static_cast<int>(rows.size()), columns, first == 0 ? none : rows);
  }

  // Reads the errors of queries. The indices of the queries in error must be strictly ascending.
  // `values` has one number for each query, such as its count of rows; it must be 0 for a query in
  // error.
  template <class T>
  void Errors(const std::vector<T>& values, std::vector<ItemError>& out) {
    for (const v1::ItemError& message : message_.errors()) {
      ItemError error{message.index(), ItemColumn::kX, ItemFault::kNotAccepted};
      const bool ascends = out.empty() || out.back().index < error.index;
      Require(ascends && error.index < values.size() && values[error.index] == 0 &&
                  DecodeColumn(message.field(), error.column),
              "errors");
      if (!status_.ok()) return;
      // An unknown fault, which a later release may send, reads as NOT_ACCEPTED.
      if (IsKnown<ItemFault>(message.fault())) {
        error.fault = EnumFromWire<ItemFault>(message.fault());
      }
      out.push_back(error);
    }
  }

  // Reads whether each row is a hit of a body (a moving shape beside the scene's polygons). The
  // column `is_body` has an entry for every row or none.
  void IsBody(std::vector<uint8_t>& out) {
    const int given = message_.is_body_size();
    Require(given == 0 || given == message_.polygon_id_size(), "is_body");
    if (status_.ok()) out.assign(message_.is_body().begin(), message_.is_body().end());
  }
  // Reads whether each of `rows` is a hit of a body; `hit(row)` returns the hit in a row, whose
  // member `is_body` is set.
  template <class Row, class Hit>
  void IsBody(std::vector<Row>& rows, const Hit& hit) {
    std::vector<uint8_t> is_body;
    IsBody(is_body);
    for (size_t i = 0; i < is_body.size(); ++i) hit(rows[i]).is_body = is_body[i] != 0;
  }

  // Reads two columns about touched polygons: `edge_counts`, the number of touched edges of the
  // polygon in each of `rows` rows, and `edges`, these edges. If the message has no `edge_counts`,
  // both columns are empty.
  template <class Core>
  void Edges(int rows, Core& out) {
    const int given = OptionalRows(message_.edge_counts_size(), rows);
    Rows(given, kEdgeCounts<Message>, out.edge_counts);
    Require(Sum(message_.edge_counts()) == static_cast<uint64_t>(message_.ring_size()),
            "edge_counts");
    Rows(message_.ring_size(), kOverlapEdge<Message>, out.edges);
  }

  // Reads the answers to casts, sweeps and arcs. In mode ANY (answer only whether there is a hit)
  // there are no rows of hits, and the count of each query is 0 or 1; otherwise the sum of the
  // counts is the number of hits. `truncated` has strictly ascending indices of queries that have
  // hits.
  template <class Core, class Columns>
  void Hits(const Columns& columns, Core& out) {
    const int rows = message_.polygon_id_size();
    bool any = rows == 0;
    for (const uint32_t count : message_.counts()) any = any && count <= 1;
    if (any) {
      out.counts.assign(message_.counts().begin(), message_.counts().end());
    } else {
      Counts(rows, out.counts);
    }
    Rows(rows, columns, out.hits);
    IsBody(
        out.hits, [](auto& hit) -> auto& { return hit; });
    Truncated(out);
    Errors(out.counts, out.errors);
  }

  // Reads the strictly ascending indices of queries with more rows than the answer has; such a
  // query has rows.
  template <class Core>
  void Truncated(Core& out) {
    for (const uint32_t index : message_.truncated()) {
      const bool ascends = out.truncated.empty() || out.truncated.back() < index;
      Require(ascends && index < out.counts.size() && out.counts[index] != 0, "truncated");
      if (!status_.ok()) return;
      out.truncated.push_back(index);
    }
  }

 private:
  absl::string_view batch_;
  const Message& message_;
  absl::Status status_;
};

}  // namespace carom::wire
