// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The programs carom and caromd as one, which the image has under both names. It runs the one whose
// name it is called by.

#include <string_view>

// The functions `main` of client/cli/main.cc and of server/main.cc (docker/CMakeLists.txt).
int CaromMain(int argc, char** argv);
int CaromdMain(int argc, char** argv);

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "carom" ? CaromMain(argc, argv) : CaromdMain(argc, argv);
}
