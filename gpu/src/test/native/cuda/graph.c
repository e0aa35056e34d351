/* Graphs: captured work in order, and its launches. */
#include <stdlib.h>

#include "sim.h"

enum { FIRST_NODES = 16 };

bool sim_add_node(struct nodes *nodes, struct node node) {
    if (nodes->count == nodes->capacity) {
        int capacity = nodes->capacity == 0 ? FIRST_NODES : 2 * nodes->capacity;
        struct node *more = realloc(nodes->first, (size_t) capacity * sizeof *more);
        if (more == NULL) {
            return false;
        }
        nodes->first = more;
        nodes->capacity = capacity;
    }
    nodes->first[nodes->count++] = node;
    return true;
}

bool sim_add_nodes(struct nodes *nodes, const struct nodes *more) {
    for (int i = 0; i < more->count; i++) {
        if (!sim_add_node(nodes, more->first[i])) {
            return false;
        }
    }
    return true;
}

void sim_free_nodes(struct nodes *nodes) {
    free(nodes->first);
    *nodes = (struct nodes) {0};
}

/* Creates a graph with a copy of the nodes. */
CUresult sim_new_graph(enum kind kind, Handle *handle, const struct nodes *nodes) {
    struct object *object = sim_new(kind, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return sim_add_nodes(&object->is.graph.nodes, nodes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult delete_graph(enum kind kind, Handle handle) {
    struct object *object = sim_find(kind, handle);
    if (object == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    sim_free_nodes(&object->is.graph.nodes);
    sim_delete(kind, handle);
    return CUDA_SUCCESS;
}

/* Destroys a graph. Executable graphs that were instantiated from it remain. */
API CUresult cuGraphDestroy(Handle graph) {
    ENTER(cuGraphDestroy);
    return delete_graph(GRAPH, graph);
}

API CUresult cuGraphExecDestroy(Handle handle) {
    ENTER(cuGraphExecDestroy);
    return delete_graph(GRAPH_EXEC, handle);
}

API CUresult cuGraphInstantiateWithFlags(Handle *handle, Handle graph, uint64_t flags) {
    ENTER(cuGraphInstantiateWithFlags);
    (void) flags;
    TRY(sim_unsafe_call());
    struct object *object = sim_find(GRAPH, graph);
    return object == NULL ? CUDA_ERROR_INVALID_VALUE : sim_new_graph(GRAPH_EXEC, handle, &object->is.graph.nodes);
}

static bool have_one_shape(const struct nodes *nodes, const struct nodes *others) {
    bool alike = nodes->count == others->count;
    for (int i = 0; alike && i < nodes->count; i++) {
        alike = (nodes->first[i].event == 0) == (others->first[i].event == 0);
    }
    return alike;
}

/*
 * Replaces the nodes and events of an executable graph by those of a graph of the same shape; otherwise changes
 * nothing.
 */
static CUresult update(Handle handle, Handle graph) {
    struct object *exec = sim_find(GRAPH_EXEC, handle);
    struct object *from = sim_find(GRAPH, graph);
    if (exec == NULL || from == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!have_one_shape(&exec->is.graph.nodes, &from->is.graph.nodes)) {
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (int i = 0; i < from->is.graph.nodes.count; i++) {
        exec->is.graph.nodes.first[i] = from->is.graph.nodes.first[i];
    }
    return CUDA_SUCCESS;
}

/* Unlike the driver, does not fill result with the reason for a failure. */
API CUresult cuGraphExecUpdate_v2(Handle handle, Handle graph, void *result) {
    ENTER(cuGraphExecUpdate_v2);
    (void) result;
    return update(handle, graph);
}

/*
 * Launches a graph, which takes the total time of the captured work. Captured kernels write nothing to memory. An
 * external event is recorded when the work before it has ended. A launch into a capture becomes part of the capture.
 */
API CUresult cuGraphLaunch(Handle handle, Handle stream) {
    ENTER(cuGraphLaunch);
    struct object *object = sim_find(GRAPH_EXEC, handle);
    if (object == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct nodes *nodes = &object->is.graph.nodes;
    for (int i = 0; i < nodes->count; i++) {
        if (nodes->first[i].event != 0 && sim_find(EVENT, nodes->first[i].event) == NULL) {
            /* A real driver may crash. */
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    bool captured;
    TRY(sim_capture_nodes(stream, nodes, &captured));
    if (captured) {
        return CUDA_SUCCESS;
    }
    int64_t duration_ns = 0;
    for (int i = 0; i < nodes->count; i++) {
        duration_ns += nodes->first[i].duration_ns;
    }
    /* The whole graph is submitted at once. */
    int64_t end_ns;
    uint64_t capture_id;
    TRY(sim_enqueue(stream, duration_ns, &end_ns, &capture_id));
    int64_t reached_ns = end_ns - duration_ns;
    for (int i = 0; i < nodes->count; i++) {
        reached_ns += nodes->first[i].duration_ns;
        if (nodes->first[i].event != 0) {
            TRY(sim_record_by_graph(nodes->first[i].event, reached_ns));
        }
    }
    return CUDA_SUCCESS;
}
