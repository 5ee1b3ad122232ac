// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

#include <pthread.h>

// A context that also offers the ciphers of old PKCS#12 files if the legacy provider is installed.
static OSSL_LIB_CTX *files_context;
static pthread_once_t files_once = PTHREAD_ONCE_INIT;

static void load_providers(void) {
    files_context = ssl()->OSSL_LIB_CTX_new();
    if (!files_context) return;
    // Otherwise OPENSSL_MODULES chooses the folder.
    ssl()->OSSL_PROVIDER_set_default_search_path(files_context, ssl()->OPENSSL_info(OPENSSL_INFO_MODULES_DIR));
    ssl()->OSSL_PROVIDER_load(files_context, "default");
    ssl()->OSSL_PROVIDER_load(files_context, "legacy");
    ssl()->ERR_clear_error();
}

int ykit_add_certificate(X509 *certificate, ykit_blob *blobs, size_t room, size_t *count) {
    if (!certificate || *count >= room) return 0;
    unsigned char *bytes = NULL;
    int size = ssl()->i2d_X509(certificate, &bytes);
    if (size <= 0) return 0;
    blobs[(*count)++] = (ykit_blob){bytes, (size_t)size};
    return 1;
}

static void add_key(EVP_PKEY *key, ykit_blob *blob) {
    PKCS8_PRIV_KEY_INFO *info = key ? ssl()->EVP_PKEY2PKCS8(key) : NULL;
    if (!info) return;
    unsigned char *bytes = NULL;
    int size = ssl()->i2d_PKCS8_PRIV_KEY_INFO(info, &bytes);
    if (size > 0) *blob = (ykit_blob){bytes, (size_t)size};
    ssl()->PKCS8_PRIV_KEY_INFO_free(info);
}

static int open_file(
    const uint8_t *der, size_t size, const char *password, ykit_blob *blobs, size_t room, size_t *count) {
    PKCS12 *file = ssl()->PKCS12_init_ex(NID_pkcs7_data, files_context, NULL);
    const uint8_t *next = der;
    if (!file || !ssl()->d2i_PKCS12(&file, &next, (long)size)) {
        ssl()->PKCS12_free(file);
        return -1;
    }
    // OpenSSL 3.0 opens no file without a MAC, so it gets one; only the decryption shows that the password is wrong.
    int is_proven = ssl()->PKCS12_mac_present(file);
    int wrong = is_proven
        ? ssl()->PKCS12_verify_mac(file, password, (int)strlen(password)) != 1
            && !(*password == 0 && ssl()->PKCS12_verify_mac(file, NULL, 0) == 1)
        : ssl()->PKCS12_set_mac(file, password, (int)strlen(password), NULL, 0, 1, NULL) != 1;
    EVP_PKEY *key = NULL;
    X509 *own = NULL;
    STACK_OF(X509) *others = NULL;
    int ok = !wrong && ssl()->PKCS12_parse(file, password, &key, &own, &others) == 1;
    ssl()->PKCS12_free(file);
    if (!ok) return !is_proven ? -3 : wrong ? -2 : -1;
    blobs[0] = (ykit_blob){NULL, 0};
    add_key(key, &blobs[0]);
    *count = 1;
    ykit_add_certificate(own, blobs, room, count);
    for (int i = 0; others && i < ssl()->OPENSSL_sk_num((OPENSSL_STACK *)others); i++)
        ykit_add_certificate(ssl()->OPENSSL_sk_value((OPENSSL_STACK *)others, i), blobs, room, count);
    ssl()->EVP_PKEY_free(key);
    ssl()->X509_free(own);
    if (others) ssl()->OPENSSL_sk_pop_free((OPENSSL_STACK *)others, (OPENSSL_sk_freefunc)ssl()->X509_free);
    return 0;
}

int ykit_pkcs12(const uint8_t *der, size_t size, const char *password, ykit_blob *blobs, size_t *count) {
    size_t room = *count;
    *count = 0;
    if (!fits(size) || room < 1) return -1;
    pthread_once(&files_once, load_providers);
    ykit_openssl_add_names();
    // The functions for the MAC have no parameter for the context.
    OSSL_LIB_CTX *usual = ssl()->OSSL_LIB_CTX_set0_default(ssl()->context);
    int result = open_file(der, size, password, blobs, room, count);
    ssl()->OSSL_LIB_CTX_set0_default(usual);
    return (int)done(result);
}

void ykit_blob_free(ykit_blob blob) {
    if (blob.bytes) ssl()->CRYPTO_clear_free(blob.bytes, blob.size, __FILE__, __LINE__);
}
