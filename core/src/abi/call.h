// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a function of carom.h report errors, and read the structs that it is given?
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/carom.h"
#include "carom/status.h"

namespace carom::abi {

// Writes `result` to `out`, unless `out` is null, and returns its code.
uint32_t Report(const absl::Status& result, carom_status* out);

// Runs `body`, which returns an absl::Status, and reports it. No exception leaves the library: what
// `body` can throw is std::bad_alloc, which is RESOURCE_EXHAUSTED.
template <class Body>
uint32_t Run(carom_status* out, const Body& body) {
  try {
    return Report(body(), out);
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError("out of memory"), out);
  } catch (...) {
    return Report(absl::InternalError("an exception in the library"), out);
  }
}

// Returns OK if `out`, a parameter for a result, is not null.
template <class T>
absl::Status CheckOut(T* const* out) {
  return out != nullptr ? absl::OkStatus() : InvalidField("out", "must not be null");
}

// Checks what `Whole` reports as an error of the struct at `given`, which has `size` bytes here and
// is aligned to `alignment` bytes.
absl::Status CheckStruct(const void* given, size_t size, size_t alignment, const char* name);

// Sets `whole` to the struct T that the caller passes as `given`: to `given` itself if the caller's
// header has the same T, else to `copy`, with members that the caller's T lacks set to 0.
// INVALID_ARGUMENT naming `name` for a null pointer, a wrong alignment or size.
template <class T>
absl::Status Whole(const T* given, const char* name, T& copy, const T*& whole) {
  whole = given;
  if (given != nullptr && reinterpret_cast<uintptr_t>(given) % alignof(T) == 0 &&
      given->struct_size == sizeof(T)) [[likely]] {
    return absl::OkStatus();
  }
  if (absl::Status status = CheckStruct(given, sizeof(T), alignof(T), name); !status.ok())
    return status;
  std::memset(static_cast<void*>(&copy), 0, sizeof(T));
  std::memcpy(static_cast<void*>(&copy), given,
              given->struct_size < sizeof(T) ? given->struct_size : sizeof(T));
  whole = &copy;
  return absl::OkStatus();
}

// Writes `result` to the struct that the caller passes as `out`, as much of it as the caller's
// header has. `out->struct_size` stays as it is.
template <class T>
absl::Status WriteStruct(T result, T* out, const char* name) {
  if (absl::Status status = CheckStruct(out, sizeof(T), alignof(T), name); !status.ok())
    return status;
  result.struct_size = out->struct_size;
  std::memcpy(static_cast<void*>(out), &result,
              out->struct_size < sizeof(T) ? out->struct_size : sizeof(T));
  return absl::OkStatus();
}

}  // namespace carom::abi
