// SPDX-License-Identifier: Apache-2.0
// The hash function of bcrypt_pbkdf (OpenSSH's key files, PROTOCOL.key), which no library in use has: Blowfish with the key
// schedule of bcrypt (Provos and Mazières, "A Future-Adaptable Password Scheme", §4), here with 2^6 repetitions.
#pragma once
#include <stdint.h>

#define YKIT_BCRYPT_INPUT 64
#define YKIT_BCRYPT_OUTPUT 32

// Hashes a hashed password with a hashed salt.
void ykit_bcrypt_hash(
    const uint8_t password[YKIT_BCRYPT_INPUT], const uint8_t salt[YKIT_BCRYPT_INPUT], uint8_t out[YKIT_BCRYPT_OUTPUT]);
