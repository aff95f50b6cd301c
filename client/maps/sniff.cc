// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "client/maps/import_common.h"

namespace carom {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Returns whether `c` is a bracket or a quote. Faster than a search in a set, for long texts.
bool IsMark(char c) {
  static constexpr std::array<bool, 256> kMarks = [] {
    std::array<bool, 256> marks{};
    for (const char mark : {'{', '}', '[', ']', '"'})
      marks[static_cast<unsigned char>(mark)] = true;
    return marks;
  }();
  return kMarks[static_cast<unsigned char>(c)];
}

// Reads a file from its beginning; no member function goes beyond its end.
class SniffCursor {
 public:
  explicit SniffCursor(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  size_t at() const { return at_; }
  bool StartsWith(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
  // Returns the next character, or 0 at the end.
  char Peek() const { return at_end() ? '\0' : text_[at_]; }
  void Skip(size_t count) { at_ = std::min(at_ + count, text_.size()); }
  // Goes behind the next `word`, or to the end if there is none.
  void SkipBehind(std::string_view word) {
    const size_t found = text_.find(word, at_);
    at_ = found == text_.npos ? text_.size() : found + word.size();
  }
  // Goes behind the string that begins here, and returns it with its quotes.
  std::string_view String() {
    const size_t begin = at_++;
    while (!at_end() && text_[at_] != '"') Skip(text_[at_] == '\\' ? 2 : 1);
    Skip(1);
    return text_.substr(begin, at_ - begin);
  }
  // Goes behind the number or word that begins here, and returns it; or behind one character.
  std::string_view Word() {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    if (at_ == begin) Skip(1);
    return text_.substr(begin, at_ - begin);
  }
  // Goes behind the value of brackets that begins here.
  void SkipBrackets() {
    size_t depth = 0;
    do {
      while (!at_end() && !IsMark(text_[at_])) ++at_;
      if (Peek() == '"') {
        String();
        continue;
      }
      if (Peek() == '{' || Peek() == '[') ++depth;
      if (Peek() == '}' || Peek() == ']') --depth;
      Skip(1);
    } while (depth > 0 && !at_end());
  }
  // Returns the text from here up to one of `ends`.
  std::string_view UpTo(std::string_view ends) const {
    return text_.substr(at_, std::min(text_.find_first_of(ends, at_), text_.size()) - at_);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Returns the name of the root element behind declarations, comments and a document type.
std::string_view RootElement(SniffCursor cursor) {
  while (!cursor.at_end()) {
    cursor.SkipBlanks();
    if (cursor.StartsWith("<?")) {
      cursor.SkipBehind("?>");
    } else if (cursor.StartsWith("<!--")) {
      cursor.SkipBehind("-->");
    } else if (cursor.StartsWith("<!")) {
      // The internal subset of a document type is in brackets.
      const bool has_subset = cursor.UpTo(">").find('[') != std::string_view::npos;
      if (has_subset) cursor.SkipBehind("]");
      cursor.SkipBehind(">");
    } else {
      if (!cursor.StartsWith("<")) return "";
      cursor.Skip(1);
      return cursor.UpTo(" \t\r\n/>");
    }
  }
  return "";
}

// Reads the members of the object that begins here.
void ReadMembers(SniffCursor cursor, Sniffed& file) {
  cursor.Skip(1);
  while (!cursor.at_end()) {
    cursor.SkipBlanks();
    if (cursor.Peek() == ',') {
      cursor.Skip(1);
      continue;
    }
    if (cursor.Peek() != '"') return;
    const std::string_view name = cursor.String();
    cursor.SkipBlanks();
    if (cursor.Peek() != ':' || name.size() < 2) return;
    cursor.Skip(1);
    cursor.SkipBlanks();
    const char first = cursor.Peek();
    std::string_view value = first == '{' ? "{" : "[";
    if (first == '{' || first == '[') {
      cursor.SkipBrackets();
    } else {
      value = first == '"' ? cursor.String() : cursor.Word();
    }
    file.members.insert_or_assign(std::string(name.substr(1, name.size() - 2)), value);
  }
}

}  // namespace

Sniffed Sniff(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  Sniffed file;
  file.bytes = bytes;
  SniffCursor cursor(bytes);
  cursor.SkipBlanks();
  if (cursor.Peek() == '<') file.root = RootElement(cursor);
  if (cursor.Peek() == '{') ReadMembers(cursor, file);
  return file;
}

}  // namespace carom
