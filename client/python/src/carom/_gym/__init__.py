# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of `carom.gym`: the task, headings, maps, the robots of one or many environments, and pictures."""
