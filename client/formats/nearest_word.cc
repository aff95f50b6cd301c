// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace carom {
namespace {

// Returns the optimal string alignment distance. Computes it row by row: row i contains the
// distances of the first i letters of `a` to every prefix of `b`. A swap of adjacent letters needs
// row i - 2, `before`; row i - 1 is `last`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> NearestWords(std::string_view word,
                                      std::span<const std::string> candidates, size_t count) {
  const size_t most = (word.size() + 2) / 3;
  // The number of letters by which lengths differ bounds the distance from below.
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(candidate.size(), word.size());
    if (2 * longer - candidate.size() - word.size() > most) continue;
    const size_t distance = EditDistance(word, candidate);
    if (distance <= most) near.emplace_back(distance, &candidate);
  }
  std::ranges::stable_sort(near, {}, [](const auto& each) { return each.first; });
  if (near.size() > count) near.resize(count);
  std::vector<std::string> words;
  words.reserve(near.size());
  for (const auto& [distance, candidate] : near) words.push_back(*candidate);
  return words;
}

std::string NearestWord(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string> words = NearestWords(word, candidates, 1);
  return words.empty() ? "" : words.front();
}

std::string Suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace carom
