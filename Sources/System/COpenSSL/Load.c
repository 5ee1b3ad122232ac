// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "Functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static ykit_functions functions;
static void *image;
static const char *problem;
static void (*on_problem)(const char *reason);
static pthread_once_t once = PTHREAD_ONCE_INIT, names_once = PTHREAD_ONCE_INIT;

// The library's 3,000 references to itself are looked for in it first, instead of in everything else that is loaded: a
// third of the time that loading takes. AddressSanitizer refuses that.
#if __has_feature(address_sanitizer)
#undef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif

static void load(void) {
    image = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#define LOAD(name) &&(functions.name = (__typeof__(&name))dlsym(image, #name))
    // Without NO_ATEXIT, OpenSSL frees its state at exit while other threads are still using it. Without NO_LOAD_CONFIG,
    // openssl.cnf loads providers and engines into the process. The tables of names are filled by add_names.
    uint64_t options = OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS
        | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS;
    if (image FUNCTIONS(LOAD) && functions.OPENSSL_init_crypto(options, NULL)
        && (functions.context = functions.OSSL_LIB_CTX_new()))
        return;
#undef LOAD
    static char text[1024];
    const char *reason = dlerror();
    snprintf(text, sizeof text, "OpenSSL 3 is required and cannot be loaded: %s", reason ? reason : "libcrypto.so.3");
    problem = text;
    if (on_problem) on_problem(problem);
}

const char *ykit_openssl_problem(void) {
    pthread_once(&once, load);
    return problem;
}

void ykit_openssl_on_problem(void (*handler)(const char *reason)) { on_problem = handler; }

int ykit_openssl_has_handler(void) { return on_problem != NULL; }

const ykit_functions *ykit_ssl(void) {
    pthread_once(&once, load);
    return &functions;
}

// The ciphers of "DEK-Info" and the digests of certificates, which OpenSSL finds only in its tables of names; TLS uses
// the same tables. A build of OpenSSL may lack some.
static void add_names(void) {
    static const char *const ciphers[] = {
        "EVP_aes_128_cbc",      "EVP_aes_192_cbc",      "EVP_aes_256_cbc",  "EVP_des_ede3_cbc", "EVP_camellia_128_cbc",
        "EVP_camellia_192_cbc", "EVP_camellia_256_cbc", "EVP_aria_128_cbc", "EVP_aria_192_cbc", "EVP_aria_256_cbc",
        "EVP_sm4_cbc",
    };
    static const char *const digests[] = {
        "EVP_md5",    "EVP_md5_sha1", "EVP_sha1",     "EVP_sha224",   "EVP_sha256", "EVP_sha384",
        "EVP_sha512", "EVP_sha3_256", "EVP_sha3_384", "EVP_sha3_512",
    };
    for (size_t i = 0; i < sizeof ciphers / sizeof *ciphers; i++) {
        const EVP_CIPHER *(*cipher)(void) = (const EVP_CIPHER *(*)(void))dlsym(image, ciphers[i]);
        if (cipher) ssl()->EVP_add_cipher(cipher());
    }
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        const EVP_MD *(*digest)(void) = (const EVP_MD *(*)(void))dlsym(image, digests[i]);
        if (digest) ssl()->EVP_add_digest(digest());
    }
    ssl()->ERR_clear_error();
}

void ykit_openssl_add_names(void) {
    if (!ykit_openssl_problem()) pthread_once(&names_once, add_names);
}
