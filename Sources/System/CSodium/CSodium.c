// SPDX-License-Identifier: Apache-2.0
#include "CSodium.h"

#include <dlfcn.h>
#include <pthread.h>

// crypto_secretstream_xchacha20poly1305_state: a 32-byte key, a 12-byte nonce and 8 bytes of padding.
typedef struct {
    uint8_t bytes[64];
} state;

static int (*init_pull)(state *, const uint8_t *header, const uint8_t *key);
static int (*pull)(state *, uint8_t *, unsigned long long *, uint8_t *tag, const uint8_t *, unsigned long long,
                   const uint8_t *, unsigned long long);
static void (*zero)(void *, size_t);
static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libsodium.so.23", RTLD_NOW | RTLD_LOCAL);
    if (!image) return;
    int (*start)(void) = (__typeof__(start))dlsym(image, "sodium_init");
    init_pull = (__typeof__(init_pull))dlsym(image, "crypto_secretstream_xchacha20poly1305_init_pull");
    pull = (__typeof__(pull))dlsym(image, "crypto_secretstream_xchacha20poly1305_pull");
    zero = (__typeof__(zero))dlsym(image, "sodium_memzero");
    is_loaded = start && start() >= 0 && init_pull && pull && zero;
}

int ykit_sodium(void) {
    pthread_once(&once, load);
    return is_loaded;
}

int ykit_secretstream_open(const uint8_t *key, const uint8_t *header, const uint8_t *chunk, size_t size, uint8_t *out) {
    if (!ykit_sodium() || size < 17) return -1;
    state stream;
    unsigned long long written = 0;
    uint8_t tag = 0;
    int result = init_pull(&stream, header, key);
    if (result == 0) result = pull(&stream, out, &written, &tag, chunk, size, NULL, 0);
    zero(&stream, sizeof stream);
    return result == 0 && written == size - 17 ? 0 : -1;
}
