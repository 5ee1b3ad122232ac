// SPDX-License-Identifier: Apache-2.0
// libsodium's secretstream (XChaCha20-Poly1305), loaded on the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libsodium.so.23 is installed.
int ykit_sodium(void);

// Decrypts the only chunk of a stream. The key is 32 bytes long and the header 24; 17 of the chunk's `size` bytes are
// the tag and the authenticator. Writes `size` - 17 bytes to `out` and returns 0, or another number if the chunk is not
// authentic.
int ykit_secretstream_open(const uint8_t *key, const uint8_t *header, const uint8_t *chunk, size_t size, uint8_t *out);
