// SPDX-License-Identifier: Apache-2.0
// libsodium's secretstream (XChaCha20 and Poly1305), opened at the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libsodium.so.23 is there.
int ykit_sodium(void);

// Opens the only chunk of a stream: 32 bytes of key, 24 of header, `size` bytes of which 17 are tag and authenticator.
// Writes `size` - 17 bytes to `out` and returns 0; another number when the chunk is not authentic.
int ykit_secretstream_open(const uint8_t *key, const uint8_t *header, const uint8_t *chunk, size_t size, uint8_t *out);
