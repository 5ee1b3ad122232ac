// SPDX-License-Identifier: Apache-2.0
#include "CCoverage.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

// Of LLVM's profiling runtime, which only instrumented builds are linked with.
#define RUNTIME __attribute__((weak))
RUNTIME void __llvm_profile_set_filename(const char *);
RUNTIME int __llvm_profile_write_file(void);
RUNTIME uint64_t *__llvm_profile_begin_counters(void);
RUNTIME uint64_t *__llvm_profile_end_counters(void);

void ykit_coverage_add(void) {
    const char *profile = __llvm_profile_write_file ? getenv("YKIT_COVERAGE") : NULL;
    char sums[4096], fresh[4096];
    if (!profile || snprintf(sums, sizeof sums, "%s.sums", profile) >= (int)sizeof sums) return;
    snprintf(fresh, sizeof fresh, "%s.new", profile);
    int file = open(sums, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || flock(file, LOCK_EX) < 0) return;
    uint64_t *counters = __llvm_profile_begin_counters();
    size_t count = (size_t)(__llvm_profile_end_counters() - counters), size = count * sizeof *counters;
    uint64_t *before = calloc(count, sizeof *before);
    if (before && pread(file, before, size, 0) == (ssize_t)size)
        for (size_t index = 0; index < count; index++) counters[index] += before[index];
    free(before);
    if (pwrite(file, counters, size, 0) == (ssize_t)size) {
        __llvm_profile_set_filename(fresh);
        if (__llvm_profile_write_file() == 0) rename(fresh, profile);
    }
    close(file);
}
