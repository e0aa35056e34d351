/*
 * A CUDA driver without a device, for tests: the declarations that its parts share.
 *
 * It implements the driver's documented interface, for the calls of this library and its tests, under the names that
 * JCuda binds. All other calls that JCuda binds return "not supported" (stubs.c).
 *
 * Device work only takes time: each piece of work begins when the piece before it in its stream has ended, but not
 * before its submission. The host's clock is virtual or the machine's. Only waiting and the test advance the virtual
 * clock, so that every time is exact and no test really waits. Consecutive queries of one event count as a wait if the
 * thread makes no other calls between them except those that prepare a query; the virtual clock then advances to the
 * event's time.
 *
 * One mutex guards everything except thread-local state. A call holds it from ENTER to its return.
 *
 * Handles are numbers, not addresses. The handle of a destroyed object differs from that of its successor, and its use
 * is counted as stale. A real driver may crash on such a handle.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef uint64_t Handle;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
    CUDA_ERROR_UNKNOWN = 999
};

enum { STREAM_NON_BLOCKING = 1, EVENT_BLOCKING_SYNC = 1, EVENT_DISABLE_TIMING = 2 };
enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };
enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };
enum { EVENT_RECORD_EXTERNAL = 1 };
enum { MAX_DEVICES = 8, MAX_DEPTH = 16, MAX_LATER = 16 };

enum call {
#define CALL_ID(name) CALL_##name,
    SIM_CALLS(CALL_ID) SIM_STUBS(CALL_ID)
#undef CALL_ID
    CALL_COUNT
};

/* A node of a graph: an event that each launch records, or, without an event, work that takes a time. */
struct node {
    Handle event;
    int64_t duration_ns;
};

/* Captured nodes, in order. */
struct nodes {
    struct node *first;
    int count;
    int capacity;
};

/* An in-order queue of work. The default stream of a context is a stream without a handle. */
struct stream {
    Handle context;
    unsigned flags;
    int64_t end_ns;
    int capture;
    int capture_mode;
    /* The identity of the current capture, its thread, and its nodes. */
    uint64_t capture_id;
    const void *capture_thread;
    struct nodes captured;
};

struct context {
    int device;
    bool primary;
    int retained;
    /* A green context can be current on only one thread at a time. pushes: the number of pushes on that thread. */
    bool green;
    const void *current_on;
    int pushes;
    struct stream legacy;
    /* The end of the last work for which the default stream waits. */
    int64_t blocking_end_ns;
};

struct event {
    Handle context;
    unsigned flags;
    bool recorded;
    int64_t reached_ns;
    /* The capture in which it was last recorded; 0 for none. */
    uint64_t capture_id;
    /*
     * Whether a graph has recorded it, and, with keeps_until_reached, the times at which pending launches will record
     * it.
     */
    bool launched;
    int64_t later_ns[MAX_LATER];
    int later;
};

struct function {
    Handle module;
    char name[120];
};

struct module {
    Handle context;
};

/* A graph, or an executable graph. */
struct graph {
    struct nodes nodes;
};

enum kind { CONTEXT, STREAM, EVENT, MODULE, FUNCTION, GRAPH, GRAPH_EXEC, KIND_COUNT };

struct object {
    bool alive;
    uint32_t generation;
    uint32_t next_free;
    union {
        struct context context;
        struct stream stream;
        struct event event;
        struct module module;
        struct function function;
        struct graph graph;
    } is;
};

/* The state that tests can set or read. */
struct sim {
    bool initialised;
    bool real_clock;
    int64_t now_ns;
    int devices;
    /* The number of the machine's devices hidden before the first one, as by CUDA_VISIBLE_DEVICES. */
    int hidden_devices;
    int driver_version;
    /* Whether every thread can destroy events; otherwise only threads whose current context is that of the event. */
    bool destroys_anywhere;
    /* The time at which the device began to hang; 0 if it does not hang. */
    int64_t hangs_since_ns;
    int64_t kernel_ns;
    /* What recording an event, and launching a kernel, takes of the device's time beside the kernels. */
    int64_t mark_ns;
    int64_t launch_ns;
    int64_t copy_ns;
    int lost_code;
    /* The result for an event of a capture that has ended. */
    int captured_code;
    /* Whether an event keeps its time until a launched graph reaches it; otherwise it loses the time at the launch. */
    bool keeps_until_reached;
    /*
     * Faults, for control tests: captures treat external events as others, and only the first launch records an event.
     */
    bool ignores_external;
    bool records_once;
    uint64_t epoch;
    int captures;
    uint64_t last_capture_id;
    long synchronisations;
    unsigned last_event_flags;
    /* The device time that the driver knows, and the number of times it read that from the device. */
    int64_t known_ns;
    int device_reads;
    long stale_handles;
    long spoilt_captures;
    long launches;
    Handle primary[MAX_DEVICES];
};

/* The state of one thread. */
struct thread {
    uint64_t epoch;
    Handle stack[MAX_DEPTH];
    int depth;
    int capture_mode;
    /* The event that it queried last, and the number of consecutive queries. */
    Handle asked;
    int times_asked;
};

extern struct sim sim;

/* sim.c */
int sim_lock(void);
void sim_unlock(const int *held);
CUresult sim_called(enum call call);
int64_t sim_now_ns(void);
void sim_wait_until(int64_t when_ns);
bool sim_is_past(int64_t when_ns);
void sim_leave_context(Handle context);
struct thread *sim_thread(void);
CUresult sim_current(Handle *current);
CUresult sim_in_context(Handle owner);

/* objects.c */
struct object *sim_new(enum kind kind, Handle *handle);
struct object *sim_find(enum kind kind, Handle handle);
void sim_delete(enum kind kind, Handle handle);
int sim_live(enum kind kind);
void sim_each(enum kind kind, void (*visit)(Handle handle, struct object *object, void *with), void *with);
void sim_forget_objects(void);

/* stream.c */
CUresult sim_stream(Handle handle, struct stream **stream, struct context **context);
CUresult sim_enqueue(Handle stream, int64_t duration_ns, int64_t *end_ns, uint64_t *capture_id);
CUresult sim_unsafe_call(void);
bool sim_is_capturing(uint64_t capture_id);
CUresult sim_capture_nodes(Handle stream, const struct nodes *nodes, bool *captured);

/* event.c */
void sim_record(struct event *event, int64_t reached_ns);
CUresult sim_record_by_graph(Handle handle, int64_t reached_ns);

/* graph.c */
bool sim_add_node(struct nodes *nodes, struct node node);
bool sim_add_nodes(struct nodes *nodes, const struct nodes *more);
void sim_free_nodes(struct nodes *nodes);
CUresult sim_new_graph(enum kind kind, Handle *handle, const struct nodes *nodes);

/*
 * Begins a driver call: counts it, returns the failure that a test planned for it, and holds the mutex until the
 * return.
 */
#define ENTER(name)                                                             \
    int held __attribute__((cleanup(sim_unlock), unused)) = sim_lock();         \
    do {                                                                        \
        CUresult planned = sim_called(CALL_##name);                             \
        if (planned != CUDA_SUCCESS) {                                          \
            return planned;                                                     \
        }                                                                       \
    } while (0)

/* Returns from a driver call with the result of a step, unless the step succeeded. */
#define TRY(step)                                                               \
    do {                                                                        \
        CUresult answer = (step);                                               \
        if (answer != CUDA_SUCCESS) {                                           \
            return answer;                                                      \
        }                                                                       \
    } while (0)

#define API __attribute__((visibility("default")))

#endif
