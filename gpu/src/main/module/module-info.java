/** Bricks on CUDA, Metal and OpenCL devices. */
module org.brickprofiler.gpu {
    requires transitive org.brickprofiler;
    requires com.sun.jna;
    requires jcuda;
    requires static org.jspecify;

    exports org.brickprofiler.device.cuda;
    exports org.brickprofiler.device.metal;
    exports org.brickprofiler.device.opencl;

    opens org.brickprofiler.device.cuda to
            com.sun.jna;
    opens org.brickprofiler.device.metal to
            com.sun.jna;
    opens org.brickprofiler.device.nvtx to
            com.sun.jna;
    opens org.brickprofiler.device.opencl to
            com.sun.jna;

    provides org.brickprofiler.internal.record.SettingAction with
            org.brickprofiler.device.nvtx.NvtxSetting;
}
