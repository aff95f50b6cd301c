// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exact sums and products of doubles, as floating-point expansions.
//
// An expansion is a sum of doubles that do not overlap, in order of increasing magnitude and
// without zeros (Shewchuk 1997, sections 2.2 to 2.5). Its sign is the sign of its last component.
// Capacities are template arguments, so a whole computation lives on the stack. Results are exact
// as long as nothing overflows or underflows, which holds for polynomials of degree up to 5 in
// accepted coordinates (0 or a magnitude in [2^-140, 2^53]).
#pragma once

#include <cmath>

#include "numeric/exact_count.h"

namespace carom::internal {

// A value as the sum of a rounded result and its exact rounding error.
struct TwoDoubles {
  double high;
  double low;
};

// Returns a + b exactly, as the rounded sum and its rounding error (Knuth).
inline TwoDoubles TwoSum(double a, double b) {
  const double high = a + b;
  const double b_part = high - a;
  const double a_part = high - b_part;
  return {high, (a - a_part) + (b - b_part)};
}

// Returns a + b exactly, as the rounded sum and its rounding error, for |a| >= |b| or a = 0
// (Dekker).
inline TwoDoubles FastTwoSum(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}

// Returns a - b exactly, as the rounded difference and its rounding error.
inline TwoDoubles TwoDiff(double a, double b) { return TwoSum(a, -b); }

inline constexpr double kSplitter = 134217729.0;  // 2^27 + 1

// Returns a * b exactly, as the rounded product and its rounding error (Dekker, with Veltkamp's
// splitting at 27 bits). It uses no fused multiply-add, so that every machine runs the same
// instructions.
inline TwoDoubles TwoProduct(double a, double b) {
  const double high = a * b;
  const double a_scaled = kSplitter * a;
  const double a_high = a_scaled - (a_scaled - a);
  const double a_low = a - a_high;
  const double b_scaled = kSplitter * b;
  const double b_high = b_scaled - (b_scaled - b);
  const double b_low = b - b_high;
  const double error = ((a_high * b_high - high) + a_high * b_low) + a_low * b_high;
  return {high, error + a_low * b_low};
}

// A sum of at most `N` doubles that do not overlap, in order of increasing magnitude. A
// default-constructed expansion is 0.
template <int N>
struct Expansion {
  double part[N];
  int size = 0;

  void Append(double value) {
    if (value != 0) part[size++] = value;
  }
  int sign() const {
    if (size == 0) return 0;
    return part[size - 1] > 0 ? 1 : -1;
  }
  // Returns the value of the expansion as a double, with an error of at most 2 ulp.
  double estimate() const {
    double sum = 0;
    for (int i = 0; i < size; ++i) sum += part[i];
    return sum;
  }
};

inline Expansion<2> Expand(TwoDoubles value) {
  Expansion<2> result;
  result.Append(value.low);
  result.Append(value.high);
  return result;
}
inline Expansion<2> Difference(double a, double b) { return Expand(TwoDiff(a, b)); }
inline Expansion<2> Square(double a) { return Expand(TwoProduct(a, a)); }

template <int N>
Expansion<N> operator-(Expansion<N> a) {
  for (int i = 0; i < a.size; ++i) a.part[i] = -a.part[i];
  return a;
}

// Returns a + b exactly, by Shewchuk's FAST-EXPANSION-SUM: merges the components of both expansions
// by magnitude, then adds them up and keeps the rounding error of each sum as a component.
template <int N, int M>
Expansion<N + M> operator+(const Expansion<N>& a, const Expansion<M>& b) {
  Expansion<N + M> result;
  int i = 0;
  int j = 0;
  const auto next = [&] {
    if (j == b.size || (i < a.size && std::abs(a.part[i]) < std::abs(b.part[j]))) {
      return a.part[i++];
    }
    return b.part[j++];
  };
  const int total = a.size + b.size;
  if (total == 0) return result;
  double carry = next();
  for (int k = 1; k < total; ++k) {
    const TwoDoubles sum = TwoSum(carry, next());
    result.Append(sum.low);
    carry = sum.high;
  }
  result.Append(carry);
  return result;
}

template <int N, int M>
Expansion<N + M> operator-(const Expansion<N>& a, const Expansion<M>& b) {
  return a + (-b);
}

// Returns a * factor exactly, by Shewchuk's SCALE-EXPANSION.
template <int N>
Expansion<2 * N> operator*(const Expansion<N>& a, double factor) {
  Expansion<2 * N> result;
  if (a.size == 0 || factor == 0) return result;
  TwoDoubles product = TwoProduct(a.part[0], factor);
  result.Append(product.low);
  double carry = product.high;
  for (int i = 1; i < a.size; ++i) {
    product = TwoProduct(a.part[i], factor);
    const TwoDoubles low = TwoSum(carry, product.low);
    result.Append(low.low);
    const TwoDoubles high = FastTwoSum(product.high, low.high);
    result.Append(high.low);
    carry = high.high;
  }
  result.Append(carry);
  return result;
}

// Returns a * b exactly: the sum of the products of `a` with each component of `b`.
template <int N, int M>
Expansion<2 * N * M> operator*(const Expansion<N>& a, const Expansion<M>& b) {
  CountExact();
  Expansion<2 * N * M> result;
  for (int i = 0; i < b.size; ++i) {
    const auto sum = result + a * b.part[i];
    result.size = sum.size;
    for (int k = 0; k < sum.size; ++k) result.part[k] = sum.part[k];
  }
  return result;
}

// Returns the double nearest to n / d, ties to even. d is not 0.
template <int N, int M>
double RoundedQuotient(const Expansion<N>& n, const Expansion<M>& d) {
  if (n.size == 0) return 0;
  const double divisor = d.estimate();
  double q = n.estimate() / divisor;
  // One Newton correction brings q within an ulp of n / d; the loop below moves q to the nearest
  // double.
  q += (n - d * q).estimate() / divisor;
  const auto twice = n * 2.0;
  for (;;) {
    const int side = (n - d * q).sign() * d.sign();
    if (side == 0) return q;
    const double neighbour = std::nextafter(q, side > 0 ? HUGE_VAL : -HUGE_VAL);
    // `past` is -1 if n / d is nearer to q than to `neighbour`, 0 if n / d is the midpoint between
    // them, and 1 if n / d is nearer to `neighbour`.
    const int past = (twice - d * Expand(TwoSum(q, neighbour))).sign() * d.sign() * side;
    if (past < 0) return q;
    if (past == 0) {
      int exponent = 0;
      const double mantissa = std::frexp(q, &exponent) * 0x1p53;
      return std::fmod(mantissa, 2.0) == 0 ? q : neighbour;
    }
    q = neighbour;
  }
}

}  // namespace carom::internal
