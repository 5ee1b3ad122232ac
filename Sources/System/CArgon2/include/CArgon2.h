// SPDX-License-Identifier: Apache-2.0
// Argon2id (RFC 9106) from libargon2, opened at the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libargon2.so.1 is there.
int ykit_argon2(void);

// Version 0x13 of Argon2id: `passes` over `kibibytes` of memory in `lanes`; fills `out`. 0 when done.
int ykit_argon2id(uint32_t passes, uint32_t kibibytes, uint32_t lanes, const void *password, size_t password_size,
                  const void *salt, size_t salt_size, void *out, size_t size);
