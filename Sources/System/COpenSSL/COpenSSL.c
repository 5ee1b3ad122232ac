// SPDX-License-Identifier: Apache-2.0
#include "COpenSSL.h"

#include <dlfcn.h>
#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                  \
    X(BIO_free) X(BIO_new_mem_buf) X(BN_CTX_free) X(BN_CTX_new) X(BN_bin2bn) X(BN_bn2bin) X(BN_bn2binpad) X(BN_dup) X(BN_clear_free) \
    X(BN_mod_add) X(BN_mod_inverse) X(BN_mul) X(BN_new) X(BN_nnmod) X(BN_num_bits) X(BN_set_word) X(BN_sub_word) X(CRYPTO_clear_free)           \
    X(EC_GROUP_free) X(EC_GROUP_get0_order) X(EC_GROUP_new_by_curve_name) X(EC_POINT_clear_free) X(EC_POINT_mul)         \
    X(EC_POINT_new) X(EC_POINT_oct2point) X(EC_POINT_point2oct)                                                       \
    X(CRYPTO_free) X(ERR_clear_error) X(EVP_CIPHER_CTX_free) X(EVP_CIPHER_CTX_new) X(EVP_CIPHER_CTX_set_padding)      \
    X(EVP_CipherInit_ex) X(EVP_CipherUpdate) X(EVP_DigestSign) X(EVP_DigestSignInit_ex) X(EVP_DigestVerify)           \
    X(EVP_DigestVerifyInit_ex) X(EVP_MD_CTX_free) X(EVP_MD_CTX_new) X(EVP_PKEY_CTX_free) X(EVP_PKEY_CTX_new)          \
    X(EVP_PKEY_CTX_set_rsa_padding) X(EVP_PKEY_CTX_set_rsa_pss_saltlen) X(EVP_PKEY_Q_keygen) X(EVP_PKEY_decrypt)      \
    X(EVP_PKEY_decrypt_init) X(EVP_PKEY_derive) X(EVP_PKEY_derive_init) X(EVP_PKEY_derive_set_peer) X(EVP_PKEY_free)  \
    X(EVP_PKEY_encrypt) X(EVP_PKEY_encrypt_init)                                                                      \
    X(EVP_PKEY_get0_type_name) X(EVP_PKEY_get_bn_param) X(EVP_PKEY_get_group_name)                                    \
    X(EVP_PKEY_get_octet_string_param) X(EVP_PKEY_private_check) X(EVP_PKEY_sign) X(EVP_PKEY_sign_init) X(EVP_des_ede3_ecb)                     \
    X(EVP_PKEY_verify) X(EVP_PKEY_verify_init)                                                                        \
    X(OPENSSL_init_crypto) X(OPENSSL_sk_num) X(OPENSSL_sk_pop_free) X(OPENSSL_sk_value) X(OSSL_LIB_CTX_new) X(OSSL_PROVIDER_load)            \
    X(PEM_read_bio_PrivateKey) X(PKCS12_free) X(PKCS12_init_ex) X(PKCS12_mac_present) X(PKCS12_parse)                 \
    X(PKCS12_set_mac) X(PKCS12_verify_mac) X(PKCS8_PRIV_KEY_INFO_free) X(EVP_PKEY2PKCS8) X(X509_free)                 \
    X(d2i_AutoPrivateKey)                                                                                             \
    X(d2i_PKCS12) X(d2i_PUBKEY) X(i2d_PKCS8_PRIV_KEY_INFO) X(i2d_PUBKEY) X(i2d_X509)                                  \
    X(OPENSSL_sk_new_null) X(OPENSSL_sk_push) X(X509_STORE_CTX_free)                               \
    X(X509_STORE_CTX_get0_chain) X(X509_STORE_CTX_get0_param) X(X509_STORE_CTX_get_current_cert)                      \
    X(X509_STORE_CTX_get_error) X(X509_STORE_CTX_get_error_depth) X(X509_STORE_CTX_get_ex_data)                       \
    X(X509_STORE_CTX_init) X(X509_STORE_CTX_new) X(X509_STORE_CTX_set_ex_data) X(X509_STORE_CTX_set_verify_cb)        \
    X(X509_STORE_add_cert) X(X509_STORE_free) X(X509_STORE_new) X(X509_VERIFY_PARAM_set_auth_level)                   \
    X(X509_VERIFY_PARAM_set_depth) X(X509_VERIFY_PARAM_set_flags) X(X509_VERIFY_PARAM_set_time)                       \
    X(X509_get_signature_info) X(X509_verify_cert) X(X509_verify_cert_error_string) X(d2i_X509)

static struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
#undef FIELD
} ssl;

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!image) return;
#define LOAD(name)                                                                                                    \
    if (!(ssl.name = (__typeof__(&name))dlsym(image, #name))) return;
    FUNCTIONS(LOAD)
#undef LOAD
    // Otherwise OpenSSL frees its state at exit while other threads are still using it.
    ssl.OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    is_loaded = 1;
}

int ykit_openssl(void) {
    pthread_once(&once, load);
    return is_loaded;
}

// Clears OpenSSL's error queue and returns the result.
static long done(long result) {
    ssl.ERR_clear_error();
    return result;
}

static int fits(size_t size) { return size <= INT_MAX; }

int ykit_3des(int encrypt, const uint8_t *key, const uint8_t *in, size_t size, uint8_t *out) {
    if (!ykit_openssl() || !fits(size) || size % 8) return -1;
    EVP_CIPHER_CTX *context = ssl.EVP_CIPHER_CTX_new();
    int written = 0;
    int ok = context && ssl.EVP_CipherInit_ex(context, ssl.EVP_des_ede3_ecb(), NULL, key, NULL, encrypt) == 1
        && ssl.EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && ssl.EVP_CipherUpdate(context, out, &written, in, (int)size) == 1 && written == (int)size;
    ssl.EVP_CIPHER_CTX_free(context);
    return (int)done(ok ? 0 : -1);
}

ykit_key ykit_key_private(const uint8_t *der, size_t size) {
    if (!ykit_openssl() || !fits(size)) return NULL;
    const uint8_t *next = der;
    EVP_PKEY *key = ssl.d2i_AutoPrivateKey(NULL, &next, (long)size);
    done(0);
    if (key && next == der + size) return key;
    ssl.EVP_PKEY_free(key);
    return NULL;
}

ykit_key ykit_key_public(const uint8_t *der, size_t size) {
    if (!ykit_openssl() || !fits(size)) return NULL;
    const uint8_t *next = der;
    EVP_PKEY *key = ssl.d2i_PUBKEY(NULL, &next, (long)size);
    done(0);
    if (key && next == der + size) return key;
    ssl.EVP_PKEY_free(key);
    return NULL;
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
    if (!ykit_openssl() || !fits(size)) return NULL;
    BIO *bio = ssl.BIO_new_mem_buf(text, (int)size);
    if (!bio) return NULL;
    phrase user = {password, password_size};
    EVP_PKEY *key = ssl.PEM_read_bio_PrivateKey(bio, NULL, give, &user);
    ssl.BIO_free(bio);
    done(0);
    return key;
}

ykit_key ykit_key_rsa(unsigned bits) {
    if (!ykit_openssl()) return NULL;
    EVP_PKEY *key = ssl.EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits);
    done(0);
    return key;
}

int ykit_key_check(ykit_key key) {
    EVP_PKEY_CTX *context = ssl.EVP_PKEY_CTX_new(key, NULL);
    int ok = context && ssl.EVP_PKEY_private_check(context) == 1;
    ssl.EVP_PKEY_CTX_free(context);
    return (int)done(ok);
}

void ykit_key_free(ykit_key key) {
    if (key) ssl.EVP_PKEY_free(key);
}

long ykit_key_encode_private(ykit_key key, uint8_t *out, size_t room) {
    PKCS8_PRIV_KEY_INFO *info = ssl.EVP_PKEY2PKCS8(key);
    if (!info) return done(-1);
    long size = ssl.i2d_PKCS8_PRIV_KEY_INFO(info, NULL);
    if (size > 0 && (size_t)size <= room) ssl.i2d_PKCS8_PRIV_KEY_INFO(info, &out);
    else size = -1;
    ssl.PKCS8_PRIV_KEY_INFO_free(info);
    return done(size);
}

long ykit_key_encode_public(ykit_key key, uint8_t *out, size_t room) {
    long size = ssl.i2d_PUBKEY(key, NULL);
    if (size <= 0 || (size_t)size > room) return done(-1);
    return done(ssl.i2d_PUBKEY(key, &out));
}

long ykit_key_kind(ykit_key key, char *out, size_t room) {
    const char *name = ssl.EVP_PKEY_get0_type_name(key);
    if (!name || strlen(name) > room) return -1;
    memcpy(out, name, strlen(name));
    return (long)strlen(name);
}

long ykit_key_curve(ykit_key key, char *out, size_t room) {
    size_t size = 0;
    if (ssl.EVP_PKEY_get_group_name(key, out, room, &size) != 1) return done(-1);
    return done((long)size);
}

static long number(const BIGNUM *value, uint8_t *out, size_t room) {
    size_t size = (size_t)(ssl.BN_num_bits(value) + 7) / 8;
    return size <= room ? ssl.BN_bn2bin(value, out) : -1;
}

long ykit_key_number(ykit_key key, const char *name, uint8_t *out, size_t room) {
    BIGNUM *value = NULL;
    if (ssl.EVP_PKEY_get_bn_param(key, name, &value) != 1) return done(-1);
    long size = number(value, out, room);
    ssl.BN_clear_free(value);
    return done(size);
}

long ykit_key_bytes(ykit_key key, const char *name, uint8_t *out, size_t room) {
    size_t size = 0;
    if (ssl.EVP_PKEY_get_octet_string_param(key, name, out, room, &size) != 1) return done(-1);
    return done((long)size);
}

// Runs EVP_PKEY_decrypt, _encrypt or _sign after its init function; a padding of 0 keeps the key's default.
static long operate(
    ykit_key key, int (*start)(EVP_PKEY_CTX *), int padding,
    int (*run)(EVP_PKEY_CTX *, unsigned char *, size_t *, const unsigned char *, size_t), const uint8_t *in, size_t size,
    uint8_t *out, size_t room) {
    EVP_PKEY_CTX *context = ssl.EVP_PKEY_CTX_new(key, NULL);
    size_t written = room;
    int ok = context && start(context) == 1
        && (padding == 0 || ssl.EVP_PKEY_CTX_set_rsa_padding(context, padding) == 1)
        && run(context, out, &written, in, size) == 1;
    ssl.EVP_PKEY_CTX_free(context);
    return done(ok ? (long)written : -1);
}

long ykit_key_rsa_private(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl.EVP_PKEY_decrypt_init, RSA_NO_PADDING, ssl.EVP_PKEY_decrypt, in, size, out, room);
}

long ykit_key_rsa_public(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl.EVP_PKEY_encrypt_init, RSA_NO_PADDING, ssl.EVP_PKEY_encrypt, in, size, out, room);
}

long ykit_key_sign_digest(ykit_key key, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    return operate(key, ssl.EVP_PKEY_sign_init, 0, ssl.EVP_PKEY_sign, in, size, out, room);
}

long ykit_key_sign(ykit_key key, const char *hash, const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    EVP_MD_CTX *context = ssl.EVP_MD_CTX_new();
    size_t written = room;
    int ok = context && ssl.EVP_DigestSignInit_ex(context, NULL, hash, NULL, NULL, key, NULL) == 1
        && ssl.EVP_DigestSign(context, out, &written, in, size) == 1;
    ssl.EVP_MD_CTX_free(context);
    return done(ok ? (long)written : -1);
}

int ykit_key_verify_digest(
    ykit_key key, const uint8_t *signature, size_t signature_size, const uint8_t *digest, size_t size) {
    EVP_PKEY_CTX *context = ssl.EVP_PKEY_CTX_new(key, NULL);
    int ok = context && ssl.EVP_PKEY_verify_init(context) == 1
        && ssl.EVP_PKEY_verify(context, signature, signature_size, digest, size) == 1;
    ssl.EVP_PKEY_CTX_free(context);
    return (int)done(ok);
}

int ykit_key_verify(
    ykit_key key, const char *hash, int pss, const uint8_t *signature, size_t signature_size, const uint8_t *message,
    size_t size) {
    EVP_MD_CTX *context = ssl.EVP_MD_CTX_new();
    EVP_PKEY_CTX *inner = NULL;
    int ok = context && ssl.EVP_DigestVerifyInit_ex(context, &inner, hash, NULL, NULL, key, NULL) == 1;
    if (ok && pss)
        ok = ssl.EVP_PKEY_CTX_set_rsa_padding(inner, RSA_PKCS1_PSS_PADDING) == 1
            && ssl.EVP_PKEY_CTX_set_rsa_pss_saltlen(inner, RSA_PSS_SALTLEN_AUTO) == 1;
    ok = ok && ssl.EVP_DigestVerify(context, signature, signature_size, message, size) == 1;
    ssl.EVP_MD_CTX_free(context);
    return (int)done(ok);
}

long ykit_key_derive(ykit_key key, ykit_key peer, uint8_t *out, size_t room) {
    EVP_PKEY_CTX *context = ssl.EVP_PKEY_CTX_new(key, NULL);
    size_t written = room;
    int ok = context && ssl.EVP_PKEY_derive_init(context) == 1 && ssl.EVP_PKEY_derive_set_peer(context, peer) == 1
        && ssl.EVP_PKEY_derive(context, out, &written) == 1;
    ssl.EVP_PKEY_CTX_free(context);
    return done(ok ? (long)written : -1);
}

int ykit_rsa_complete(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *n, size_t *n_size, uint8_t *d, size_t *d_size) {
    if (!ykit_openssl() || !fits(size)) return -1;
    BN_CTX *context = ssl.BN_CTX_new();
    BIGNUM *first = ssl.BN_bin2bn(p, (int)size, NULL), *second = ssl.BN_bin2bn(q, (int)size, NULL);
    BIGNUM *product = ssl.BN_new(), *phi = ssl.BN_new(), *e = ssl.BN_new(), *inverse = ssl.BN_new();
    long written_n = -1, written_d = -1;
    int ok = context && first && second && product && phi && e && inverse && ssl.BN_num_bits(first) > 1
        && ssl.BN_num_bits(second) > 1 && ssl.BN_mul(product, first, second, context) == 1
        && ssl.BN_sub_word(first, 1) == 1 && ssl.BN_sub_word(second, 1) == 1
        && ssl.BN_mul(phi, first, second, context) == 1 && ssl.BN_set_word(e, 65537) == 1
        && ssl.BN_mod_inverse(inverse, e, phi, context) != NULL;
    if (ok) {
        written_n = number(product, n, *n_size);
        written_d = number(inverse, d, *d_size);
        *n_size = written_n < 0 ? 0 : (size_t)written_n;
        *d_size = written_d < 0 ? 0 : (size_t)written_d;
    }
    BIGNUM *all[] = {first, second, product, phi, e, inverse};
    for (size_t i = 0; i < 6; i++) ssl.BN_clear_free(all[i]);
    ssl.BN_CTX_free(context);
    return (int)done(ok && written_n > 0 && written_d > 0 ? 0 : -1);
}

// Computes number^-1 mod (modulus - less) into `size` bytes; returns 0 on success.
static int invert(const BIGNUM *number, const BIGNUM *modulus, BN_ULONG less, uint8_t *out, size_t size) {
    BN_CTX *context = ssl.BN_CTX_new();
    BIGNUM *reduced = ssl.BN_dup(modulus);
    BIGNUM *inverse = ssl.BN_new();
    int ok = context && reduced && inverse && ssl.BN_sub_word(reduced, less) == 1
        && ssl.BN_mod_inverse(inverse, number, reduced, context) != NULL
        && ssl.BN_bn2binpad(inverse, out, (int)size) == (int)size;
    ssl.BN_clear_free(inverse);
    ssl.BN_clear_free(reduced);
    ssl.BN_CTX_free(context);
    return ok ? 0 : -1;
}

int ykit_rsa_remainders(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *dp, uint8_t *dq, uint8_t *inverse) {
    if (!ykit_openssl() || !fits(size)) return -1;
    BIGNUM *first = ssl.BN_bin2bn(p, (int)size, NULL), *second = ssl.BN_bin2bn(q, (int)size, NULL);
    BIGNUM *e = ssl.BN_new();
    int ok = first && second && e && ssl.BN_num_bits(first) > 1 && ssl.BN_num_bits(second) > 1
        && ssl.BN_set_word(e, 65537) == 1 && invert(e, first, 1, dp, size) == 0 && invert(e, second, 1, dq, size) == 0
        && invert(second, first, 0, inverse, size) == 0;
    ssl.BN_clear_free(first);
    ssl.BN_clear_free(second);
    ssl.BN_clear_free(e);
    return (int)done(ok ? 0 : -1);
}

int ykit_p256_scalar(const uint8_t *number, size_t size, const uint8_t *addend, uint8_t *out) {
    if (!ykit_openssl() || !fits(size)) return -1;
    BN_CTX *context = ssl.BN_CTX_new();
    EC_GROUP *group = ssl.EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *value = ssl.BN_bin2bn(number, (int)size, NULL), *other = ssl.BN_bin2bn(addend, 32, NULL);
    const BIGNUM *order = group ? ssl.EC_GROUP_get0_order(group) : NULL;
    int ok = context && value && other && order && ssl.BN_nnmod(value, value, order, context) == 1
        && ssl.BN_mod_add(value, value, other, order, context) == 1 && ssl.BN_bn2binpad(value, out, 32) == 32;
    ssl.BN_clear_free(value);
    ssl.BN_clear_free(other);
    ssl.EC_GROUP_free(group);
    ssl.BN_CTX_free(context);
    return (int)done(ok ? 0 : -1);
}

int ykit_p256_add(const uint8_t *scalar, const uint8_t *point, size_t size, uint8_t *out) {
    if (!ykit_openssl()) return -1;
    BN_CTX *context = ssl.BN_CTX_new();
    EC_GROUP *group = ssl.EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *given = group ? ssl.EC_POINT_new(group) : NULL, *sum = group ? ssl.EC_POINT_new(group) : NULL;
    BIGNUM *factor = ssl.BN_bin2bn(scalar, 32, NULL), *one = ssl.BN_new();
    int ok = context && given && sum && factor && one && ssl.BN_set_word(one, 1) == 1
        && ssl.EC_POINT_oct2point(group, given, point, size, context) == 1
        && ssl.EC_POINT_mul(group, sum, factor, given, one, context) == 1
        && ssl.EC_POINT_point2oct(group, sum, POINT_CONVERSION_UNCOMPRESSED, out, 65, context) == 65;
    ssl.BN_clear_free(factor);
    ssl.BN_clear_free(one);
    ssl.EC_POINT_clear_free(given);
    ssl.EC_POINT_clear_free(sum);
    ssl.EC_GROUP_free(group);
    ssl.BN_CTX_free(context);
    return (int)done(ok ? 0 : -1);
}

// A library context that also offers the ciphers of old PKCS#12 files if the legacy provider is installed.
static OSSL_LIB_CTX *files_context;
static pthread_once_t files_once = PTHREAD_ONCE_INIT;

static void load_providers(void) {
    files_context = ssl.OSSL_LIB_CTX_new();
    if (!files_context) return;
    ssl.OSSL_PROVIDER_load(files_context, "default");
    ssl.OSSL_PROVIDER_load(files_context, "legacy");
    ssl.ERR_clear_error();
}

static int add_certificate(X509 *certificate, ykit_blob *blobs, size_t room, size_t *count) {
    if (!certificate || *count >= room) return 0;
    unsigned char *bytes = NULL;
    int size = ssl.i2d_X509(certificate, &bytes);
    if (size <= 0) return 0;
    blobs[(*count)++] = (ykit_blob){bytes, (size_t)size};
    return 1;
}

static void add_key(EVP_PKEY *key, ykit_blob *blob) {
    PKCS8_PRIV_KEY_INFO *info = key ? ssl.EVP_PKEY2PKCS8(key) : NULL;
    if (!info) return;
    unsigned char *bytes = NULL;
    int size = ssl.i2d_PKCS8_PRIV_KEY_INFO(info, &bytes);
    if (size > 0) *blob = (ykit_blob){bytes, (size_t)size};
    ssl.PKCS8_PRIV_KEY_INFO_free(info);
}

int ykit_pkcs12(const uint8_t *der, size_t size, const char *password, ykit_blob *blobs, size_t *count) {
    size_t room = *count;
    *count = 0;
    if (!ykit_openssl() || !fits(size) || room < 1) return -1;
    pthread_once(&files_once, load_providers);
    PKCS12 *file = ssl.PKCS12_init_ex(NID_pkcs7_data, files_context, NULL);
    const uint8_t *next = der;
    if (!file || !ssl.d2i_PKCS12(&file, &next, (long)size)) {
        ssl.PKCS12_free(file);
        return (int)done(-1);
    }
    // OpenSSL 3.0 opens no file without a MAC, so it gets one; only the decryption shows that the password is wrong.
    int is_proven = ssl.PKCS12_mac_present(file);
    int wrong = is_proven
        ? ssl.PKCS12_verify_mac(file, password, (int)strlen(password)) != 1
            && !(*password == 0 && ssl.PKCS12_verify_mac(file, NULL, 0) == 1)
        : ssl.PKCS12_set_mac(file, password, (int)strlen(password), NULL, 0, 1, NULL) != 1;
    EVP_PKEY *key = NULL;
    X509 *own = NULL;
    STACK_OF(X509) *others = NULL;
    int ok = !wrong && ssl.PKCS12_parse(file, password, &key, &own, &others) == 1;
    ssl.PKCS12_free(file);
    if (!ok) return (int)done(!is_proven ? -3 : wrong ? -2 : -1);
    blobs[0] = (ykit_blob){NULL, 0};
    add_key(key, &blobs[0]);
    *count = 1;
    add_certificate(own, blobs, room, count);
    for (int i = 0; others && i < ssl.OPENSSL_sk_num((OPENSSL_STACK *)others); i++)
        add_certificate(ssl.OPENSSL_sk_value((OPENSSL_STACK *)others, i), blobs, room, count);
    ssl.EVP_PKEY_free(key);
    ssl.X509_free(own);
    if (others) ssl.OPENSSL_sk_pop_free((OPENSSL_STACK *)others, (OPENSSL_sk_freefunc)ssl.X509_free);
    return (int)done(0);
}

void ykit_blob_free(ykit_blob blob) {
    if (blob.bytes) ssl.CRYPTO_clear_free(blob.bytes, blob.size, __FILE__, __LINE__);
}

const int ykit_path_not_yet = X509_V_ERR_CERT_NOT_YET_VALID, ykit_path_expired = X509_V_ERR_CERT_HAS_EXPIRED,
          ykit_path_not_authority = X509_V_ERR_INVALID_CA, ykit_path_no_signing = X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
          ykit_path_too_many = X509_V_ERR_PATH_LENGTH_EXCEEDED, ykit_path_too_long = X509_V_ERR_CERT_CHAIN_TOO_LONG,
          ykit_path_no_issuer = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;

// Parses concatenated certificates of these sizes; NULL if one of them cannot be parsed.
static STACK_OF(X509) * certificates(const uint8_t *bytes, const size_t *sizes, size_t count) {
    OPENSSL_STACK *stack = ssl.OPENSSL_sk_new_null();
    for (size_t i = 0; stack && i < count; i++) {
        const uint8_t *next = bytes;
        X509 *certificate = fits(sizes[i]) ? ssl.d2i_X509(NULL, &next, (long)sizes[i]) : NULL;
        bytes += sizes[i];
        if (certificate && next == bytes && ssl.OPENSSL_sk_push(stack, certificate) > 0) continue;
        ssl.X509_free(certificate);
        ssl.OPENSSL_sk_pop_free(stack, (OPENSSL_sk_freefunc)ssl.X509_free);
        return NULL;
    }
    return (STACK_OF(X509) *)stack;
}

static X509 *at(STACK_OF(X509) *stack, int index) { return ssl.OPENSSL_sk_value((OPENSSL_STACK *)stack, index); }

// Ignores the validity dates of the first certificates of a path, for devices without a clock.
static int judge(int is_right, X509_STORE_CTX *context) {
    if (is_right) return 1;
    const size_t *timeless = ssl.X509_STORE_CTX_get_ex_data(context, 0);
    int error = ssl.X509_STORE_CTX_get_error(context), depth = ssl.X509_STORE_CTX_get_error_depth(context);
    int is_date = error == X509_V_ERR_CERT_NOT_YET_VALID || error == X509_V_ERR_CERT_HAS_EXPIRED;
    return is_date && timeless && depth >= 0 && (size_t)depth < *timeless;
}

// Maps the different errors for not reaching an anchor to one. OpenSSL selects an anchor by its name; if its key did
// not make the signature, it is a different anchor with the same name.
static int plain(X509_STORE_CTX *context) {
    int error = ssl.X509_STORE_CTX_get_error(context), depth = ssl.X509_STORE_CTX_get_error_depth(context);
    int count = ssl.OPENSSL_sk_num((OPENSSL_STACK *)ssl.X509_STORE_CTX_get0_chain(context));
    switch (error) {
    case X509_V_OK: return X509_V_ERR_UNSPECIFIED;
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return depth + 2 == count ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY : error;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
    default: return error;
    }
}

// When SHA-1 is allowed, OpenSSL allows every digest, so MD5 and anything else weaker than SHA-1 is rejected here. The
// anchor's self-signature proves nothing and is not checked.
static int has_weak_digest(STACK_OF(X509) *path) {
    for (int i = 0; i + 1 < ssl.OPENSSL_sk_num((OPENSSL_STACK *)path); i++) {
        int bits = 0;
        if (ssl.X509_get_signature_info(at(path, i), NULL, NULL, &bits, NULL) != 1 || bits < 63) return 1;
    }
    return 0;
}

static int verify(X509_STORE_CTX *context, const ykit_path *wanted, ykit_blob *path, size_t *count) {
    X509_VERIFY_PARAM *rules = ssl.X509_STORE_CTX_get0_param(context);
    size_t room = *count, timeless = wanted->timeless;
    *count = 0;
    ssl.X509_VERIFY_PARAM_set_time(rules, (time_t)wanted->time);
    ssl.X509_VERIFY_PARAM_set_depth(rules, 8);
    // An anchor need not be a root: it can also be an intermediate certificate or the issuer itself.
    if (ssl.X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN) != 1) return -2;
    // Level 1 requires 80 bits of security: RSA of at least 1024 bits and a digest stronger than SHA-1.
    ssl.X509_VERIFY_PARAM_set_auth_level(rules, wanted->allows_sha1 ? 0 : 1);
    if (ssl.X509_STORE_CTX_set_ex_data(context, 0, &timeless) != 1) return -2;
    ssl.X509_STORE_CTX_set_verify_cb(context, judge);
    if (ssl.X509_verify_cert(context) != 1) {
        add_certificate(ssl.X509_STORE_CTX_get_current_cert(context), path, room, count);
        return plain(context);
    }
    STACK_OF(X509) *found = ssl.X509_STORE_CTX_get0_chain(context);
    if (wanted->allows_sha1 && has_weak_digest(found)) return X509_V_ERR_CA_MD_TOO_WEAK;
    for (int i = 0; i < ssl.OPENSSL_sk_num((OPENSSL_STACK *)found); i++)
        if (!add_certificate(at(found, i), path, room, count)) return -2;
    return 0;
}

int ykit_path_verify(const ykit_path *wanted, ykit_blob *path, size_t *count) {
    size_t room = *count;
    *count = 0;
    if (!ykit_openssl()) return -1;
    STACK_OF(X509) *chain = certificates(wanted->chain, wanted->chain_sizes, wanted->chain_count);
    STACK_OF(X509) *anchors = certificates(wanted->anchors, wanted->anchor_sizes, wanted->anchor_count);
    X509_STORE *store = ssl.X509_STORE_new();
    X509_STORE_CTX *context = ssl.X509_STORE_CTX_new();
    int result = -2, are_kept = store && chain && anchors && wanted->chain_count > 0;
    for (int i = 0; are_kept && i < ssl.OPENSSL_sk_num((OPENSSL_STACK *)anchors); i++)
        are_kept = ssl.X509_STORE_add_cert(store, at(anchors, i)) == 1;
    if (are_kept && context && ssl.X509_STORE_CTX_init(context, store, at(chain, 0), chain) == 1) {
        *count = room;
        result = verify(context, wanted, path, count);
    }
    ssl.X509_STORE_CTX_free(context);
    ssl.X509_STORE_free(store);
    if (chain) ssl.OPENSSL_sk_pop_free((OPENSSL_STACK *)chain, (OPENSSL_sk_freefunc)ssl.X509_free);
    if (anchors) ssl.OPENSSL_sk_pop_free((OPENSSL_STACK *)anchors, (OPENSSL_sk_freefunc)ssl.X509_free);
    return (int)done(result);
}

const char *ykit_path_reason(int error) { return ykit_openssl() ? ssl.X509_verify_cert_error_string(error) : ""; }
