// SPDX-License-Identifier: Apache-2.0
#pragma once

// In an instrumented build, adds the coverage counters of a process that ends by _exit to those of others in the profile
// YKIT_COVERAGE, and to the sums beside it; does nothing in others. The runtime could merge profiles itself ("%m"), but it adds
// the counters of a function once for each of its records, and a default argument has one in each module that uses it: they
// would multiply with each process, and overflow.
void ykit_coverage_add(void);
