# SPDX-License-Identifier: Apache-2.0
"""ykit's verbs on a key that a person plugs in, compared with the virtual key of the same model and firmware."""
