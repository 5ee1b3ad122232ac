// SPDX-License-Identifier: Apache-2.0
// bcrypt_pbkdf (OpenSSH's bcrypt_pbkdf.c) from Botan 2, loaded on the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libbotan-2.so.19 is installed.
int ykit_botan(void);

// Fills `out` and returns 0 on success.
int ykit_bcrypt_pbkdf(uint32_t rounds, const void *password, size_t password_size, const void *salt, size_t salt_size,
                      void *out, size_t size);
