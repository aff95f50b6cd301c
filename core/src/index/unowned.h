// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A value that something else owns: copying it counts no owner, and reads nothing of what it has.
#pragma once

#include <new>

#include "carom/polygon.h"

namespace carom::internal {

// A `T` made by T(const T&, AsUnowned) and never destroyed. Valid while the T that it was made of,
// or a copy that shares what that owns, exists; copies of `get()` are owners as any other.
// Thread-safe to read. An array of them is one of T.
template <class T>
class Unowned {
 public:
  explicit Unowned(const T& value) : value_(value, AsUnowned()) {}
  // A polygon by where it lies (`Polygon::memory`); none at null, which is not to be looked at.
  explicit Unowned(const void* memory) : value_(memory, AsUnowned()) {}
  Unowned() : Unowned(nullptr) {}
  Unowned(const Unowned& other) : value_(other.value_, AsUnowned()) {}
  Unowned& operator=(const Unowned& other) {
    if (this != &other) new (&value_) T(other.value_, AsUnowned());
    return *this;
  }
  ~Unowned() {}  // NOLINT(modernize-use-equals-default): the value is not destroyed

  const T& get() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  union {
    T value_;
  };
};

}  // namespace carom::internal
