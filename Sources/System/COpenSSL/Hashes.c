// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

#include <stdlib.h>

// OpenSSL takes no key or salt at all for an absent one that is merely empty.
static const uint8_t *present(const uint8_t *bytes) { return bytes ? bytes : (const uint8_t *)""; }

static void *octets(const uint8_t *bytes) { return (void *)present(bytes); }

long ykit_hash(const char *hash, const uint8_t *in, size_t size, uint8_t *out) {
    size_t written = 0;
    int ok = fits(0) && ssl()->EVP_Q_digest(ssl()->context, hash, NULL, in, size, out, &written) == 1;
    return done(ok ? (long)written : -1);
}

static EVP_MD_CTX *started(const char *hash) {
    if (!fits(0)) return NULL;
    EVP_MD *kind = ssl()->EVP_MD_fetch(ssl()->context, hash, NULL);
    EVP_MD_CTX *state = ssl()->EVP_MD_CTX_new();
    int ok = kind && state && ssl()->EVP_DigestInit_ex(state, kind, NULL) == 1;
    ssl()->EVP_MD_free(kind);
    if (!ok) abort();
    return state;
}

ykit_running ykit_running_new(const char *hash) { return started(hash); }

ykit_running ykit_running_copy(ykit_running state) {
    if (!state) return NULL;
    EVP_MD_CTX *copy = ssl()->EVP_MD_CTX_new();
    if (!copy || ssl()->EVP_MD_CTX_copy_ex(copy, state) != 1) abort();
    return copy;
}

void ykit_running_free(ykit_running state) {
    if (state) ssl()->EVP_MD_CTX_free(state);
}

void ykit_running_update(ykit_running state, const uint8_t *in, size_t size) {
    if (ssl()->EVP_DigestUpdate(state, in, size) != 1) abort();
}

long ykit_running_finish(ykit_running state, uint8_t *out) {
    unsigned written = 0;
    return done(ssl()->EVP_DigestFinal_ex(state, out, &written) == 1 ? (long)written : -1);
}

long ykit_shake(const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t length) {
    EVP_MD_CTX *state = started(hash);
    if (!state) return -1;
    int ok = ssl()->EVP_DigestUpdate(state, in, size) == 1 && ssl()->EVP_DigestFinalXOF(state, out, length) == 1;
    ssl()->EVP_MD_CTX_free(state);
    return done(ok ? (long)length : -1);
}

long ykit_mac(
    const char *mac, const char *inner, const uint8_t *key, size_t key_size, const uint8_t *in, size_t size, uint8_t *out,
    size_t room) {
    if (!fits(0)) return -1;
    size_t written = 0;
    int ok = ssl()->EVP_Q_mac(
        ssl()->context, mac, NULL, inner, NULL, present(key), key_size, present(in), size, out, room, &written) != NULL;
    return done(ok ? (long)written : -1);
}

static int derive(const char *name, const OSSL_PARAM *parameters, uint8_t *out, size_t length) {
    if (!fits(0)) return -1;
    EVP_KDF *kind = ssl()->EVP_KDF_fetch(ssl()->context, name, NULL);
    EVP_KDF_CTX *state = kind ? ssl()->EVP_KDF_CTX_new(kind) : NULL;
    int ok = state && ssl()->EVP_KDF_derive(state, out, length, parameters) == 1;
    ssl()->EVP_KDF_CTX_free(state);
    ssl()->EVP_KDF_free(kind);
    return (int)done(ok ? 0 : -1);
}

int ykit_pbkdf2(
    const char *hash, const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
    uint32_t rounds, uint8_t *out, size_t length) {
    // Without the minima of NIST SP 800-132, which files that exist do not respect.
    int any = 1;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)hash, strlen(hash)),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_PASSWORD, octets(password), password_size),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SALT, octets(salt), salt_size),
        OSSL_PARAM_uint32(OSSL_KDF_PARAM_ITER, &rounds),
        OSSL_PARAM_int(OSSL_KDF_PARAM_PKCS5, &any),
        OSSL_PARAM_END,
    };
    return derive("PBKDF2", parameters, out, length);
}

int ykit_scrypt(
    const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size, uint64_t cost,
    uint32_t block_size, uint32_t parallelism, uint64_t memory, uint8_t *out, size_t length) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_PASSWORD, octets(password), password_size),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SALT, octets(salt), salt_size),
        OSSL_PARAM_uint64(OSSL_KDF_PARAM_SCRYPT_N, &cost),
        OSSL_PARAM_uint32(OSSL_KDF_PARAM_SCRYPT_R, &block_size),
        OSSL_PARAM_uint32(OSSL_KDF_PARAM_SCRYPT_P, &parallelism),
        OSSL_PARAM_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
        OSSL_PARAM_END,
    };
    return derive("SCRYPT", parameters, out, length);
}
