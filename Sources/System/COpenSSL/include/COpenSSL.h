// SPDX-License-Identifier: Apache-2.0
// OpenSSL's libcrypto. The library is loaded on the first call, so that programs start faster; without libcrypto.so.3 every
// function fails. No configuration file and no variable chooses the code that runs: openssl.cnf is not read, and modules
// are loaded only from the folder that the library was built for.
//
// Functions that write bytes return their number, or -1, and never write more than `room`. The caller owns the handles.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Why the library cannot be used; NULL if it can.
const char *ykit_openssl_problem(void);
// Calls a function when the library turns out to be missing; set before the first use.
void ykit_openssl_on_problem(void (*handler)(const char *reason));
// Whether one is set.
int ykit_openssl_has_handler(void);
// Fills the tables in which OpenSSL looks for ciphers and digests by name. It reads certificates with them, so they are
// needed before TLS too.
void ykit_openssl_add_names(void);

// Hashes by OpenSSL's name ("SHA256", …). `out` has room for a digest.
long ykit_hash(const char *hash, const uint8_t *in, size_t size, uint8_t *out);
// "SHAKE128" and "SHAKE256", with an output of this length.
long ykit_shake(const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t length);

// A hash computed incrementally. Finishing it leaves it unusable: finish a copy. NULL without the library; when memory runs
// out, the program ends, as with Swift's own allocations.
typedef void *ykit_running;
ykit_running ykit_running_new(const char *hash);
ykit_running ykit_running_copy(ykit_running state);
void ykit_running_free(ykit_running state);
void ykit_running_update(ykit_running state, const uint8_t *in, size_t size);
long ykit_running_finish(ykit_running state, uint8_t *out);

// "HMAC" with a hash, "CMAC" with a cipher ("AES-128-CBC", …).
long ykit_mac(
    const char *mac, const char *inner, const uint8_t *key, size_t key_size, const uint8_t *in, size_t size, uint8_t *out,
    size_t room);

// Derive a key of `length` bytes from a password; return 0 on success. scrypt takes at most `memory` bytes.
int ykit_pbkdf2(
    const char *hash, const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
    uint32_t rounds, uint8_t *out, size_t length);
int ykit_scrypt(
    const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size, uint64_t cost,
    uint32_t block_size, uint32_t parallelism, uint64_t memory, uint8_t *out, size_t length);

// A cipher ("AES-128-CBC", "DES-EDE3-ECB", …) without padding; returns 0 on success, -1 also for a key, a vector or a
// message of the wrong size. The output is as long as the input.
int ykit_cipher(
    const char *name, int encrypt, const uint8_t *key, size_t key_size, const uint8_t *vector, size_t vector_size,
    const uint8_t *in, size_t size, uint8_t *out);

// Authenticated encryption ("AES-256-GCM", "ChaCha20-Poly1305"); returns 0 on success. The tag is written when encrypting
// and checked when decrypting.
#define YKIT_TAG 16
int ykit_aead(
    const char *name, int encrypt, const uint8_t *key, size_t key_size, const uint8_t *nonce, size_t nonce_size,
    const uint8_t *context, size_t context_size, const uint8_t *in, size_t size, uint8_t *out, uint8_t *tag);

typedef void *ykit_key;

// Parses a private key (PKCS#8, PKCS#1 or SEC 1, DER) or a public key (SubjectPublicKeyInfo); NULL if invalid.
ykit_key ykit_key_private(const uint8_t *der, size_t size);
ykit_key ykit_key_public(const uint8_t *der, size_t size);
// A public key from its parts, the cheapest way; NULL if invalid: a point on a curve, an RSA modulus and exponent, the bytes
// of "ED25519" or "ED448" that decode to a point (RFC 8032 §5.1.3, §5.2.3), or of "X25519".
ykit_key ykit_key_point(const char *curve, const uint8_t *point, size_t size);
ykit_key ykit_key_modulus(const uint8_t *modulus, size_t size, const uint8_t *exponent, size_t exponent_size);
ykit_key ykit_key_raw(const char *kind, const uint8_t *bytes, size_t size);
// A private key from its parts: a scalar on a curve and the point that belongs to it, or the bytes of "ED25519" or "X25519".
ykit_key ykit_key_scalar(
    const char *curve, const uint8_t *scalar, size_t size, const uint8_t *point, size_t point_size);
ykit_key ykit_key_raw_private(const char *kind, const uint8_t *bytes, size_t size);
// Parses a private key from one PEM block; `password` may be NULL. Returns NULL if the key cannot be read.
ykit_key ykit_key_pem(const uint8_t *text, size_t size, const char *password, size_t password_size);
// Generates an RSA key of this many bits with the public exponent 65537.
ykit_key ykit_key_rsa(unsigned bits);
void ykit_key_free(ykit_key key);
// PKCS#8, DER.
long ykit_key_encode_private(ykit_key key, uint8_t *out, size_t room);
// The name of the key type ("RSA", "EC", "ED25519", "X25519", …) and, on a curve, the curve's ("prime256v1", …).
long ykit_key_kind(ykit_key key, char *out, size_t room);
long ykit_key_curve(ykit_key key, char *out, size_t room);
// A number of the key by OpenSSL's name ("n", "e", "d", "rsa-factor1", "priv", …), most significant byte first, or a
// byte string ("pub", "priv").
long ykit_key_number(ykit_key key, const char *name, uint8_t *out, size_t room);
long ykit_key_bytes(ykit_key key, const char *name, uint8_t *out, size_t room);
// The RSA private key operation on a block as long as the modulus, without padding.
long ykit_key_rsa_private(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// The RSA public key operation on such a block.
long ykit_key_rsa_public(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// Signs a digest with ECDSA; the signature is DER.
long ykit_key_sign_digest(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// Signs a message; `hash` is NULL for Ed25519.
long ykit_key_sign(ykit_key key, const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t room);
// Returns 1 if a DER-encoded ECDSA signature over a digest is valid.
int ykit_key_verify_digest(
    ykit_key key, const uint8_t *signature, size_t signature_size, const uint8_t *digest, size_t size);
// Returns 1 if the signature is valid. The padding is the key's own, or PSS with a salt as long as the hash, or of any
// length.
enum { YKIT_DEFAULT_PADDING, YKIT_PSS, YKIT_PSS_ANY_SALT };
int ykit_key_verify(
    ykit_key key, const char *hash, int padding, const uint8_t *signature, size_t signature_size, const uint8_t *message,
    size_t size);
// Diffie-Hellman key agreement.
long ykit_key_derive(ykit_key key, ykit_key peer, uint8_t *out, size_t room);
// Computes n = p q and d = e^-1 mod (p-1)(q-1), both at most `room` bytes long; returns 0 on success.
int ykit_rsa_complete(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *n, size_t *n_size, uint8_t *d, size_t *d_size);
// Computes d mod p-1, d mod q-1 and 1/q mod p for the public exponent 65537, each `size` bytes long; returns 0 on
// success.
int ykit_rsa_remainders(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *dp, uint8_t *dq, uint8_t *inverse);

// Computes scalar G, uncompressed; -1 if the scalar is zero or not below the order of the curve.
long ykit_curve_point(const char *curve, const uint8_t *scalar, size_t size, uint8_t *out, size_t room);

// Computes number + addend modulo the order of P-256; addend and result have 32 bytes. Returns 0 on success.
int ykit_p256_scalar(const uint8_t *number, size_t size, const uint8_t *addend, uint8_t *out);
// Computes scalar G + point on P-256; the scalar has 32 bytes, the result is uncompressed, 65 bytes. Returns 0 on success,
// -1 also if the point is not on the curve or the sum is the point at infinity.
int ykit_p256_add(const uint8_t *scalar, const uint8_t *point, size_t size, uint8_t *out);
// Rewrites a point on P-256 in its compressed or uncompressed form.
long ykit_p256_point(const uint8_t *point, size_t size, int compressed, uint8_t *out, size_t room);

// The content of a PKCS#12 file: the key as PKCS#8 (NULL if there is none), then certificates, the key's own first.
typedef struct {
    uint8_t *bytes;
    size_t size;
} ykit_blob;
// Returns 0 on success, -1 if the file is not PKCS#12 or is encrypted with an unknown cipher, -2 if the password is wrong,
// -3 if the file has no MAC and either may be the case. `blobs` receives the key and then the certificates; `count` is its
// capacity and is set to their number. Free each with ykit_blob_free.
int ykit_pkcs12(const uint8_t *der, size_t size, const char *password, ykit_blob *blobs, size_t *count);
void ykit_blob_free(ykit_blob blob);

// A certificate path (RFC 5280 §6.1). The certificates are concatenated DER, with their sizes in a separate array. The
// first certificate of the chain is the end entity; the others may be intermediates.
typedef struct {
    const uint8_t *chain;
    const size_t *chain_sizes;
    size_t chain_count;
    const uint8_t *anchors;
    const size_t *anchor_sizes;
    size_t anchor_count;
    // The time at which certificates must be valid, in seconds since 1970; not checked for the first `timeless` of the
    // path.
    int64_t time;
    size_t timeless;
    // Whether signatures with SHA-1 are accepted.
    int allows_sha1;
} ykit_path;

// Returns 0 if a path leads to an anchor; `path` then holds it, the end entity first. Returns OpenSSL's X509_V_ERR code
// if there is none; `path` then holds the certificate that failed, if any. Returns -2 if a certificate cannot be parsed.
// `count` is the capacity of `path` and is set to the number of its entries; free each with ykit_blob_free in any case.
int ykit_path_verify(const ykit_path *wanted, ykit_blob *path, size_t *count);
// OpenSSL's description of an error.
const char *ykit_path_reason(int error);

// OpenSSL's codes for some errors; `no_issuer` stands for every way of not finding an issuer.
extern const int ykit_path_not_yet, ykit_path_expired, ykit_path_not_authority, ykit_path_no_signing,
    ykit_path_too_many, ykit_path_too_long, ykit_path_no_issuer;
