// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What `carom eval` must print for a question, and whether a printed line is that. Start with
// `Referee::Differences`.
#pragma once

#include <string>
#include <vector>

#include "tests/support/jsonl.h"
#include "tests/support/oracle.h"

namespace carom::testing {

/// Normals may err by this many units in the last place of each component (contract 1.5).
inline constexpr int kNormalUlps = 4;

/// The output object with every number rounded correctly, and the exact direction of "normal" where
/// there is one.
struct Expectation {
  Json object;
  RationalXy normal;
};

/// Judges output lines for one scene. Immutable after construction.
class Referee {
 public:
  explicit Referee(const std::vector<OraclePolygon>& polygons) : oracle_(polygons) {}

  const Oracle& oracle() const { return oracle_; }

  Expectation Expected(const Query& query) const;

  /// Returns one line of text per difference between `output_line` and the exact answer to
  /// `input_line`, which is the text of one question: a wrong value or key set, a normal out of
  /// bounds, −0, a number with more digits than its shortest text, text that is not JSON. Empty
  /// when the line is right.
  std::vector<std::string> Differences(const std::string& input_line,
                                       const std::string& output_line) const;

 private:
  Oracle oracle_;
};

/// Returns what is wrong with the numbers of a JSON text: "-0", or more significant digits than the
/// double needs.
std::vector<std::string> BadNumbers(const std::string& line);

}  // namespace carom::testing
