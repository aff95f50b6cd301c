// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Compares the examples with which public headers open with the text of the test that runs them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace carom::testing {

inline std::string WithoutSpaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// The whole of a file; empty if there is none.
inline std::string TextOf(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines that stand three spaces or more behind the slashes of a header's opening comment.
inline std::string ExampleOf(const std::string& header) {
  std::string example;
  const size_t banner = header.find("#pragma once");
  if (banner == std::string::npos) return example;
  for (size_t at = 0; at < banner;) {
    const size_t end = header.find('\n', at);
    if (header.compare(at, 5, "//   ") == 0) example += header.substr(at + 5, end - at - 5);
    at = end + 1;
  }
  return example;
}

// `source`, a test, has an example of each header in the folder `headers`, both relative to the
// tree: between a line `// carom/NAME.h` and a line `// end` stands the text that NAME.h has, but
// for white space.
inline void CompareExamples(const std::string& source, const std::string& headers) {
  const char* const root = std::getenv("CAROM_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "CAROM_SOURCE_DIR is not set: run this through ctest";
  const std::filesystem::path tree = root;
  const std::filesystem::path folder = tree / headers;
  const std::string text = TextOf(tree / source);
  int examples = 0;
  for (size_t at = 0; (at = text.find("\n  // carom/", at)) != std::string::npos; ++examples) {
    const size_t line_end = text.find('\n', at + 1);
    const std::string name = text.substr(at + 12, line_end - at - 12);
    const size_t end = text.find("\n  // end", line_end);
    EXPECT_EQ(WithoutSpaces(text.substr(line_end, end - line_end)),
              WithoutSpaces(ExampleOf(TextOf(folder / name))))
        << name;
    at = end;
  }
  using Files = std::filesystem::directory_iterator;
  const int in_c = std::filesystem::exists(folder / "carom.h") ? 1 : 0;
  EXPECT_EQ(examples + in_c, std::distance(Files(folder), Files()));
}

}  // namespace carom::testing
