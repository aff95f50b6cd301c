// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles that someone made on purpose: their checksums are right, whatever else is in them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "bundle/bundle_format.h"

namespace carom::testing {

// Where the table has the section's entry.
inline size_t EntryAt(size_t section) {
  return sizeof(internal::BundleHeader) + section * sizeof(internal::SectionEntry);
}
inline size_t EntryAt(internal::Section section) { return EntryAt(static_cast<size_t>(section)); }

// Where a section begins, as its entry says.
inline size_t OffsetOf(const std::string& bytes, internal::Section section) {
  internal::SectionEntry entry;
  std::memcpy(&entry, &bytes[EntryAt(section)], sizeof entry);
  return entry.offset;
}

// The bytes with the checksums that they ought to have, of the sections that are within them.
inline std::string Sealed(std::string bytes) {
  using internal::BundleHeader;
  using internal::SectionEntry;
  if (bytes.size() < internal::kPreambleSize) return bytes;
  for (size_t i = 0; i < internal::kSectionCount; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, &bytes[EntryAt(i)], sizeof entry);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) continue;
    entry.checksum = internal::Crc32c(absl::string_view(bytes).substr(entry.offset, entry.size));
    std::memcpy(&bytes[EntryAt(i)], &entry, sizeof entry);
  }
  const uint32_t checksum = internal::PreambleChecksum(bytes);
  std::memcpy(&bytes[offsetof(BundleHeader, checksum)], &checksum, sizeof checksum);
  return bytes;
}

// The bytes with `value` at `at`, sealed.
template <class T>
std::string SealedWith(std::string bytes, size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof value);
  return Sealed(std::move(bytes));
}

}  // namespace carom::testing
