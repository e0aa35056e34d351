/* Contexts, streams, events, modules and functions by their handles. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { CHUNK = 4096, MAX_CHUNKS = 512, INDEX_BITS = 24, KIND_SHIFT = 56 };

/* Objects are stored in chunks, so that they do not move: calls keep pointers to them. */
struct table {
    struct object *chunks[MAX_CHUNKS];
    uint32_t used;
    /* The index of the first free object, plus one. */
    uint32_t free;
    int live;
};

static struct table tables[KIND_COUNT];
static uint32_t last_generation;

/* The generation of the last object before the reset. */
static uint32_t forgotten_generation;

static struct object *at(struct table *table, uint32_t index) {
    return &table->chunks[index / CHUNK][index % CHUNK];
}

/* Returns a handle: the index plus one is in the lowest bits, the generation and the kind are above. */
static Handle handle_of(enum kind kind, uint32_t index, uint32_t generation) {
    return ((uint64_t) (kind + 1) << KIND_SHIFT) | ((uint64_t) generation << INDEX_BITS) | (index + 1);
}

/* Creates an object with all bytes zero. Returns NULL if there are too many. */
struct object *sim_new(enum kind kind, Handle *handle) {
    struct table *table = &tables[kind];
    uint32_t index;
    if (table->free != 0) {
        index = table->free - 1;
        table->free = at(table, index)->next_free;
    } else {
        index = table->used;
        if (index == CHUNK * MAX_CHUNKS) {
            return NULL;
        }
        if (index % CHUNK == 0 && table->chunks[index / CHUNK] == NULL) {
            table->chunks[index / CHUNK] = calloc(CHUNK, sizeof(struct object));
        }
        if (table->chunks[index / CHUNK] == NULL) {
            return NULL;
        }
        table->used++;
    }
    struct object *object = at(table, index);
    memset(object, 0, sizeof *object);
    object->alive = true;
    object->generation = ++last_generation;
    table->live++;
    *handle = handle_of(kind, index, object->generation);
    return object;
}

/* Returns the object of a handle. If there is none, returns NULL and counts a handle of the running test as stale. */
struct object *sim_find(enum kind kind, Handle handle) {
    struct table *table = &tables[kind];
    uint32_t index = (uint32_t) (handle & ((1u << INDEX_BITS) - 1)) - 1;
    if (index < table->used) {
        struct object *object = at(table, index);
        if (object->alive && handle == handle_of(kind, index, object->generation)) {
            return object;
        }
    }
    /* A handle from before the reset does not belong to the running test. */
    bool forgotten = ((handle >> INDEX_BITS) & UINT32_MAX) <= forgotten_generation;
    sim.stale_handles += handle != 0 && !forgotten;
    return NULL;
}

void sim_delete(enum kind kind, Handle handle) {
    struct object *object = sim_find(kind, handle);
    if (object != NULL) {
        struct table *table = &tables[kind];
        object->alive = false;
        object->next_free = table->free;
        table->free = (uint32_t) (handle & ((1u << INDEX_BITS) - 1));
        table->live--;
    }
}

int sim_live(enum kind kind) {
    return tables[kind].live;
}

void sim_each(enum kind kind, void (*visit)(Handle handle, struct object *object, void *with), void *with) {
    struct table *table = &tables[kind];
    for (uint32_t index = 0; index < table->used; index++) {
        struct object *object = at(table, index);
        if (object->alive) {
            visit(handle_of(kind, index, object->generation), object, with);
        }
    }
}

static void forget_graph(Handle handle, struct object *object, void *with) {
    (void) handle;
    (void) with;
    sim_free_nodes(&object->is.graph.nodes);
}

static void forget_stream(Handle handle, struct object *object, void *with) {
    (void) handle;
    (void) with;
    sim_free_nodes(&object->is.stream.captured);
}

/* Forgets all objects but keeps their memory. Generations continue, so an older handle never becomes valid again. */
void sim_forget_objects(void) {
    sim_each(GRAPH, forget_graph, NULL);
    sim_each(GRAPH_EXEC, forget_graph, NULL);
    sim_each(STREAM, forget_stream, NULL);
    forgotten_generation = last_generation;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        tables[kind].used = 0;
        tables[kind].free = 0;
        tables[kind].live = 0;
    }
}
