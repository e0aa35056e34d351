/*
 * A CUDA driver without a device, for tests: what the parts of it share.
 *
 * It is written from the driver's documented interface, for those calls that this library and its tests make, under the
 * names that JCuda binds. Every other name that JCuda binds answers "not supported" (stubs.c).
 *
 * Device work is not done, it only takes time: each piece begins when the one before it in its stream has ended, and not
 * before it was submitted. The host's clock is virtual, and then only waiting or the test moves it, so that every time is
 * exact and nothing is waited for; or it is the machine's. A thread waits that asks for the same event again and again, and
 * makes no other call in between but those that prepare the question: the virtual clock then comes to the event's time.
 *
 * One mutex guards everything but what a thread keeps for itself. A call holds it from ENTER to its return.
 *
 * Handles are numbers, not addresses: a handle of something destroyed is told from that of what took its place, and
 * counted as stale. A real driver may crash on one.
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

/* A node of a graph: an event that each launch records or, without one, work that takes a time. */
struct node {
    Handle event;
    int64_t duration_ns;
};

/* What was captured, in order. */
struct nodes {
    struct node *first;
    int count;
    int capacity;
};

/* A queue of work, in order. The default stream of a context is one, without a handle. */
struct stream {
    Handle context;
    unsigned flags;
    int64_t end_ns;
    int capture;
    int capture_mode;
    /* Which capture this is, whose, and what was captured. */
    uint64_t capture_id;
    const void *capture_thread;
    struct nodes captured;
};

struct context {
    int device;
    bool primary;
    int retained;
    /* Of a green context: it can be current on one thread at a time, on which it was pushed so many times. */
    bool green;
    const void *current_on;
    int pushes;
    struct stream legacy;
    /* When the last piece of work ends that the default stream waits for. */
    int64_t blocking_end_ns;
};

struct event {
    Handle context;
    unsigned flags;
    bool recorded;
    int64_t reached_ns;
    /* The capture it was last recorded in; 0 for none. */
    uint64_t capture_id;
    /* Whether a graph has recorded it, and when launches that are under way will, where they keep the time until then. */
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

/* A graph, or one that can be run. */
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

/* What a test may set, and what it may ask for. */
struct sim {
    bool initialised;
    bool real_clock;
    int64_t now_ns;
    int devices;
    /* How many devices of the machine are hidden before the first one, as by CUDA_VISIBLE_DEVICES. */
    int hidden_devices;
    int driver_version;
    /* Whether events are destroyed on every thread; otherwise only where their context is current. */
    bool destroys_anywhere;
    /* The device came this far and hangs; 0 where it does not hang. */
    int64_t hangs_since_ns;
    int64_t kernel_ns;
    int64_t copy_ns;
    int lost_code;
    /* What is answered for an event of a capture that is over. */
    int captured_code;
    /* Whether an event keeps its time until a graph that was launched has come to it; else a launch takes it away. */
    bool keeps_until_reached;
    /* Faults, for controls: external events of a capture are as others, and a launch does not record them again. */
    bool ignores_external;
    bool records_once;
    uint64_t epoch;
    int captures;
    uint64_t last_capture_id;
    long synchronisations;
    unsigned last_event_flags;
    /* The time up to which the driver knows the device to have come, and how often it read that from the device. */
    int64_t known_ns;
    int device_reads;
    long stale_handles;
    long spoilt_captures;
    long launches;
    Handle primary[MAX_DEVICES];
};

/* What belongs to one thread. */
struct thread {
    uint64_t epoch;
    Handle stack[MAX_DEPTH];
    int depth;
    int capture_mode;
    /* The event that it asked for last, and how often in a row. */
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

/* Begins a driver call: counts it, answers what a test has planned for it, and holds the mutex until it returns. */
#define ENTER(name)                                                             \
    int held __attribute__((cleanup(sim_unlock), unused)) = sim_lock();         \
    do {                                                                        \
        CUresult planned = sim_called(CALL_##name);                             \
        if (planned != CUDA_SUCCESS) {                                          \
            return planned;                                                     \
        }                                                                       \
    } while (0)

/* Leaves a driver call with what a step of it answered, unless that was success. */
#define TRY(step)                                                               \
    do {                                                                        \
        CUresult answer = (step);                                               \
        if (answer != CUDA_SUCCESS) {                                           \
            return answer;                                                      \
        }                                                                       \
    } while (0)

#define API __attribute__((visibility("default")))

#endif
