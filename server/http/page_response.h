// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the HTTP port answer to a request for the page of the viewer?
#pragma once

#include <optional>
#include <span>

#include "proto/page/page_files.h"
#include "server/http/http_message.h"

namespace carom::server {

// Returns the response to a GET or HEAD of the path of a file of the page, or nullopt for another
// method or path. Status 304 if the client has the file, by its entity tag; 406 if the client does
// not accept gzip; 404 for `/` if `files` is empty. Files are compressed once, by the build, and
// are sent from the memory of the program.
std::optional<HttpResponse> PageResponse(const HttpRequest& request,
                                         std::span<const PageFile> files);

}  // namespace carom::server
