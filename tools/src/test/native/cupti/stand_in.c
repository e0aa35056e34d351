/*
 * A library of CUPTI without a device, for tests, over the simulated driver, whose calls it counts: each call that
 * launches gives the records of its kernels, whose times are made up. Every kernel lasts 10 us.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { KERNELS = 10, IDS = 39, RECORD_BYTES = 216, ID_BYTES = 24, GRAPH_NODES = 64 };

/* What is wrong: nothing, a record is dropped, a record has no end, the layout is another one, or no call works. */
enum { USUAL, DROPS, WITHOUT_END, OTHER_LAYOUT, REFUSES };
EXPORT int cupti_stand_in_mode = USUAL;

typedef void (*requested)(uint8_t **buffer, size_t *size, size_t *most);
typedef void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

static requested request;
static completed complete;
static int on[64];
static int64_t seen[2], pending[2], ids, dropped;
static uint32_t correlation;
static uint64_t last_end;

static int64_t calls(const char *name) {
    static int64_t (*count)(const char *);
    if (count == NULL) {
        count = (int64_t(*)(const char *))dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), "sim_calls");
    }
    return count(name);
}

/* Counts the launches since the last call, which have records if they were switched on meanwhile. */
static void look(void) {
    static const char *const names[] = {"cuLaunchKernel", "cuGraphLaunch"};
    for (int i = 0; i < 2; i++) {
        int64_t now = calls(names[i]);
        pending[i] += on[KERNELS] && now > seen[i] ? now - seen[i] : 0;
        seen[i] = now;
    }
}

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

EXPORT int cuptiGetTimestamp(uint64_t *ns) {
    *ns = clock_ns();
    return 0;
}

EXPORT int cuptiGetVersion(uint32_t *version) {
    *version = 130001;
    return cupti_stand_in_mode == REFUSES ? 999 : 0;
}

EXPORT int cuptiGetResultString(int code, const char **text) {
    *text = code == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_UNKNOWN";
    return 0;
}

EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *data) {
    *subscriber = callback;
    return data == NULL ? 0 : 1;
}

EXPORT int cuptiUnsubscribe(void *subscriber) {
    return subscriber == NULL;
}

EXPORT int cuptiActivityRegisterCallbacks(requested first, completed second) {
    request = first;
    complete = second;
    return 0;
}

EXPORT int cuptiActivityEnable(int kind) {
    look();
    on[kind] = 1;
    return 0;
}

EXPORT int cuptiActivityDisable(int kind) {
    look();
    on[kind] = 0;
    return 0;
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t call, uint8_t enable) {
    return (call == 307 || call == 514) && enable <= 1 ? 0 : 1;
}

EXPORT int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
    ids += on[IDS] && id > 0;
    return kind == 5 ? 0 : 1;
}

EXPORT int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id) {
    *id = 0;
    return kind == 5 ? 0 : 1;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count) {
    *count = context == NULL && stream == 0 ? (size_t)dropped : 0;
    dropped = 0;
    return 0;
}

static uint8_t *buffer;
static size_t size, valid;

static uint8_t *room(size_t bytes) {
    if (buffer != NULL && valid + bytes > size) {
        complete(NULL, 0, buffer, size, valid);
        buffer = NULL;
    }
    if (buffer == NULL) {
        size_t most;
        request(&buffer, &size, &most);
        valid = 0;
    }
    uint8_t *record = buffer + valid;
    valid += bytes;
    return record;
}

static void set(uint8_t *record, size_t at, uint64_t value, size_t bytes) {
    memcpy(record + at, &value, bytes);
}

static void kernel(int of_graph) {
    static const char name[] = "spin_ns_stamped", other[] = "other";
    if (cupti_stand_in_mode == DROPS) {
        cupti_stand_in_mode = USUAL;
        dropped++;
        return;
    }
    uint8_t *record = room(RECORD_BYTES);
    uint64_t start = last_end + 1;
    last_end = start + 10000;
    set(record, 0, KERNELS, 4);
    set(record, 16, start, 8);
    set(record, 24, cupti_stand_in_mode == WITHOUT_END ? 0 : last_end, 8);
    set(record, 92, correlation, 4);
    set(record, 104, (uint64_t)(uintptr_t)(cupti_stand_in_mode == OTHER_LAYOUT ? other : name), 8);
    set(record, 156, of_graph ? 7 : 0, 4);
    cupti_stand_in_mode = cupti_stand_in_mode == WITHOUT_END ? USUAL : cupti_stand_in_mode;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag) {
    look();
    uint64_t now = clock_ns();
    uint64_t lasts = (uint64_t)(pending[0] + GRAPH_NODES * pending[1]) * 10001;
    last_end = last_end > now - lasts ? last_end : now - lasts;
    for (int of_graph = 0; of_graph < 2; of_graph++) {
        for (; pending[of_graph] > 0; pending[of_graph]--) {
            correlation++;
            for (int node = of_graph ? GRAPH_NODES : 1; node > 0; node--) {
                kernel(of_graph);
            }
            if (ids > 0) {
                uint8_t *record = room(ID_BYTES);
                set(record, 0, IDS, 4);
                set(record, 4, 5, 4);
                set(record, 8, (uint64_t)ids--, 8);
                set(record, 16, correlation, 4);
            }
        }
    }
    if (buffer != NULL) {
        complete(NULL, 0, buffer, size, valid);
        buffer = NULL;
    }
    return flag <= 1 ? 0 : 1;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, uint8_t **record) {
    int32_t kind = 0;
    size_t at = 0;
    if (*record != NULL) {
        memcpy(&kind, *record, sizeof kind);
        at = (size_t)(*record - from) + (kind == KERNELS ? RECORD_BYTES : ID_BYTES);
    }
    if (at >= bytes) {
        return 12;
    }
    *record = from + at;
    return 0;
}
