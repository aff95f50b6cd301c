// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds a value that another object owns: a copy counts no owner, and reads nothing that the value
// points to.
#pragma once

#include <new>

#include "carom/polygon.h"

namespace carom::internal {

// A `T` made by T(const T&, AsUnowned) and never destroyed. It is valid while the original T
// exists, or a copy that shares the original's data. Copies of `get()` are owners like any other
// copy. Reads are thread-safe. An array of `Unowned<T>` has the layout of an array of T.
template <class T>
class Unowned {
 public:
  explicit Unowned(const T& value) : value_(value, AsUnowned()) {}
  // Refers to a polygon by its address (`Polygon::memory`). A null address makes a value that must
  // not be used.
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
