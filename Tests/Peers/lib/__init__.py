# SPDX-License-Identifier: Apache-2.0
"""What the tests of Tests/Peers, Tests/Guest and Tests/Demand share."""
