// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/log_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/file_descriptor.h"

namespace carom::server {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;
// first word of a log; if its lowest bit is set, checksums add up big-endian words, else
// little-endian words
constexpr uint32_t kMagic = 0x377f0682;
constexpr uint32_t kLargestPage = 65536;

// Reads a big-endian number. All numbers in a log are big-endian, but the words that a checksum
// adds up can be of either byte order.
uint32_t Number(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

uint64_t Pair(const uint8_t* bytes) { return uint64_t{Number(bytes)} << 32 | Number(bytes + 4); }

// A checksum of SQLite's log: two sums `a` and `b` of 32-bit words.
struct Checksum {
  bool is_big_endian = false;
  uint32_t a = 0;
  uint32_t b = 0;

  uint32_t Word(const uint8_t* bytes) const {
    if (is_big_endian) return Number(bytes);
    return uint32_t{bytes[3]} << 24 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[1]} << 8 | bytes[0];
  }
  void Add(const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
      a += Word(bytes + i) + b;
      b += Word(bytes + i + 4) + a;
    }
  }
  uint64_t value() const { return uint64_t{a} << 32 | b; }
};

// The header of a log. Its salts are two random numbers, which every frame (a database page with a
// header) that is written after the log was restarted repeats.
struct Header {
  uint32_t page_bytes = 0;
  uint64_t salts = 0;
  // checksum of the header; the computation of the first frame's checksum starts with this value
  Checksum checksum;
};

// Reads the header of a log; returns false if `bytes` are not a valid header.
bool ReadHeader(const std::vector<uint8_t>& bytes, Header& header) {
  const uint32_t magic = Number(bytes.data());
  if ((magic & ~uint32_t{1}) != kMagic) return false;
  header.page_bytes = Number(bytes.data() + 8);
  header.salts = Pair(bytes.data() + 16);
  header.checksum = {.is_big_endian = (magic & 1) != 0};
  header.checksum.Add(bytes.data(), 24);
  return header.checksum.value() == Pair(bytes.data() + 24) &&
         std::has_single_bit(header.page_bytes) && header.page_bytes <= kLargestPage;
}

// Returns the checksum of a frame. The computation starts with `sum`, the checksum of the preceding
// frame, and covers the first 8 bytes of the frame header, and the page.
Checksum SumOf(const std::vector<uint8_t>& frame, Checksum sum) {
  sum.Add(frame.data(), 8);
  sum.Add(frame.data() + kFrameHeaderBytes, frame.size() - kFrameHeaderBytes);
  return sum;
}

bool IsFrame(const std::vector<uint8_t>& frame, const Header& header, const Checksum& before) {
  return Pair(frame.data() + 8) == header.salts &&
         SumOf(frame, before).value() == Pair(frame.data() + 16);
}

// Returns whether flipping some one bit of `bytes` makes `is_right(bytes)` true.
template <class IsRight>
bool IsOneBitOff(std::vector<uint8_t> bytes, const IsRight& is_right) {
  for (uint8_t& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= static_cast<uint8_t>(1 << bit);
      if (is_right(bytes)) return true;
      byte ^= static_cast<uint8_t>(1 << bit);
    }
  }
  return false;
}

// Reads the bytes of a file from its beginning.
class Reader {
 public:
  explicit Reader(int file) : file_(file) {}

  // Fills `bytes` with the next bytes of the file. Returns false at the end of the file, or if a
  // read fails: then SQLite reports the error when it reads the file.
  bool Next(std::vector<uint8_t>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t got = pread(file_, bytes.data() + done, bytes.size() - done, at_);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<size_t>(got);
      at_ += got;
    }
    return true;
  }

 private:
  const int file_;
  off_t at_ = 0;
};

// A frame of the log is a database page with a header. Returns whether, after `frame`, the first
// frame with a wrong checksum, a transaction ends and another one begins: SQLite writes the second
// transaction only after it has synced the first one, so a power cut did not interrupt the first
// transaction. The computation of a frame's checksum starts with the checksum of the preceding
// frame, so frames left over from a rolled-back transaction do not match. Skips copies of a
// transaction's last frame, with which SQLite fills up a disk sector.
bool IsFollowed(Reader& reader, const Header& header, std::vector<uint8_t> frame) {
  Checksum before;
  // page number of the preceding frame if that frame is the last one of its transaction, else 0
  uint32_t last_page = 0;
  do {
    const uint32_t page = Number(frame.data());
    // In the last frame of a transaction, this word is the size of the database, in other frames 0.
    const bool is_last = Number(frame.data() + 4) != 0;
    const bool is_copy = is_last && page == last_page;
    if (last_page != 0 && !is_copy && IsFrame(frame, header, before)) return true;
    last_page = is_last && Pair(frame.data() + 8) == header.salts ? page : 0;
    const uint64_t sum = Pair(frame.data() + 16);
    before = {.is_big_endian = header.checksum.is_big_endian,
              .a = static_cast<uint32_t>(sum >> 32),
              .b = static_cast<uint32_t>(sum)};
  } while (reader.Next(frame));
  return false;
}

absl::Status Damaged(const std::string& path) {
  return absl::InternalError(
      absl::StrCat("its log ", path,
                   " is damaged, and changes that were acknowledged follow; without that file"
                   " caromd would start without them"));
}

}  // namespace

absl::Status CheckLog(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return absl::OkStatus();
  Reader reader(file.get());
  std::vector<uint8_t> bytes(kHeaderBytes);
  if (!reader.Next(bytes)) return absl::OkStatus();
  Header header;
  if (!ReadHeader(bytes, header)) {
    const auto is_header = [&](const std::vector<uint8_t>& other) {
      return ReadHeader(other, header);
    };
    std::vector<uint8_t> first(kFrameHeaderBytes);
    return IsOneBitOff(bytes, is_header) && reader.Next(first) ? Damaged(path) : absl::OkStatus();
  }
  Checksum sum = header.checksum;
  std::vector<uint8_t> frame(kFrameHeaderBytes + header.page_bytes);
  while (reader.Next(frame)) {
    if (IsFrame(frame, header, sum)) {
      sum = SumOf(frame, sum);
      continue;
    }
    const auto is_frame = [&](const std::vector<uint8_t>& other) {
      return IsFrame(other, header, sum);
    };
    // A frame that is left over from before SQLite restarted the log has other salts (two random
    // numbers, which the log's header and all valid frames have), so flipping one bit cannot make
    // it right.
    const bool is_likely = std::popcount(Pair(frame.data() + 8) ^ header.salts) <= 1;
    const bool is_damaged =
        (is_likely && IsOneBitOff(frame, is_frame)) || IsFollowed(reader, header, frame);
    return is_damaged ? Damaged(path) : absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace carom::server
