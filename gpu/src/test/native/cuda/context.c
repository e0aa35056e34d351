/* Devices, contexts and the names of errors. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

enum { COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR = 76 };

struct error {
    int code;
    const char *name;
    const char *text;
};

static const struct error errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "not initialized"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no device"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "no device of that number"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "no current context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not ready"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context is destroyed"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not while a stream captures"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture is spoilt"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture"},
};

static const struct error *error_of(int code) {
    for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == code) {
            return &errors[i];
        }
    }
    return NULL;
}

API CUresult cuGetErrorName(CUresult code, const char **name) {
    ENTER(cuGetErrorName);
    const struct error *error = error_of(code);
    *name = error == NULL ? NULL : error->name;
    return error == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuGetErrorString(CUresult code, const char **text) {
    ENTER(cuGetErrorString);
    const struct error *error = error_of(code);
    *text = error == NULL ? NULL : error->text;
    return error == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = sim.driver_version;
    return CUDA_SUCCESS;
}

API CUresult cuInit(unsigned flags) {
    ENTER(cuInit);
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim.devices == 0) {
        return CUDA_ERROR_NO_DEVICE;
    }
    sim.initialised = true;
    return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device) {
    if (!sim.initialised) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return device < 0 || device >= sim.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = sim.devices;
    return sim.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    ENTER(cuDeviceGet);
    TRY(check_device(ordinal));
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    ENTER(cuDeviceGetName);
    TRY(check_device(device));
    snprintf(name, (size_t) length, "Simulated GPU %d", device);
    return CUDA_SUCCESS;
}

/* Returns the machine's number of a device, which differs from its number in this process if devices are hidden. */
static int of_machine(CUdevice device) {
    return sim.hidden_devices + device;
}

API CUresult cuDeviceGetPCIBusId(char *address, int length, CUdevice device) {
    ENTER(cuDeviceGetPCIBusId);
    TRY(check_device(device));
    snprintf(address, (size_t) length, "0000:%02X:00.0", 0x17 + of_machine(device));
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(unsigned char *uuid, CUdevice device) {
    ENTER(cuDeviceGetUuid);
    TRY(check_device(device));
    for (int i = 0; i < 16; i++) {
        uuid[i] = (unsigned char) (0xA0 + i);
    }
    uuid[15] = (unsigned char) of_machine(device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    ENTER(cuDeviceGetAttribute);
    TRY(check_device(device));
    *value = attribute == COMPUTE_CAPABILITY_MAJOR ? 9 : attribute == COMPUTE_CAPABILITY_MINOR ? 0 : 1;
    return CUDA_SUCCESS;
}

static CUresult new_context(CUdevice device, bool primary, Handle *handle) {
    if (sim.lost_code != CUDA_SUCCESS) {
        return sim.lost_code;
    }
    struct object *object = sim_new(CONTEXT, handle);
    if (object == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->is.context.device = device;
    object->is.context.primary = primary;
    object->is.context.legacy.context = *handle;
    return CUDA_SUCCESS;
}

/* A search for the objects that a context owns, which are destroyed with it. */
struct owned {
    enum kind kind;
    Handle context;
};

static void delete_owned(Handle handle, struct object *object, void *with) {
    const struct owned *owned = with;
    Handle context = owned->kind == EVENT    ? object->is.event.context
                     : owned->kind == STREAM ? object->is.stream.context
                                             : object->is.module.context;
    if (context == owned->context) {
        sim_delete(owned->kind, handle);
    }
}

static void delete_context(Handle context) {
    for (enum kind kind = STREAM; kind <= MODULE; kind++) {
        struct owned owned = {kind, context};
        sim_each(kind, delete_owned, &owned);
    }
    sim_delete(CONTEXT, context);
}

API CUresult cuDevicePrimaryCtxRetain(Handle *context, CUdevice device) {
    ENTER(cuDevicePrimaryCtxRetain);
    TRY(check_device(device));
    if (sim.primary[device] == 0) {
        TRY(new_context(device, true, &sim.primary[device]));
    }
    *context = sim.primary[device];
    sim_find(CONTEXT, *context)->is.context.retained++;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    ENTER(cuDevicePrimaryCtxRelease_v2);
    TRY(check_device(device));
    if (sim.primary[device] == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--sim_find(CONTEXT, sim.primary[device])->is.context.retained == 0) {
        delete_context(sim.primary[device]);
        sim.primary[device] = 0;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    ENTER(cuDevicePrimaryCtxReset_v2);
    TRY(check_device(device));
    if (sim.primary[device] != 0) {
        delete_context(sim.primary[device]);
        sim.primary[device] = 0;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    ENTER(cuDevicePrimaryCtxGetState);
    TRY(check_device(device));
    *flags = 0;
    *active = sim.primary[device] != 0;
    return CUDA_SUCCESS;
}

static CUresult push(Handle context) {
    struct thread *thread = sim_thread();
    if (thread->depth == MAX_DEPTH) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct object *object = sim_find(CONTEXT, context);
    if (object != NULL && object->is.context.green) {
        struct context *green = &object->is.context;
        if (green->pushes > 0 && green->current_on != thread) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        green->current_on = thread;
        green->pushes++;
    }
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

/* Counts that a context has been removed once from the calling thread's stack. */
void sim_leave_context(Handle context) {
    struct object *object = context == 0 ? NULL : sim_find(CONTEXT, context);
    if (object != NULL && object->is.context.green) {
        object->is.context.pushes--;
    }
}

API CUresult cuCtxCreate_v2(Handle *context, unsigned flags, CUdevice device) {
    ENTER(cuCtxCreate_v2);
    (void) flags;
    TRY(check_device(device));
    TRY(new_context(device, false, context));
    return push(*context);
}

API CUresult cuCtxDestroy_v2(Handle context) {
    ENTER(cuCtxDestroy_v2);
    struct object *object = sim_find(CONTEXT, context);
    if (object == NULL || object->is.context.primary) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct thread *thread = sim_thread();
    if (thread->depth > 0 && thread->stack[thread->depth - 1] == context) {
        thread->depth--;
    }
    delete_context(context);
    return CUDA_SUCCESS;
}

static CUresult check_context(Handle context) {
    if (!sim.initialised) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return sim_find(CONTEXT, context) == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent_v2(Handle context) {
    ENTER(cuCtxPushCurrent_v2);
    TRY(check_context(context));
    return push(context);
}

API CUresult cuCtxPopCurrent_v2(Handle *context) {
    ENTER(cuCtxPopCurrent_v2);
    struct thread *thread = sim_thread();
    if (thread->depth == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    Handle top = thread->stack[--thread->depth];
    sim_leave_context(top);
    if (context != NULL) {
        *context = top;
    }
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(Handle *context) {
    ENTER(cuCtxGetCurrent);
    struct thread *thread = sim_thread();
    *context = thread->depth == 0 ? 0 : thread->stack[thread->depth - 1];
    return sim.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* Replaces the topmost context; 0 removes it. */
API CUresult cuCtxSetCurrent(Handle context) {
    ENTER(cuCtxSetCurrent);
    struct thread *thread = sim_thread();
    if (context != 0) {
        TRY(check_context(context));
    }
    if (thread->depth > 0) {
        sim_leave_context(thread->stack[--thread->depth]);
    }
    return context == 0 ? CUDA_SUCCESS : push(context);
}

API CUresult cuCtxGetDevice(CUdevice *device) {
    ENTER(cuCtxGetDevice);
    Handle current;
    TRY(sim_current(&current));
    *device = sim_find(CONTEXT, current)->is.context.device;
    return CUDA_SUCCESS;
}
