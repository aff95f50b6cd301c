// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a parser in a long text?
//
// `ParseCounted` parses a JSON text with a handler of nlohmann::json, and reports every MiB how
// many bytes are parsed. The cost of the report is a comparison for each character.
#pragma once

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/maps/map_import.h"

namespace carom {

// What the iterators of one text share.
struct TextCount {
  std::string_view text;
  const ReadProgress* progress = nullptr;
  const char* next = nullptr;  // where the next report is due; null: nowhere

  void Report(const char* at) {
    (*progress)(static_cast<uint64_t>(at - text.data()), text.size());
    constexpr ptrdiff_t kStep = 1 << 20;
    next = text.data() + text.size() - at > kStep ? at + kStep : nullptr;
  }
};

// Reads the characters of a text, and reports where it is.
class CountedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedIterator(const char* at, TextCount* count) : at_(at), count_(count) {}

  reference operator*() const { return *at_; }
  CountedIterator& operator++() {
    if (++at_ == count_->next) count_->Report(at_);
    return *this;
  }
  CountedIterator operator++(int) {
    const CountedIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountedIterator& a, const CountedIterator& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const CountedIterator& a, const CountedIterator& b) { return !(a == b); }

 private:
  const char* at_;
  TextCount* count_;
};

// Returns whether `text` is JSON that `handler` accepts to the end. `progress` may be null.
template <class Handler>
bool ParseCounted(std::string_view text, const ReadProgress* progress, Handler* handler) {
  TextCount count{text, progress};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (progress != nullptr) count.Report(begin);
  return nlohmann::json::sax_parse(CountedIterator(begin, &count), CountedIterator(end, &count),
                                   handler);
}

}  // namespace carom
