// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the known words did the user mean?
//
// Messages about a misspelt command, option or JSON member suggest the nearest known word.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace carom {

// Returns the candidates with the least edit distances to `word`, at most `count`, by distance, and
// those with equal distances in their order. The edit distance counts insertions, deletions,
// replacements and swaps of adjacent letters. Leaves out distances above a third of the length of
// `word`, rounded up: `word` is then no misspelling of the candidate. Cost: O(length of `word` *
// total length of the candidates).
std::vector<std::string> NearestWords(std::string_view word,
                                      std::span<const std::string> candidates, size_t count);

// Returns the first of `NearestWords`, or "" if there is none.
std::string NearestWord(std::string_view word, std::span<const std::string> candidates);

// Returns `; did you mean 'WORD'?` with the nearest candidate, or "" if `NearestWord` finds none.
std::string Suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace carom
