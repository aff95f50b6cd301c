// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the known words did the user mean?
//
// Messages about a misspelt command, option or JSON member suggest the nearest known word.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace carom {

// Returns the candidate with the least edit distance to `word`, the first one if several candidates
// have this distance. The edit distance counts insertions, deletions, replacements and swaps of
// adjacent letters. Returns "" if every distance is above a third of the length of `word`, rounded
// up: `word` is then no misspelling of a candidate. Cost: O(length of `word` * total length of the
// candidates).
std::string NearestWord(std::string_view word, std::span<const std::string> candidates);

// Returns `; did you mean 'WORD'?` with the nearest candidate, or "" if `NearestWord` finds none.
std::string Suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace carom
