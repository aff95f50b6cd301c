# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of `carom.farm`: plans of runs, what workers do, and the backends that have workers."""
