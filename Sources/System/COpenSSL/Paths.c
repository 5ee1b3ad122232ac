// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

const int ykit_path_not_yet = X509_V_ERR_CERT_NOT_YET_VALID, ykit_path_expired = X509_V_ERR_CERT_HAS_EXPIRED,
          ykit_path_not_authority = X509_V_ERR_INVALID_CA, ykit_path_no_signing = X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
          ykit_path_too_many = X509_V_ERR_PATH_LENGTH_EXCEEDED, ykit_path_too_long = X509_V_ERR_CERT_CHAIN_TOO_LONG,
          ykit_path_no_issuer = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;

// Parses concatenated certificates of these sizes; NULL if one of them cannot be parsed.
static STACK_OF(X509) * certificates(const uint8_t *bytes, const size_t *sizes, size_t count) {
    OPENSSL_STACK *stack = ssl()->OPENSSL_sk_new_null();
    for (size_t i = 0; stack && i < count; i++) {
        const uint8_t *next = bytes;
        X509 *certificate = ssl()->X509_new_ex(ssl()->context, NULL);
        int is_read = certificate && fits(sizes[i]) && ssl()->d2i_X509(&certificate, &next, (long)sizes[i]);
        bytes += sizes[i];
        if (is_read && next == bytes && ssl()->OPENSSL_sk_push(stack, certificate) > 0) continue;
        ssl()->X509_free(certificate);
        ssl()->OPENSSL_sk_pop_free(stack, (OPENSSL_sk_freefunc)ssl()->X509_free);
        return NULL;
    }
    return (STACK_OF(X509) *)stack;
}

static X509 *at(STACK_OF(X509) *stack, int index) { return ssl()->OPENSSL_sk_value((OPENSSL_STACK *)stack, index); }

// Ignores the validity dates of the first certificates of a path, for devices without a clock.
static int judge(int is_right, X509_STORE_CTX *context) {
    if (is_right) return 1;
    const size_t *timeless = ssl()->X509_STORE_CTX_get_ex_data(context, 0);
    int error = ssl()->X509_STORE_CTX_get_error(context), depth = ssl()->X509_STORE_CTX_get_error_depth(context);
    int is_date = error == X509_V_ERR_CERT_NOT_YET_VALID || error == X509_V_ERR_CERT_HAS_EXPIRED;
    return is_date && timeless && depth >= 0 && (size_t)depth < *timeless;
}

// Maps the different errors for not reaching an anchor to one. OpenSSL selects an anchor by its name; if its key did
// not make the signature, it is a different anchor with the same name.
static int plain(X509_STORE_CTX *context) {
    int error = ssl()->X509_STORE_CTX_get_error(context), depth = ssl()->X509_STORE_CTX_get_error_depth(context);
    int count = ssl()->OPENSSL_sk_num((OPENSSL_STACK *)ssl()->X509_STORE_CTX_get0_chain(context));
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
    for (int i = 0; i + 1 < ssl()->OPENSSL_sk_num((OPENSSL_STACK *)path); i++) {
        int bits = 0;
        if (ssl()->X509_get_signature_info(at(path, i), NULL, NULL, &bits, NULL) != 1 || bits < 63) return 1;
    }
    return 0;
}

static int verify(X509_STORE_CTX *context, const ykit_path *wanted, ykit_blob *path, size_t *count) {
    X509_VERIFY_PARAM *rules = ssl()->X509_STORE_CTX_get0_param(context);
    size_t room = *count, timeless = wanted->timeless;
    *count = 0;
    ssl()->X509_VERIFY_PARAM_set_time(rules, (time_t)wanted->time);
    ssl()->X509_VERIFY_PARAM_set_depth(rules, 8);
    // An anchor need not be a root: it can also be an intermediate certificate or the issuer itself.
    if (ssl()->X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN) != 1) return -2;
    // Level 1 requires 80 bits of security: RSA of at least 1024 bits and a digest stronger than SHA-1.
    ssl()->X509_VERIFY_PARAM_set_auth_level(rules, wanted->allows_sha1 ? 0 : 1);
    if (ssl()->X509_STORE_CTX_set_ex_data(context, 0, &timeless) != 1) return -2;
    ssl()->X509_STORE_CTX_set_verify_cb(context, judge);
    if (ssl()->X509_verify_cert(context) != 1) {
        ykit_add_certificate(ssl()->X509_STORE_CTX_get_current_cert(context), path, room, count);
        return plain(context);
    }
    STACK_OF(X509) *found = ssl()->X509_STORE_CTX_get0_chain(context);
    if (wanted->allows_sha1 && has_weak_digest(found)) return X509_V_ERR_CA_MD_TOO_WEAK;
    for (int i = 0; i < ssl()->OPENSSL_sk_num((OPENSSL_STACK *)found); i++)
        if (!ykit_add_certificate(at(found, i), path, room, count)) return -2;
    return 0;
}

int ykit_path_verify(const ykit_path *wanted, ykit_blob *path, size_t *count) {
    size_t room = *count;
    *count = 0;
    if (!fits(0)) return -2;
    ykit_openssl_add_names();
    STACK_OF(X509) *chain = certificates(wanted->chain, wanted->chain_sizes, wanted->chain_count);
    STACK_OF(X509) *anchors = certificates(wanted->anchors, wanted->anchor_sizes, wanted->anchor_count);
    X509_STORE *store = ssl()->X509_STORE_new();
    X509_STORE_CTX *context = ssl()->X509_STORE_CTX_new_ex(ssl()->context, NULL);
    int result = -2, are_kept = store && chain && anchors && wanted->chain_count > 0;
    for (int i = 0; are_kept && i < ssl()->OPENSSL_sk_num((OPENSSL_STACK *)anchors); i++)
        are_kept = ssl()->X509_STORE_add_cert(store, at(anchors, i)) == 1;
    if (are_kept && context && ssl()->X509_STORE_CTX_init(context, store, at(chain, 0), chain) == 1) {
        *count = room;
        result = verify(context, wanted, path, count);
    }
    ssl()->X509_STORE_CTX_free(context);
    ssl()->X509_STORE_free(store);
    if (chain) ssl()->OPENSSL_sk_pop_free((OPENSSL_STACK *)chain, (OPENSSL_sk_freefunc)ssl()->X509_free);
    if (anchors) ssl()->OPENSSL_sk_pop_free((OPENSSL_STACK *)anchors, (OPENSSL_sk_freefunc)ssl()->X509_free);
    return (int)done(result);
}

const char *ykit_path_reason(int error) { return ssl()->X509_verify_cert_error_string(error); }
