/*
 * Kernels and copies. Device memory is host memory. The effect of a kernel is immediate; its time passes in the stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* Computes the effect of kernels that do not spin. Called with the mutex held; must not call the driver. */
typedef void (*kernels)(const char *name, const unsigned *shape, void **parameters);
static kernels sim_kernels;

/* Sets the function that computes kernels; NULL, the default, for none. A reset keeps it. */
API void sim_set_kernels(kernels body) {
    int held __attribute__((cleanup(sim_unlock), unused)) = sim_lock();
    sim_kernels = body;
}

/* Loads a module from any text. The content does not matter. */
static CUresult load(Handle *handle, const void *image) {
    Handle current;
    TRY(sim_current(&current));
    TRY(sim_unsafe_call());
    if (image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct object *object = sim_new(MODULE, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->is.module.context = current;
    return CUDA_SUCCESS;
}

API CUresult cuModuleLoadData(Handle *handle, const void *image) {
    ENTER(cuModuleLoadData);
    return load(handle, image);
}

API CUresult cuModuleLoadDataEx(Handle *handle, const void *image, unsigned count, int *options, void **values) {
    ENTER(cuModuleLoadDataEx);
    (void) count;
    (void) options;
    (void) values;
    return load(handle, image);
}

API CUresult cuModuleUnload(Handle handle) {
    ENTER(cuModuleUnload);
    struct object *object = sim_find(MODULE, handle);
    if (object == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    TRY(sim_in_context(object->is.module.context));
    sim_delete(MODULE, handle);
    return CUDA_SUCCESS;
}

enum { MOST_THREADS = 1024 };

/* Finds a kernel: a module has a kernel of every name without "absent". */
API CUresult cuModuleGetFunction(Handle *handle, Handle module, const char *name) {
    ENTER(cuModuleGetFunction);
    struct object *owner = sim_find(MODULE, module);
    if (owner == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    TRY(sim_in_context(owner->is.module.context));
    if (strstr(name, "absent") != NULL) {
        return CUDA_ERROR_NOT_FOUND;
    }
    struct object *object = sim_new(FUNCTION, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->is.function.module = module;
    snprintf(object->is.function.name, sizeof object->is.function.name, "%s", name);
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(Handle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, Handle stream,
                            void **parameters, void **extra) {
    ENTER(cuLaunchKernel);
    (void) shared_bytes;
    (void) extra;
    struct object *object = sim_find(FUNCTION, handle);
    struct object *module = object == NULL ? NULL : sim_find(MODULE, object->is.function.module);
    if (module == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    TRY(sim_in_context(module->is.module.context));
    unsigned threads = block_x * block_y * block_z;
    if (grid_x * grid_y * grid_z == 0 || threads == 0 || threads > MOST_THREADS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const char *name = object->is.function.name;
    if (strstr(name, "trap") != NULL) {
        /* As on a device, the launch is accepted, and the following calls return its failure. */
        sim.lost_code = CUDA_ERROR_LAUNCH_FAILED;
        return CUDA_SUCCESS;
    }
    bool spins = strstr(name, "spin_ns") != NULL;
    bool stamps = strstr(name, "spin_ns_stamped") != NULL;
    int64_t duration_ns = sim.kernel_ns;
    if (spins) {
        if (parameters == NULL || parameters[0] == NULL || (stamps && parameters[1] == NULL)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        duration_ns = *(const int64_t *) parameters[0];
    }
    int64_t end_ns;
    uint64_t capture_id;
    TRY(sim_enqueue(stream, sim.launch_ns + duration_ns, &end_ns, &capture_id));
    if (capture_id != 0) {
        return CUDA_SUCCESS;
    }
    sim.launches++;
    if (stamps) {
        int64_t *stamp = *(int64_t **) parameters[1];
        stamp[0] = end_ns - duration_ns;
        stamp[1] = end_ns;
    } else if (!spins && sim_kernels != NULL) {
        unsigned shape[] = {grid_x, grid_y, block_x};
        sim_kernels(name, shape, parameters);
    }
    return CUDA_SUCCESS;
}

static CUresult allocate(void **memory, size_t bytes) {
    Handle current;
    TRY(sim_current(&current));
    TRY(sim_unsafe_call());
    if (bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *memory = malloc(bytes);
    return *memory == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult release(void *memory) {
    Handle current;
    TRY(sim_current(&current));
    TRY(sim_unsafe_call());
    free(memory);
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
    ENTER(cuMemAlloc_v2);
    void *host;
    TRY(allocate(&host, bytes));
    *memory = (CUdeviceptr) (uintptr_t) host;
    return CUDA_SUCCESS;
}

API CUresult cuMemFree_v2(CUdeviceptr memory) {
    ENTER(cuMemFree_v2);
    return release((void *) (uintptr_t) memory);
}

API CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER(cuMemAllocHost_v2);
    return allocate(memory, bytes);
}

API CUresult cuMemFreeHost(void *memory) {
    ENTER(cuMemFreeHost);
    return release(memory);
}

/* Copies the bytes at once; the time of the copy passes in the stream. Waits for it if the call is synchronous. */
static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, Handle stream, bool wait) {
    int64_t end_ns;
    uint64_t capture_id;
    TRY(sim_enqueue(stream, sim.copy_ns, &end_ns, &capture_id));
    if (capture_id == 0) {
        memcpy((void *) (uintptr_t) to, (const void *) (uintptr_t) from, bytes);
    }
    if (wait) {
        sim_wait_until(end_ns);
    }
    return CUDA_SUCCESS;
}

#define COPY(name, TO, FROM)                                                    \
    API CUresult name(TO to, FROM from, size_t bytes) {                         \
        ENTER(name);                                                            \
        return copy((CUdeviceptr) to, (CUdeviceptr) from, bytes, 0, true);      \
    }

#define COPY_ASYNC(name, TO, FROM)                                              \
    API CUresult name(TO to, FROM from, size_t bytes, Handle stream) {          \
        ENTER(name);                                                            \
        return copy((CUdeviceptr) to, (CUdeviceptr) from, bytes, stream, false); \
    }

COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void *)
COPY(cuMemcpyDtoH_v2, void *, CUdeviceptr)
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr)
