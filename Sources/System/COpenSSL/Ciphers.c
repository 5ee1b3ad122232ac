// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

// Starts a cipher whose key has exactly this size.
static EVP_CIPHER_CTX *start(
    const char *name, int encrypt, const uint8_t *key, size_t key_size, const uint8_t *vector,
    size_t vector_size) {
    EVP_CIPHER *cipher = ssl()->EVP_CIPHER_fetch(ssl()->context, name, NULL);
    EVP_CIPHER_CTX *state = ssl()->EVP_CIPHER_CTX_new();
    int ok = cipher && state && (size_t)ssl()->EVP_CIPHER_get_key_length(cipher) == key_size
        && ssl()->EVP_CipherInit_ex(state, cipher, NULL, NULL, NULL, encrypt) == 1
        && ((size_t)ssl()->EVP_CIPHER_get_iv_length(cipher) == vector_size
            || ssl()->EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_IVLEN, (int)vector_size, NULL) == 1)
        && ssl()->EVP_CipherInit_ex(state, NULL, NULL, key, vector, encrypt) == 1
        && ssl()->EVP_CIPHER_CTX_set_padding(state, 0) == 1;
    ssl()->EVP_CIPHER_free(cipher);
    if (ok) return state;
    ssl()->EVP_CIPHER_CTX_free(state);
    return NULL;
}

int ykit_cipher(
    const char *name, int encrypt, const uint8_t *key, size_t key_size, const uint8_t *vector, size_t vector_size,
    const uint8_t *in, size_t size, uint8_t *out) {
    if (!fits(size)) return -1;
    EVP_CIPHER_CTX *state = start(name, encrypt, key, key_size, vector, vector_size);
    int written = 0, last = 0;
    int ok = state && ssl()->EVP_CipherUpdate(state, out, &written, in, (int)size) == 1
        && ssl()->EVP_CipherFinal_ex(state, out + written, &last) == 1 && written + last == (int)size;
    ssl()->EVP_CIPHER_CTX_free(state);
    return (int)done(ok ? 0 : -1);
}

int ykit_aead(
    const char *name, int encrypt, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *context, size_t context_size, const uint8_t *in, size_t size, uint8_t *out, uint8_t *tag) {
    if (!fits(size) || !fits(context_size) || !fits(nonce_size)) return -1;
    EVP_CIPHER_CTX *state = start(name, encrypt, key, key_size, nonce, nonce_size);
    int written = 0, last = 0;
    int ok = state
        && (encrypt || ssl()->EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_TAG, YKIT_TAG, tag) == 1)
        && (context_size == 0 || ssl()->EVP_CipherUpdate(state, NULL, &written, context, (int)context_size) == 1)
        && (size == 0 || ssl()->EVP_CipherUpdate(state, out, &written, in, (int)size) == 1)
        && ssl()->EVP_CipherFinal_ex(state, out, &last) == 1
        && (!encrypt || ssl()->EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_GET_TAG, YKIT_TAG, tag) == 1);
    ssl()->EVP_CIPHER_CTX_free(state);
    if (!ok && size > 0) ssl()->OPENSSL_cleanse(out, size);
    return (int)done(ok ? 0 : -1);
}
