/* Streams, their queued work, and their capture into graphs. */
#include "sim.h"

enum { LEGACY = 1, PER_THREAD = 2 };

/* Finds the stream of a handle and its context, which must be current. Each context has a default stream. */
CUresult sim_stream(Handle handle, struct stream **stream, struct context **context) {
    Handle current;
    TRY(sim_current(&current));
    *context = &sim_find(CONTEXT, current)->is.context;
    if (handle == PER_THREAD) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (handle == 0 || handle == LEGACY) {
        *stream = &(*context)->legacy;
        return CUDA_SUCCESS;
    }
    struct object *object = sim_find(STREAM, handle);
    if (object == NULL || object->is.stream.context != current) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *stream = &object->is.stream;
    return CUDA_SUCCESS;
}

static bool is_legacy(const struct stream *stream, const struct context *context) {
    return stream == &context->legacy;
}

/* A search for captures. If spoil is set, it invalidates the captures that it finds. */
struct search {
    Handle blocking_in;
    uint64_t id;
    int thread_mode;
    bool spoil;
    int found;
};

static bool conflicts(const struct stream *stream, const struct search *search) {
    if (search->id != 0) {
        return stream->capture_id == search->id;
    }
    if (search->blocking_in != 0) {
        return stream->context == search->blocking_in && (stream->flags & STREAM_NON_BLOCKING) == 0;
    }
    bool own = stream->capture_thread == sim_thread();
    return (own && stream->capture_mode != MODE_RELAXED)
           || (!own && stream->capture_mode == MODE_GLOBAL && search->thread_mode == MODE_GLOBAL);
}

static void visit_capture(Handle handle, struct object *object, void *with) {
    (void) handle;
    struct search *search = with;
    struct stream *stream = &object->is.stream;
    if (stream->capture == CAPTURE_NONE || !conflicts(stream, search)) {
        return;
    }
    search->found++;
    if (search->spoil && stream->capture == CAPTURE_ACTIVE) {
        stream->capture = CAPTURE_INVALIDATED;
        sim.spoilt_captures++;
    }
}

static bool any_capture(struct search search) {
    if (sim.captures > 0) {
        sim_each(STREAM, visit_capture, &search);
    }
    return search.found > 0;
}

bool sim_is_capturing(uint64_t capture_id) {
    return any_capture((struct search) {.id = capture_id, .spoil = true});
}

/*
 * Checks a call that queues nothing into a stream: it may be unsafe while a stream captures. The documentation does not
 * list such calls; in this simulation, all calls that create, free, query or wait are unsafe.
 */
CUresult sim_unsafe_call(void) {
    int mode = sim_thread()->capture_mode;
    bool spoilt = mode != MODE_RELAXED && any_capture((struct search) {.thread_mode = mode, .spoil = true});
    return spoilt ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/* Refuses the default stream if it would have to wait for a stream that captures. */
static CUresult check_implicit(const struct stream *stream, const struct context *context, bool spoil) {
    bool implicit = is_legacy(stream, context)
                    && any_capture((struct search) {.blocking_in = stream->context, .spoil = spoil});
    return implicit ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

/*
 * Queues work. It begins after the earlier work of its stream. The default stream and blocking streams wait for each
 * other. Captured work takes no time and has the id of its capture.
 */
CUresult sim_enqueue(Handle handle, int64_t duration_ns, int64_t *end_ns, uint64_t *capture_id) {
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    TRY(check_implicit(stream, context, true));
    *capture_id = 0;
    *end_ns = 0;
    if (stream->capture == CAPTURE_INVALIDATED) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (stream->capture == CAPTURE_ACTIVE) {
        *capture_id = stream->capture_id;
        return sim_add_node(&stream->captured, (struct node) {.duration_ns = duration_ns}) ? CUDA_SUCCESS
                                                                                          : CUDA_ERROR_OUT_OF_MEMORY;
    }
    int64_t start_ns = sim_now_ns();
    start_ns = stream->end_ns > start_ns ? stream->end_ns : start_ns;
    bool blocking = (stream->flags & STREAM_NON_BLOCKING) == 0;
    if (blocking) {
        int64_t other_ns = is_legacy(stream, context) ? context->blocking_end_ns : context->legacy.end_ns;
        start_ns = other_ns > start_ns ? other_ns : start_ns;
    }
    stream->end_ns = *end_ns = start_ns + duration_ns;
    if (blocking && context->blocking_end_ns < *end_ns) {
        context->blocking_end_ns = *end_ns;
    }
    return CUDA_SUCCESS;
}

/* If a stream is being captured, adds nodes to its graph. */
CUresult sim_capture_nodes(Handle handle, const struct nodes *nodes, bool *captured) {
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    if (stream->capture == CAPTURE_INVALIDATED) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    *captured = stream->capture == CAPTURE_ACTIVE;
    return !*captured || sim_add_nodes(&stream->captured, nodes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult create(Handle *handle, unsigned flags) {
    Handle current;
    TRY(sim_current(&current));
    if (flags > STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct object *object = sim_new(STREAM, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->is.stream.context = current;
    object->is.stream.flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuStreamCreate(Handle *handle, unsigned flags) {
    ENTER(cuStreamCreate);
    return create(handle, flags);
}

API CUresult cuStreamCreateWithPriority(Handle *handle, unsigned flags, int priority) {
    ENTER(cuStreamCreateWithPriority);
    (void) priority;
    return create(handle, flags);
}

/* Destroys a stream. Its pending work continues to its end. */
API CUresult cuStreamDestroy_v2(Handle handle) {
    ENTER(cuStreamDestroy_v2);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    if (is_legacy(stream, context)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    sim.captures -= stream->capture != CAPTURE_NONE;
    sim_free_nodes(&stream->captured);
    sim_delete(STREAM, handle);
    return CUDA_SUCCESS;
}

/* Checks whether a stream may be synchronized or queried. If it captures, this fails and invalidates the capture. */
static CUresult check_finite(struct stream *stream, const struct context *context) {
    TRY(check_implicit(stream, context, true));
    if (stream->capture != CAPTURE_NONE) {
        (void) any_capture((struct search) {.id = stream->capture_id, .spoil = true});
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return sim_unsafe_call();
}

static int64_t end_of(const struct stream *stream, const struct context *context) {
    return is_legacy(stream, context) && context->blocking_end_ns > stream->end_ns ? context->blocking_end_ns
                                                                                   : stream->end_ns;
}

API CUresult cuStreamQuery(Handle handle) {
    ENTER(cuStreamQuery);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    TRY(check_finite(stream, context));
    return end_of(stream, context) <= sim_now_ns() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API CUresult cuStreamSynchronize(Handle handle) {
    ENTER(cuStreamSynchronize);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    TRY(check_finite(stream, context));
    sim.synchronisations++;
    sim_wait_until(end_of(stream, context));
    return CUDA_SUCCESS;
}

static void latest_end(Handle handle, struct object *object, void *with) {
    (void) handle;
    int64_t *latest_ns = with;
    if (object->is.stream.end_ns > *latest_ns) {
        *latest_ns = object->is.stream.end_ns;
    }
}

API CUresult cuCtxSynchronize(void) {
    ENTER(cuCtxSynchronize);
    struct stream *legacy;
    struct context *context;
    TRY(sim_stream(0, &legacy, &context));
    TRY(sim_unsafe_call());
    int64_t latest_ns = end_of(legacy, context);
    sim_each(STREAM, latest_end, &latest_ns);
    sim.synchronisations++;
    sim_wait_until(latest_ns);
    return CUDA_SUCCESS;
}

API CUresult cuStreamWaitEvent(Handle handle, Handle event, unsigned flags) {
    ENTER(cuStreamWaitEvent);
    (void) flags;
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    struct object *object = sim_find(EVENT, event);
    if (object == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (object->is.event.capture_id != 0 || stream->capture != CAPTURE_NONE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (object->is.event.recorded && stream->end_ns < object->is.event.reached_ns) {
        stream->end_ns = object->is.event.reached_ns;
    }
    return CUDA_SUCCESS;
}

API CUresult cuStreamBeginCapture_v2(Handle handle, int mode) {
    ENTER(cuStreamBeginCapture_v2);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    if (is_legacy(stream, context)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream->capture != CAPTURE_NONE || mode < MODE_GLOBAL || mode > MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    stream->capture = CAPTURE_ACTIVE;
    stream->capture_mode = mode;
    stream->capture_id = ++sim.last_capture_id;
    stream->capture_thread = sim_thread();
    sim_free_nodes(&stream->captured);
    sim.captures++;
    return CUDA_SUCCESS;
}

API CUresult cuStreamEndCapture(Handle handle, Handle *graph) {
    ENTER(cuStreamEndCapture);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    if (stream->capture == CAPTURE_NONE) {
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (stream->capture_mode != MODE_RELAXED && stream->capture_thread != sim_thread()) {
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    bool spoilt = stream->capture == CAPTURE_INVALIDATED;
    stream->capture = CAPTURE_NONE;
    sim.captures--;
    *graph = 0;
    CUresult answer =
        spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : sim_new_graph(GRAPH, graph, &stream->captured);
    sim_free_nodes(&stream->captured);
    return answer;
}

API CUresult cuStreamIsCapturing(Handle handle, int *status) {
    ENTER(cuStreamIsCapturing);
    struct stream *stream;
    struct context *context;
    TRY(sim_stream(handle, &stream, &context));
    TRY(check_implicit(stream, context, false));
    *status = stream->capture;
    return CUDA_SUCCESS;
}

API CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    ENTER(cuThreadExchangeStreamCaptureMode);
    if (*mode < MODE_GLOBAL || *mode > MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct thread *thread = sim_thread();
    int before = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
