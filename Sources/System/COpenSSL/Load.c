// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static ykit_functions functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
#define LOAD(name) &&(functions.name = (__typeof__(&name))dlsym(image, #name))
    // Otherwise OpenSSL frees its state at exit while other threads are still using it.
    if (image FUNCTIONS(LOAD) && functions.OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL)
        && (functions.context = functions.OSSL_LIB_CTX_new()))
        return;
#undef LOAD
    const char *reason = dlerror();
    fprintf(stderr, "OpenSSL 3 is required and cannot be loaded: %s\n", reason ? reason : "libcrypto.so.3");
    _exit(127);
}

const ykit_functions *ykit_ssl(void) {
    pthread_once(&once, load);
    return &functions;
}
