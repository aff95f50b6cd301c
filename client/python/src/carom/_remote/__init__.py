# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What the synchronous and the asynchronous client of a server share; private to the package."""
