// SPDX-License-Identifier: Apache-2.0
// Argon2id (RFC 9106) from libargon2, loaded on the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libargon2.so.1 is installed.
int ykit_argon2(void);

// Argon2id version 0x13: `passes` over `kibibytes` of memory in `lanes`. Fills `out` and returns 0 on success.
int ykit_argon2id(uint32_t passes, uint32_t kibibytes, uint32_t lanes, const void *password, size_t password_size,
                  const void *salt, size_t salt_size, void *out, size_t size);
