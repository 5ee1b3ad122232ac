// SPDX-License-Identifier: Apache-2.0
#include "CArgon2.h"

#include <dlfcn.h>
#include <pthread.h>

// libargon2's argon2id_hash_raw, whose signature has not changed since its first release.
static int (*hash)(uint32_t, uint32_t, uint32_t, const void *, size_t, const void *, size_t, void *, size_t);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libargon2.so.1", RTLD_NOW | RTLD_LOCAL);
    if (image) hash = (__typeof__(hash))dlsym(image, "argon2id_hash_raw");
}

int ykit_argon2(void) {
    pthread_once(&once, load);
    return hash != NULL;
}

int ykit_argon2id(uint32_t passes, uint32_t kibibytes, uint32_t lanes, const void *password, size_t password_size,
                  const void *salt, size_t salt_size, void *out, size_t size) {
    return ykit_argon2() ? hash(passes, kibibytes, lanes, password, password_size, salt, salt_size, out, size) : -1;
}
