/*
 * A tool that listens to NVTX, for tests: it takes the functions for domains, registered strings and ranges of threads,
 * and writes a line for each call.
 *
 *     domain DOMAIN NAME          a domain was created; domains and strings are numbered from 1
 *     string DOMAIN NAME          a string was registered
 *     push THREAD DOMAIN NAME     a range began; threads are numbered from 1, in the order of their first range
 *     pop THREAD DOMAIN           the innermost range of the thread in the domain ended
 *
 * A call that breaks the rules of NVTX gets a line that begins with "error". At the end of the process, all lines go to
 * the file that the variable NVTX_STAND_IN_LINES names, if it is set.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define MOST 64

/* How the tool behaves: as a tool for ranges, refuses to start, wants no ranges, or wants no strings. */
enum { USUAL, REFUSES, NO_RANGES, NO_STRINGS };
EXPORT int nvtx_stand_in_mode = USUAL;

struct domain {
    int number;
};

struct string {
    struct domain *domain;
    char name[64];
};

/* The attributes of a range, of version 2: the first fields, the type of the message, and the message. */
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

struct callbacks {
    size_t size;
    int (*function_table)(int module, void ****table, unsigned *size);
};

struct version {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lines;
static size_t length, capacity;
static int domains, threads;
static _Thread_local int thread, depths[MOST];

static void line(const char *format, ...) {
    char text[160];
    va_list values;
    va_start(values, format);
    size_t size = (size_t)vsnprintf(text, sizeof text - 1, format, values);
    va_end(values);
    text[size++] = '\n';
    pthread_mutex_lock(&lock);
    if (length + size + 1 > capacity) {
        capacity = 2 * (length + size + 1);
        lines = realloc(lines, capacity);
    }
    memcpy(lines + length, text, size);
    length += size;
    lines[length] = 0;
    pthread_mutex_unlock(&lock);
}

static int number_of_thread(void) {
    if (thread == 0) {
        thread = __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST);
    }
    return thread;
}

static void *create_domain(const char *name) {
    struct domain *domain = malloc(sizeof *domain);
    domain->number = __atomic_add_fetch(&domains, 1, __ATOMIC_SEQ_CST);
    line("domain %d %s", domain->number, name);
    return domain;
}

static void *register_string(struct domain *domain, const char *name) {
    struct string *string = malloc(sizeof *string);
    string->domain = domain;
    snprintf(string->name, sizeof string->name, "%s", name);
    line("string %d %s", domain->number, name);
    return string;
}

static int push(struct domain *domain, const struct attributes *range) {
    const struct string *string = range->message;
    int me = number_of_thread();
    if (range->version != 3 || range->size != sizeof *range || domain->number >= MOST) {
        line("error: push with version %d and size %d", range->version, range->size);
    } else if (range->message_type == 1) {
        line("push %d %d text:%s", me, domain->number, (const char *)range->message);
    } else if (range->message_type != 3 || string->domain != domain) {
        line("error: push with a message of type %d", range->message_type);
    } else {
        line("push %d %d %s", me, domain->number, string->name);
    }
    return depths[domain->number]++;
}

static int pop(struct domain *domain) {
    int me = number_of_thread();
    if (depths[domain->number] == 0) {
        line("error: pop without a range");
        return -1;
    }
    line("pop %d %d", me, domain->number);
    return --depths[domain->number];
}

EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
    const struct callbacks *callbacks = export_table(1);
    const struct version *version = export_table(3);
    void ***table;
    unsigned size;
    if (nvtx_stand_in_mode == REFUSES) {
        return 0;
    }
    if (callbacks == NULL || callbacks->size < sizeof *callbacks || version == NULL || version->version != 3 ||
        export_table(99) != NULL || callbacks->function_table(99, &table, &size) != 0 ||
        callbacks->function_table(5, &table, &size) != 1 || size < 16 || table[0] != NULL) {
        line("error: the tables are not those of NVTX 3");
        return 0;
    }
    version->set_version(3);
    if (nvtx_stand_in_mode != NO_RANGES) {
        *table[4] = (void *)push;
        *table[5] = (void *)pop;
    }
    if (nvtx_stand_in_mode != NO_STRINGS) {
        *table[10] = (void *)register_string;
    }
    *table[12] = (void *)create_domain;
    return 1;
}

__attribute__((destructor)) static void write_lines(void) {
    const char *file = getenv("NVTX_STAND_IN_LINES");
    FILE *out = file == NULL ? NULL : fopen(file, "w");
    if (out != NULL) {
        fputs(lines == NULL ? "" : lines, out);
        fclose(out);
    }
}

/* Returns all lines, which must be read while no range begins or ends. */
EXPORT const char *nvtx_stand_in_lines(void) {
    return lines == NULL ? "" : lines;
}
