package org.brickprofiler.device.cuda;

/**
 * A handle of the driver, as one binding passes it: of a context, a stream, an event, a graph or a device. The binding
 * makes an empty handle, and a call of the driver fills it. A handle belongs to the binding that made it.
 */
interface CudaHandle {

    /** Returns the number that the driver knows it by, which is an address except for devices; 0 for none. */
    long address();
}
