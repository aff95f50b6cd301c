// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds a reference-counted value, such as a polygon, that another object owns: copying an
// `Unowned` does not count a reference, and so does not read the memory of the value.
#pragma once

#include <new>

#include "carom/polygon.h"

namespace carom::internal {

// Holds a `T` made by T(const T&, AsUnowned), a copy that counts no reference, and never destroys
// the copy. The value is valid while the original T exists, or another T that shares the original's
// data. A copy of `get()` is an ordinary T that counts a reference. Reads are thread-safe. An array
// of `Unowned<T>` has the layout of an array of T.
template <class T>
class Unowned {
 public:
  explicit Unowned(const T& value) : value_(value, AsUnowned()) {}
  // Refers to the polygon at an address (`Polygon::memory`). A null address makes a value that must
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
