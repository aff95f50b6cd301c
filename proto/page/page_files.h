// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which files does the page of the viewer consist of?
//
// The programs contain the files if they were configured with CAROM_PAGE, a source that
// client/viewer/embed.mjs writes. Otherwise there are no files.
#pragma once

#include <span>
#include <string_view>

namespace carom {

// A file of the page. The views refer to memory of the program.
struct PageFile {
  std::string_view path;  // such as `/app.js`; `/` for the document
  std::string_view type;  // the media type, such as `text/javascript; charset=utf-8`
  std::string_view tag;   // changes with the contents; an entity tag without its quotes
  std::string_view gzip;  // the contents, compressed by gzip
};

// Returns the files of the page, in no particular order. Thread-safe.
std::span<const PageFile> PageFiles();

// Returns the file with a path, or null.
inline const PageFile* FindPageFile(std::span<const PageFile> files, std::string_view path) {
  for (const PageFile& file : files) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

// The headers with which each file is served. Everything comes from the server of the page, scripts
// run from files only, and no other page may frame the page or read its files.
struct PageHeader {
  std::string_view name;
  std::string_view value;
};
inline constexpr PageHeader kPageHeaders[] = {
    {"Cache-Control", "no-cache"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
     "img-src 'self' data: blob:; connect-src 'self' ws: wss:; worker-src 'self'; "
     "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

}  // namespace carom
