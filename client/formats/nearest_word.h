// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which word was meant? For messages about a misspelt command, option or member of a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace carom {

// The candidate of the least edit distance to `word`, the first of several: how many letters to
// insert, delete or replace, or neighbours to swap. Empty if none is within a third of the word's
// length, rounded up: then it is another word, not a slip. Takes time in the product of the
// lengths.
std::string NearestWord(std::string_view word, std::span<const std::string> candidates);

// `; did you mean 'WORD'?` with the nearest candidate, empty if there is none.
std::string Suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace carom
