// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The boundary of an area as pieces, and the size of the area, from the envelope of an eye.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "area/boundary.h"
#include "area/direction.h"
#include "area/envelope.h"
#include "carom/area.h"
#include "carom/work_meter.h"
#include "numeric/double_double.h"

namespace carom::internal {

// Adds up the size of an area from the pieces of its boundary: the triangles between the eye and
// each edge in pairs of doubles, and the sectors of the disc. Vectors that turn by the angles of
// sectors are multiplied like complex numbers, so that only one angle is computed and rounded.
class AreaSum {
 public:
  void Start(double range);
  void AddTriangle(const PairVector& a, const PairVector& b);
  // Adds the sector from `a` counter-clockwise to `b`, points of the circle; `turn` is the
  // difference of the keys of their directions, in [0, 4).
  void AddSector(const PairVector& a, const PairVector& b, double turn);
  void AddDisc() { turn_ = 4; }
  // Returns the area, with an error of at most 2^-49 R^2.
  double Sum() const;

 private:
  double range_ = 0;
  TwoDoubles twice_{0, 0};        // of the triangles
  TwoDoubles c_{1, 0}, s_{0, 0};  // the sum of the angles of the sectors
  double turn_ = 0;               // about this sum, as a difference of keys
};

// The sides of a sector; without `is_part`, every direction. With `has_ranges`, the directions are
// those in which the envelope is not closed, and the starts of pieces depend on the way in which it
// was found.
struct EyeSector {
  bool is_part = false;
  bool has_ranges = false;
  EyeDirection from, to;
};

// The pieces of the areas of one eye after the other. Not thread-safe.
class AreaRows {
 public:
  // Finds the pieces.
  void Find(const Eye& eye, const Envelope& envelope, const EyeSector& sector, WorkMeter& meter);
  size_t size() const { return rows_.size(); }
  // Returns the number of entries for which there is memory.
  size_t capacity() const { return changes_.capacity() + rows_.capacity(); }
  double area() const { return sum_.Sum(); }

  // A piece: vectors from the eye to its start and its end. `turn` of an arc is the difference of
  // the keys of their directions, in [0, 4], where 4 is the whole circle.
  struct Piece {
    AreaPieceKind kind;
    double turn;
    PairVector from, to;
  };
  Piece piece(size_t index) const;
  // Appends the first `count` pieces.
  void Write(const Eye& eye, size_t count, std::vector<AreaPiece>& out) const;

 private:
  // A direction in which one owner follows another one.
  struct Change {
    EyeDirection at;
    uint32_t before, after;
    bool is_at_cut;
  };
  struct Row {
    AreaPieceKind kind;
    uint32_t edge;
    bool is_exact;  // the start is the exact point, as a vertex is
    double key;     // of the direction of the start
    Vec2 start;
    PairVector from_eye;  // to the start
    double turn = 0;      // of an arc, see `Piece`
  };
  struct Ends {
    PlacedPoint before, after;
    double key;
  };

  void ListChanges(const Envelope& envelope);
  EyeDirection Canonical(const Eye& eye, const Change& change, bool& is_any) const;
  Ends AddRows(const Eye& eye, const Change& change);
  void AddRow(AreaPieceKind kind, uint32_t edge, double key, const PlacedPoint& start);
  void AddToSum(size_t row, uint32_t owner, const Ends& begin, const Ends& end, bool has_cut);
  void PutInOrder(const Eye& eye, WorkMeter& meter);
  bool IsInOrder(const Eye& eye, size_t i, Vec2 start) const;
  bool IsClose(size_t i, size_t k) const;

  EyeSector sector_;
  std::vector<Change> changes_;
  size_t cut_ = 0;  // with a sector: the index of the first change behind the cut
  std::vector<Row> rows_;
  AreaSum sum_;
};

}  // namespace carom::internal
