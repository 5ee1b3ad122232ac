// SPDX-License-Identifier: Apache-2.0
#include "CBotan.h"

#include <dlfcn.h>
#include <pthread.h>

// Botan's C interface (ffi.h, since 2.8); the name of the function decides which parameters count.
static int (*derive)(const char *, size_t, size_t, size_t, uint8_t *, size_t, const char *, size_t, const uint8_t *, size_t);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libbotan-2.so.19", RTLD_NOW | RTLD_LOCAL);
    if (image) derive = (__typeof__(derive))dlsym(image, "botan_pwdhash");
}

int ykit_botan(void) {
    pthread_once(&once, load);
    return derive != NULL;
}

int ykit_bcrypt_pbkdf(uint32_t rounds, const void *password, size_t password_size, const void *salt, size_t salt_size,
                      void *out, size_t size) {
    return ykit_botan() ? derive("Bcrypt-PBKDF", rounds, 0, 0, out, size, password, password_size, salt, salt_size) : -1;
}
