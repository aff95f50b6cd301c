// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A value that something else owns: copying it counts no owner, and reads nothing of what it has.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

namespace carom::internal {

// The bytes of a `T`, never destroyed. Valid while the T that it was made of, or a copy that shares
// what that owns, exists; copies made of it are owners as any other. Thread-safe to read.
template <class T>
class Unowned {
 public:
  explicit Unowned(const T& value) { std::memcpy(bytes_, &value, sizeof(T)); }

  const T& get() const { return *std::launder(reinterpret_cast<const T*>(bytes_)); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];  // so that an array of them is one of T
};

}  // namespace carom::internal
