// SPDX-License-Identifier: Apache-2.0
#include "CCurl.h"

#include <COpenSSL.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                  \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_setopt) X(curl_easy_perform) X(curl_easy_getinfo)               \
    X(curl_easy_cleanup) X(curl_easy_strerror) X(curl_slist_append) X(curl_slist_free_all)               \
    X(curl_url) X(curl_url_set) X(curl_url_get) X(curl_url_cleanup) X(curl_free)

// The functions without the macros that check their arguments.
static struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
#undef FIELD
} lib;

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const int ykit_http_unresolved = CURLE_COULDNT_RESOLVE_HOST, ykit_http_unconnected = CURLE_COULDNT_CONNECT,
          ykit_http_timed_out = CURLE_OPERATION_TIMEDOUT, ykit_http_bad_authorities = CURLE_SSL_CACERT_BADFILE,
          ykit_http_bad_certificate = CURLE_PEER_FAILED_VERIFICATION, ykit_http_bad_pin = CURLE_SSL_PINNEDPUBKEYNOTMATCH,
          ykit_http_tls = CURLE_SSL_CONNECT_ERROR;

static int load(const char *name) {
    void *image = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!image) return 0;
#define LOAD(name)                                                                                                    \
    if (!(lib.name = (__typeof__(&name))dlsym(image, #name))) return 0;
    FUNCTIONS(LOAD)
#undef LOAD
    // OpenSSL is started as for everything else: without openssl.cnf, and without freeing its state at exit, while the
    // threads that use it end (seen with OpenSSL 3.0.19 in one of some 4,000 runs).
    ykit_openssl_add_names();
    return (lib.curl_global_init)(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

// Debian packages the library in two variants.
static void load_any(void) { is_loaded = load("libcurl.so.4") || load("libcurl-gnutls.so.4"); }

typedef struct {
    const ykit_http_request *request;
    ykit_http_answer *answer;
} exchange;

// Appends bytes to a buffer; returns 0 if that exceeds the limit or memory runs out.
static int append(uint8_t **bytes, size_t *size, size_t limit, const char *more, size_t count) {
    if (count > limit - *size) return 0;
    uint8_t *grown = realloc(*bytes, *size + count + 1);
    if (!grown) return 0;
    memcpy(grown + *size, more, count);
    *bytes = grown;
    *size += count;
    return 1;
}

static size_t take_header(char *line, size_t one, size_t count, void *context) {
    ykit_http_answer *answer = ((exchange *)context)->answer;
    // Each response replaces the one before it: only the last is final.
    if (count >= 5 && !memcmp(line, "HTTP/", 5)) answer->header_size = 0;
    size_t limit = ((exchange *)context)->request->header_limit;
    if (append(&answer->header, &answer->header_size, limit, line, one * count)) return one * count;
    answer->is_too_large = 1;
    return 0;
}

static size_t take_body(char *bytes, size_t one, size_t count, void *context) {
    ykit_http_answer *answer = ((exchange *)context)->answer;
    size_t limit = ((exchange *)context)->request->body_limit;
    if (append(&answer->body, &answer->body_size, limit, bytes, one * count)) return one * count;
    answer->is_too_large = 1;
    return 0;
}

static int look(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    const ykit_http_request *request = ((exchange *)context)->request;
    if (!request->cancelled || !request->cancelled(request->context)) return 0;
    ((exchange *)context)->answer->is_cancelled = 1;
    return 1;
}

// Options without which nothing may be sent.
#define SET(option, value)                                                                                            \
    if ((code = (lib.curl_easy_setopt)(handle, option, value)) != CURLE_OK) return code

// Restricts libcurl: only HTTP and HTTPS, no redirects, no password file.
static CURLcode restrict_way(CURL *handle, const ykit_http_request *request) {
    CURLcode code;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, request->timeout);
    SET(CURLOPT_SSL_VERIFYPEER, request->unverified ? 0L : 1L);
    SET(CURLOPT_SSL_VERIFYHOST, request->unverified ? 0L : 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (request->direct) SET(CURLOPT_PROXY, "");
    if (request->authorities) {
        SET(CURLOPT_CAINFO, request->authorities);
        SET(CURLOPT_CAPATH, NULL);
    }
    if (request->pins) {
        SET(CURLOPT_PINNEDPUBLICKEY, request->pins);
        // Lets the user compare the certificate that the server presented instead.
        SET(CURLOPT_CERTINFO, 1L);
    }
    return CURLE_OK;
}

static CURLcode describe(CURL *handle, exchange *both, struct curl_slist *headers) {
    CURLcode code;
    const ykit_http_request *request = both->request;
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_ERRORBUFFER, both->answer->problem);
    SET(CURLOPT_HEADERFUNCTION, take_header);
    SET(CURLOPT_HEADERDATA, both);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, both);
    SET(CURLOPT_XFERINFOFUNCTION, look);
    SET(CURLOPT_XFERINFODATA, both);
    SET(CURLOPT_NOPROGRESS, 0L);
    if (request->cookies) {
        // An empty name enables the cookie engine without reading a file.
        SET(CURLOPT_COOKIEFILE, "");
        for (const char *line = request->cookies; *line; line += strlen(line) + 1) SET(CURLOPT_COOKIELIST, line);
    }
    if (request->body) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
        SET(CURLOPT_POSTFIELDS, request->body);
    }
    SET(CURLOPT_CUSTOMREQUEST, request->method);
    return restrict_way(handle, request);
}

static CURLcode perform(CURL *handle, exchange *both) {
    struct curl_slist *headers = NULL;
    for (const char *line = both->request->headers; *line; line += strlen(line) + 1) {
        struct curl_slist *longer = (lib.curl_slist_append)(headers, line);
        if (!longer) break;
        headers = longer;
    }
    CURLcode code = describe(handle, both, headers);
    if (code == CURLE_OK) code = (lib.curl_easy_perform)(handle);
    (lib.curl_slist_free_all)(headers);
    return code;
}

// Reads the cookies that the engine has stored. Cookies that exceed the limit are dropped.
static void take_cookies(CURL *handle, exchange *both) {
    struct curl_slist *list = NULL;
    if ((lib.curl_easy_getinfo)(handle, CURLINFO_COOKIELIST, &list) != CURLE_OK) return;
    ykit_http_answer *answer = both->answer;
    for (struct curl_slist *line = list; line; line = line->next)
        append((uint8_t **)&answer->cookies, &answer->cookies_size, both->request->header_limit, line->data,
            strlen(line->data) + 1);
    (lib.curl_slist_free_all)(list);
}

// The first certificate is the server's.
static void take_certificate(CURL *handle, ykit_http_answer *answer) {
    struct curl_certinfo *info = NULL;
    if ((lib.curl_easy_getinfo)(handle, CURLINFO_CERTINFO, &info) != CURLE_OK || !info || info->num_of_certs < 1) return;
    for (struct curl_slist *line = info->certinfo[0]; line; line = line->next)
        if (!strncmp(line->data, "Cert:", 5)) {
            free(answer->certificate);
            answer->certificate = strdup(line->data + 5);
        }
}

int ykit_http(const ykit_http_request *request, ykit_http_answer *answer) {
    memset(answer, 0, sizeof *answer);
    pthread_once(&once, load_any);
    if (!is_loaded) return -1;
    CURL *handle = (lib.curl_easy_init)();
    if (!handle) return CURLE_OUT_OF_MEMORY;
    exchange both = {request, answer};
    CURLcode code = perform(handle, &both);
    if (code == CURLE_OK) (lib.curl_easy_getinfo)(handle, CURLINFO_RESPONSE_CODE, &answer->status);
    if (code == CURLE_OK && request->cookies) take_cookies(handle, &both);
    if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH) take_certificate(handle, answer);
    if (code != CURLE_OK && !answer->problem[0])
        strncpy(answer->problem, (lib.curl_easy_strerror)(code), sizeof answer->problem - 1);
    (lib.curl_easy_cleanup)(handle);
    return (int)code;
}

void ykit_http_free(ykit_http_answer *answer) {
    free(answer->header);
    free(answer->body);
    free(answer->cookies);
    free(answer->certificate);
    answer->header = answer->body = NULL;
    answer->cookies = answer->certificate = NULL;
    answer->header_size = answer->body_size = answer->cookies_size = 0;
}

int ykit_http_parse(const char *text, ykit_http_parts *parts) {
    memset(parts, 0, sizeof *parts);
    pthread_once(&once, load_any);
    if (!is_loaded) return -1;
    CURLU *address = (lib.curl_url)();
    if (!address) return 1;
    int is_read = (lib.curl_url_set)(address, CURLUPART_URL, text, CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    const struct {
        CURLUPart part;
        char **text;
    } all[] = {{CURLUPART_SCHEME, &parts->scheme}, {CURLUPART_HOST, &parts->host}, {CURLUPART_PORT, &parts->port},
        {CURLUPART_PATH, &parts->path}, {CURLUPART_QUERY, &parts->query}, {CURLUPART_USER, &parts->user},
        {CURLUPART_FRAGMENT, &parts->fragment}};
    for (size_t i = 0; is_read && i < sizeof all / sizeof *all; i++)
        if ((lib.curl_url_get)(address, all[i].part, all[i].text, 0) != CURLUE_OK) *all[i].text = NULL;
    (lib.curl_url_cleanup)(address);
    return !is_read;
}

void ykit_http_parts_free(ykit_http_parts *parts) {
    char *all[] = {parts->scheme, parts->host, parts->port, parts->path, parts->query, parts->user, parts->fragment};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) (lib.curl_free)(all[i]);
    memset(parts, 0, sizeof *parts);
}
