// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is a text well-formed XML, as far as pictures use it?
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace carom::testing {

// Reads elements, attributes in quotes, texts and entities; nothing else is in a picture.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  // Whether the text is one element, within which all tags are in balance.
  bool IsDocument() {
    do {
      if (!ReadTag()) return false;
      const size_t tag = text_.find('<');
      if (!IsText(text_.substr(0, tag))) return false;
      if (open_.empty()) return text_ == "\n";
      text_.remove_prefix(std::min(tag, text_.size()));
    } while (!text_.empty());
    return false;
  }

 private:
  bool Take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::string_view TakeName() {
    const size_t size = std::min(text_.find_first_of(" =/>\n"), text_.size());
    const std::string_view name = text_.substr(0, size);
    text_.remove_prefix(size);
    return name;
  }
  static bool IsText(std::string_view text) {
    for (size_t at = 0; (at = text.find('&', at)) != std::string_view::npos; ++at) {
      const std::string_view entity = text.substr(at);
      if (!entity.starts_with("&lt;") && !entity.starts_with("&amp;") &&
          !entity.starts_with("&gt;")) {
        return false;
      }
    }
    return text.find("]]>") == std::string_view::npos;
  }
  bool ReadTag() {
    if (!Take("<")) return false;
    if (Take("/")) {
      if (open_.empty() || TakeName() != open_.back()) return false;
      open_.pop_back();
      return Take(">");
    }
    const std::string_view name = TakeName();
    while (Take(" ")) {
      const std::string_view attribute = TakeName();
      if (attribute.empty() || !Take("=\"")) return false;
      const std::string_view value = text_.substr(0, text_.find('"'));
      if (value.find('<') != std::string_view::npos || !IsText(value)) return false;
      text_.remove_prefix(value.size());
      if (!Take("\"")) return false;
    }
    if (Take("/>")) return true;
    open_.push_back(name);
    return Take(">");
  }

  std::string_view text_;
  std::vector<std::string_view> open_;
};

}  // namespace carom::testing
