// SPDX-License-Identifier: Apache-2.0
// What ykit needs of OpenSSL's libcrypto beyond swift-crypto: 3DES, keys of any kind, PKCS#12, encrypted PEM
// and certificate paths. The library is opened at the first call, so that a start without any of it does not pay for it.
//
// A function that writes bytes returns how many, or -1; nothing is written beyond `room`. Keys are owned by the caller.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Whether libcrypto.so.3 is there with all that is used of it.
int ykit_openssl(void);

// Whole blocks of 3DES in ECB mode under 24 bytes of key; 0 when done.
int ykit_3des(int encrypt, const uint8_t *key, const uint8_t *in, size_t size, uint8_t *out);

typedef void *ykit_key;

// A private key from PKCS#8, PKCS#1 or SEC 1, DER; a public one from SubjectPublicKeyInfo; NULL when it is none.
ykit_key ykit_key_private(const uint8_t *der, size_t size);
ykit_key ykit_key_public(const uint8_t *der, size_t size);
// A private key from one PEM block; `password` may be NULL. NULL when it cannot be read.
ykit_key ykit_key_pem(const uint8_t *text, size_t size, const char *password, size_t password_size);
// A new RSA key of so many bits, public exponent 65537.
ykit_key ykit_key_rsa(unsigned bits);
// 1 when the private number of a key on a curve is in its range.
int ykit_key_check(ykit_key key);
void ykit_key_free(ykit_key key);
// PKCS#8 and SubjectPublicKeyInfo, DER.
long ykit_key_encode_private(ykit_key key, uint8_t *out, size_t room);
long ykit_key_encode_public(ykit_key key, uint8_t *out, size_t room);
// The name of the kind ("RSA", "EC", "ED25519", "X25519", …) and, on a curve, the curve's ("prime256v1", …).
long ykit_key_kind(ykit_key key, char *out, size_t room);
long ykit_key_curve(ykit_key key, char *out, size_t room);
// A number of the key by OpenSSL's name ("n", "e", "d", "rsa-factor1", "priv", …), most significant byte first; a
// string of bytes likewise ("pub", "priv").
long ykit_key_number(ykit_key key, const char *name, uint8_t *out, size_t room);
long ykit_key_bytes(ykit_key key, const char *name, uint8_t *out, size_t room);
// The RSA private operation on a block as long as the modulus, without padding.
long ykit_key_rsa_private(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// The RSA public operation likewise.
long ykit_key_rsa_public(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// ECDSA over a digest, DER.
long ykit_key_sign_digest(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// A signature over a message; `hash` is NULL for Ed25519.
long ykit_key_sign(ykit_key key, const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// 1 when an ECDSA signature over a digest, DER, is right.
int ykit_key_verify_digest(
    ykit_key key, const uint8_t *signature, size_t signature_size, const uint8_t *digest, size_t size);
// 1 when the signature is right. `pss` has the salt as long as it is.
int ykit_key_verify(
    ykit_key key, const char *hash, int pss, const uint8_t *signature, size_t signature_size, const uint8_t *message,
    size_t size);
// Diffie-Hellman.
long ykit_key_derive(ykit_key key, ykit_key peer, uint8_t *out, size_t room);
// n = p q and d = e^-1 mod (p-1)(q-1), both `room` bytes long at most; 0 when done.
int ykit_rsa_complete(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *n, size_t *n_size, uint8_t *d, size_t *d_size);
// d mod p-1, d mod q-1 and 1/q mod p for the public exponent 65537, each `size` bytes long; 0 when done.
int ykit_rsa_remainders(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *dp, uint8_t *dq, uint8_t *inverse);

// What a PKCS#12 file holds: the key as PKCS#8 (NULL when there is none), then certificates, the key's own first.
typedef struct {
    uint8_t *bytes;
    size_t size;
} ykit_blob;
// 0 when opened; -1 when it is not PKCS#12, -2 when the password is not the right one. `blobs` holds the key, then the
// certificates; `count` is its room and becomes how many there are. Each is freed with ykit_blob_free.
int ykit_pkcs12(const uint8_t *der, size_t size, const char *password, ykit_blob *blobs, size_t *count);
void ykit_blob_free(ykit_blob blob);

// A certificate path (RFC 5280 §6.1). Certificates are DER, one behind the other, with their sizes beside them; the
// first of the chain is the end of the path, the others may stand between it and an anchor.
typedef struct {
    const uint8_t *chain;
    const size_t *chain_sizes;
    size_t chain_count;
    const uint8_t *anchors;
    const size_t *anchor_sizes;
    size_t anchor_count;
    // The time that certificates have to be valid at, in seconds since 1970, but for the first `timeless` of the path.
    int64_t time;
    size_t timeless;
    // Whether signatures with SHA-1 are accepted.
    int allows_sha1;
} ykit_path;

// 0 when a path leads to an anchor, and then `path` holds it, the end first; OpenSSL's X509_V_ERR number when there is
// none, and then `path` holds the certificate that it failed at, where there is one; -1 without OpenSSL, -2 when a
// certificate cannot be read. `count` is the room of `path` and becomes how many there are; each is freed with
// ykit_blob_free, whatever the result.
int ykit_path_verify(const ykit_path *wanted, ykit_blob *path, size_t *count);
// OpenSSL's words for a failure.
const char *ykit_path_reason(int error);

// What OpenSSL calls some failures; `no_issuer` stands for all ways of not finding one.
extern const int ykit_path_not_yet, ykit_path_expired, ykit_path_not_authority, ykit_path_no_signing,
    ykit_path_too_many, ykit_path_too_long, ykit_path_no_issuer;
