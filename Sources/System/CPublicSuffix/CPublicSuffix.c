// SPDX-License-Identifier: Apache-2.0
#include "CPublicSuffix.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char rules[] =
#include "rules.inc"
;

const uint8_t *ykit_public_suffixes(void) { return (const uint8_t *)rules; }
size_t ykit_public_suffixes_length(void) { return sizeof rules - 1; }
const char *ykit_public_suffixes_date(void) { return YKIT_PUBLIC_SUFFIXES_DATE; }

// libpsl's interface (libpsl.h, since 0.16).
static struct {
    const void *(*psl_builtin)(void);
    time_t (*psl_builtin_file_time)(void);
    const char *(*psl_dist_filename)(void);
    void *(*psl_load_file)(const char *path);
    const char *(*psl_unregistrable_domain)(const void *list, const char *domain);
} lib;
static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *image = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!image) return;
#define LOAD(name) (lib.name = (__typeof__(lib.name))dlsym(image, #name))
    is_loaded = LOAD(psl_builtin) && LOAD(psl_builtin_file_time) && LOAD(psl_dist_filename) && LOAD(psl_load_file)
        && LOAD(psl_unregistrable_domain);
#undef LOAD
}

const void *ykit_psl(const char *file, int64_t *time) {
    pthread_once(&once, load);
    if (!is_loaded) return NULL;
    const void *found = NULL;
    if (lib.psl_builtin_file_time() > *time && (found = lib.psl_builtin())) *time = lib.psl_builtin_file_time();
    const char *files[] = {lib.psl_dist_filename(), file};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat facts;
        if (!files[i] || stat(files[i], &facts) || facts.st_mtime <= *time) continue;
        const void *list = lib.psl_load_file(files[i]);
        if (!list) continue;
        found = list;
        *time = facts.st_mtime;
    }
    return found;
}

size_t ykit_psl_suffix(const void *list, const char *domain) {
    const char *suffix = lib.psl_unregistrable_domain(list, domain);
    return suffix ? strlen(suffix) : 0;
}
