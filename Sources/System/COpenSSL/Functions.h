// SPDX-License-Identifier: Apache-2.0
// The functions in use of libcrypto.so.3.
#pragma once
#include "COpenSSL.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                  \
    X(BIO_free) X(BIO_new_mem_buf) X(BN_bin2bn) X(BN_bn2bin) X(BN_bn2binpad) X(BN_bn2nativepad) X(BN_clear_free)      \
    X(BN_cmp) X(BN_CTX_free) X(BN_CTX_new_ex) X(BN_dup) X(BN_is_zero) X(BN_kronecker) X(BN_lebin2bn)                  \
    X(BN_mod_add) X(BN_mod_inverse) X(BN_mod_mul) X(BN_mod_sqr) X(BN_mod_sub) X(BN_mul) X(BN_new) X(BN_nnmod)         \
    X(BN_num_bits) X(BN_set_word) X(BN_sub_word) X(CRYPTO_clear_free) X(d2i_AutoPrivateKey_ex) X(d2i_PKCS12)          \
    X(d2i_PUBKEY_ex) X(d2i_X509) X(EC_GROUP_free) X(EC_GROUP_get0_order) X(EC_GROUP_new_by_curve_name_ex)             \
    X(EC_POINT_clear_free) X(EC_POINT_mul) X(EC_POINT_new) X(EC_POINT_oct2point) X(EC_POINT_point2oct)                \
    X(ERR_clear_error) X(EVP_add_cipher) X(EVP_add_digest) X(EVP_CIPHER_CTX_ctrl)                                     \
    X(EVP_CIPHER_CTX_free) X(EVP_CIPHER_CTX_new) X(EVP_CIPHER_CTX_set_padding) X(EVP_CIPHER_fetch)                    \
    X(EVP_CIPHER_free) X(EVP_CIPHER_get_iv_length) X(EVP_CIPHER_get_key_length) X(EVP_CipherFinal_ex)                 \
    X(EVP_CipherInit_ex) X(EVP_CipherUpdate) X(EVP_DigestFinal_ex) X(EVP_DigestFinalXOF) X(EVP_DigestInit_ex)         \
    X(EVP_DigestSign) X(EVP_DigestSignInit_ex) X(EVP_DigestUpdate) X(EVP_DigestVerify)                                \
    X(EVP_DigestVerifyInit_ex) X(EVP_KDF_CTX_free) X(EVP_KDF_CTX_new) X(EVP_KDF_derive) X(EVP_KDF_fetch)              \
    X(EVP_KDF_free) X(EVP_MD_CTX_copy_ex) X(EVP_MD_CTX_free) X(EVP_MD_CTX_new) X(EVP_MD_fetch) X(EVP_MD_free)         \
    X(EVP_PKEY2PKCS8) X(EVP_PKEY_CTX_free) X(EVP_PKEY_CTX_new_from_name) X(EVP_PKEY_CTX_new_from_pkey)                \
    X(EVP_PKEY_CTX_set_rsa_padding) X(EVP_PKEY_CTX_set_rsa_pss_saltlen) X(EVP_PKEY_decrypt)                           \
    X(EVP_PKEY_decrypt_init) X(EVP_PKEY_derive) X(EVP_PKEY_derive_init) X(EVP_PKEY_derive_set_peer)                   \
    X(EVP_PKEY_encrypt) X(EVP_PKEY_encrypt_init) X(EVP_PKEY_free) X(EVP_PKEY_fromdata) X(EVP_PKEY_fromdata_init)      \
    X(EVP_PKEY_get0_type_name) X(EVP_PKEY_get_bn_param) X(EVP_PKEY_get_group_name)                                    \
    X(EVP_PKEY_get_octet_string_param) X(EVP_PKEY_new_raw_private_key_ex) X(EVP_PKEY_new_raw_public_key_ex)           \
    X(EVP_PKEY_Q_keygen) X(EVP_PKEY_sign) X(EVP_PKEY_sign_init) X(EVP_PKEY_verify) X(EVP_PKEY_verify_init)            \
    X(EVP_Q_digest) X(EVP_Q_mac) X(i2d_PKCS8_PRIV_KEY_INFO) X(i2d_X509) X(OBJ_sn2nid) X(OPENSSL_cleanse)              \
    X(OPENSSL_info) X(OPENSSL_init_crypto) X(OPENSSL_sk_new_null) X(OPENSSL_sk_num) X(OPENSSL_sk_pop_free)            \
    X(OPENSSL_sk_push) X(OPENSSL_sk_value) X(OSSL_LIB_CTX_new) X(OSSL_LIB_CTX_set0_default)                           \
    X(OSSL_PROVIDER_load) X(OSSL_PROVIDER_set_default_search_path) X(PEM_read_bio_PrivateKey_ex) X(PKCS12_free)       \
    X(PKCS12_init_ex) X(PKCS12_mac_present) X(PKCS12_parse) X(PKCS12_set_mac) X(PKCS12_verify_mac)                    \
    X(PKCS8_PRIV_KEY_INFO_free) X(X509_free) X(X509_get_signature_info) X(X509_new_ex) X(X509_STORE_add_cert)         \
    X(X509_STORE_CTX_free) X(X509_STORE_CTX_get0_chain) X(X509_STORE_CTX_get0_param)                                  \
    X(X509_STORE_CTX_get_current_cert) X(X509_STORE_CTX_get_error) X(X509_STORE_CTX_get_error_depth)                  \
    X(X509_STORE_CTX_get_ex_data) X(X509_STORE_CTX_init) X(X509_STORE_CTX_new_ex) X(X509_STORE_CTX_set_ex_data)       \
    X(X509_STORE_CTX_set_verify_cb) X(X509_STORE_free) X(X509_STORE_new) X(X509_verify_cert)                          \
    X(X509_verify_cert_error_string) X(X509_VERIFY_PARAM_set_auth_level) X(X509_VERIFY_PARAM_set_depth)               \
    X(X509_VERIFY_PARAM_set_flags) X(X509_VERIFY_PARAM_set_time)

typedef struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
#undef FIELD
    // A context of its own, apart from libcurl's, which has the default one.
    OSSL_LIB_CTX *context;
} ykit_functions;

// The functions, loaded on the first call, so that programs start faster; none without the library.
__attribute__((visibility("hidden"))) const ykit_functions *ykit_ssl(void);
static inline const ykit_functions *ssl(void) { return ykit_ssl(); }

// Clears OpenSSL's error queue and returns the result.
static inline long done(long result) {
    if (!ykit_openssl_problem()) ssl()->ERR_clear_error();
    return result;
}

// Writes a number without leading zeros, most significant byte first.
static inline long write_number(const BIGNUM *value, uint8_t *out, size_t room) {
    size_t size = (size_t)(ssl()->BN_num_bits(value) + 7) / 8;
    return size <= room ? ssl()->BN_bn2bin(value, out) : -1;
}

// Whether there is a library, and this size fits into its `int`. Every function that starts without a handle asks this.
static inline int fits(size_t size) { return size <= INT_MAX && !ykit_openssl_problem(); }

// Appends a certificate to blobs that have room for it; returns 1 on success.
__attribute__((visibility("hidden"))) int
ykit_add_certificate(X509 *certificate, ykit_blob *blobs, size_t room, size_t *count);
