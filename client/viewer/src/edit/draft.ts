// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The edits that are not committed yet.
export const editKey = (event: KeyboardEvent): boolean => {
  void event;
  return false;
};
