/* Events: positions in a stream, and the time between two of them. */
#include "sim.h"

/* This number of consecutive queries of one event counts as a wait. */
enum { POLLS = 4 };

API CUresult cuEventCreate(Handle *handle, unsigned flags) {
    ENTER(cuEventCreate);
    Handle current;
    TRY(sim_current(&current));
    TRY(sim_unsafe_call());
    struct object *object = sim_new(EVENT, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->is.event.context = current;
    object->is.event.flags = flags;
    sim.last_event_flags = flags;
    return CUDA_SUCCESS;
}

/* Records the time at which the device reaches an event. */
void sim_record(struct event *event, int64_t reached_ns) {
    event->reached_ns = reached_ns;
    event->recorded = true;
}

/* Records the event for the launched graphs that have reached it by now. */
static void settle(struct event *event) {
    while (event->later > 0 && sim_is_past(event->later_ns[0])) {
        sim_record(event, event->later_ns[0]);
        event->later--;
        for (int i = 0; i < event->later; i++) {
            event->later_ns[i] = event->later_ns[i + 1];
        }
    }
}

/*
 * Records an event of a launched graph. The time of an earlier launch is lost, at once or when the graph reaches the
 * event.
 */
CUresult sim_record_by_graph(Handle handle, int64_t reached_ns) {
    struct event *event = &sim_find(EVENT, handle)->is.event;
    if (event->launched && sim.records_once) {
        return CUDA_SUCCESS;
    }
    event->launched = true;
    event->capture_id = 0;
    settle(event);
    if (!sim.keeps_until_reached) {
        sim_record(event, reached_ns);
    } else if (event->later == MAX_LATER) {
        return CUDA_ERROR_NOT_SUPPORTED;
    } else {
        event->later_ns[event->later++] = reached_ns;
    }
    return CUDA_SUCCESS;
}

/* Finds the event of a handle. Its context must be current. */
static CUresult find(Handle handle, struct event **event) {
    Handle current;
    TRY(sim_current(&current));
    struct object *object = sim_find(EVENT, handle);
    if (object == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *event = &object->is.event;
    settle(*event);
    return sim_in_context(object->is.event.context);
}

static CUresult record(Handle handle, Handle stream) {
    struct event *event;
    int64_t reached_ns;
    uint64_t capture_id;
    TRY(find(handle, &event));
    TRY(sim_enqueue(stream, sim.mark_ns, &reached_ns, &capture_id));
    event->capture_id = capture_id;
    if (capture_id == 0) {
        event->later = 0;
        sim_record(event, reached_ns);
    }
    return CUDA_SUCCESS;
}

API CUresult cuEventRecord(Handle handle, Handle stream) {
    ENTER(cuEventRecord);
    return record(handle, stream);
}

/*
 * With the flag, which is only for captures, the event becomes a node that each launch of the graph records. The event
 * is unchanged until the first launch.
 */
API CUresult cuEventRecordWithFlags(Handle handle, Handle stream, unsigned flags) {
    ENTER(cuEventRecordWithFlags);
    if (flags > EVENT_RECORD_EXTERNAL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags != EVENT_RECORD_EXTERNAL || sim.ignores_external) {
        return record(handle, stream);
    }
    struct event *event;
    bool captured;
    TRY(find(handle, &event));
    struct node node = {.event = handle};
    TRY(sim_capture_nodes(stream, &(struct nodes) {.first = &node, .count = 1}, &captured));
    return captured ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/*
 * An event of a capture has no time. Asking for its time invalidates a capture that is in progress. For a capture that
 * has ended, the test chooses the result: success stands for the time of an earlier use of the event.
 */
static CUresult check_finite(const struct event *event) {
    if (event->capture_id == 0) {
        return CUDA_SUCCESS;
    }
    return sim_is_capturing(event->capture_id) ? CUDA_ERROR_CAPTURED_EVENT : sim.captured_code;
}

static bool is_reached(const struct event *event) {
    return !event->recorded || sim_is_past(event->reached_ns);
}

/* Counts one read of the device for each event that is later than all events queried before, as observed in drivers. */
static void know(const struct event *event) {
    if (event->reached_ns > sim.known_ns) {
        sim.known_ns = event->reached_ns;
        sim.device_reads++;
    }
}

API CUresult cuEventQuery(Handle handle) {
    ENTER(cuEventQuery);
    struct event *event;
    TRY(find(handle, &event));
    TRY(check_finite(event));
    TRY(sim_unsafe_call());
    if (is_reached(event)) {
        know(event);
        return CUDA_SUCCESS;
    }
    /* POLLS consecutive queries count as a wait. On the virtual clock, the wait lasts until the event is reached. */
    struct thread *thread = sim_thread();
    thread->times_asked = thread->asked == handle ? thread->times_asked + 1 : 1;
    thread->asked = handle;
    sim.synchronisations += thread->times_asked == POLLS;
    if (thread->times_asked >= POLLS && !sim.real_clock && sim.hangs_since_ns == 0) {
        sim_wait_until(event->reached_ns);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_READY;
}

API CUresult cuEventSynchronize(Handle handle) {
    ENTER(cuEventSynchronize);
    struct event *event;
    TRY(find(handle, &event));
    TRY(check_finite(event));
    TRY(sim_unsafe_call());
    sim.synchronisations++;
    if (event->recorded) {
        sim_wait_until(event->reached_ns);
    }
    return CUDA_SUCCESS;
}

/* Returns a float, in milliseconds: the error is below half a nanosecond up to 16 ms, and larger above. */
API CUresult cuEventElapsedTime(float *ms, Handle from, Handle to) {
    ENTER(cuEventElapsedTime);
    struct event *start;
    struct event *end;
    TRY(find(from, &start));
    TRY(find(to, &end));
    TRY(check_finite(start));
    TRY(check_finite(end));
    TRY(sim_unsafe_call());
    if (!start->recorded || !end->recorded || ((start->flags | end->flags) & EVENT_DISABLE_TIMING) != 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!is_reached(start) || !is_reached(end)) {
        return CUDA_ERROR_NOT_READY;
    }
    know(end);
    know(start);
    *ms = (float) ((double) (end->reached_ns - start->reached_ns) / 1e6);
    return CUDA_SUCCESS;
}

/* Destroys an event, even if it is pending. */
API CUresult cuEventDestroy_v2(Handle handle) {
    ENTER(cuEventDestroy_v2);
    if (!sim.destroys_anywhere || sim.lost_code != CUDA_SUCCESS) {
        struct event *event;
        TRY(find(handle, &event));
    } else if (sim_find(EVENT, handle) == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    sim_delete(EVENT, handle);
    return CUDA_SUCCESS;
}
