// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// One question to a scene as a plain struct: what tests/support/nasty.h makes and
// tests/support/jsonl.h writes as text.
#pragma once

#include <string>

#include "tests/support/oracle.h"

namespace carom::testing {

enum class QueryOp { kPoint, kSegment, kCircle, kPolygon };

/// One question. kPoint uses `a`; kSegment `a`, `b` and `inside`; kCircle `a` and `radius`;
/// kPolygon `shape`.
struct Query {
  QueryOp op = QueryOp::kPoint;
  std::string name;  // echoed as "q"; not written when empty
  Xy a;
  Xy b;
  double radius = 0.0;
  OracleInside inside = OracleInside::kReportStart;
  OraclePolygon shape;
};

}  // namespace carom::testing
