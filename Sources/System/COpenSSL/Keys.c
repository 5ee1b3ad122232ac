// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

ykit_key ykit_key_private(const uint8_t *der, size_t size) {
    if (!fits(size)) return NULL;
    const uint8_t *next = der;
    EVP_PKEY *key = ssl()->d2i_AutoPrivateKey_ex(NULL, &next, (long)size, ssl()->context, NULL);
    done(0);
    if (key && next == der + size) return key;
    ssl()->EVP_PKEY_free(key);
    return NULL;
}

// Whether the bytes of a key of EdDSA decode to a point, which OpenSSL does not check before it verifies: y is below p, and
// x^2 = (y^2 - 1) / (d y^2 + a) has a root, of which zero has no sign (RFC 8032 §5.1.3, §5.2.3).
static int decodes(int is_448, const uint8_t *bytes, size_t size) {
    static const uint8_t d_25519[] = {
        0x52, 0x03, 0x6C, 0xEE, 0x2B, 0x6F, 0xFE, 0x73, 0x8C, 0xC7, 0x40, 0x79, 0x77, 0x79, 0xE8, 0x98,
        0x00, 0x70, 0x0A, 0x4D, 0x41, 0x41, 0xD8, 0xAB, 0x75, 0xEB, 0x4D, 0xCA, 0x13, 0x59, 0x78, 0xA3,
    };
    if (size != (is_448 ? 57 : 32)) return 0;
    uint8_t y[57], prime[57];
    memcpy(y, bytes, size);
    int sign = y[size - 1] >> 7;
    y[size - 1] &= 0x7F;
    // p = 2^255 - 19 and 2^448 - 2^224 - 1, least significant byte first.
    memset(prime, 0xFF, size);
    prime[is_448 ? 28 : 0] = is_448 ? 0xFE : 0xED;
    prime[size - 1] = is_448 ? 0 : 0x7F;
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    BIGNUM *p = ssl()->BN_lebin2bn(prime, (int)size, NULL), *value = ssl()->BN_lebin2bn(y, (int)size, NULL);
    BIGNUM *d = is_448 ? ssl()->BN_dup(p) : ssl()->BN_bin2bn(d_25519, sizeof d_25519, NULL);
    BIGNUM *one = ssl()->BN_new(), *square = ssl()->BN_new(), *product = ssl()->BN_new();
    int ok = context && p && value && d && one && square && product && ssl()->BN_cmp(value, p) < 0
        && (!is_448 || ssl()->BN_sub_word(d, 39081) == 1) && ssl()->BN_set_word(one, 1) == 1
        && ssl()->BN_mod_sqr(square, value, p, context) == 1
        && ssl()->BN_mod_mul(product, d, square, p, context) == 1
        && (is_448 ? ssl()->BN_mod_sub(product, product, one, p, context)
                   : ssl()->BN_mod_add(product, product, one, p, context))
            == 1
        && ssl()->BN_mod_sub(square, square, one, p, context) == 1
        && ssl()->BN_mod_mul(product, product, square, p, context) == 1;
    int symbol = ok ? ssl()->BN_kronecker(product, p, context) : -1;
    BIGNUM *all[] = {p, value, d, one, square, product};
    for (size_t i = 0; i < 6; i++) ssl()->BN_clear_free(all[i]);
    ssl()->BN_CTX_free(context);
    return symbol == 1 || (symbol == 0 && !sign);
}

static int is_edwards(const char *kind) { return !strcmp(kind, "ED25519") || !strcmp(kind, "ED448"); }

// Whether a key of EdDSA is a point; true for other keys, whose points OpenSSL has checked.
static int is_point(EVP_PKEY *key) {
    uint8_t bytes[57];
    size_t size = 0;
    const char *kind = ssl()->EVP_PKEY_get0_type_name(key);
    if (!kind || !is_edwards(kind)) return kind != NULL;
    return (int)done(
        ssl()->EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, bytes, sizeof bytes, &size) == 1
        && decodes(!strcmp(kind, "ED448"), bytes, size));
}

ykit_key ykit_key_public(const uint8_t *der, size_t size) {
    if (!fits(size)) return NULL;
    const uint8_t *next = der;
    EVP_PKEY *key = ssl()->d2i_PUBKEY_ex(NULL, &next, (long)size, ssl()->context, NULL);
    done(0);
    if (key && next == der + size && is_point(key)) return key;
    ssl()->EVP_PKEY_free(key);
    return NULL;
}

static EVP_PKEY *from_data(const char *kind, int selection, OSSL_PARAM *parameters) {
    if (!fits(0)) return NULL;
    EVP_PKEY_CTX *context = ssl()->EVP_PKEY_CTX_new_from_name(ssl()->context, kind, NULL);
    EVP_PKEY *key = NULL;
    int ok = context && ssl()->EVP_PKEY_fromdata_init(context) == 1
        && ssl()->EVP_PKEY_fromdata(context, &key, selection, parameters) == 1;
    ssl()->EVP_PKEY_CTX_free(context);
    done(0);
    return ok ? key : NULL;
}

ykit_key ykit_key_point(const char *curve, const uint8_t *point, size_t size) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, strlen(curve)),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, size),
        OSSL_PARAM_END,
    };
    return from_data("EC", EVP_PKEY_PUBLIC_KEY, parameters);
}

// Writes a number of `size` bytes in the byte order of the processor, in which OpenSSL takes it.
static int write_native(const uint8_t *in, size_t size, uint8_t *out) {
    BIGNUM *value = ssl()->BN_bin2bn(in, (int)size, NULL);
    int ok = value && ssl()->BN_bn2nativepad(value, out, (int)size) == (int)size;
    ssl()->BN_clear_free(value);
    return ok;
}

ykit_key ykit_key_modulus(const uint8_t *modulus, size_t size, const uint8_t *exponent, size_t exponent_size) {
    uint8_t n[OPENSSL_RSA_MAX_MODULUS_BITS / 8], e[OPENSSL_RSA_MAX_MODULUS_BITS / 8];
    if (!fits(size) || size == 0 || size > sizeof n || exponent_size == 0 || exponent_size > sizeof e) return NULL;
    if (!write_native(modulus, size, n) || !write_native(exponent, exponent_size, e)) return NULL;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_N, n, size),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_E, e, exponent_size),
        OSSL_PARAM_END,
    };
    return from_data("RSA", EVP_PKEY_PUBLIC_KEY, parameters);
}

ykit_key ykit_key_scalar(
    const char *curve, const uint8_t *scalar, size_t size, const uint8_t *point, size_t point_size) {
    uint8_t number[80];
    if (!fits(size) || size == 0 || size > sizeof number || !write_native(scalar, size, number)) return NULL;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, strlen(curve)),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, point_size),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_PRIV_KEY, number, size),
        OSSL_PARAM_END,
    };
    EVP_PKEY *key = from_data("EC", EVP_PKEY_KEYPAIR, parameters);
    ssl()->OPENSSL_cleanse(number, sizeof number);
    return key;
}

ykit_key ykit_key_raw_private(const char *kind, const uint8_t *bytes, size_t size) {
    if (!fits(size)) return NULL;
    EVP_PKEY *key = ssl()->EVP_PKEY_new_raw_private_key_ex(ssl()->context, kind, NULL, bytes, size);
    done(0);
    return key;
}

ykit_key ykit_key_raw(const char *kind, const uint8_t *bytes, size_t size) {
    if (!fits(size) || (is_edwards(kind) && !decodes(!strcmp(kind, "ED448"), bytes, size))) return NULL;
    EVP_PKEY *key = ssl()->EVP_PKEY_new_raw_public_key_ex(ssl()->context, kind, NULL, bytes, size);
    done(0);
    return key;
}

typedef struct {
    const char *bytes;
    size_t size;
} phrase;

// Passes the password to OpenSSL, or reports that there is none; otherwise OpenSSL would prompt on the terminal.
static int give(char *buffer, int room, int writes, void *user) {
    const phrase *password = user;
    (void)writes;
    if (!password->bytes || password->size > (size_t)room) return -1;
    memcpy(buffer, password->bytes, password->size);
    return (int)password->size;
}

ykit_key ykit_key_pem(const uint8_t *text, size_t size, const char *password, size_t password_size) {
    if (!fits(size)) return NULL;
    ykit_openssl_add_names();
    BIO *bio = ssl()->BIO_new_mem_buf(text, (int)size);
    if (!bio) return NULL;
    phrase user = {password, password_size};
    // The functions for "DEK-Info" have no parameter for the context.
    OSSL_LIB_CTX *usual = ssl()->OSSL_LIB_CTX_set0_default(ssl()->context);
    EVP_PKEY *key = ssl()->PEM_read_bio_PrivateKey_ex(bio, NULL, give, &user, ssl()->context, NULL);
    ssl()->OSSL_LIB_CTX_set0_default(usual);
    ssl()->BIO_free(bio);
    done(0);
    return key;
}

ykit_key ykit_key_rsa(unsigned bits) {
    if (!fits(bits)) return NULL;
    EVP_PKEY *key = ssl()->EVP_PKEY_Q_keygen(ssl()->context, NULL, "RSA", (size_t)bits);
    done(0);
    return key;
}

void ykit_key_free(ykit_key key) {
    if (key) ssl()->EVP_PKEY_free(key);
}

long ykit_key_encode_private(ykit_key key, uint8_t *out, size_t room) {
    PKCS8_PRIV_KEY_INFO *info = ssl()->EVP_PKEY2PKCS8(key);
    if (!info) return done(-1);
    long size = ssl()->i2d_PKCS8_PRIV_KEY_INFO(info, NULL);
    if (size > 0 && (size_t)size <= room) ssl()->i2d_PKCS8_PRIV_KEY_INFO(info, &out);
    else size = -1;
    ssl()->PKCS8_PRIV_KEY_INFO_free(info);
    return done(size);
}

long ykit_key_kind(ykit_key key, char *out, size_t room) {
    const char *name = ssl()->EVP_PKEY_get0_type_name(key);
    if (!name || strlen(name) > room) return -1;
    memcpy(out, name, strlen(name));
    return (long)strlen(name);
}

long ykit_key_curve(ykit_key key, char *out, size_t room) {
    size_t size = 0;
    if (ssl()->EVP_PKEY_get_group_name(key, out, room, &size) != 1) return done(-1);
    return done((long)size);
}

long ykit_key_number(ykit_key key, const char *name, uint8_t *out, size_t room) {
    BIGNUM *value = NULL;
    if (ssl()->EVP_PKEY_get_bn_param(key, name, &value) != 1) return done(-1);
    long size = write_number(value, out, room);
    ssl()->BN_clear_free(value);
    return done(size);
}

long ykit_key_bytes(ykit_key key, const char *name, uint8_t *out, size_t room) {
    size_t size = 0;
    if (ssl()->EVP_PKEY_get_octet_string_param(key, name, out, room, &size) != 1) return done(-1);
    return done((long)size);
}

// Runs EVP_PKEY_decrypt, _encrypt or _sign after its init function; a padding of 0 keeps the key's default.
static long operate(
    ykit_key key, int (*start)(EVP_PKEY_CTX *), int padding,
    int (*run)(EVP_PKEY_CTX *, unsigned char *, size_t *, const unsigned char *, size_t), const uint8_t *in, size_t size,
    uint8_t *out, size_t room) {
    EVP_PKEY_CTX *context = ssl()->EVP_PKEY_CTX_new_from_pkey(ssl()->context, key, NULL);
    size_t written = room;
    int ok = context && start(context) == 1
        && (padding == 0 || ssl()->EVP_PKEY_CTX_set_rsa_padding(context, padding) == 1)
        && run(context, out, &written, in, size) == 1;
    ssl()->EVP_PKEY_CTX_free(context);
    return done(ok ? (long)written : -1);
}

long ykit_key_rsa_private(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl()->EVP_PKEY_decrypt_init, RSA_NO_PADDING, ssl()->EVP_PKEY_decrypt, in, size, out, room);
}

long ykit_key_rsa_public(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl()->EVP_PKEY_encrypt_init, RSA_NO_PADDING, ssl()->EVP_PKEY_encrypt, in, size, out, room);
}

long ykit_key_sign_digest(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl()->EVP_PKEY_sign_init, 0, ssl()->EVP_PKEY_sign, in, size, out, room);
}

long ykit_key_sign(ykit_key key, const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    EVP_MD_CTX *context = ssl()->EVP_MD_CTX_new();
    size_t written = room;
    int ok = context && ssl()->EVP_DigestSignInit_ex(context, NULL, hash, ssl()->context, NULL, key, NULL) == 1
        && ssl()->EVP_DigestSign(context, out, &written, in, size) == 1;
    ssl()->EVP_MD_CTX_free(context);
    return done(ok ? (long)written : -1);
}

int ykit_key_verify_digest(
    ykit_key key, const uint8_t *signature, size_t signature_size, const uint8_t *digest, size_t size) {
    EVP_PKEY_CTX *context = ssl()->EVP_PKEY_CTX_new_from_pkey(ssl()->context, key, NULL);
    int ok = context && ssl()->EVP_PKEY_verify_init(context) == 1
        && ssl()->EVP_PKEY_verify(context, signature, signature_size, digest, size) == 1;
    ssl()->EVP_PKEY_CTX_free(context);
    return (int)done(ok);
}

int ykit_key_verify(
    ykit_key key, const char *hash, int padding, const uint8_t *signature, size_t signature_size, const uint8_t *message,
    size_t size) {
    EVP_MD_CTX *context = ssl()->EVP_MD_CTX_new();
    EVP_PKEY_CTX *inner = NULL;
    int ok = context && ssl()->EVP_DigestVerifyInit_ex(context, &inner, hash, ssl()->context, NULL, key, NULL) == 1;
    if (ok && padding != YKIT_DEFAULT_PADDING) {
        int salt = padding == YKIT_PSS ? RSA_PSS_SALTLEN_DIGEST : RSA_PSS_SALTLEN_AUTO;
        ok = ssl()->EVP_PKEY_CTX_set_rsa_padding(inner, RSA_PKCS1_PSS_PADDING) == 1
            && ssl()->EVP_PKEY_CTX_set_rsa_pss_saltlen(inner, salt) == 1;
    }
    ok = ok && ssl()->EVP_DigestVerify(context, signature, signature_size, message, size) == 1;
    ssl()->EVP_MD_CTX_free(context);
    return (int)done(ok);
}

long ykit_key_derive(ykit_key key, ykit_key peer, uint8_t *out, size_t room) {
    EVP_PKEY_CTX *context = ssl()->EVP_PKEY_CTX_new_from_pkey(ssl()->context, key, NULL);
    size_t written = room;
    int ok = context && ssl()->EVP_PKEY_derive_init(context) == 1 && ssl()->EVP_PKEY_derive_set_peer(context, peer) == 1
        && ssl()->EVP_PKEY_derive(context, out, &written) == 1;
    ssl()->EVP_PKEY_CTX_free(context);
    return done(ok ? (long)written : -1);
}
