/* The clock, planned failures, the current contexts of threads, and the functions that tests call. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"

enum { FIRST_NS = 1000000 };

struct plan {
    long calls;
    /* The number of the call that fails next; 0 for none. */
    long fails_at;
    int code;
    bool from_then_on;
};

struct sim sim = {
    .devices = 1, .driver_version = 12060, .now_ns = FIRST_NS, .captured_code = CUDA_ERROR_CAPTURED_EVENT};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct plan plans[CALL_COUNT];
static __thread struct thread own;

static const char *const names[] = {
#define NAME(name) #name,
    SIM_CALLS(NAME) SIM_STUBS(NAME)
#undef NAME
};

int sim_lock(void) {
    pthread_mutex_lock(&mutex);
    return 1;
}

void sim_unlock(const int *held) {
    (void) held;
    pthread_mutex_unlock(&mutex);
}

/* Returns whether a call is a query of an event, or only prepares one. */
static bool is_asking(enum call call) {
    switch (call) {
        case CALL_cuEventQuery:
        case CALL_cuStreamIsCapturing:
        case CALL_cuThreadExchangeStreamCaptureMode:
        case CALL_cuCtxGetCurrent:
        case CALL_cuCtxPushCurrent_v2:
        case CALL_cuCtxPopCurrent_v2:
            return true;
        default:
            return false;
    }
}

CUresult sim_called(enum call call) {
    if (!is_asking(call)) {
        sim_thread()->times_asked = 0;
    }
    struct plan *plan = &plans[call];
    plan->calls++;
    if (plan->fails_at == 0 || plan->calls < plan->fails_at) {
        return CUDA_SUCCESS;
    }
    if (!plan->from_then_on) {
        plan->fails_at = 0;
    }
    return plan->code;
}

/* Returns the time of the machine's clock, ns. */
static int64_t machine_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t sim_now_ns(void) {
    return sim.real_clock ? machine_ns() : sim.now_ns;
}

/* Returns whether the device has reached a time. */
bool sim_is_past(int64_t when_ns) {
    return when_ns <= sim_now_ns() && (sim.hangs_since_ns == 0 || when_ns <= sim.hangs_since_ns);
}

/* Waits until a time. Other threads continue meanwhile. */
void sim_wait_until(int64_t when_ns) {
    uint64_t epoch = sim.epoch;
    while (sim.hangs_since_ns != 0 && when_ns > sim.hangs_since_ns && sim.epoch == epoch) {
        struct timespec a_while = {.tv_nsec = 1000000};
        pthread_mutex_unlock(&mutex);
        nanosleep(&a_while, NULL);
        pthread_mutex_lock(&mutex);
    }
    if (!sim.real_clock) {
        if (sim.now_ns < when_ns) {
            sim.now_ns = when_ns;
        }
        return;
    }
    struct timespec when = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
    pthread_mutex_unlock(&mutex);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
    }
    pthread_mutex_lock(&mutex);
}

struct thread *sim_thread(void) {
    if (own.epoch != sim.epoch) {
        memset(&own, 0, sizeof own);
        own.epoch = sim.epoch;
    }
    return &own;
}

/* Finds the calling thread's current context. */
CUresult sim_current(Handle *current) {
    struct thread *thread = sim_thread();
    if (!sim.initialised) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (sim.lost_code != CUDA_SUCCESS) {
        return sim.lost_code;
    }
    if (thread->depth == 0 || thread->stack[thread->depth - 1] == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *current = thread->stack[thread->depth - 1];
    return sim_find(CONTEXT, *current) == NULL ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

/* Checks that the calling thread's current context is the owner of an object. */
CUresult sim_in_context(Handle owner) {
    Handle current;
    TRY(sim_current(&current));
    return current == owner ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Selects the real clock by an environment variable, for processes that do not call sim_use_real_clock. */
__attribute__((constructor)) static void read_environment(void) {
    sim.real_clock = getenv("CUDA_SIMULATION_REAL_CLOCK") != NULL;
}

#define HOLD int held __attribute__((cleanup(sim_unlock), unused)) = sim_lock()

/* Resets everything: one device, a virtual clock, no failures. Earlier handles and current contexts become invalid. */
API void sim_reset(void) {
    HOLD;
    uint64_t epoch = sim.epoch + 1;
    sim_forget_objects();
    memset(plans, 0, sizeof plans);
    memset(&sim, 0, sizeof sim);
    sim.epoch = epoch;
    sim.devices = 1;
    sim.driver_version = 12060;
    sim.now_ns = FIRST_NS;
    sim.captured_code = CUDA_ERROR_CAPTURED_EVENT;
}

API void sim_use_real_clock(int real) {
    HOLD;
    sim.real_clock = real != 0;
}

API void sim_advance(int64_t ns) {
    HOLD;
    sim.now_ns += ns;
}

/* Makes the device hang; 0: continue. A call that waits for the device does not return while it hangs. */
API void sim_hang(int hangs) {
    HOLD;
    sim.hangs_since_ns = hangs != 0 ? sim_now_ns() : 0;
}

/* Turns the calling thread's current context into a green context. */
API void sim_make_green(void) {
    HOLD;
    struct thread *thread = sim_thread();
    Handle current = thread->depth == 0 ? 0 : thread->stack[thread->depth - 1];
    struct object *object = sim_find(CONTEXT, current);
    if (object != NULL) {
        object->is.context.green = true;
        object->is.context.current_on = thread;
        for (int i = 0; i < thread->depth; i++) {
            object->is.context.pushes += thread->stack[i] == current;
        }
    }
}

/* Sets whether every thread can destroy events, independently of its current context. */
API void sim_set_destroys_anywhere(int anywhere) {
    HOLD;
    sim.destroys_anywhere = anywhere != 0;
}

API int64_t sim_now(void) {
    HOLD;
    return sim_now_ns();
}

/* Sets the number of devices, from 0 to 8. */
API void sim_set_devices(int devices) {
    HOLD;
    sim.devices = devices < MAX_DEVICES ? devices : MAX_DEVICES;
}

/* Sets the number of the machine's devices before the first one that this process sees. */
API void sim_set_hidden_devices(int devices) {
    HOLD;
    sim.hidden_devices = devices;
}

API void sim_set_driver_version(int version) {
    HOLD;
    sim.driver_version = version;
}

/* Sets the duration of kernels that do not spin. */
API void sim_set_kernel_ns(int64_t ns) {
    HOLD;
    sim.kernel_ns = ns;
}

/* Sets what recording an event, and launching a kernel, takes of the device's time beside the kernels. */
API void sim_set_costs(int64_t mark_ns, int64_t launch_ns) {
    HOLD;
    sim.mark_ns = mark_ns;
    sim.launch_ns = launch_ns;
}

API void sim_set_copy_ns(int64_t ns) {
    HOLD;
    sim.copy_ns = ns;
}

/* Makes every call that needs a context return a code from now on; 0 for none. */
API void sim_lose_contexts(int code) {
    HOLD;
    sim.lost_code = code;
}

/*
 * Sets the result for an event of a capture that has ended: 907, the default, as documented; 1, as drivers return; or
 * 0, for the time of an earlier use.
 */
API void sim_set_captured_code(int code) {
    HOLD;
    sim.captured_code = code;
}

/* Sets whether an event keeps its time until a launched graph reaches it; otherwise it loses the time at the launch. */
API void sim_set_keeps_until_reached(int keeps) {
    HOLD;
    sim.keeps_until_reached = keeps != 0;
}

/* Sets a fault: the external flag is ignored when an event is recorded. */
API void sim_set_ignores_external(int ignores) {
    HOLD;
    sim.ignores_external = ignores != 0;
}

/* Sets a fault: only the first launch that reaches an event records it. */
API void sim_set_records_once(int once) {
    HOLD;
    sim.records_once = once != 0;
}

static int named(const char *name) {
    for (int call = 0; call < CALL_COUNT; call++) {
        if (strcmp(names[call], name) == 0) {
            return call;
        }
    }
    return -1;
}

/* Makes the n-th call from now on fail, 1 for the next. Returns 0 if there is no call of this name. */
API int sim_fail(const char *name, int64_t nth, int code, int from_then_on) {
    HOLD;
    int call = named(name);
    if (call < 0) {
        return 0;
    }
    plans[call].fails_at = plans[call].calls + nth;
    plans[call].code = code;
    plans[call].from_then_on = from_then_on != 0;
    return 1;
}

/* Returns the number of times that a call was made; -1 if there is no call of this name. */
API int64_t sim_calls(const char *name) {
    HOLD;
    int call = named(name);
    return call < 0 ? -1 : plans[call].calls;
}

API int sim_call_count(void) {
    return CALL_COUNT;
}

API const char *sim_call_name(int call) {
    return call < 0 || call >= CALL_COUNT ? NULL : names[call];
}

API int sim_live_contexts(void) {
    HOLD;
    return sim_live(CONTEXT);
}

API int sim_live_streams(void) {
    HOLD;
    return sim_live(STREAM);
}

API int sim_live_events(void) {
    HOLD;
    return sim_live(EVENT);
}

/* Returns the number of waits for a stream, an event or a context. */
API int64_t sim_synchronisations(void) {
    HOLD;
    return sim.synchronisations;
}

/* Returns the number of retains of primary contexts that were not released. */
API int sim_retains(void) {
    HOLD;
    int retains = 0;
    for (int device = 0; device < MAX_DEVICES; device++) {
        retains += sim.primary[device] == 0 ? 0 : sim_find(CONTEXT, sim.primary[device])->is.context.retained;
    }
    return retains;
}

/* Returns the flags of the event that was created last. */
API int sim_last_event_flags(void) {
    HOLD;
    return (int) sim.last_event_flags;
}

/* Returns the number of times that the driver read the device's progress. */
API int sim_device_reads(void) {
    HOLD;
    return sim.device_reads;
}

/* Returns the number of uses of handles whose object no longer exists. */
API int64_t sim_stale_handles(void) {
    HOLD;
    return sim.stale_handles;
}

API int64_t sim_spoilt_captures(void) {
    HOLD;
    return sim.spoilt_captures;
}

/* Returns the number of kernels that were launched outside of captures. */
API int64_t sim_launches(void) {
    HOLD;
    return sim.launches;
}

/* Returns the calling thread's current context; 0 for none. */
API Handle sim_current_context(void) {
    HOLD;
    struct thread *thread = sim_thread();
    return thread->depth == 0 ? 0 : thread->stack[thread->depth - 1];
}

/* Returns the number of contexts on the calling thread's stack. */
API int sim_context_depth(void) {
    HOLD;
    return sim_thread()->depth;
}

API int sim_capture_mode(void) {
    HOLD;
    return sim_thread()->capture_mode;
}
